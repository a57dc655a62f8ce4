/* SPDX-License-Identifier: MIT */
/* Unpin against everything that one can do to a pin and its mapping meanwhile. */
#include <errno.h>
#include <sys/mman.h>

#include "guest.h"
#include "race.h"
#include "sim.h"

static void do_mmap(struct race *r)
{
	if (race_map(r))
		race_touch(r, r->map, 8);
}

/* Works, or there is no such pin any more. */
static bool after_call(struct race *r)
{
	want_in(r->left_ret, 0, -EINVAL);
	return race_after_unpin(r);
}

static void touch(struct race *r)
{
	r->left_ret = peek_at(r->map, 0);
	race_touch(r, r->map, 2000);
}

static void unmap(struct race *r)
{
	r->left_ret = munmap(r->map, r->size) ? -errno : 0;
	if (r->over)
		r->left_ret = 1;
}

static bool after_unmap(struct race *r)
{
	want(r->left_ret >= 0);
	r->map = NULL;
	return race_after_unpin(r);
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
	return race_after_unpin(r);
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

/* Its range of offsets is free the moment that it is unpinned: another pin may get it. */
static void unpin_and_pin_again(struct race *r)
{
	static uint64_t other;

	if (!other)
		other = sim_alloc(r->size);
	race_unpin(r);
	r->right_ret |= dev_pin(r->fd, other, r->size, &r->handle);
}

static bool after_pin_again(struct race *r)
{
	bool first = race_after_unpin(r);

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
	{ "mmap_unpin", race_pinned, do_mmap, race_unpin, after_call },
	{ "fault_unpin", race_mapped, touch, race_unpin, race_after_unpin },
	{ "mremap_unpin", race_mapped, race_move, race_unpin, race_after_unpin },
	{ "munmap_unpin", race_mapped, unmap, race_unpin, after_unmap },
	{ "munmap_mmap_unpin", race_mapped, unmap_and_map, race_unpin, after_call },
	{ "munmap_part_unpin", race_mapped, unmap_part, race_unpin, race_after_unpin },
	{ "mprotect_unpin", race_mapped, protect_part, race_unpin, race_after_unpin },
	{ "unpin_unpin", race_mapped, unpin_too, race_unpin, after_two_unpins },
	{ "query_unpin", race_mapped, query, race_unpin, after_call },
	{ "fault_recycled", race_mapped, touch, unpin_and_pin_again, after_pin_again },
	{ "pin_unpin", race_mapped, pin_and_unpin_another, race_unpin, race_after_unpin },
};

int main(int argc, char **argv)
{
	return race_main(argc, argv, kinds, COUNT_OF(kinds));
}
