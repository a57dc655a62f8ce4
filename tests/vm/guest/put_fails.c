/* SPDX-License-Identifier: MIT */
/* The provider refuses to take a pin back: the pages are out of reach all the same. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)

static void unpin(void)
{
	uint64_t va = sim_alloc(SIZE), handle;
	int fd = dev_open(), ret;
	char *map;

	handle = dev_must_pin(fd, va, SIZE);
	map = dev_must_map(fd, handle, SIZE);
	want_eq(poke(map, 1), 0);
	sim_fault(NVSIM_FAULT_PUT, EIO);
	ret = dev_unpin(fd, handle);
	want_in(ret, 0, -EIO);
	guest_note("unpin answers %d", ret);
	want(is_dead_by_sigbus(map, SIZE));
	want_eq(dev_unpin(fd, handle), -EINVAL);
	munmap(map, SIZE);
	/* what the provider still knows is revoked with the memory; nobody is there to hear it */
	sim_free(va);
	sim_reset();
	close(fd);
	want_eq(sim_damage(), 0);
}

static void last_close(void)
{
	uint64_t va = sim_alloc(SIZE);
	int fd = dev_open();

	dev_must_pin(fd, va, SIZE);
	sim_fault(NVSIM_FAULT_PUT, EIO);
	close(fd);
	sim_free(va);
	sim_reset();
	want_eq(sim_damage(), 0);
}

int main(void)
{
	uint64_t pins = sim_pins();

	RUN(unpin);
	RUN(last_close);
	want_eq(sim_pins(), pins);
	return guest_end();
}
