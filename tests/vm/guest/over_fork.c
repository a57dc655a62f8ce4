/* SPDX-License-Identifier: MIT */
/*
 * A forked child, in every state of a pin: it has no mapping, no say, and what it
 * does with its descriptors and addresses is nothing to the parent.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)

enum state { OPENED, PINNED, MAPPED, TOUCHED, UNMAPPED, UNPINNED, REVOKED, STATES };

static const char *const names[] = {
	"opened", "pinned", "mapped", "touched", "unmapped", "unpinned_mapped", "freed_mapped",
};

static enum state state;
static int fd;
static uint64_t va, handle;
static char *map;

static void reach_state(void)
{
	fd = dev_open();
	va = sim_alloc(SIZE);
	handle = 0;
	map = NULL;
	if (state >= PINNED)
		handle = dev_must_pin(fd, va, SIZE);
	if (state >= MAPPED)
		map = dev_must_map(fd, handle, SIZE);
	if (state >= TOUCHED)
		want_eq(readable_pages(map, SIZE), SIZE / HOST_PAGE);
	if (state == UNMAPPED)
		want_eq(munmap(map, SIZE), 0);
	if (state == UNPINNED)
		want_eq(dev_unpin(fd, handle), 0);
	if (state == REVOKED) {
		sim_free(va);
		va = 0;
	}
}

static void leave_state(void)
{
	if (map && state != UNMAPPED)
		want_eq(munmap(map, SIZE), 0);
	if (state >= PINNED && state != UNPINNED)
		want_eq(dev_unpin(fd, handle), 0);
	close(fd);
	if (va)
		sim_free(va);
	want_eq(sim_damage(), 0);
}

static void everything_is_refused(void *unused)
{
	void *addr;

	(void)unused;
	if (map) {
		want(!page_is_mapped(map));
		want(is_dead_by_sigbus(map, SIZE));
		want_eq(munmap(map, SIZE), 0);
	}
	want_eq(dev_mapping_type(fd, handle), -EACCES);
	want_eq(dev_unpin(fd, handle), -EACCES);
	want_eq(dev_cb_flag(fd, handle), -EACCES);
	want_eq(dev_pin(fd, va, SIZE, &handle), -EACCES);
	want_eq(dev_map(fd, handle, SIZE, &addr), -EACCES);
	close(fd);
}

/* The parent's device address means nothing in the child; memory of its own works. */
static void a_file_of_its_own(void *unused)
{
	int own = dev_open();
	uint64_t mine, h;
	char *m;

	(void)unused;
	want_eq(dev_pin(own, va ? va : GPU_PAGE, SIZE, &h), -EINVAL);
	mine = sim_alloc(SIZE);
	h = dev_must_pin(own, mine, SIZE);
	m = dev_must_map(own, h, SIZE);
	want_eq(poke(m, 0xc411d), 0);
	want_eq(sim_read(mine, 0), 0xc411d);
	want_eq(dev_unpin(own, h), 0);
	want(is_dead_by_sigbus(m, SIZE));
}

static void the_state_is_unchanged(void)
{
	switch (state) {
	case OPENED:
		want_eq(dev_mapping_type(fd, 0), -EINVAL);
		break;
	case UNPINNED:
		want_eq(dev_mapping_type(fd, handle), -EINVAL);
		want(is_dead_by_sigbus(map, SIZE));
		break;
	case PINNED:
	case UNMAPPED:
		want_eq(dev_mapping_type(fd, handle), GDRDRV_MAPPING_NONE);
		break;
	case MAPPED:
	case TOUCHED:
		want_eq(dev_mapping_type(fd, handle), dev_default_type());
		want_eq(readable_pages(map, SIZE), SIZE / HOST_PAGE);
		want_eq(poke(map, 0x9a9a), 0);
		want_eq(sim_read(va, 0), 0x9a9a);
		break;
	default:
		want_eq(dev_cb_flag(fd, handle), !dev_persistent(fd));
		if (!dev_persistent(fd))
			want(is_dead_by_sigbus(map, SIZE));
	}
}

static void forked(void)
{
	uint64_t pins = sim_pins();

	reach_state();
	want_eq(in_child(everything_is_refused, NULL), 0);
	the_state_is_unchanged();
	want_eq(in_child(a_file_of_its_own, NULL), 0);
	the_state_is_unchanged();
	leave_state();
	want_eq(sim_pins(), pins);
}

static void not_inherited_on_request_either(void)
{
	state = TOUCHED;
	reach_state();
	want_eq(madvise(map, SIZE, MADV_DOFORK), -1);
	want_eq(madvise(map, HOST_PAGE, MADV_DOFORK), -1);
	want_eq(in_child(everything_is_refused, NULL), 0);
	leave_state();
}

int main(void)
{
	for (state = 0; state < STATES; state++)
		guest_run(names[state], forked);
	RUN(not_inherited_on_request_either);
	return guest_end();
}
