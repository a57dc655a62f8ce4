/* SPDX-License-Identifier: MIT */
/* exec: the mapping goes, the descriptor and its pins stay where it is not closed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)

/* What runs in the new image: the file is its own, as it is the same process. */
static int new_image(char **argv)
{
	int fd = atoi(argv[2]);
	uint64_t handle = strtoull(argv[3], NULL, 0), value_at = strtoull(argv[4], NULL, 0);
	const char *old_map = (const char *)(uintptr_t)strtoull(argv[5], NULL, 0);
	uint32_t value = 0;
	char *map;

	want(!page_is_mapped(old_map));
	want_eq(dev_mapping_type(fd, handle), GDRDRV_MAPPING_NONE);
	map = dev_must_map(fd, handle, SIZE);
	want_eq(peek(map + value_at, &value), 0);
	want_eq(value, 0xe8ec);
	want_eq(dev_unpin(fd, handle), 0);
	want(is_dead_by_sigbus(map, SIZE));
	want_eq(sim_pins(), 0);
	return guest_failures() != 0;
}

static void pin_and_exec(void *keeps)
{
	uint64_t va = sim_alloc(SIZE), handle;
	int fd = dev_open();
	char words[4][32], *map;
	char name[] = "over_exec", again[] = "again", gone[] = "gone";
	char *args[] = { name, again, words[0], words[1], words[2], words[3], NULL };

	handle = dev_must_pin(fd, va, SIZE);
	map = dev_must_map(fd, handle, SIZE);
	want_eq(poke(map + 4096, 0xe8ec), 0);
	if (!keeps) {
		args[1] = gone;
	} else {
		need(fcntl(fd, F_SETFD, 0) == 0);
		need(fcntl(sim_fd_of(va), F_SETFD, 0) == 0);
	}
	snprintf(words[0], sizeof(words[0]), "%d", fd);
	snprintf(words[1], sizeof(words[1]), "%llu", (unsigned long long)handle);
	snprintf(words[2], sizeof(words[2]), "%d", 4096);
	snprintf(words[3], sizeof(words[3]), "%p", (void *)map);
	execv("/proc/self/exe", args);
	need(!"exec");
}

static int keeps_it;

static void a_kept_descriptor_still_works(void)
{
	want_eq(in_child(pin_and_exec, &keeps_it), 0);
	want_eq(sim_pins(), 0);
	want_eq(sim_damage(), 0);
}

static void close_on_exec_unpins(void)
{
	want_eq(in_child(pin_and_exec, NULL), 0);
	want_eq(sim_pins(), 0);
	want_eq(sim_damage(), 0);
}

int main(int argc, char **argv)
{
	if (argc == 6 && strcmp(argv[1], "again") == 0)
		return new_image(argv);
	if (argc == 6) {
		want_eq(sim_pins(), 0);
		return guest_failures() != 0;
	}
	RUN(a_kept_descriptor_still_works);
	RUN(close_on_exec_unpins);
	return guest_end();
}
