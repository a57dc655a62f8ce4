/* SPDX-License-Identifier: MIT */
/*
 * Description: several threads pin, map, copy, verify, unmap and unpin at once
 * on one shared context and on contexts of their own, while the process forks
 * again and again; children see no mapping, get EACCES, and disturb nothing.
 * Usage: stress [SECONDS [THREADS]]
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpu_test.h"

#define MEM_SIZE (1u << 20)

static gdr_t shared;
static struct gpu gpu;
static CUcontext context;
static atomic_bool stop;
static atomic_ulong rounds, forks;

struct worker {
	pthread_t thread;
	unsigned number;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void round_trip(gdr_t g, const struct gpu_mem *mem, unsigned char *buf, uint64_t seed)
{
	size_t size = 65536 * (1 + seed % 16), n = 1 + seed * 7919 % 5000;
	gdr_mh_t mh;
	void *va;

	GDR(gdr_pin_buffer(g, mem->ptr, size, 0, 0, &mh));
	GDR(gdr_map(g, mh, &va, size));
	gpu_test_fill(buf, n, seed);
	GDR(gdr_copy_to_mapping(mh, (char *)va + size - n, buf, n));
	memset(buf, 0, n);
	CU(cu.MemcpyDtoH(buf, mem->ptr + size - n, n));
	gpu_test_compare(buf, n, seed, "written through the mapping");
	memset(buf, 0, n);
	GDR(gdr_copy_from_mapping(mh, buf, (char *)va + size - n, n));
	gpu_test_compare(buf, n, seed, "read through the mapping");
	GDR(gdr_unmap(g, mh, va, size));
	GDR(gdr_unpin_buffer(g, mh));
	CHECK(gdr_copy_to_mapping(mh, va, buf, 1) == EINVAL);
}

static void *work(void *arg)
{
	const struct worker *w = arg;
	unsigned char *buf = malloc(8192);
	gdr_t own = NULL;
	struct gpu_mem mem;
	uint64_t i;

	CHECK(buf);
	CU(cu.CtxSetCurrent(context));
	CU(gpu_allocators[w->number & 1].alloc(&mem, MEM_SIZE, true, true));
	for (i = 1; !stop; i++) {
		gdr_t g = shared;

		/* Half of the threads work on a context of their own, reopened now and then. */
		if (w->number & 2) {
			if (own && i % 64 == 0) {
				GDR(gdr_close(own));
				own = NULL;
			}
			if (!own)
				own = gdr_open();
			CHECK(own);
			g = own;
		}
		round_trip(g, &mem, buf, i * 64 + w->number);
		rounds++;
	}
	if (own)
		GDR(gdr_close(own));
	CU(gpu_allocators[w->number & 1].free(&mem));
	free(buf);
	return NULL;
}

/* Not by default: the kernel logs a process that dies of it. */
static void on_fault(int sig)
{
	_exit(sig);
}

/* In the child: no mapping, no control call, and a close that reaches nothing. */
static void child(gdr_mh_t mh, const void *va)
{
	int flag, ok;
	char byte;

	ok = gdr_get_callback_flag(shared, mh, &flag) == EACCES &&
		gdr_unpin_buffer(shared, mh) == EACCES &&
		gdr_copy_from_mapping(mh, &byte, va, 1) == EINVAL &&
		gdr_close(shared) == 0;
	if (!ok)
		_exit(1);
	signal(SIGSEGV, on_fault);
	(void)*(const volatile char *)va; /* must fault: the mapping is not there */
	_exit(2);
}

static void fork_once(gdr_mh_t mh, const void *va)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0)
		child(mh, va);
	CHECK(waitpid(pid, &status, 0) == pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != SIGSEGV)
		FAIL("the child ended with status 0x%x, not by a fault", status);
	forks++;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5;
	unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 8, i;
	struct worker *workers;
	struct gpu_mem mem;
	double end;
	gdr_mh_t mh;
	int files;
	void *va;

	gpu_test_begin(0, &gpu);
	CU(cu.DevicePrimaryCtxRetain(&context, gpu.dev));
	files = gpu_test_open_files();
	shared = gdr_open();
	workers = calloc(n, sizeof(*workers));
	CHECK(shared && workers);
	CU(gpu_allocators[0].alloc(&mem, MEM_SIZE, true, true));
	GDR(gdr_pin_buffer(shared, mem.ptr, MEM_SIZE, 0, 0, &mh));
	GDR(gdr_map(shared, mh, &va, MEM_SIZE));
	for (i = 0; i < n; i++) {
		workers[i].number = i;
		CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
	}
	for (end = now() + seconds; now() < end; usleep(50000))
		fork_once(mh, va);
	stop = true;
	for (i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	GDR(gdr_unmap(shared, mh, va, MEM_SIZE));
	GDR(gdr_unpin_buffer(shared, mh));
	GDR(gdr_close(shared));
	CU(gpu_allocators[0].free(&mem));
	CHECK(gpu_test_open_files() == files);
	CU(cu.DevicePrimaryCtxRelease(gpu.dev));
	gpu_close(&gpu);
	free(workers);
	printf("%u threads, %.0f s: %lu rounds, %lu forks, no error\nok\n", n, seconds,
	       (unsigned long)rounds, (unsigned long)forks);
	return 0;
}
