/* SPDX-License-Identifier: MIT */
/* Whole processes: fork, close, exit and a kill in the middle of something. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "race.h"
#include "sim.h"

/* The child has no such mapping, nor a say about the pin. */
static void in_the_fork(void *arg)
{
	struct race *r = arg;

	want_eq(peek_at(r->map, 0), SIGSEGV);
	want_eq(dev_unpin(r->fd, r->handle), -EACCES);
}

static void do_fork(struct race *r)
{
	pid_t pid = start_child(in_the_fork, r);

	r->left_ret = r->over;
	want_eq(wait_child(pid), 0);
}

static void do_vfork(struct race *r)
{
	pid_t pid = vfork();

	if (pid == 0) {
		race_touch(r, r->map, 4);
		_exit(0);
	}
	r->left_ret = r->over;
	want_eq(wait_child(pid), 0);
}

static void do_mmap(struct race *r)
{
	race_map(r);
}

static void close_file(struct race *r)
{
	close(r->fd);
}

/* The mapping, if there is one, keeps the pin; munmap then ends both. */
static bool after_close(struct race *r)
{
	bool first = r->left_ret == 0;

	want_in(r->left_ret, 0, -EBADF);
	if (first) {
		want_eq(readable_pages(r->map, r->size), r->size / HOST_PAGE);
		munmap(r->map, r->size);
		race_want_dead(r, r->map, r->size);
	}
	r->fd = RACE_NO_FD;
	return first;
}

/* A process of its own that does all of it in two threads, until it is ended. */
struct busy {
	int fd;
	uint64_t va;
};

static void *busy_thread(void *arg)
{
	struct busy *b = arg;
	uint64_t handle, random = (uintptr_t)&handle ^ b->va;
	void *map;

	for (;;) {
		uint32_t dice = pseudo_random(&random);

		if (dev_pin(b->fd, b->va, GPU_PAGE, &handle))
			continue;
		if (dev_map(b->fd, handle, GPU_PAGE, &map) == 0) {
			poke(map, 0x70c4ed);
			if (dice & 1)
				munmap(map, GPU_PAGE);
		}
		if (dice & 6)
			dev_unpin(b->fd, handle);
	}
	return NULL;
}

static unsigned child_lives_us;
static bool child_exits;

static void busy_process(void *unused)
{
	struct busy b;
	pthread_t threads[2];
	int first = child_lives_us % 2 ? dev_open() : -1;

	(void)unused;
	/* the memory's file is closed before the driver's at exit, or after it */
	b.va = sim_alloc(GPU_PAGE);
	b.fd = first < 0 ? dev_open() : first;
	need(pthread_create(&threads[0], NULL, busy_thread, &b) == 0);
	need(pthread_create(&threads[1], NULL, busy_thread, &b) == 0);
	if (child_exits) {
		usleep(child_lives_us);
		_exit(0);
	}
	pause();
}

static void nothing_before(struct race *r)
{
	child_lives_us = pseudo_random(&r->random) % 20000;
}

static void run_busy(struct race *r)
{
	pid_t pid = start_child(busy_process, NULL);
	int status;

	if (!child_exits) {
		usleep(child_lives_us);
		kill(pid, SIGKILL);
	}
	status = wait_child(pid);
	if (child_exits)
		want_eq(status, 0);
	else
		want(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	r->left_ret = 0;
}

static void exit_busy(struct race *r)
{
	child_exits = true;
	run_busy(r);
}

static void kill_busy(struct race *r)
{
	child_exits = false;
	run_busy(r);
}

static void nothing(struct race *r)
{
	(void)r;
}

/* All that it pinned is gone as soon as it can be waited for. */
static bool after_busy(struct race *r)
{
	want_eq(sim_pins(), 0);
	want_eq(sim_damage(), 0);
	return pseudo_random(&r->random) % 2;
}

static const struct race_kind kinds[] = {
	{ "fork_unpin", race_mapped, do_fork, race_unpin, race_after_unpin },
	{ "vfork_unpin", race_mapped, do_vfork, race_unpin, race_after_unpin },
	{ "mmap_close", race_pinned, do_mmap, close_file, after_close },
	{ "exit", nothing_before, exit_busy, nothing, after_busy },
	{ "kill", nothing_before, kill_busy, nothing, after_busy },
};

int main(int argc, char **argv)
{
	return race_main(argc, argv, kinds, COUNT_OF(kinds));
}
