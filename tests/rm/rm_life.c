/* SPDX-License-Identifier: MIT */
/* Who holds what for how long in the rm backend: contexts, threads, forked children. */
#include "soft_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void contexts_share_one_client_a_gpu(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	gdr_t other = gdr_open();
	struct fake_rm_counts c;

	assert_non_null(other);
	round_trip(*state, ptr, 2 * MIB);
	round_trip(other, ptr, 2 * MIB);
	fake_rm_counts(&c);
	assert_int_equal(c.clients, 1);
	assert_int_equal(c.devices, 1);
	assert_int_equal(gdr_close(other), 0);
	round_trip(*state, ptr, 2 * MIB);
	cuda_free(ptr);
}

static void close_lets_go_of_everything(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	gdr_t g = gdr_open();
	struct vmm v;
	gdr_mh_t mh;
	void *va;

	assert_non_null(g);
	vmm_new(0, 2 * MIB, 3, POSIX_FD, &v);
	assert_int_equal(gdr_pin_buffer(g, ptr, 2 * MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(g, mh, &va, 2 * MIB), 0);
	assert_int_equal(gdr_pin_buffer(g, v.ptr, 6 * MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(g, mh, &va, 6 * MIB), 0);
	assert_int_equal(gdr_pin_buffer(g, v.ptr, 64 * KIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_close(g), 0);
	cuda_free(ptr);
	vmm_free(&v);
}

/* Two pins of the same bytes: one going does not disturb the other's mapping. */
static void pins_of_the_same_memory_are_independent(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	gdr_mh_t mh[2];
	void *va[2];

	for (int i = 0; i < 2; i++) {
		assert_int_equal(gdr_pin_buffer(*state, ptr, 2 * MIB, 0, 0, &mh[i]), 0);
		assert_int_equal(gdr_map(*state, mh[i], &va[i], 2 * MIB), 0);
	}
	assert_ptr_not_equal(va[0], va[1]);
	assert_int_equal(gdr_unmap(*state, mh[0], va[0], 2 * MIB), 0);
	assert_int_equal(gdr_unpin_buffer(*state, mh[0]), 0);
	pattern_to_device(ptr, 2 * MIB, 4);
	pattern_on_cpu(va[1], 2 * MIB, 4);
	assert_int_equal(gdr_unpin_buffer(*state, mh[1]), 0);
	cuda_free(ptr);
}

#define THREADS 4
#define ROUNDS  12

struct worker {
	pthread_t thread;
	gdr_t g;
	const char *step;               /* where it failed, or NULL */
	char error[256];
};

/* Runs in threads, where cmocka's assertions may not be used. */
static const char *work(gdr_t g, int round)
{
	int dev = round % DEVICES;
	size_t len = 64 * KIB;
	CUdeviceptr block, ptr;         /* some GPU page of a block that shares its object */
	CUcontext ctx;
	gdr_mh_t mh;
	char *va;

	if (cuDevicePrimaryCtxRetain(&ctx, dev) || cuCtxSetCurrent(ctx) ||
	    cuMemAlloc_v2(&block, 2 * len))
		return "CUDA";
	ptr = (block + GPU_PAGE_OFFSET) & GPU_PAGE_MASK;
	if (cuMemsetD8_v2(ptr, (unsigned char)round, len) || cuCtxSynchronize())
		return "memset";
	if (gdr_pin_buffer(g, ptr, len, 0, 0, &mh))
		return "pin";
	if (gdr_map(g, mh, (void **)&va, len))
		return "map";
	if (va[0] != round || va[len - 1] != round)
		return "the bytes of another thread";
	if (round % 3 == 0)
		cuMemFree_v2(block);
	if (gdr_unmap(g, mh, va, len))
		return "unmap";
	if (gdr_unpin_buffer(g, mh))
		return "unpin";
	if (round % 3)
		cuMemFree_v2(block);
	cuDevicePrimaryCtxRelease_v2(dev);
	return NULL;
}

static void *run_worker(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < ROUNDS && !w->step; i++)
		w->step = work(w->g, i);
	snprintf(w->error, sizeof(w->error), "%s", gdrx_last_error());
	return NULL;
}

static void threads_share_a_context(void **state)
{
	struct worker w[THREADS] = { 0 };

	for (int i = 0; i < THREADS; i++) {
		w[i].g = *state;
		assert_int_equal(pthread_create(&w[i].thread, NULL, run_worker, &w[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(w[i].thread, NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		if (w[i].step)
			fail_msg("thread %d: %s: %s", i, w[i].step, w[i].error);
	}
}

/* Every context of its own thread: the first pins race to make the GPU's client. */
static void threads_with_contexts_of_their_own(void **state)
{
	struct worker w[THREADS] = { 0 };
	struct fake_rm_counts c;

	for (int i = 0; i < THREADS; i++) {
		w[i].g = gdr_open();
		assert_non_null(w[i].g);
		assert_int_equal(pthread_create(&w[i].thread, NULL, run_worker, &w[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(w[i].thread, NULL), 0);
	fake_rm_counts(&c);
	assert_int_equal(c.clients, DEVICES);
	for (int i = 0; i < THREADS; i++) {
		if (w[i].step)
			fail_msg("thread %d: %s: %s", i, w[i].step, w[i].error);
		assert_int_equal(gdr_close(w[i].g), 0);
	}
}

static int wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void child_gets_eacces_and_frees_nothing(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	gdr_mh_t mh, unmapped;
	struct vmm v;
	void *va, *p;
	pid_t pid;

	vmm_new(0, 2 * MIB, 2, POSIX_FD, &v);
	assert_int_equal(gdr_pin_buffer(*state, ptr, 2 * MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(*state, mh, &va, 2 * MIB), 0);
	assert_int_equal(gdr_pin_buffer(*state, v.ptr, 4 * MIB, 0, 0, &unmapped), 0);
	pid = fork();
	if (!pid) {
		unsigned char resident;
		gdr_info_v2_t info;

		if (mincore(va, 4096, &resident) != -1 || errno != ENOMEM)
			_exit(10);
		if (gdr_pin_buffer(*state, ptr, 2 * MIB, 0, 0, &mh) != EACCES)
			_exit(11);
		if (gdr_map(*state, unmapped, &p, 2 * MIB) != EACCES)
			_exit(12);
		if (gdr_unmap(*state, mh, va, 2 * MIB) != EACCES)
			_exit(13);
		if (gdr_unpin_buffer(*state, mh) != EACCES)
			_exit(14);
		if (gdr_get_info(*state, mh, &info) != EACCES)
			_exit(15);
		gdr_close(*state);
		_exit(0);
	}
	assert_int_equal(wait_for(pid), 0);
	assert_int_equal(fake_rm_child_requests(), 0);

	pattern_to_device(ptr, 2 * MIB, 8);
	pattern_on_cpu(va, 2 * MIB, 8);
	assert_int_equal(gdr_map(*state, unmapped, &p, 4 * MIB), 0);
	pattern_to_device(v.ptr, 4 * MIB, 7);
	pattern_on_cpu(p, 4 * MIB, 7);
	assert_int_equal(gdr_unpin_buffer(*state, unmapped), 0);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	cuda_free(ptr);
	vmm_free(&v);
}

/* CUDA is dead in such a child; the library says so and leaves nothing there. */
static void child_that_opens_its_own_context(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	pid_t pid;

	round_trip(*state, ptr, 2 * MIB);
	pid = fork();
	if (!pid) {
		gdr_t g = gdr_open();
		gdr_mh_t mh;

		if (g && !gdr_pin_buffer(g, ptr, 2 * MIB, 0, 0, &mh))
			_exit(10);
		if (!gdrx_last_error()[0] && !gdrx_open_report()[0])
			_exit(11);
		if (g && gdr_close(g))
			_exit(12);
		_exit(0);
	}
	assert_int_equal(wait_for(pid), 0);
	assert_int_equal(fake_rm_child_requests(), 0);
	round_trip(*state, ptr, 2 * MIB);
	cuda_free(ptr);
}

struct mapper {
	gdr_t g;
	CUdeviceptr ptr;
	atomic_bool stop;
	int failed;
};

static void *map_and_unmap(void *arg)
{
	struct mapper *m = arg;
	gdr_mh_t mh;
	void *va;

	if (gdr_pin_buffer(m->g, m->ptr, 64 * KIB, 0, 0, &mh))
		m->failed++;
	while (!m->stop && !m->failed) {
		if (gdr_map(m->g, mh, &va, 64 * KIB) || gdr_unmap(m->g, mh, va, 64 * KIB))
			m->failed++;
	}
	if (gdr_unpin_buffer(m->g, mh))
		m->failed++;
	return NULL;
}

/* The fake reports any window that a fork catches between mmap and madvise. */
static void no_fork_falls_between_mmap_and_madvise(void **state)
{
	struct mapper m = { .g = *state, .ptr = cuda_alloc(64 * KIB) };
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, map_and_unmap, &m), 0);
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		assert_int_equal(wait_for(pid), 0);
	}
	m.stop = true;
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(m.failed, 0);
	cuda_free(m.ptr);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, soft_open, soft_close)
#define BARE(f) cmocka_unit_test_setup_teardown(f, soft_reset, soft_check_clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(contexts_share_one_client_a_gpu),
		BARE(close_lets_go_of_everything),
		TEST(pins_of_the_same_memory_are_independent),
		TEST(threads_share_a_context),
		BARE(threads_with_contexts_of_their_own),
		TEST(child_gets_eacces_and_frees_nothing),
		TEST(child_that_opens_its_own_context),
		TEST(no_fork_falls_between_mmap_and_madvise),
	};

	return cmocka_run_group_tests_name("rm_life", tests, soft_start, NULL);
}
