/* SPDX-License-Identifier: MIT */
/* /proc/driver/gdrdrv/counters and fdinfo follow what happens, and come back to nothing. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)

static long long counter(const char *name)
{
	char text[1024], key[64];

	need(read_file("/proc/driver/gdrdrv/counters", text, sizeof(text)) > 0);
	snprintf(key, sizeof(key), "%s:", name);
	return number_after(text, key);
}

static long long of_file(int fd, const char *name)
{
	char path[64], text[1024], key[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	need(read_file(path, text, sizeof(text)) > 0);
	snprintf(key, sizeof(key), "gdrdrv-%s:", name);
	return number_after(text, key);
}

static void all_is_nothing(void)
{
	want_eq(counter("pins"), 0);
	want_eq(counter("pinned_bytes"), 0);
	want_eq(counter("mappings"), 0);
	want_eq(counter("mapped_bytes"), 0);
	want_eq(counter("held"), 0);
}

static void they_follow(void)
{
	uint64_t va = sim_alloc(SIZE), h[2];
	int fd = dev_open(), other = dev_open();
	long long faults = counter("faults"), revocations = counter("revocations");
	bool persistent = dev_persistent(fd);
	char *map;

	h[0] = dev_must_pin(fd, va, SIZE);
	h[1] = dev_must_pin(fd, va, 1);
	want_eq(counter("pins"), 2);
	want_eq(counter("held"), 2);
	want_eq(counter("pinned_bytes"), SIZE + GPU_PAGE);
	want_eq(counter("mappings"), 0);
	want_eq(of_file(fd, "pins"), 2);
	want_eq(of_file(fd, "pinned-bytes"), SIZE + GPU_PAGE);
	want_eq(of_file(fd, "mapped-bytes"), 0);
	want_eq(of_file(other, "pins"), 0);
	want_eq(of_file(other, "pinned-bytes"), 0);

	map = dev_must_map(fd, h[0], SIZE);
	want_eq(counter("mappings"), 1);
	want_eq(counter("mapped_bytes"), SIZE);
	want_eq(of_file(fd, "mapped-bytes"), SIZE);
	want_eq(peek_at(map, 0), 0);
	/* a persistent pin is entered at mmap */
	want(persistent || counter("faults") > faults);

	sim_free(va);
	want_eq(counter("revocations") - revocations, persistent ? 0 : 2);
	want_eq(of_file(fd, "revoked"), persistent ? 0 : 2);
	want_eq(counter("held"), persistent ? 2 : 0);
	want_eq(dev_unpin(fd, h[1]), 0);
	want_eq(counter("pins"), 1);
	want_eq(of_file(fd, "pins"), 1);
	want_eq(of_file(fd, "revoked"), persistent ? 0 : 1);
	munmap(map, SIZE);
	want_eq(counter("mappings"), 0);
	want_eq(counter("mapped_bytes"), 0);
	want_eq(of_file(fd, "mapped-bytes"), 0);
	close(fd);
	close(other);
	all_is_nothing();
}

/* In pieces and out of order: each byte is counted back once. */
static void partial_unmaps_count_back(void)
{
	uint64_t va = sim_alloc(SIZE), handle;
	int fd = dev_open();
	char *map;

	handle = dev_must_pin(fd, va, SIZE);
	map = dev_must_map(fd, handle, SIZE);
	munmap(map, HOST_PAGE);
	munmap(map + SIZE / 2, HOST_PAGE);
	munmap(map + SIZE - HOST_PAGE, HOST_PAGE);
	mprotect(map + GPU_PAGE / 2, HOST_PAGE, PROT_READ);
	want_eq(dev_unpin(fd, handle), 0);
	munmap(map, SIZE);
	all_is_nothing();
	close(fd);
	sim_free(va);
}

static void failures_count_nothing(void)
{
	uint64_t va = sim_alloc(SIZE), handle;
	int fd = dev_open();
	void *map;

	want_eq(dev_pin(fd, va, MIB(64), &handle), -EINVAL);
	sim_fault(NVSIM_FAULT_GET, ENOMEM);
	want_eq(dev_pin(fd, va, SIZE, &handle), -ENOMEM);
	sim_fault(NVSIM_FAULT_TABLE_PAGE_SIZE, 0);
	want_eq(dev_pin(fd, va, SIZE, &handle), -EINVAL);
	sim_reset();
	handle = dev_must_pin(fd, va, SIZE);
	want_eq(dev_map(fd, handle, 2 * SIZE, &map), -EINVAL);
	want_eq(counter("mappings"), 0);
	want_eq(dev_unpin(fd, handle), 0);
	all_is_nothing();
	want_eq(of_file(fd, "pinned-bytes"), 0);
	close(fd);
	sim_free(va);
}

static void put_failures_are_counted(void)
{
	uint64_t va = sim_alloc(SIZE), handle;
	long long before = counter("put_failures");
	int fd = dev_open();

	handle = dev_must_pin(fd, va, SIZE);
	sim_fault(NVSIM_FAULT_PUT, EIO);
	dev_unpin(fd, handle);
	want_eq(counter("put_failures"), before + 1);
	want_eq(counter("pins"), 0);
	sim_free(va);
	sim_reset();
	close(fd);
}

int main(void)
{
	RUN(all_is_nothing);
	RUN(they_follow);
	RUN(partial_unmaps_count_back);
	RUN(failures_count_nothing);
	RUN(put_failures_are_counted);
	return guest_end();
}
