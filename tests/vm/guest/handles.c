/* SPDX-License-Identifier: MIT */
/*
 * Handles stay below 2^32 however much was pinned before, and an old mapping never
 * shows what was pinned later under the same handle.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define FEW	50

static unsigned long rounds;
static uint64_t space;		/* offsets that there are, in host pages */

static void stay_below_32_bits(void)
{
	const uint64_t size = MIB(32);
	uint64_t va = sim_alloc(size), handle, highest = 0, pages = 0;
	int fd = dev_open();
	unsigned long i;

	for (i = 0; i < rounds; i++) {
		if (!want_eq(dev_pin(fd, va, size, &handle), 0))
			break;
		if (handle > highest)
			highest = handle;
		pages += size / HOST_PAGE;
		if (!want_eq(dev_unpin(fd, handle), 0))
			break;
	}
	want(highest + size / HOST_PAGE <= space);
	guest_note("%llu pages pinned in all, highest handle %llu", (unsigned long long)pages,
		   (unsigned long long)highest);
	close(fd);
	sim_free(va);
}

/* Many at once: no two ranges of offsets overlap. */
static void ranges_do_not_overlap(void)
{
	enum { N = 300 };
	static uint64_t handles[N], sizes[N];
	uint64_t va = sim_alloc(MIB(1)), random = 88172645463325252;
	int fd = dev_open();
	size_t i, j, step;

	for (step = 0; step < 4; step++) {
		for (i = 0; i < N; i++) {
			if (step && i % (step + 1))
				continue;
			if (step)
				want_eq(dev_unpin(fd, handles[i]), 0);
			sizes[i] = (1 + pseudo_random(&random) % 16) * GPU_PAGE;
			handles[i] = dev_must_pin(fd, va, sizes[i]);
		}
		for (i = 0; i < N; i++)
			for (j = 0; j < i; j++)
				if (handles[i] < handles[j] + sizes[j] / HOST_PAGE &&
				    handles[j] < handles[i] + sizes[i] / HOST_PAGE)
					want(!"two pins share an offset");
	}
	for (i = 0; i < N; i++)
		want_eq(dev_unpin(fd, handles[i]), 0);
	close(fd);
	sim_free(va);
}

/*
 * The mapping of an unpinned pin stays where it is while others are pinned and
 * mapped, until one of these has the old handle, if it is ever given again.
 */
static void old_mapping_never_shows_a_new_pin(void)
{
	const size_t size = 2 * GPU_PAGE;
	uint64_t old_va = sim_alloc(size), new_va = sim_alloc(size), old, handle = 0;
	/* where handles grow for long before they come again: not to wait for */
	int tries = space > UINT64_C(1) << 20 ? FEW : (int)(space / (size / HOST_PAGE)) + 2;
	uint32_t value = 0;
	int fd = dev_open(), i;
	char *stale, *map = NULL;
	void *again;

	old = dev_must_pin(fd, old_va, size);
	stale = dev_must_map(fd, old, size);
	want_eq(poke(stale, 1), 0);
	want_eq(dev_unpin(fd, old), 0);
	for (i = 0; i < tries; i++) {
		handle = dev_must_pin(fd, new_va, size);
		map = dev_must_map(fd, handle, size);
		want_eq(poke(map, 0x11), 0);
		if (i % 64 == 0 || handle == old)
			want(is_dead_by_sigbus(stale, size));
		if (handle == old || i == tries - 1)
			break;
		want_eq(munmap(map, size), 0);
		want_eq(dev_unpin(fd, handle), 0);
	}
	guest_note("the handle came again: %s", handle == old ? "yes" : "no");
	want(tries == FEW || handle == old);

	/* the end of the old mapping is not that of the new one */
	want_eq(munmap(stale, size), 0);
	want_eq(dev_mapping_type(fd, handle), GDRDRV_MAPPING_WC);
	want_eq(dev_map(fd, handle, size, &again), -EINVAL);
	want_eq(peek(map, &value), 0);
	want_eq(value, 0x11);
	want_eq(dev_unpin(fd, handle), 0);
	want(is_dead_by_sigbus(map, size));
	munmap(map, size);
	close(fd);
	sim_free(old_va);
	sim_free(new_va);
	want_eq(sim_damage(), 0);
}

/* All offsets are taken: the next pin fails, and nothing is left of it. */
static void no_offset_left_is_enomem(void)
{
	const uint64_t size = MIB(32);
	static uint64_t handles[64];
	uint64_t va, handle = 0, n, i, pins;
	int fd, ret = 0;

	if (space > COUNT_OF(handles) * size / HOST_PAGE) {
		guest_skip_case("there are too many, see max_handle");
		return;
	}
	fd = dev_open();
	va = sim_alloc(size);
	for (n = 0; n < COUNT_OF(handles); n++) {
		ret = dev_pin(fd, va, size, &handles[n]);
		if (ret)
			break;
	}
	want_eq(ret, -ENOMEM);
	want_eq(n, space / (size / HOST_PAGE));
	pins = sim_pins();
	want_eq(dev_pin(fd, va, size, &handle), -ENOMEM);
	want_eq(sim_pins(), pins);
	for (i = 0; i < n; i += 2)
		want_eq(dev_unpin(fd, handles[i]), 0);
	want_eq(dev_pin(fd, va, size + GPU_PAGE, &handle), -EINVAL);
	for (i = 0; i < n; i += 2)
		want_eq(dev_pin(fd, va, size, &handles[i]), 0);
	want_eq(dev_pin(fd, va, size, &handle), -ENOMEM);
	close(fd);
	sim_free(va);
}

/* The same with all of what can be done to the old mapping before its handle comes again. */
static void old_pieces_never_show_a_new_pin(void)
{
	const size_t size = 2 * GPU_PAGE;
	uint64_t va = sim_alloc(size), handle;
	int fd = dev_open(), i;
	char *stale[20];

	for (i = 0; i < 20; i++) {
		handle = dev_must_pin(fd, va, size);
		stale[i] = dev_must_map(fd, handle, size);
		want_eq(poke(stale[i], 5), 0);
		if (i % 4 == 1)
			munmap(stale[i] + HOST_PAGE, HOST_PAGE);
		if (i % 4 == 2)
			mprotect(stale[i], GPU_PAGE, PROT_READ);
		if (i % 4 == 3)
			munmap(stale[i], HOST_PAGE);
		want_eq(dev_unpin(fd, handle), 0);
	}
	handle = dev_must_pin(fd, va, size);
	for (i = 0; i < 20; i++)
		want(is_dead_by_sigbus(stale[i], size));
	for (i = 0; i < 20; i++)
		munmap(stale[i], size);
	want_eq(dev_unpin(fd, handle), 0);
	close(fd);
	sim_free(va);
	want_eq(sim_damage(), 0);
}

int main(int argc, char **argv)
{
	char text[32];

	space = UINT64_C(1) << 32;
	if (read_file("/sys/module/gdrdrv/parameters/max_handle", text, sizeof(text)) > 0)
		space = strtoull(text, NULL, 10) + 1;
	/* 524,288 rounds of 32 MiB are all 2^32 pages */
	rounds = number_arg(argc, argv, 1, 2000);
	RUN(stay_below_32_bits);
	RUN(ranges_do_not_overlap);
	RUN(no_offset_left_is_enomem);
	RUN(old_mapping_never_shows_a_new_pin);
	RUN(old_pieces_never_show_a_new_pin);
	return guest_end();
}
