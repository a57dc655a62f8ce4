/* SPDX-License-Identifier: MIT */
#include "parallel_fixture.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "context.h"

#define CANARY 0xa5

static int yes(void)
{
	return 1;
}

/* A routine that tells who calls it. */
static pthread_barrier_t meeting;
atomic_int parallel_calls, parallel_by_helpers, parallel_helper_cpu;
atomic_int parallel_signals_open, parallel_faults_blocked;
static int meeting_number;
static _Thread_local int last_meeting;
static _Thread_local bool is_caller;

static void watched(void *dst, const void *src, size_t n)
{
	sigset_t mask;

	atomic_fetch_add(&parallel_calls, 1);
	if (!is_caller) {
		atomic_fetch_add(&parallel_by_helpers, 1);
		atomic_store(&parallel_helper_cpu, sched_getcpu());
		pthread_sigmask(SIG_SETMASK, NULL, &mask);
		if (!sigismember(&mask, SIGUSR1))
			atomic_fetch_add(&parallel_signals_open, 1);
		if (sigismember(&mask, SIGSEGV) || sigismember(&mask, SIGBUS))
			atomic_fetch_add(&parallel_faults_blocked, 1);
	}
	if (last_meeting != meeting_number) {
		last_meeting = meeting_number;
		pthread_barrier_wait(&meeting);
	}
	memcpy(dst, src, n);
}

static const struct gdr_copy_kernel watching = { "watching", 64, yes, watched, watched };

void parallel_meet(unsigned threads, const cpu_set_t *cpus)
{
	static _Alignas(4096) unsigned char dev[ROOM], host[ROOM];
	const struct gdr_copy_kernel *picked = gdr_copy_picked[GDR_COPY_TO_MAPPING];
	struct gdr_parallel_copy c = {
		GDR_COPY_TO_MAPPING, GDR_MAPPING_TYPE_WC, (uintptr_t)dev, (uintptr_t)host, ROOM,
	};
	struct gdr_parallel how = {
		.threads = threads, .min_bytes = 1, .cpus = cpus,
		.cpus_size = cpus ? sizeof(*cpus) : 0,
	};

	parallel_calls = parallel_by_helpers = parallel_signals_open = parallel_faults_blocked = 0;
	is_caller = true;
	meeting_number++;
	assert_int_equal(pthread_barrier_init(&meeting, NULL, threads), 0);
	gdr_copy_picked[GDR_COPY_TO_MAPPING] = &watching;
	gdr_parallel_copy(&c, &how);
	gdr_copy_picked[GDR_COPY_TO_MAPPING] = picked;
	pthread_barrier_destroy(&meeting);
}

int parallel_task_count(void)
{
	DIR *dir = opendir("/proc/self/task");
	int n = -2;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void fill(unsigned char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1103515245u + 12345u;
		p[i] = (unsigned char)(seed >> 16);
	}
}

bool parallel_copies_right(enum gdr_copy_dir dir, gdr_mapping_type_t type, unsigned char *dev,
			 unsigned char *host, size_t n, size_t threads)
{
	struct gdr_parallel_copy c = { dir, type, (uintptr_t)dev, (uintptr_t)host, n };
	struct gdr_parallel how = { .threads = threads, .min_bytes = 4096 };
	unsigned char *dst = dir == GDR_COPY_TO_MAPPING ? dev : host;
	unsigned char *src = dir == GDR_COPY_TO_MAPPING ? host : dev;

	memset(dst - 64, CANARY, n + 128);
	fill(src, n, (unsigned)n + 7u);
	gdr_parallel_copy(&c, &how);
	if (memcmp(dst, src, n))
		return false;
	for (size_t i = 0; i < 64; i++)
		if (dst[-1 - (ptrdiff_t)i] != CANARY || dst[n + i] != CANARY)
			return false;
	return true;
}

char parallel_wrong_bytes;

void *parallel_many_copies(void *arg)
{
	unsigned char *dev = aligned_alloc(4096, ROOM), *host = aligned_alloc(4096, ROOM);
	bool right = dev && host;

	for (size_t i = 0; right && i < 60; i++)
		right = parallel_copies_right(i & 1 ? GDR_COPY_FROM_MAPPING : GDR_COPY_TO_MAPPING,
				     GDR_MAPPING_TYPE_WC, dev + 4096 + i, host + 4096 + 3 * i,
				     20000 + 7919 * i, 2 + i % 4);
	free(dev);
	free(host);
	return right ? NULL : arg;
}

void parallel_init(void)
{
	/* the library is linked in parts here: have fork.c among them */
	gdr_fork_hold();
	gdr_fork_release();
	gdr_copy_init();
}
