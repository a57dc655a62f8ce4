/* SPDX-License-Identifier: MIT */
/*
 * The memory is freed, which calls the driver back where memory is revocable,
 * while the pin is made, mapped, touched, unpinned or closed.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "race.h"
#include "sim.h"

/* What the right side freed is gone, so each try has memory of its own. */
static void allocated(struct race *r)
{
	r->va = sim_alloc(r->size);
}

static void pinned(struct race *r)
{
	allocated(r);
	race_pinned(r);
}

static void mapped(struct race *r)
{
	allocated(r);
	race_mapped(r);
}

static void free_memory(struct race *r)
{
	sim_free(r->va);
	__atomic_store_n(&r->gone, !r->persistent, __ATOMIC_RELEASE);
}

/* Dead after the free, or after the unpin where memory is persistent. */
static void want_gone(struct race *r)
{
	want_eq(dev_cb_flag(r->fd, r->handle), !r->persistent);
	if (!r->persistent)
		race_want_mappings_dead(r);
	want_eq(dev_unpin(r->fd, r->handle), 0);
	race_want_mappings_dead(r);
	race_unmap_all(r);
}

static void do_mmap(struct race *r)
{
	if (race_map(r)) {
		r->left_ret = r->over;
		race_touch(r, r->map, 8);
	}
}

static bool after_mmap(struct race *r)
{
	bool first = r->left_ret == 0;

	if (r->persistent)
		want(r->map != NULL);
	want_gone(r);
	return first;
}

static void touch(struct race *r)
{
	r->left_ret = peek_at(r->map, 0);
	race_touch(r, r->map, r->persistent ? 100 : 2000);
}

static bool after_touch(struct race *r)
{
	bool first = r->left_ret == 0;

	want_gone(r);
	return first;
}

static void unpin(struct race *r)
{
	r->left_ret = dev_unpin(r->fd, r->handle);
	want_eq(r->left_ret, 0);
	r->left_ret = r->over;
	race_touch(r, r->map, 4);
}

static bool after_unpin(struct race *r)
{
	race_want_mappings_dead(r);
	race_unmap_all(r);
	want_eq(dev_unpin(r->fd, r->handle), -EINVAL);
	return r->left_ret == 0;
}

static void pin(struct race *r)
{
	void *map;

	r->left_ret = dev_pin(r->fd, r->va, r->size, &r->handle);
	if (r->left_ret == 0 && dev_map(r->fd, r->handle, r->size, &map) == 0) {
		r->map = map;
		race_touch(r, r->map, 8);
	}
}

static bool after_pin(struct race *r)
{
	bool first = r->left_ret == 0;

	if (first)
		want_gone(r);
	else
		want_eq(r->left_ret, -EINVAL);
	return first;
}

/* Two pins of the memory: each has its own callback, both under way at once. */
static uint64_t second;

static void pinned_twice(struct race *r)
{
	mapped(r);
	second = dev_must_pin(r->fd, r->va, r->size);
	r->moved = dev_must_map(r->fd, second, r->size);
}

static bool after_one_of_two(struct race *r)
{
	want_eq(dev_unpin(r->fd, r->handle), -EINVAL);
	want_eq(dev_cb_flag(r->fd, second), !r->persistent);
	race_want_dead(r, r->map, r->size);
	want_eq(dev_unpin(r->fd, second), 0);
	race_want_mappings_dead(r);
	race_unmap_all(r);
	return r->left_ret == 0;
}

/* Other memory is pinned at once: what the late unpin gives back must be its own. */
static uint64_t new_va, new_handle;

static void free_and_pin_other(struct race *r)
{
	free_memory(r);
	new_va = sim_alloc(r->size);
	new_handle = dev_must_pin(r->fd, new_va, r->size);
}

static bool after_other(struct race *r)
{
	void *map = dev_must_map(r->fd, new_handle, r->size);
	bool first = after_unpin(r);

	want_eq(peek_at(map, 0), 0);
	sim_free(new_va);
	want_eq(dev_cb_flag(r->fd, new_handle), !r->persistent);
	want_eq(dev_unpin(r->fd, new_handle), 0);
	race_want_dead(r, map, r->size);
	munmap(map, r->size);
	return first;
}

static void close_file(struct race *r)
{
	close(r->fd);
	r->fd = RACE_NO_FD;
	r->left_ret = r->over;
}

/* Without a mapping the close is the last one, and unpins. */
static bool after_close(struct race *r)
{
	race_unmap_all(r);
	return r->left_ret == 0;
}

static void unmap(struct race *r)
{
	want_eq(munmap(r->map, r->size), 0);
	r->map = NULL;
	r->left_ret = r->over;
}

static void mapped_and_closed(struct race *r)
{
	mapped(r);
	close(r->fd);
	r->fd = RACE_NO_FD;
}

static void query(struct race *r)
{
	struct gdrdrv_get_info_v2 info = { 0 };
	int flag = dev_cb_flag(r->fd, r->handle), type;

	want_in(flag, 0, 1);
	want_eq(dev_info(r->fd, r->handle, &info), 0);
	want_eq(info.va, r->va);
	want_eq(info.mapped_size, r->size);
	/* the flag never goes back */
	want(dev_cb_flag(r->fd, r->handle) >= flag);
	type = dev_request(r->fd, r->handle, GDRDRV_MAPPING_NONE);
	want_in(type, 0, -EBUSY);
	r->left_ret = flag;
}

static const struct race_kind kinds[] = {
	{ "mmap_free", pinned, do_mmap, free_memory, after_mmap },
	{ "fault_free", mapped, touch, free_memory, after_touch },
	{ "mremap_free", mapped, race_move, free_memory, after_touch },
	{ "munmap_free", mapped, unmap, free_memory, after_touch },
	{ "unpin_free", mapped, unpin, free_memory, after_unpin },
	{ "unpin_one_of_two_free", pinned_twice, unpin, free_memory, after_one_of_two },
	{ "unpin_free_pin", mapped, unpin, free_and_pin_other, after_other },
	{ "pin_free", allocated, pin, free_memory, after_pin },
	{ "close_free", pinned, close_file, free_memory, after_close },
	{ "close_mapped_free", mapped, close_file, free_memory, after_close },
	{ "last_munmap_free", mapped_and_closed, unmap, free_memory, after_close },
	{ "query_free", mapped, query, free_memory, after_touch },
};

int main(int argc, char **argv)
{
	return race_main(argc, argv, kinds, COUNT_OF(kinds));
}
