/* SPDX-License-Identifier: MIT */
/* Description: events are done when the work before them is; host functions keep order. */
#include <stdatomic.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "soft.h"

static atomic_int gate, order;

/* Host functions: one that holds its stream up, and one that says when it ran. */
static void held(void *data)
{
	const struct timespec nap = { 0, 100000 };

	while (atomic_load(&gate) != 1)
		nanosleep(&nap, NULL);
}

static void mark(void *data)
{
	*(int *)data = atomic_fetch_add(&order, 1) + 1;
}

static void hold(CUstream s)
{
	atomic_store(&gate, 0);
	ok(cuLaunchHostFunc(s, held, NULL));
}

static void let_go(void)
{
	atomic_store(&gate, 1);
}

static int never;

static void not_run(void *data)
{
	never++;
}

static void follows_its_stream(void **state)
{
	CUstream s, other;
	CUevent e, f;

	ok(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	ok(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	ok(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	ok(cuEventCreate(&f, CU_EVENT_DEFAULT));
	/* one that was never recorded is done */
	ok(cuEventQuery(e));
	ok(cuEventSynchronize(e));
	hold(s);
	ok(cuEventRecord(e, s));
	ok(cuEventRecord(f, other));
	ok(cuEventSynchronize(f));
	expect(cuEventQuery(e), CUDA_ERROR_NOT_READY);
	/* the last record counts: here one in a stream that nothing holds up */
	ok(cuEventRecord(e, other));
	ok(cuEventSynchronize(e));
	ok(cuEventQuery(e));
	let_go();
	ok(cuStreamSynchronize(s));
	ok(cuEventQuery(e));
	hold(s);
	ok(cuEventRecord(e, s));
	expect(cuEventQuery(e), CUDA_ERROR_NOT_READY);
	let_go();
	ok(cuEventSynchronize(e));
	ok(cuEventDestroy_v2(e));
	ok(cuEventDestroy_v2(f));
	ok(cuStreamDestroy_v2(s));
	ok(cuStreamDestroy_v2(other));
}

static void *open_later(void *arg)
{
	const struct timespec nap = { 0, 30000000 };

	nanosleep(&nap, NULL);
	let_go();
	return NULL;
}

static void synchronize_waits(void **state)
{
	pthread_t thread;
	CUevent e;
	int ran = 0;

	ok(cuEventCreate(&e, CU_EVENT_BLOCKING_SYNC));
	atomic_store(&order, 0);
	hold(NULL);
	ok(cuLaunchHostFunc(NULL, mark, &ran));
	ok(cuEventRecord(e, NULL));
	assert_int_equal(pthread_create(&thread, NULL, open_later, NULL), 0);
	ok(cuEventSynchronize(e));
	assert_int_equal(ran, 1);
	pthread_join(thread, NULL);
	/* destroyed while it is under way: nothing else may notice */
	hold(NULL);
	ok(cuEventRecord(e, NULL));
	ok(cuEventDestroy_v2(e));
	expect(cuEventQuery(e), CUDA_ERROR_INVALID_HANDLE);
	let_go();
	ok(cuCtxSynchronize());
}

static void elapsed_time(void **state)
{
	const struct timespec nap = { 0, 20000000 };
	float ms = -1;
	CUevent a, b, mute;

	ok(cuEventCreate(&a, CU_EVENT_DEFAULT));
	ok(cuEventCreate(&b, CU_EVENT_DEFAULT));
	ok(cuEventCreate(&mute, CU_EVENT_DISABLE_TIMING));
	ok(cuEventRecord(a, NULL));
	ok(cuEventRecord(mute, NULL));
	expect(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_INVALID_HANDLE);
	expect(cuEventElapsedTime(&ms, a, mute), CUDA_ERROR_INVALID_HANDLE);
	expect(cuEventElapsedTime(&ms, mute, a), CUDA_ERROR_INVALID_HANDLE);
	expect(cuEventElapsedTime(&ms, a, NULL), CUDA_ERROR_INVALID_HANDLE);
	expect(cuEventElapsedTime(NULL, a, a), CUDA_ERROR_INVALID_VALUE);
	ok(cuEventSynchronize(a));
	hold(NULL);
	ok(cuEventRecord(b, NULL));
	expect(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_NOT_READY);
	expect(cuEventElapsedTime(&ms, b, a), CUDA_ERROR_NOT_READY);
	assert_true(ms == -1);
	nanosleep(&nap, NULL);
	let_go();
	ok(cuEventSynchronize(b));
	ok(cuEventElapsedTime(&ms, a, b));
	assert_true(ms >= 20 && ms < 60000);
	ok(cuEventElapsedTime(&ms, b, a));
	assert_true(ms <= -20);
	ok(cuEventElapsedTime(&ms, a, a));
	assert_true(ms == 0);
	ok(cuEventDestroy_v2(a));
	ok(cuEventDestroy_v2(b));
	ok(cuEventDestroy_v2(mute));
}

static void event_arguments(void **state)
{
	CUevent e = NULL;
	CUcontext ctx;
	CUstream s;

	expect(cuEventCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuEventCreate(&e, 8), CUDA_ERROR_INVALID_VALUE);
	expect(cuEventCreate(&e, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
	assert_null(e);
	ok(cuEventCreate(&e, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	expect(cuEventRecord(NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
	ok(cuStreamCreate(&s, 0));
	ok(cuStreamDestroy_v2(s));
	expect(cuEventRecord(e, s), CUDA_ERROR_INVALID_HANDLE);
	expect(cuEventQuery(NULL), CUDA_ERROR_INVALID_HANDLE);
	expect(cuEventSynchronize(NULL), CUDA_ERROR_INVALID_HANDLE);
	expect(cuEventDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
	/* an event and a stream of two devices */
	ok(cuDevicePrimaryCtxRetain(&ctx, 1));
	ok(cuCtxSetCurrent(ctx));
	expect(cuEventRecord(e, NULL), CUDA_ERROR_INVALID_HANDLE);
	ok(cuEventCreate(&e, 0));
	/* the context takes its events along */
	ok(cuDevicePrimaryCtxRelease_v2(1));
	ok(cuDevicePrimaryCtxRetain(&ctx, 0));
	ok(cuCtxSetCurrent(ctx));
	ok(cuDevicePrimaryCtxRelease_v2(0));
	expect(cuEventQuery(e), CUDA_ERROR_INVALID_HANDLE);
}

struct told {
	CUstream stream;
	CUresult status, inside;
	pthread_t thread;
	int calls;
};

static void tell(CUstream stream, CUresult status, void *data)
{
	struct told *t = data;
	CUcontext ctx;

	t->stream = stream;
	t->status = status;
	t->inside = cuCtxGetCurrent(&ctx);
	t->thread = pthread_self();
	t->calls++;
}

static void functions_keep_order(void **state)
{
	struct told t = { .status = CUDA_ERROR_UNKNOWN };
	int first = 0, second = 0;
	CUstream s;

	ok(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	atomic_store(&order, 0);
	hold(s);
	ok(cuLaunchHostFunc(s, mark, &first));
	ok(cuStreamAddCallback(s, tell, &t, 0));
	ok(cuLaunchHostFunc(s, mark, &second));
	expect(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	assert_int_equal(atomic_load(&order), 0);
	let_go();
	ok(cuStreamSynchronize(s));
	assert_int_equal(first, 1);
	assert_int_equal(second, 2);
	assert_int_equal(t.calls, 1);
	assert_ptr_equal(t.stream, s);
	assert_int_equal(t.status, CUDA_SUCCESS);
	assert_int_equal(t.inside, CUDA_ERROR_NOT_PERMITTED);
	assert_false(pthread_equal(t.thread, pthread_self()));
	/* in no stream's way: not in the caller's thread even so */
	ok(cuStreamAddCallback(NULL, tell, &t, 0));
	ok(cuCtxSynchronize());
	assert_int_equal(t.calls, 2);
	assert_null(t.stream);
	assert_false(pthread_equal(t.thread, pthread_self()));
	ok(cuStreamDestroy_v2(s));
	expect(cuLaunchHostFunc(NULL, NULL, &t), CUDA_ERROR_INVALID_VALUE);
	expect(cuStreamAddCallback(NULL, NULL, &t, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuStreamAddCallback(NULL, tell, &t, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuLaunchHostFunc(s, mark, &first), CUDA_ERROR_INVALID_HANDLE);
}

static void ask_mask(void *mask)
{
	pthread_sigmask(SIG_SETMASK, NULL, mask);
}

static void signals_are_the_programs(void **state)
{
	sigset_t inside, outside;

	ok(cuLaunchHostFunc(NULL, ask_mask, &inside));
	ok(cuCtxSynchronize());
	ask_mask(&outside);
	assert_false(sigismember(&outside, SIGINT));
	assert_true(sigismember(&inside, SIGINT));
	assert_true(sigismember(&inside, SIGUSR1));
	/* but a fault of its own is its handler's */
	assert_false(sigismember(&inside, SIGSEGV));
	assert_false(sigismember(&inside, SIGBUS));
}

/* A fill of memory that goes before it runs is an error of the device, for all that follows. */
static void after_an_error(void **state)
{
	struct vmm v = vmm_new(2 * MIB, 0);
	struct told t = { .status = CUDA_SUCCESS };
	CUevent e, f;
	CUcontext ctx;

	ok(cuEventCreate(&e, 0));
	ok(cuEventCreate(&f, 0));
	ok(cuEventRecord(f, NULL));
	ok(cuEventSynchronize(f));
	hold(NULL);
	ok(cuMemsetD8_v2(v.ptr, 1, 2 * MIB));
	ok(cuLaunchHostFunc(NULL, not_run, NULL));
	ok(cuStreamAddCallback(NULL, tell, &t, 0));
	ok(cuEventRecord(e, NULL));
	vmm_access(v.ptr, v.size, CU_MEM_ACCESS_FLAGS_PROT_READ);
	let_go();
	expect(cuEventSynchronize(e), CUDA_ERROR_ILLEGAL_ADDRESS);
	expect(cuEventQuery(e), CUDA_ERROR_ILLEGAL_ADDRESS);
	expect(cuEventRecord(e, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
	expect(cuEventSynchronize(e), CUDA_ERROR_ILLEGAL_ADDRESS);
	expect(cuEventElapsedTime(&(float){ 0 }, f, e), CUDA_ERROR_ILLEGAL_ADDRESS);
	assert_int_equal(never, 0);
	assert_int_equal(t.calls, 1);
	assert_int_equal(t.status, CUDA_ERROR_ILLEGAL_ADDRESS);
	ok(cuEventDestroy_v2(f));
	vmm_free(&v);
	ok(cuDevicePrimaryCtxRelease_v2(0));
	ok(cuDevicePrimaryCtxRetain(&ctx, 0));
	ok(cuCtxSetCurrent(ctx));
}

static int with_devices(void **state)
{
	setenv("SOFTCUDA_DEVICES", "2", 1);
	return with_context(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_its_stream),
		cmocka_unit_test(synchronize_waits),
		cmocka_unit_test(elapsed_time),
		cmocka_unit_test(event_arguments),
		cmocka_unit_test(functions_keep_order),
		cmocka_unit_test(signals_are_the_programs),
		cmocka_unit_test(after_an_error),
	};

	return cmocka_run_group_tests(tests, with_devices, without_context);
}
