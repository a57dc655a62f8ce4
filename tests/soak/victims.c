/* SPDX-License-Identifier: MIT */
/*
 * Each is this program once more, since CUDA does not survive a fork.  It shares
 * a board with us, where it writes what its threads are doing, and a pipe, in
 * which it writes when they have begun.
 */
#include "victims.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "forks.h"

#define START_US (120 * INT64_C(1000000))

#define CHILD "--child"
#define HOLDER "--holder"
#define BOARD_FD 3
#define SAY_FD 4

struct victim {
	pid_t pid;                      /* 0: dead */
	int say;                        /* -1: it has begun */
	int64_t end_us;                 /* when to kill it, then */
	struct soak_board *board;
};

static uint64_t seed, random_state;

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void victims_die(const char *what)
{
	fprintf(stderr, "killed: %s: %s; --seed %llu\n", what, strerror(errno),
		(unsigned long long)seed);
	exit(1);
}

/*
 * In a child of parent: this program once more, with board and pipe where it looks
 * for them.  It works for ever, but not longer than its parent lives.
 */
static void become(pid_t parent, const char *how, const char *text, int board, int say, int in)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(3);
	if (in >= 0 && dup2(in, STDIN_FILENO) < 0)
		_exit(3);
	/* so that neither is overwritten before it is moved */
	board = fcntl(board, F_DUPFD_CLOEXEC, 10);
	say = fcntl(say, F_DUPFD_CLOEXEC, 10);
	if (dup2(board, BOARD_FD) < 0 || dup2(say, SAY_FD) < 0)
		_exit(3);
	execl("/proc/self/exe", "killed", how, text, (char *)NULL);
	_exit(3);
}

static void start(struct victim *v, unsigned threads)
{
	int board = memfd_create("killed-board", MFD_CLOEXEC), say[2];
	pid_t parent = getpid();
	char text[64];

	if (board < 0 || ftruncate(board, sizeof(*v->board)) || pipe2(say, O_CLOEXEC))
		victims_die("a board and a pipe");
	v->board = mmap(NULL, sizeof(*v->board), PROT_READ | PROT_WRITE, MAP_SHARED, board, 0);
	if (v->board == MAP_FAILED)
		victims_die("mmap");
	snprintf(text, sizeof(text), "%u:%llu", threads,
		 (unsigned long long)soak_random(&random_state));
	fflush(NULL);
	v->pid = fork();
	if (v->pid == 0)
		become(parent, CHILD, text, board, say[1], -1);
	if (v->pid < 0)
		victims_die("fork");
	close(board);
	close(say[1]);
	v->say = say[0];
}

static void end(struct victim *v, unsigned threads, unsigned long in[SOAK_OPS])
{
	int status = 0;
	unsigned i;

	kill(v->pid, SIGKILL);
	if (waitpid(v->pid, &status, 0) != v->pid)
		victims_die("waitpid");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		exit(77);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
		fprintf(stderr, "killed: a child ended by itself, status 0x%x; --seed %llu\n",
			(unsigned)status, (unsigned long long)seed);
		exit(1);
	}
	for (i = 0; i < threads; i++)
		in[v->board->threads[i].doing]++;
	munmap(v->board, sizeof(*v->board));
	if (v->say >= 0)
		close(v->say);
	v->pid = 0;
}

/* False if it is dead already. */
static bool has_begun(struct victim *v, double window_ms)
{
	double part = (double)(soak_random(&random_state) % 1000000) * 1e-6;
	char byte;

	if (read(v->say, &byte, 1) != 1)
		return false;
	close(v->say);
	v->say = -1;
	v->end_us = now_us() + (int64_t)(part * window_ms * 1e3);
	return true;
}

/* Until one has something to say, or has to die. */
static void wait_for_one(struct victim *victims, unsigned n, int64_t until, struct pollfd *fds)
{
	int64_t us;
	unsigned i;

	for (i = 0; i < n; i++) {
		struct victim *v = &victims[i];

		fds[i] = (struct pollfd){ .fd = v->pid ? v->say : -1, .events = POLLIN };
		if (v->pid && v->say < 0 && v->end_us < until)
			until = v->end_us;
	}
	us = until - now_us();
	if (us < 0)
		us = 0;
	if (ppoll(fds, n, &(struct timespec){ .tv_sec = us / 1000000,
					      .tv_nsec = us % 1000000 * 1000 }, NULL) < 0)
		victims_die("poll");
}

void victims_kill(const struct victims_plan *plan, unsigned n, unsigned long in[SOAK_OPS])
{
	int64_t limit = now_us() + START_US;
	struct pollfd fds[VICTIMS_MAX];
	struct victim victims[VICTIMS_MAX];
	unsigned alive = n, i;

	if (!seed)
		seed = random_state = plan->seed;
	for (i = 0; i < n; i++)
		start(&victims[i], plan->threads);
	while (alive) {
		wait_for_one(victims, n, limit, fds);
		for (i = 0; i < n; i++) {
			struct victim *v = &victims[i];
			bool dead = fds[i].revents && !has_begun(v, plan->window_ms);

			if (!v->pid || (!dead && (v->say >= 0 || now_us() < v->end_us)))
				continue;
			end(v, plan->threads, in);
			alive--;
		}
		if (alive && now_us() > limit) {
			errno = ETIMEDOUT;
			victims_die("a child to begin");
		}
	}
}

bool victims_left(int ms)
{
	int64_t limit = soak_ms() + ms;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0) {
		if (pid == 0 && soak_ms() >= limit)
			return true;
		if (pid == 0)
			usleep(2000);
	}
	return false;
}

static void answer(const struct holder *h, char expected)
{
	char byte = 0;
	int status;

	if (read(h->say, &byte, 1) == 1 && byte == expected)
		return;
	if (waitpid(h->pid, &status, 0) == h->pid && WIFEXITED(status) && WEXITSTATUS(status) == 77)
		exit(77);
	errno = EPROTO;
	victims_die("the process that is to hold a pin");
}

void holder_start(struct holder *h)
{
	int tell[2], say[2];
	pid_t parent = getpid();

	if (pipe2(tell, O_CLOEXEC) || pipe2(say, O_CLOEXEC))
		victims_die("pipe");
	h->pid = fork();
	if (h->pid == 0)
		become(parent, HOLDER, "", say[1], say[1], tell[0]);
	if (h->pid < 0)
		victims_die("fork");
	close(tell[0]);
	close(say[1]);
	h->tell = tell[1];
	h->say = say[0];
	answer(h, 'r');
}

void holder_pin(const struct holder *h)
{
	if (write(h->tell, "p", 1) != 1)
		victims_die("write");
	answer(h, 'p');
}

void holder_end(const struct holder *h)
{
	close(h->tell);
	if (waitpid(h->pid, NULL, 0) != h->pid)
		victims_die("waitpid");
	close(h->say);
}

static void work(const char *text)
{
	struct soak_plan plan = { .size = 2 << 20, .buffers = 2, .hang = 60, .say = SAY_FD };
	struct soak_board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED,
					BOARD_FD, 0);
	char *rest;

	if (board == MAP_FAILED)
		_exit(3);
	fcntl(BOARD_FD, F_SETFD, FD_CLOEXEC);
	fcntl(SAY_FD, F_SETFD, FD_CLOEXEC);
	plan.threads = (unsigned)strtoul(text, &rest, 10);
	plan.seed = strtoull(rest + 1, NULL, 10);
	soak_begin(&plan, board);
	soak_run(0, 0);
}

/* Persistent memory is only held by the pin in the end. */
static void hold(void)
{
	struct soak_plan plan = { .threads = 1, .size = 2 << 20, .buffers = 1, .hang = 60 };
	static struct soak_board board;
	struct gpu_mem mem;
	gdr_mh_t mh;
	char byte;
	void *va;

	soak_begin(&plan, &board);
	CHECK(write(SAY_FD, "r", 1) == 1);
	CHECK(read(STDIN_FILENO, &byte, 1) == 1);
	CU(gpu_allocators[0].alloc(&mem, 4 << 20, true, true));
	GDR(gdr_pin_buffer(soak.shared[0], mem.ptr, mem.size, 0, 0, &mh));
	GDR(gdr_map(soak.shared[0], mh, &va, mem.size));
	if (soak.persistent)
		CU(gpu_allocators[0].free(&mem));
	CHECK(write(SAY_FD, "p", 1) == 1);
	CHECK(read(STDIN_FILENO, &byte, 1) == 0);
	_exit(0); /* as it is */
}

void victims_main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], FORKS_INHERITED))
		exit(forks_look_at_inherited());
	if (argc == 3 && !strcmp(argv[1], HOLDER))
		hold();
	if (argc == 3 && !strcmp(argv[1], CHILD)) {
		work(argv[2]);
		exit(4); /* nobody told it to end */
	}
}
