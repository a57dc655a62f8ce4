/* SPDX-License-Identifier: MIT */
/*
 * The last close may happen in any process and after anything: the pins go, no
 * callback comes to what is gone, and nothing of the provider's is left.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)

static int dev;
static int sockets[2];

static void wait_then_close(void *unused)
{
	char byte;

	(void)unused;
	need(read(sockets[1], &byte, 1) == 1);
	want_eq(close(dev), 0);
}

static void nothing_is_left(uint64_t pins)
{
	want_eq(sim_pins(), pins);
	want_eq(sim_stats().recursions, 0);
	want_eq(sim_damage(), 0);
}

/* The child has the last reference; then the memory is freed, with the pin perhaps still known. */
static void child_closes_last_then_free(void)
{
	uint64_t va = sim_alloc(SIZE), pins = sim_pins();
	pid_t pid;
	int i;

	dev = dev_open();
	for (i = 0; i < 10; i++)
		dev_must_pin(dev, va, SIZE);
	need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	pid = start_child(wait_then_close, NULL);
	close(dev);
	need(write(sockets[0], "x", 1) == 1);
	want_eq(wait_child(pid), 0);
	sim_free(va);
	nothing_is_left(pins);
}

static void free_then_child_closes_last(void)
{
	uint64_t va = sim_alloc(SIZE), pins = sim_pins();
	pid_t pid;

	dev = dev_open();
	dev_must_pin(dev, va, SIZE);
	need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	pid = start_child(wait_then_close, NULL);
	close(dev);
	sim_free(va);
	need(write(sockets[0], "x", 1) == 1);
	want_eq(wait_child(pid), 0);
	nothing_is_left(pins);
}

/* The parent's mapping holds the file after both have closed it. */
static void mapping_goes_last(void)
{
	uint64_t va = sim_alloc(SIZE), pins = sim_pins(), handle;
	char *map;
	pid_t pid;

	dev = dev_open();
	handle = dev_must_pin(dev, va, SIZE);
	map = dev_must_map(dev, handle, SIZE);
	need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	pid = start_child(wait_then_close, NULL);
	close(dev);
	need(write(sockets[0], "x", 1) == 1);
	want_eq(wait_child(pid), 0);
	want_eq(poke(map, 1), 0);
	want_eq(sim_read(va, 0), 1);
	want_eq(sim_pins(), pins + 1);
	munmap(map, SIZE);
	want_eq(sim_pins(), pins);
	want(is_dead(map, SIZE));
	sim_free(va);
	nothing_is_left(pins);
}

/* Keeps nothing but its copy of the driver's descriptor. */
static void orphan(void *owner_waits)
{
	pid_t self = getpid();

	sim_leave();
	need(write(sockets[1], &self, sizeof(self)) == sizeof(self));
	need(write(*(int *)owner_waits, "x", 1) == 1);
	wait_then_close(NULL);
}

static void own_and_leave(void *killed)
{
	uint64_t va = sim_alloc(SIZE), handle;
	int ready[2];
	char byte;

	dev = dev_open();
	handle = dev_must_pin(dev, va, SIZE);
	need(poke(dev_must_map(dev, handle, SIZE), 1) == 0);
	need(pipe(ready) == 0);
	start_child(orphan, &ready[1]);
	need(read(ready[0], &byte, 1) == 1);
	if (killed)
		kill(getpid(), SIGKILL);
	_exit(0);
}

static void owner_ends(void *killed)
{
	uint64_t pins = sim_pins();
	pid_t left_over;
	int tries = 0;

	need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	in_child(own_and_leave, killed);
	need(read(sockets[0], &left_over, sizeof(left_over)) == sizeof(left_over));
	/* its descriptor in the orphan does not keep the memory of the owner pinned */
	want_eq(sim_pins(), pins);
	need(write(sockets[0], "x", 1) == 1);
	while (kill(left_over, 0) == 0 && tries++ < 200)
		usleep(5000);
	nothing_is_left(pins);
}

static void owner_exits_before_its_child(void)
{
	owner_ends(NULL);
}

static void owner_is_killed_before_its_child(void)
{
	owner_ends(&dev);
}

int main(void)
{
	RUN(child_closes_last_then_free);
	RUN(free_then_child_closes_last);
	RUN(mapping_goes_last);
	RUN(owner_exits_before_its_child);
	RUN(owner_is_killed_before_its_child);
	return guest_end();
}
