/* SPDX-License-Identifier: MIT */
/*
 * Description: several processes of many threads do everything that the library
 * does, on every kind of memory, at once, while they fork and get signals; every
 * byte is checked, and at the end nothing is left: descriptors, mappings, GPU
 * memory, BAR1, pins of the driver.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "forks.h"
#include "left.h"
#include "soak.h"

/* On a GPU CUDA keeps things of its own once it has been used much; a leak is larger soon. */
#define GPU_SLACK (16LL << 20)
#define FILE_SLACK 16

struct shared {
	pthread_barrier_t barrier;
	struct left_machine before, after;
	struct soak_board boards[SOAK_PROCESSES_MAX];
};

static struct shared *shared;
static double seconds = 10, warm_up;
static unsigned processes = 4;
static struct soak_plan plan = {
	.threads = 16,
	.size = 8 << 20,
	.buffers = 3,
	.hang = 60,
};

static void usage(FILE *f)
{
	fprintf(f, "usage: soak [OPTION...] [SECONDS]\n"
		"  --processes N   %u\n"
		"  --threads N     of each, %u\n"
		"  --buffers N     of a thread, %u\n"
		"  --size BYTES    of the largest, %zu\n"
		"  --seed N        repeats what each thread does\n"
		"  --operations N  of each thread, in place of SECONDS\n"
		"  --hang SECONDS  after which an operation hangs, %g\n"
		"  --no-signals    send none\n",
		processes, plan.threads, plan.buffers, plan.size, plan.hang);
}

static unsigned long number(const char *text, const char *name, unsigned long least,
			    unsigned long most)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || v < least || v > most) {
		fprintf(stderr, "soak: %s %s: not a number from %lu to %lu\n", name, text, least,
			most);
		exit(2);
	}
	return v;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "processes", required_argument, NULL, 'p' },
		{ "threads", required_argument, NULL, 't' },
		{ "buffers", required_argument, NULL, 'b' },
		{ "size", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' },
		{ "operations", required_argument, NULL, 'o' },
		{ "hang", required_argument, NULL, 'w' },
		{ "no-signals", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'p':
			processes = (unsigned)number(optarg, "--processes", 1, SOAK_PROCESSES_MAX);
			break;
		case 't':
			plan.threads = (unsigned)number(optarg, "--threads", 1, SOAK_THREADS_MAX);
			break;
		case 'b':
			plan.buffers = (unsigned)number(optarg, "--buffers", 1, SOAK_BUFFERS_MAX);
			break;
		case 's':
			plan.size = number(optarg, "--size", 2 << 20, 1 << 30);
			break;
		case 'r':
			plan.seed = number(optarg, "--seed", 0, ULONG_MAX);
			break;
		case 'o':
			plan.operations = number(optarg, "--operations", 1, ULONG_MAX);
			break;
		case 'w':
			plan.hang = (double)number(optarg, "--hang", 1, 86400);
			break;
		case 'n':
			plan.no_signals = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind < argc)
		seconds = (double)number(argv[optind++], "SECONDS", 1, 1000000);
	if (optind < argc) {
		usage(stderr);
		exit(2);
	}
	warm_up = seconds < 20 ? 1 : seconds > 200 ? 10 : seconds / 20;
}

static void meet(void)
{
	pthread_barrier_wait(&shared->barrier);
}

/* One of the processes; all of them are quiet when they look. */
static int run(unsigned process)
{
	struct left_process before, after;
	char who[32];
	long long slack;

	plan.process = process;
	soak_begin(&plan, &shared->boards[process]);
	slack = cu_is_soft() ? 0 : GPU_SLACK * processes;
	if (process == 0)
		printf("%s, CUDA %d, backend %s, %s pins, copy routines %s (to) and %s (from)\n",
		       soak.gpu.name, soak.gpu.driver, gdrx_backend_name(soak.shared[0]),
		       soak.persistent ? "persistent" : "revocable", gdrx_copy_routine(0),
		       gdrx_copy_routine(1));
	fflush(stdout);
	/* Nobody takes the memory that another one needs to begin with. */
	meet();
	/* What is made once, by the library or by CUDA, is made now. */
	soak_run(warm_up, 0);
	meet();
	left_process_look(&before);
	meet();
	memset(&shared->boards[process], 0, sizeof(shared->boards[process]));
	soak_run(plan.operations ? 1e6 : seconds, 1);
	meet();
	left_process_look(&after);
	meet();
	snprintf(who, sizeof(who), "process %u", process);
	if (left_process_more(&before, &after, slack, cu_is_soft() ? 0 : FILE_SLACK, who))
		return 1;
	printf("%s, before and after: %d, %d descriptors; %d, %d mappings of device memory; "
	       "%lld, %lld bytes of GPU memory free\n", who, before.descriptors,
	       after.descriptors, before.maps, after.maps, before.free_bytes, after.free_bytes);
	soak_end();
	fflush(stdout);
	return 0;
}

static unsigned long sum(const struct soak_board *b, unsigned op)
{
	unsigned long n = 0;
	unsigned i;

	for (i = 0; i < SOAK_THREADS_MAX; i++)
		n += b->threads[i].count[op];
	return n;
}

static void print_process(unsigned process, const struct soak_board *b)
{
	unsigned long operations = 0, bytes = 0, no_room = 0, signals = 0;
	unsigned i;

	for (i = 0; i < SOAK_OPS; i++)
		operations += sum(b, i);
	for (i = 0; i < SOAK_THREADS_MAX; i++) {
		bytes += b->threads[i].bytes;
		no_room += b->threads[i].no_room;
		signals += b->threads[i].signals;
	}
	printf("process %u: %u threads, %lu operations, %lu pins, %lu forks, %lu of %lu signals, "
	       "%.1f MB compared, %lu times no memory\n", process, plan.threads, operations,
	       sum(b, OP_pin) + sum(b, OP_pin_v2), sum(b, OP_fork) + sum(b, OP_fork_exec),
	       signals, (unsigned long)b->signals, (double)bytes * 1e-6, no_room);
}

static void print_total(int errors)
{
	unsigned long operations = 0, n;
	unsigned i, p;

	printf("all:");
	for (i = OP_idle + 1; i < SOAK_OPS; i++) {
		for (n = p = 0; p < processes; p++)
			n += sum(&shared->boards[p], i);
		printf(" %s %lu", soak_names[i], n);
		operations += n;
	}
	printf("\ntotal: %lu operations, %d errors, --seed %llu\n", operations, errors,
	       (unsigned long long)plan.seed);
}

/* 1 if a process failed, 77 if it could not run. */
static int status_of(pid_t pid, int status)
{
	if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77))
		return WEXITSTATUS(status);
	fprintf(stderr, "soak: process %d ended with status 0x%x\n", (int)pid, status);
	return 1;
}

static void end_all(const pid_t *pids)
{
	unsigned i;

	for (i = 0; i < processes; i++)
		if (pids[i] > 0)
			kill(pids[i], SIGKILL);
}

/* The watchdogs of the processes are quicker; this one is for those whose own is stuck. */
static int wait_for_all(pid_t *pids)
{
	int64_t limit = plan.operations ? INT64_MAX :
		soak_ms() + (int64_t)((warm_up + seconds + 4 * plan.hang) * 1e3);
	unsigned left = processes, i;
	int worst = 0, status;
	pid_t pid;

	while (left) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid == 0 && soak_ms() > limit) {
			fprintf(stderr, "soak: %u processes do not end\n", left);
			limit = INT64_MAX;
			worst = 1;
			end_all(pids);
		}
		if (pid <= 0) {
			usleep(20000);
			continue;
		}
		left--;
		for (i = 0; i < processes; i++)
			if (pids[i] == pid)
				pids[i] = 0;
		/* those that were ended because of the first tell nothing */
		if (!worst)
			worst = status_of(pid, status);
		if (worst)
			end_all(pids);
	}
	return worst;
}

static int run_all(void)
{
	pid_t pids[SOAK_PROCESSES_MAX] = { 0 };
	unsigned i;

	for (i = 0; i < processes; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			exit(run(i));
		if (pids[i] < 0) {
			perror("soak: fork");
			end_all(pids); /* they would wait for this one */
			exit(1);
		}
	}
	return wait_for_all(pids);
}

static int look_before(void)
{
	left_machine_look(cu_soft_wanted(), &shared->before);
	return 0;
}

static int look_after(void)
{
	return left_machine_settled(cu_soft_wanted(), &shared->before, cu_soft_wanted() ? 0 :
				    GPU_SLACK, "when all was done", &shared->after);
}

/* In a process of its own: what it loads must not be there when others begin with CUDA. */
static int apart(int (*look)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(look());
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
		fprintf(stderr, "soak: cannot look at the machine\n");
		exit(1);
	}
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	pthread_barrierattr_t attr;
	unsigned i;
	int ret, left;

	if (argc == 2 && !strcmp(argv[1], FORKS_INHERITED))
		return forks_look_at_inherited();
	plan.seed = (uint64_t)time(NULL);
	parse(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED) {
		perror("soak: mmap");
		return 1;
	}
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &attr, processes);
	apart(look_before);
	ret = run_all();
	if (ret)
		return ret;
	left = apart(look_after);
	left_machine_print("before", &shared->before);
	left_machine_print("after", &shared->after);
	for (i = 0; i < processes; i++)
		print_process(i, &shared->boards[i]);
	print_total(left);
	return left ? 1 : 0;
}
