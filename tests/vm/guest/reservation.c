/* SPDX-License-Identifier: MIT */
/*
 * The memory type that a pin reserves on x86 goes with the pin, also when its mapping
 * is still there: the frames may belong to somebody else by then.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define LIST	"/sys/kernel/debug/x86/pat_memtype_list"

/* Write-combining entries in the kernel's list. */
static int reservations(void)
{
	static char text[1 << 20];
	const char *at = text;
	int n = 0;

	need(read_file(LIST, text, sizeof(text)) > 0);
	while ((at = strstr(at, "write-combining"))) {
		at++;
		n++;
	}
	return n;
}

static void pin_and_map(uint64_t size, size_t mapped)
{
	uint64_t va = sim_alloc(size), handle;
	int fd = dev_open(), before = reservations();
	void *map;

	handle = dev_must_pin(fd, va, size);
	want(reservations() > before);
	map = dev_must_map(fd, handle, mapped);
	want_eq(dev_mapping_type(fd, handle), GDRDRV_MAPPING_WC);
	want_eq(peek_at(map, mapped - HOST_PAGE), 0);
	want_eq(dev_unpin(fd, handle), 0);
	want_eq(reservations(), before);
	want(is_dead_by_sigbus(map, mapped));
	munmap(map, mapped);
	want_eq(reservations(), before);
	close(fd);
	sim_free(va);
}

static void goes_with_the_pin(void)
{
	pin_and_map(MIB(1), MIB(1));
}

static void goes_with_a_pin_mapped_in_part(void)
{
	pin_and_map(MIB(1), MIB(1) - HOST_PAGE);
}

static void goes_with_a_pin_mapped_by_one_page(void)
{
	pin_and_map(GPU_PAGE, HOST_PAGE);
}

int main(void)
{
	if (access(LIST, R_OK) != 0)
		guest_skip("the kernel does not list memory types");
	RUN(goes_with_the_pin);
	RUN(goes_with_a_pin_mapped_in_part);
	RUN(goes_with_a_pin_mapped_by_one_page);
	return guest_end();
}
