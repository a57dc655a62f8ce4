/* SPDX-License-Identifier: MIT */
/* What several kinds of race do before, on a side, and after; see race.h. */
#include <sys/mman.h>

#include "guest.h"
#include "race.h"
#include "sim.h"

void race_pinned(struct race *r)
{
	if (r->fd == RACE_NO_FD)
		r->fd = dev_open();
	if (!r->va)
		r->va = sim_alloc(r->size);
	r->handle = dev_must_pin(r->fd, r->va, r->size);
}

void race_mapped(struct race *r)
{
	race_pinned(r);
	r->map = dev_must_map(r->fd, r->handle, r->size);
}

bool race_map(struct race *r)
{
	void *map;

	r->left_ret = dev_map(r->fd, r->handle, r->size, &map);
	if (r->left_ret == 0)
		r->map = map;
	return r->left_ret == 0;
}

void race_move(struct race *r)
{
	char *to = mmap(NULL, r->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *at = mremap(r->map, r->size, r->size, MREMAP_MAYMOVE | MREMAP_FIXED, to);

	r->moved = to;
	r->left_ret = r->over;
	if (at != MAP_FAILED)
		race_touch(r, at, 8);
}

void race_unpin(struct race *r)
{
	r->right_ret = dev_unpin(r->fd, r->handle);
	__atomic_store_n(&r->gone, 1, __ATOMIC_RELEASE);
}

void race_want_mappings_dead(struct race *r)
{
	if (r->map)
		race_want_dead(r, r->map, r->size);
	if (r->moved)
		race_want_dead(r, r->moved, r->size);
}

void race_unmap_all(struct race *r)
{
	if (r->map)
		munmap(r->map, r->size);
	if (r->moved)
		munmap(r->moved, r->size);
}

bool race_after_unpin(struct race *r)
{
	want_eq(r->right_ret, 0);
	race_want_mappings_dead(r);
	race_unmap_all(r);
	return r->left_ret == 0;
}
