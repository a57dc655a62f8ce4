/* SPDX-License-Identifier: MIT */
/*
 * A process ends in every state: each combination of what its pin is by then, how
 * it ends, and whose file was opened, and so is closed, first.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)

enum state { PINNED, MAPPED, TOUCHED, UNMAPPED, UNPINNED, FREED, FREED_UNMAPPED, STATES };
enum end { EXIT, KILL, FAULT, CLOSE_DRIVER, CLOSE_MEMORY, CLOSE_BOTH, ENDS };

static const char *const state_names[] = {
	"pinned", "mapped", "touched", "unmapped", "unpinned while mapped", "freed while mapped",
	"freed and unmapped",
};
static const char *const end_names[] = {
	"exit", "SIGKILL", "SIGSEGV", "close of the driver, exit", "close of the memory, exit",
	"close of both, exit",
};

static enum state state;
static enum end end;
static bool driver_first;

static void end_in_state(void *unused)
{
	int fd = driver_first ? dev_open() : -1;
	uint64_t va = sim_alloc(SIZE), handle;
	char *map = NULL;

	(void)unused;
	if (fd < 0)
		fd = dev_open();
	handle = dev_must_pin(fd, va, SIZE);
	if (state >= MAPPED)
		map = dev_must_map(fd, handle, SIZE);
	if (state >= TOUCHED)
		want_eq(readable_pages(map, SIZE), SIZE / HOST_PAGE);
	if (state == UNPINNED)
		want_eq(dev_unpin(fd, handle), 0);
	if (state >= FREED)
		sim_free(va);
	if (state == UNMAPPED || state == FREED_UNMAPPED)
		munmap(map, SIZE);

	if (end == CLOSE_DRIVER || end == CLOSE_BOTH)
		close(fd);
	if ((end == CLOSE_MEMORY || end == CLOSE_BOTH) && state < FREED)
		close(sim_fd_of(va));
	if (end == KILL)
		kill(getpid(), SIGKILL);
	if (end == FAULT) {
		signal(SIGSEGV, SIG_DFL);
		kill(getpid(), SIGSEGV);
	}
}

static void ended(void)
{
	struct nvsim_stats before = sim_stats(), after;
	int status = in_child(end_in_state, NULL);

	if (end == KILL || end == FAULT)
		want(WIFSIGNALED(status));
	else
		want_eq(status, 0);
	after = sim_stats();
	want_eq(after.pins, before.pins);
	want_eq(after.persistent_pins, before.persistent_pins);
	want_eq(after.memories, before.memories);
	want_eq(after.registrations, before.registrations);
	want_eq(after.recursions, 0);
	want_eq(sim_damage(), 0);
}

int main(void)
{
	char name[128];
	int first;

	for (state = 0; state < STATES; state++)
		for (end = 0; end < ENDS; end++)
			for (first = 0; first < 2; first++) {
				driver_first = first;
				snprintf(name, sizeof(name), "%s, %s, %s opened first",
					 state_names[state], end_names[end],
					 first ? "driver" : "memory");
				guest_run(name, ended);
			}
	return guest_end();
}
