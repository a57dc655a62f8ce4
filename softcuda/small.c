/* SPDX-License-Identifier: MIT */
/*
 * The blocks of 2 MiB that small allocations share, in steps of 512 bytes, first
 * fit.  A block goes as soon as the last allocation in it is freed.  What becomes
 * of exported pages when their owner goes is decided here too.
 */
#include <errno.h>

#include "softcuda.h"

#define SLOTS (SC_BLOCK / SC_SLOT)

static bool slot_used(const struct sc_object *o, unsigned int i)
{
	return o->used[i / 64] >> (i % 64) & 1;
}

static void slots_set(struct sc_object *o, unsigned int at, unsigned int n, bool used)
{
	for (unsigned int i = at; i < at + n; i++) {
		if (used)
			o->used[i / 64] |= 1ULL << (i % 64);
		else
			o->used[i / 64] &= ~(1ULL << (i % 64));
	}
}

static unsigned int slots_of(size_t size)
{
	return (unsigned int)((size + SC_SLOT - 1) / SC_SLOT);
}

/* The first of n free slots in a row, or SLOTS. */
static unsigned int slots_find(const struct sc_object *o, unsigned int n)
{
	for (unsigned int i = 0, run = 0; i < SLOTS; i++) {
		run = slot_used(o, i) ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return SLOTS;
}

static struct sc_object *blocks[SC_MAX_DEVICES];        /* in order of age */

static struct sc_object *block_new(int dev)
{
	struct sc_object **p = &blocks[dev], *o = sc_object_new(dev, SC_BLOCK, false, NULL);

	if (!o)
		return NULL;
	o->va = sc_va_reserve(SC_BLOCK, SC_BLOCK, 0);
	if (!o->va)
		goto put_object;
	if (sc_object_enter(o, o->va, SC_BLOCK))
		goto release_va;
	while (*p)
		p = &(*p)->next_block;
	*p = o;
	return o;

release_va:
	sc_va_release(o->va, SC_BLOCK);
put_object:
	sc_object_put(o);
	return NULL;
}

static void block_drop(struct sc_object *o)
{
	struct sc_object **p = &blocks[o->dev];

	while (*p != o)
		p = &(*p)->next_block;
	*p = o->next_block;
	sc_object_leave(o, o->va);
	sc_va_release(o->va, SC_BLOCK);
	sc_object_put(o);
}

int sc_small_place(struct sc_alloc *a)
{
	unsigned int n = slots_of(a->size), at = SLOTS;
	struct sc_object *o = blocks[a->dev];

	while (o && (at = slots_find(o, n)) == SLOTS)
		o = o->next_block;
	if (!o) {
		o = block_new(a->dev);
		if (!o)
			return -ENOMEM;
		at = 0;
	}
	slots_set(o, at, n, true);
	o->nused++;
	a->obj = o;
	a->off = at * SC_SLOT;
	a->start = o->va + a->off;
	return 0;
}

static bool any_used(const struct sc_object *o, uint64_t lo, uint64_t hi)
{
	for (uint64_t at = lo & ~(SC_SLOT - 1); at < hi; at += SC_SLOT)
		if (slot_used(o, (unsigned int)(at / SC_SLOT)))
			return true;
	return false;
}

/* Does an export of f show bytes that are in use? */
static bool shows_used(const struct sc_object *o, const struct sc_file *f)
{
	for (unsigned int i = 0; i < o->next_ext; i++) {
		const struct sc_extent *e = &o->ext[i];
		uint64_t from = f->lo > e->off ? f->lo : e->off;
		uint64_t to = f->hi < e->off + e->len ? f->hi : e->off + e->len;

		if (e->file == f && from < to &&
		    any_used(o, from - e->off + e->start, to - e->off + e->start))
			return true;
	}
	return false;
}

/* How many bytes from at on, up to end, are of one file and all exported or all not. */
static uint64_t alike(const struct sc_object *o, uint64_t at, uint64_t end, bool *exported,
		      const struct sc_file **file)
{
	const struct sc_extent *e = sc_object_extent(o, at);
	const struct sc_file *f = *file = e->file;
	uint64_t off = e->off + (at - e->start), stop = e->off + e->len;

	*exported = off >= f->lo && off < f->hi;
	if (off < f->lo)
		stop = stop < f->lo ? stop : f->lo;
	else if (off < f->hi)
		stop = stop < f->hi ? stop : f->hi;
	return end - at < stop - off ? end - at : stop - off;
}

/*
 * Cut the pages of [lo, hi) off from old exports.  Not those that a neighbour has
 * bytes in, and not those that an export shows together with a neighbour's: it is
 * one of the block, and shows who comes next as well.
 */
static void release_pages(struct sc_object *o, uint64_t lo, uint64_t hi)
{
	uint64_t at = lo & ~(SC_PAGE - 1), end = (hi + SC_PAGE - 1) & ~(SC_PAGE - 1);
	const struct sc_file *f;
	bool exported;

	if (any_used(o, at, at + SC_PAGE))
		at += SC_PAGE;
	if (end > at && any_used(o, end - SC_PAGE, end))
		end -= SC_PAGE;
	if (at >= end)
		return;
	sc_ipc_lock();
	for (uint64_t n; at < end; at += n) {
		n = alike(o, at, end, &exported, &f);
		/* Out of memory: the next owner of the pages shares them with the old export. */
		if (!exported || !shows_used(o, f))
			sc_file_detach(o, at, n);
	}
	sc_ipc_publish();
	sc_ipc_unlock();
}

void sc_small_leave(struct sc_alloc *a)
{
	struct sc_object *o = a->obj;

	slots_set(o, (unsigned int)(a->off / SC_SLOT), slots_of(a->size), false);
	if (!--o->nused)
		block_drop(o);
	else
		release_pages(o, a->off, a->off + a->size);
}
