/* SPDX-License-Identifier: MIT */
/*
 * Description: the lock on a process's IPC table holds through signals, forks and
 * its own failures.  Every case runs in two processes of its own.
 */
#include <pthread.h>

#include "ipc_calls.h"

static atomic_int done;                 /* the thread has what it called for */
static CUcontext context;
static CUipcMemHandle handles[2];

static void on_signal(int sig)
{
	(void)sig;
}

/* Until a signal ended t's wait for the lock, and t waits again or is through. */
static void interrupt(pthread_t t)
{
	struct sigaction sa = { .sa_handler = on_signal };

	assert_int_equal(sigaction(SIGUSR1, &sa, NULL), 0);
	while (!atomic_load(&interrupted) && !atomic_load(&done)) {
		assert_int_equal(pthread_kill(t, SIGUSR1), 0);
		usleep(1000);
	}
	assert_true(atomic_load(&interrupted));
	while (atomic_load(&waits) == atomic_load(&interrupted) && !atomic_load(&done))
		usleep(1000);
}

static void give(const CUipcMemHandle *h)
{
	assert_int_equal(write(peer_socket, h, sizeof(*h)), sizeof(*h));
}

static void take(CUipcMemHandle *h)
{
	assert_int_equal(read(peer_socket, h, sizeof(*h)), sizeof(*h));
}

/* Two allocations, in the order of their records in the table; the peer has their handles. */
static void give_two(CUdeviceptr *p)
{
	CUdeviceptr a = alloc(4 * MIB), b = alloc(4 * MIB);

	p[0] = a < b ? a : b;
	p[1] = a < b ? b : a;
	for (int i = 0; i < 2; i++) {
		ok(cuIpcGetMemHandle(&handles[i], p[i]));
		give(&handles[i]);
	}
}

static void take_two(void)
{
	take(&handles[0]);
	take(&handles[1]);
}

static void *free_it(void *ptr)
{
	ok(cuMemFree_v2(*(CUdeviceptr *)ptr));
	atomic_store(&done, 1);
	return NULL;
}

static void *open_first(void *ptr)
{
	ok(cuCtxSetCurrent(context));
	ok(cuIpcOpenMemHandle_v2(ptr, handles[0], 1));
	atomic_store(&done, 1);
	return NULL;
}

/* While the peer is about to write the mark of the first, which the owner frees. */
static void owner_gets_signal(void)
{
	CUdeviceptr p[2];
	pthread_t t;

	give_two(p);
	peer_await();
	assert_int_equal(pthread_create(&t, NULL, free_it, &p[0]), 0);
	interrupt(t);
	peer_step();
	pthread_join(t, NULL);
	peer_step();
}

static void signalled_owner_peer(void)
{
	CUdeviceptr a, b;

	take_two();
	atomic_store(&on_write, HAND_OVER);
	ok(cuIpcOpenMemHandle_v2(&a, handles[0], 1));
	peer_await();                   /* freed */
	ok(cuIpcOpenMemHandle_v2(&b, handles[1], 1));
	ok(cuIpcCloseMemHandle(a));
	expect(cuIpcOpenMemHandle_v2(&a, handles[0], 1), CUDA_ERROR_INVALID_HANDLE);
}

/* While the owner writes the table. */
static void peer_gets_signal(void)
{
	CUdeviceptr p[2], third = alloc(4 * MIB);
	CUipcMemHandle h;

	give_two(p);
	atomic_store(&on_write, HAND_OVER);
	ok(cuIpcGetMemHandle(&h, third));
}

static void signalled_peer(void)
{
	CUdeviceptr a = 0;
	pthread_t t;

	take_two();
	peer_await();
	assert_int_equal(pthread_create(&t, NULL, open_first, &a), 0);
	interrupt(t);
	peer_step();
	pthread_join(t, NULL);
	assert_int_equal(peek(a), 0);
}

static void peer_forks(void)
{
	CUdeviceptr p[2], third = alloc(4 * MIB);
	CUipcMemHandle h;

	give_two(p);
	peer_await();
	atomic_store(&never_wait, 1);
	expect(cuIpcGetMemHandle(&h, third), CUDA_SUCCESS);
	assert_false(atomic_load(&stalled));
	peer_step();
}

static void forking_peer(void)
{
	CUdeviceptr a;

	take_two();
	atomic_store(&on_write, FORK);
	ok(cuIpcOpenMemHandle_v2(&a, handles[0], 1));
	peer_step();
	peer_await();
	end_child();
}

static void owner_forks(void)
{
	CUdeviceptr p[2], third = alloc(4 * MIB);
	CUipcMemHandle h;

	give_two(p);
	atomic_store(&on_write, FORK);
	ok(cuIpcGetMemHandle(&h, third));
	peer_step();
	peer_await();
	end_child();
}

static void forking_owner_peer(void)
{
	CUdeviceptr a;

	take_two();
	peer_await();
	atomic_store(&never_wait, 1);
	expect(cuIpcOpenMemHandle_v2(&a, handles[0], 1), CUDA_SUCCESS);
	assert_false(atomic_load(&stalled));
	peer_step();
}

/* Nothing moves, no handle is given out, and none that was works until the table is right. */
static void owner_has_no_lock(void)
{
	CUdeviceptr p[2], third = alloc(4 * MIB), b = alloc(256 * KIB),
			  at = (b + 65535) & ~65535ULL;
	CUipcMemHandle h;
	int fd = -1;

	give_two(p);
	poke(p[1], 5);
	atomic_store(&lock_error, ENOLCK);
	expect(cuIpcGetMemHandle(&h, third), CUDA_ERROR_OPERATING_SYSTEM);
	if (shown_once())
		expect(export_range(at + PAGE, PAGE, &fd), CUDA_ERROR_NOT_SUPPORTED);
	ok(cuMemFree_v2(p[0]));
	peer_step();
	peer_await();
	atomic_store(&lock_error, 0);
	/* it is in the table again, as soon as there is one */
	ok(cuIpcGetMemHandle(&h, p[1]));
	give(&h);
	peer_await();
	munmap(window(at + PAGE, PAGE), PAGE);
	ok(cuIpcGetMemHandle(&h, third));
	give(&h);
}

static void lockless_owner_peer(void)
{
	CUdeviceptr a;

	take_two();
	peer_await();
	for (int i = 0; i < 2; i++)
		expect(cuIpcOpenMemHandle_v2(&a, handles[i], 1), CUDA_ERROR_INVALID_HANDLE);
	peer_step();
	take(&handles[1]);
	atomic_store(&lock_error, ENOLCK);
	expect(cuIpcOpenMemHandle_v2(&a, handles[1], 1), CUDA_ERROR_MAP_FAILED);
	atomic_store(&lock_error, 0);
	ok(cuIpcOpenMemHandle_v2(&a, handles[1], 1));
	assert_int_equal(peek(a), 5);
	peer_step();
	take(&handles[0]);
	ok(cuIpcOpenMemHandle_v2(&a, handles[0], 1));
}

/* Either opens the other's at the same time; this side has its own table at a high number. */
static void each_opens_the_others(void)
{
	CUdeviceptr p = alloc(4 * MIB), a;
	int low[8];

	for (int i = 0; i < 8; i++)
		low[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ok(cuIpcGetMemHandle(&handles[0], p));
	for (int i = 0; i < 8; i++)
		close(low[i]);
	give(&handles[0]);
	take(&handles[1]);
	atomic_store(&on_write, HAND_OVER);
	ok(cuIpcOpenMemHandle_v2(&a, handles[1], 1));
	assert_int_equal(peek(a), 7);
	peer_step();
}

static void other_of_each(void)
{
	CUdeviceptr p = alloc(4 * MIB), a;

	poke(p, 7);
	ok(cuIpcGetMemHandle(&handles[1], p));
	take(&handles[0]);
	give(&handles[1]);
	peer_await();
	atomic_store(&never_wait, 1);
	expect(cuIpcOpenMemHandle_v2(&a, handles[0], 1), CUDA_SUCCESS);
	assert_false(atomic_load(&stalled));
	peer_step();
	peer_await();
}

static struct {
	void (*owner)(void), (*other)(void);
} scene;

static int run_peer(void)
{
	with_context(NULL);
	ok(cuCtxGetCurrent(&context));
	scene.other();
	return 0;
}

/* A failed check ends the process that made it, and the other then reads the end of the file. */
static int run_owner(void *arg)
{
	setenv("CMOCKA_TEST_ABORT", "1", 1);
	signal(SIGPIPE, SIG_IGN);
	peer_start(run_peer);
	with_context(NULL);
	scene.owner();
	peer_end();
	return 0;
}

static void play(void (*owner)(void), void (*other)(void))
{
	scene.owner = owner;
	scene.other = other;
	assert_int_equal(in_child(run_owner, NULL), 0);
}

static void signal_at_the_owner(void **state)
{
	play(owner_gets_signal, signalled_owner_peer);
}

static void signal_at_the_peer(void **state)
{
	play(peer_gets_signal, signalled_peer);
}

static void fork_of_the_peer(void **state)
{
	play(peer_forks, forking_peer);
}

static void fork_of_the_owner(void **state)
{
	play(owner_forks, forking_owner_peer);
}

static void no_lock_to_be_had(void **state)
{
	play(owner_has_no_lock, lockless_owner_peer);
}

static void two_tables_at_once(void **state)
{
	play(each_opens_the_others, other_of_each);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signal_at_the_owner),
		cmocka_unit_test(signal_at_the_peer),
		cmocka_unit_test(fork_of_the_peer),
		cmocka_unit_test(fork_of_the_owner),
		cmocka_unit_test(no_lock_to_be_had),
		cmocka_unit_test(two_tables_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
