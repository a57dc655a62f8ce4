/* SPDX-License-Identifier: MIT */
/* One pin, one mapping, data in both directions, and nothing left afterwards. */
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

static void pin_map_copy_unpin(void)
{
	const size_t size = 2 * GPU_PAGE;
	uint64_t va = sim_alloc(size), handle, pins = sim_pins();
	int fd = dev_open();
	uint32_t value = 0;
	char *map;

	handle = dev_must_pin(fd, va, size);
	want_eq(sim_pins(), pins + 1);
	map = dev_must_map(fd, handle, size);

	want_eq(poke(map + 64, 0x1234567), 0);
	want_eq(poke(map + size - 4, 0x89abcde), 0);
	want_eq(sim_read(va, 64), 0x1234567);
	want_eq(sim_read(va, size - 4), 0x89abcde);
	sim_write(va, GPU_PAGE, 0xfedcba);
	want_eq(peek(map + GPU_PAGE, &value), 0);
	want_eq(value, 0xfedcba);

	want_eq(munmap(map, size), 0);
	want_eq(dev_unpin(fd, handle), 0);
	want_eq(sim_pins(), pins);
	sim_free(va);
	close(fd);
	want_eq(sim_damage(), 0);
}

int main(void)
{
	RUN(pin_map_copy_unpin);
	return guest_end();
}
