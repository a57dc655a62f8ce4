/* SPDX-License-Identifier: MIT */
/* Unpin against everything that one can do to a pin and its mapping meanwhile. */
#include <errno.h>
#include <sys/mman.h>

#include "guest.h"
#include "race.h"
#include "sim.h"

static void pinned(struct race *r)
{
	if (!r->va)
		r->va = sim_alloc(r->size);
	r->handle = dev_must_pin(r->fd, r->va, r->size);
}

static void mapped(struct race *r)
{
	pinned(r);
	r->map = dev_must_map(r->fd, r->handle, r->size);
}

static void unpin(struct race *r)
{
	r->right_ret = dev_unpin(r->fd, r->handle);
	__atomic_store_n(&r->gone, 1, __ATOMIC_RELEASE);
}

/* Everything dead; the pieces of the mapping go. */
static void want_gone(struct race *r)
{
	want_eq(r->right_ret, 0);
	if (r->map) {
		race_want_dead(r, r->map, r->size);
		munmap(r->map, r->size);
	}
	if (r->moved) {
		race_want_dead(r, r->moved, r->size);
		munmap(r->moved, r->size);
	}
}

static void do_mmap(struct race *r)
{
	void *map;

	r->left_ret = dev_map(r->fd, r->handle, r->size, &map);
	if (r->left_ret == 0) {
		r->map = map;
		race_touch(r, r->map, 8);
	}
}

static bool after_mmap(struct race *r)
{
	bool first = r->left_ret == 0;

	want_in(r->left_ret, 0, -EINVAL);
	want_gone(r);
	return first;
}

static void touch(struct race *r)
{
	r->left_ret = peek_at(r->map, 0);
	race_touch(r, r->map, 2000);
}

static bool after_touch(struct race *r)
{
	bool first = r->left_ret == 0;

	want_gone(r);
	return first;
}

static void move(struct race *r)
{
	char *to = mmap(NULL, r->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *at = mremap(r->map, r->size, r->size, MREMAP_MAYMOVE | MREMAP_FIXED, to);

	r->moved = to;
	r->left_ret = r->over;
	if (at != MAP_FAILED)
		race_touch(r, at, 8);
}

static bool after_move(struct race *r)
{
	want_gone(r);
	return !r->left_ret;
}

static void unmap(struct race *r)
{
	r->left_ret = munmap(r->map, r->size) ? -errno : 0;
	if (r->over)
		r->left_ret = 1;
}

static bool after_unmap(struct race *r)
{
	bool first = r->left_ret == 0;

	want(r->left_ret >= 0);
	r->map = NULL;
	want_gone(r);
	return first;
}

static void unmap_and_map(struct race *r)
{
	munmap(r->map, r->size);
	r->map = NULL;
	do_mmap(r);
}

static void unmap_part(struct race *r)
{
	munmap(r->map + r->size / 2, HOST_PAGE);
	r->left_ret = r->over;
	race_touch(r, r->map, 4);
}

static void protect_part(struct race *r)
{
	size_t at;

	for (at = 0; at < r->size && !r->gone; at += 2 * HOST_PAGE)
		mprotect(r->map + at, HOST_PAGE, PROT_READ);
	r->left_ret = r->over;
}

static bool after_part(struct race *r)
{
	bool first = !r->left_ret;

	want_gone(r);
	return first;
}

static void unpin_too(struct race *r)
{
	r->left_ret = dev_unpin(r->fd, r->handle);
}

static bool after_two_unpins(struct race *r)
{
	bool first = r->left_ret == 0;

	want_in(r->left_ret, 0, -EINVAL);
	want_eq(r->right_ret, first ? -EINVAL : 0);
	r->right_ret = 0;
	want_gone(r);
	return first;
}

static void query(struct race *r)
{
	struct gdrdrv_get_info_v2 info = { 0 };
	int flag, type;

	r->left_ret = dev_info(r->fd, r->handle, &info);
	if (r->left_ret == 0)
		want_eq(info.va, r->va);
	flag = dev_cb_flag(r->fd, r->handle);
	want_in(flag, 0, -EINVAL);
	type = dev_request(r->fd, r->handle, GDRDRV_MAPPING_WC);
	want_in(type, -EBUSY, -EINVAL);
}

static bool after_query(struct race *r)
{
	bool first = r->left_ret == 0;

	want_in(r->left_ret, 0, -EINVAL);
	want_gone(r);
	return first;
}

/* Its range of offsets is free the moment that it is unpinned: another pin may get it. */
static void unpin_and_pin_again(struct race *r)
{
	static uint64_t other;

	if (!other)
		other = sim_alloc(r->size);
	unpin(r);
	r->right_ret |= dev_pin(r->fd, other, r->size, &r->handle);
}

static bool after_pin_again(struct race *r)
{
	bool first = r->left_ret == 0;

	want_gone(r);
	want_eq(dev_unpin(r->fd, r->handle), 0);
	return first;
}

static void pin_and_unpin_another(struct race *r)
{
	uint64_t handle = dev_must_pin(r->fd, r->va, r->size);
	void *map = dev_must_map(r->fd, handle, r->size);

	want(handle != r->handle || r->gone);
	want_eq(peek_at(map, 0), 0);
	r->left_ret = r->over;
	want_eq(dev_unpin(r->fd, handle), 0);
	race_want_dead(r, map, r->size);
	munmap(map, r->size);
}

static const struct race_kind kinds[] = {
	{ "mmap_unpin", pinned, do_mmap, unpin, after_mmap },
	{ "fault_unpin", mapped, touch, unpin, after_touch },
	{ "mremap_unpin", mapped, move, unpin, after_move },
	{ "munmap_unpin", mapped, unmap, unpin, after_unmap },
	{ "munmap_mmap_unpin", mapped, unmap_and_map, unpin, after_mmap },
	{ "munmap_part_unpin", mapped, unmap_part, unpin, after_part },
	{ "mprotect_unpin", mapped, protect_part, unpin, after_part },
	{ "unpin_unpin", mapped, unpin_too, unpin, after_two_unpins },
	{ "query_unpin", mapped, query, unpin, after_query },
	{ "fault_recycled", mapped, touch, unpin_and_pin_again, after_pin_again },
	{ "pin_unpin", mapped, pin_and_unpin_another, unpin, after_part },
};

int main(int argc, char **argv)
{
	return race_main(argc, argv, kinds, COUNT_OF(kinds));
}
