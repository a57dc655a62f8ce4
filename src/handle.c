/* SPDX-License-Identifier: MIT */
/* The registry of live handles; see handle.h. */
#include "handle.h"

#include <errno.h>
#include <stdlib.h>

#include "context.h"
#include "log.h"

#define LIVE            GDR_HANDLE_LIVE
#define TYPE_MASK       (GDR_HANDLE_LIVE - 1)
#define GENERATION_MAX  UINT32_MAX

/* Chunk k holds FIRST << k slots, so that 22 pointers cover nearly 2^32 slots. */
#define FIRST_SHIFT     10
#define FIRST           GDR_HANDLE_FIRST
_Static_assert(FIRST == 1u << FIRST_SHIFT, "the first chunk's size, twice");
#define CHUNKS          22
#define SLOTS           ((uint32_t)(((uint64_t)FIRST << CHUNKS) - FIRST))

struct gdr_handle_slot *_Atomic gdr_handle_chunks[CHUNKS];
static uint32_t slots_made;             /* registry lock, like the two below */
static uint32_t free_head, free_tail;   /* first in, first out: generations last longest */

/* n + FIRST lies in [FIRST << k, FIRST << (k + 1)) for chunk k. */
static unsigned chunk_of(uint32_t n)
{
	return 63u - (unsigned)__builtin_clzll((uint64_t)n + FIRST) - FIRST_SHIFT;
}

static struct gdr_handle_slot *slot_at(uint32_t n)
{
	uint64_t biased = (uint64_t)n + FIRST;
	unsigned k = chunk_of(n);
	struct gdr_handle_slot *chunk;

	if (k >= CHUNKS)
		return NULL;
	chunk = atomic_load_explicit(&gdr_handle_chunks[k], memory_order_acquire);
	return chunk ? &chunk[biased - ((uint64_t)FIRST << k)] : NULL;
}

/* The slot that h names, if it is live.  *word is what was read of it. */
static struct gdr_handle_slot *live_slot(unsigned long h, uint64_t *word)
{
	struct gdr_handle_slot *s;

	if ((uint32_t)h == 0)
		return NULL;
	s = slot_at((uint32_t)h - 1);
	if (!s)
		return NULL;
	*word = atomic_load_explicit(&s->word, memory_order_acquire);
	if ((*word & LIVE) == 0 || *word >> 32 != h >> 32)
		return NULL;
	return s;
}

/* Registry lock held.  Slot number + 1; 0 if there is no slot, or no chunk for it. */
static uint32_t take_slot(void)
{
	uint32_t n = slots_made;

	if (free_head) {
		n = free_head;
		free_head = slot_at(n - 1)->next_free;
		if (!free_head)
			free_tail = 0;
		return n;
	}
	if (!slot_at(n))
		return 0;
	slots_made++;
	return n + 1;
}

/*
 * The chunk of slot n, unless another thread adds it meanwhile.  Registry lock not
 * held: fork takes it, perhaps after a lock of the allocator's.
 */
static int add_chunk(uint32_t n)
{
	struct gdr_handle_slot *chunk, *none = NULL;
	unsigned k = chunk_of(n);

	if (k >= CHUNKS)
		return -ENOMEM;
	chunk = calloc((size_t)FIRST << k, sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	if (!atomic_compare_exchange_strong(&gdr_handle_chunks[k], &none, chunk))
		free(chunk);
	return 0;
}

int gdr_handle_new(struct gdr *g, struct gdr_memh *m)
{
	struct gdr_handle_slot *s;
	uint64_t generation;
	uint32_t n, made;

	gdr_registry_lock();
	while (!(n = take_slot())) {
		made = slots_made;
		gdr_registry_unlock();
		if (add_chunk(made) < 0)
			return gdr_log_fail(ENOMEM, "no memory for one more handle: unpin buffers");
		gdr_registry_lock();
	}
	s = slot_at(n - 1);
	generation = (atomic_load_explicit(&s->word, memory_order_relaxed) >> 32) + 1;
	s->memh = m;
	atomic_store_explicit(&s->word, generation << 32 | LIVE, memory_order_release);
	m->g = g;
	m->id = (unsigned long)(generation << 32 | n);
	m->prev = NULL;
	m->next = g->memhs;
	if (m->next)
		m->next->prev = m;
	g->memhs = m;
	gdr_registry_unlock();
	return 0;
}

void gdr_handle_delete(struct gdr_memh *m)
{
	uint32_t n = (uint32_t)m->id;
	struct gdr_handle_slot *s = slot_at(n - 1);
	uint64_t generation;

	gdr_registry_lock();
	generation = m->id >> 32;
	atomic_store_explicit(&s->word, generation << 32, memory_order_release);
	s->memh = NULL;
	if (generation < GENERATION_MAX) { /* else the slot has served its time */
		s->next_free = 0;
		if (free_tail)
			slot_at(free_tail - 1)->next_free = n;
		else
			free_head = n;
		free_tail = n;
	}
	if (m->prev)
		m->prev->next = m->next;
	else
		m->g->memhs = m->next;
	if (m->next)
		m->next->prev = m->prev;
	m->id = 0;
	gdr_registry_unlock();
}

struct gdr_memh *gdr_handle_find(const struct gdr *g, unsigned long h)
{
	struct gdr_memh *m = NULL;
	struct gdr_handle_slot *s;
	uint64_t word;

	gdr_registry_lock();
	s = live_slot(h, &word);
	if (s && s->memh->g == g)
		m = s->memh;
	gdr_registry_unlock();
	return m;
}

void gdr_handle_publish(const struct gdr_memh *m, gdr_mapping_type_t type)
{
	struct gdr_handle_slot *s = slot_at((uint32_t)m->id - 1);
	uint64_t word = (uint64_t)(m->id >> 32) << 32 | LIVE | (uint64_t)type;

	atomic_store_explicit(&s->word, word, memory_order_release);
}

int gdr_handle_type(unsigned long h)
{
	uint64_t word;

	if (!live_slot(h, &word))
		return -EINVAL;
	return (int)(word & TYPE_MASK);
}

int gdr_handle_no_mapping(unsigned long h, const char *call)
{
	return gdr_log_fail(EINVAL, "%s: handle 0x%lx is %s", call, h,
			    gdr_handle_type(h) < 0 ? "not pinned" : "not mapped");
}

void gdr_handle_forget_mappings(void)
{
	uint32_t n;

	for (n = 0; n < slots_made; n++) {
		struct gdr_handle_slot *s = slot_at(n);
		uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);

		atomic_store_explicit(&s->word, word & ~(uint64_t)TYPE_MASK, memory_order_relaxed);
	}
}
