/* SPDX-License-Identifier: MIT */
/*
 * The dmabuf backend and CUDA's per-thread state, with two devices: which
 * context a pin uses, and that a thread is left as it was.
 */
#include "soft.h"

#include <pthread.h>

#include "cuda.h"

#define SIZE	(256ul << 10)
#define THREADS 4
#define ROUNDS	60

static gdr_t g;
static CUdeviceptr memory[2]; /* on either device */

static int setup(void **state)
{
	if (soft.softcuda_set_faults(NULL))
		return -1;
	for (int i = 0; i < 2; i++)
		if (soft.cuCtxSetCurrent(soft_context[i]) ||
		    soft.cuMemAlloc_v2(&memory[i], SIZE))
			return -1;
	g = gdr_open();
	return !g;
}

static int teardown(void **state)
{
	return (g && gdr_close(g)) || soft.softcuda_set_faults(NULL) ||
	       soft.cuMemFree_v2(memory[0]) || soft.cuMemFree_v2(memory[1]);
}

/* Pin with that context current; afterwards it still is, and so is the capture mode. */
static void pin_under(CUcontext ctx, CUdeviceptr ptr, CUstreamCaptureMode mode)
{
	CUstreamCaptureMode before = mode, after = mode;
	CUcontext now = NULL;
	gdr_mh_t mh;

	assert_cuda(soft.cuCtxSetCurrent(ctx));
	assert_cuda(soft.cuThreadExchangeStreamCaptureMode(&before));
	if (gdr_pin_buffer(g, ptr, SIZE, 0, 0, &mh))
		fail_msg("%s", gdrx_last_error());
	assert_cuda(soft.cuCtxGetCurrent(&now));
	assert_ptr_equal(now, ctx);
	assert_cuda(soft.cuThreadExchangeStreamCaptureMode(&after));
	assert_int_equal(after, mode);
	assert_cuda(soft.cuThreadExchangeStreamCaptureMode(&before));
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
}

static void the_current_context_and_capture_mode_are_restored(void **state)
{
	static const CUstreamCaptureMode modes[] = {
		CU_STREAM_CAPTURE_MODE_GLOBAL,
		CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
		CU_STREAM_CAPTURE_MODE_RELAXED,
	};
	CUcontext contexts[] = { NULL, soft_context[0], soft_context[1] };

	for (size_t c = 0; c < COUNT(contexts); c++)
		for (size_t m = 0; m < COUNT(modes); m++)
			for (int dev = 0; dev < 2; dev++)
				pin_under(contexts[c], memory[dev], modes[m]);
}

static void *pin_in_a_thread(void *arg)
{
	CUcontext now = soft_context[0];
	gdr_mh_t mh;

	/* a new thread has no context */
	if (gdr_pin_buffer(g, memory[1], SIZE, 0, 0, &mh) || soft.cuCtxGetCurrent(&now) || now ||
	    gdr_unpin_buffer(g, mh))
		return arg;
	return NULL;
}

static void threads_without_a_context_can_pin(void **state)
{
	pthread_t thread;
	void *ret;

	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, pin_in_a_thread, g);
		pthread_join(thread, &ret);
		assert_null(ret);
	}
}

static bool is_active(int dev)
{
	unsigned flags;
	int active = -1;

	assert_cuda(soft.cuDevicePrimaryCtxGetState(dev, &flags, &active));
	return active;
}

/* D29: where nobody else holds it, the primary context is made once and kept. */
static void d29_the_primary_context_is_retained_once(void **state)
{
	gdr_mh_t mh;

	/* the second retain would fail */
	assert_int_equal(soft.softcuda_set_faults("cuDevicePrimaryCtxRetain:2:999"), 0);
	assert_cuda(soft.cuCtxSetCurrent(NULL));
	for (int i = 0; i < 5; i++) {
		if (gdr_pin_buffer(g, memory[1], SIZE, 0, 0, &mh))
			fail_msg("%s", gdrx_last_error());
		assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	}
	assert_int_equal(soft.softcuda_set_faults(NULL), 0);
	/* it is the library's as well: the application's release is not the last */
	assert_cuda(soft.cuDevicePrimaryCtxRelease_v2(1));
	assert_true(is_active(1));
	if (gdr_pin_buffer(g, memory[1], SIZE, 0, 0, &mh))
		fail_msg("%s", gdrx_last_error());
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	assert_int_equal(gdr_close(g), 0);
	g = NULL;
	assert_false(is_active(1));
	/* which took the memory with it */
	assert_cuda(soft.cuDevicePrimaryCtxRetain(&soft_context[1], 1));
	assert_cuda(soft.cuCtxSetCurrent(soft_context[1]));
	assert_cuda(soft.cuMemAlloc_v2(&memory[1], SIZE));
}

static void a_context_in_use_is_not_retained(void **state)
{
	gdr_mh_t mh;

	assert_int_equal(soft.softcuda_set_faults("cuDevicePrimaryCtxRetain:*:999,"
						  "cuCtxSetCurrent:*:999"),
			 0);
	/* device 1's is current, from setup */
	assert_int_equal(gdr_pin_buffer(g, memory[1], SIZE, 0, 0, &mh), 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	assert_int_equal(gdr_pin_buffer(g, memory[0], SIZE, 0, 0, &mh), EIO);
	assert_error_names("cuDevicePrimaryCtxRetain failed");
}

/* D4: the devices are looked at one by one. */
static void d4_a_device_that_cannot_map_is_refused_alone(void **state)
{
	gdr_mh_t mh = { 3 };

	assert_int_equal(gdr_close(g), 0);
	/* 124, 152 and 100 of device 0, then 124, 152 of device 1 */
	assert_int_equal(soft.softcuda_set_faults("cuDeviceGetAttribute:5:1"), 0);
	g = gdr_open();
	assert_non_null(g);
	assert_int_equal(gdr_pin_buffer(g, memory[1], SIZE, 0, 0, &mh), ENOTSUP);
	assert_error_names("device 1 cannot map");
	assert_int_equal(mh.h, 3);
	assert_int_equal(gdr_pin_buffer(g, memory[0], SIZE, 0, 0, &mh), 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
}

/* A primary context that was reset under the library is retained anew, and no other error is. */
static void a_primary_context_that_was_destroyed_is_replaced(void **state)
{
	gdr_mh_t mh;

	assert_cuda(soft.cuCtxSetCurrent(NULL));
	assert_int_equal(gdr_pin_buffer(g, memory[1], SIZE, 0, 0, &mh), 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	assert_int_equal(soft.softcuda_set_faults("cuCtxSetCurrent:1:709"), 0);
	if (gdr_pin_buffer(g, memory[1], SIZE, 0, 0, &mh))
		fail_msg("%s", gdrx_last_error());
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	/* once: a new one that is destroyed as well is an error */
	assert_int_equal(soft.softcuda_set_faults("cuCtxSetCurrent:*:709"), 0);
	assert_int_equal(gdr_pin_buffer(g, memory[1], SIZE, 0, 0, &mh), EINVAL);
	assert_error_names("cuCtxSetCurrent failed with CUDA_ERROR_CONTEXT_IS_DESTROYED");
	assert_int_equal(soft.softcuda_set_faults("cuCtxSetCurrent:1:201"), 0);
	assert_int_equal(gdr_pin_buffer(g, memory[1], SIZE, 0, 0, &mh), EINVAL);
	assert_int_equal(soft.softcuda_set_faults(NULL), 0);
	/* each retain has its release: with ours gone, nothing holds the context */
	assert_int_equal(gdr_close(g), 0);
	g = NULL;
	assert_cuda(soft.cuDevicePrimaryCtxRelease_v2(1));
	assert_false(is_active(1));
	assert_cuda(soft.cuDevicePrimaryCtxRetain(&soft_context[1], 1));
	assert_cuda(soft.cuCtxSetCurrent(soft_context[1]));
	assert_cuda(soft.cuMemAlloc_v2(&memory[1], SIZE));
}

static int claimed_device;

static CUresult claim_device(void *data, CUpointer_attribute attr, CUdeviceptr ptr)
{
	memcpy(data, &claimed_device, sizeof(claimed_device));
	return CUDA_SUCCESS;
}

/* Devices are counted once; a number beyond, or of no device at all, is not used. */
static void a_device_number_out_of_range_is_refused(void **state)
{
	static const int numbers[] = { 2, 7, -1, -2, INT32_MAX, INT32_MIN };
	const char *why;
	/* the library's own table of functions */
	struct gdr_cuda *table = (struct gdr_cuda *)(uintptr_t)gdr_cuda_get(&why);
	__typeof__(cuPointerGetAttribute) *was = table->PointerGetAttribute;
	int results[COUNT(numbers)];
	gdr_mh_t mh = { 3 };

	table->PointerGetAttribute = claim_device;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		claimed_device = numbers[i];
		results[i] = gdr_pin_buffer(g, memory[0], SIZE, 0, 0, &mh);
	}
	table->PointerGetAttribute = was;
	for (size_t i = 0; i < COUNT(numbers); i++)
		assert_int_equal(results[i], ENODEV);
	assert_int_equal(mh.h, 3);
	assert_error_names("which was not there at gdr_open");
}

/* A device that cuDeviceGet refuses is none; one that came later is not known. */
static void devices_that_were_not_there_are_refused(void **state)
{
	gdr_mh_t mh = { 3 };

	assert_int_equal(gdr_close(g), 0);
	assert_int_equal(soft.softcuda_set_faults("cuDeviceGet:1:101"), 0);
	g = gdr_open();
	assert_non_null(g);
	assert_int_equal(gdr_pin_buffer(g, memory[0], SIZE, 0, 0, &mh), ENOTSUP);
	assert_int_equal(gdr_pin_buffer(g, memory[1], SIZE, 0, 0, &mh), 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
}

/* D9: pin, map, check against CUDA, unmap, unpin, on both devices from all threads. */
static void *live(void *arg)
{
	unsigned self = (unsigned)(uintptr_t)arg;
	unsigned char out[512], in[512];
	CUdeviceptr ptr;
	gdr_mh_t mh;
	char *va;

	if (soft.cuCtxSetCurrent(soft_context[self % 2]) || soft.cuMemAlloc_v2(&ptr, 4 * SIZE))
		return arg;
	for (unsigned i = 0; i < ROUNDS; i++) {
		size_t at = (i * 4099) % (SIZE - sizeof(out));

		soft_fill(out, sizeof(out), self * ROUNDS + i);
		/* half of them without a context, or with the other device's */
		if (soft.cuCtxSetCurrent(i % 3 ? soft_context[i % 2] : NULL) ||
		    gdr_pin_buffer(g, ptr, SIZE, 0, 0, &mh) ||
		    gdr_map(g, mh, (void **)&va, SIZE) ||
		    gdr_copy_to_mapping(mh, va + at, out, sizeof(out)) ||
		    soft.cuCtxSetCurrent(soft_context[self % 2]) ||
		    soft.cuMemcpyDtoH_v2(in, ptr + at, sizeof(in)) ||
		    memcmp(in, out, sizeof(in)) ||
		    (i % 2 && gdr_unmap(g, mh, va, SIZE)) || gdr_unpin_buffer(g, mh))
			return arg;
	}
	return soft.cuMemFree_v2(ptr) ? arg : NULL;
}

static void d9_one_context_serves_all_threads(void **state)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, live, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++) {
		void *ret;

		pthread_join(threads[i], &ret);
		assert_null(ret);
	}
}

static void *open_and_pin(void *arg)
{
	gdr_mh_t mh;

	for (int i = 0; i < 20; i++) {
		gdr_t own = gdr_open();

		if (!own || gdr_pin_buffer(own, memory[i % 2], SIZE, 0, 0, &mh) || gdr_close(own))
			return arg;
	}
	return NULL;
}

static void d9_contexts_open_and_close_side_by_side(void **state)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, open_and_pin, g);
	for (int i = 0; i < THREADS; i++) {
		void *ret;

		pthread_join(threads[i], &ret);
		assert_null(ret);
	}
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(the_current_context_and_capture_mode_are_restored),
		T(threads_without_a_context_can_pin),
		T(d29_the_primary_context_is_retained_once),
		T(a_context_in_use_is_not_retained),
		T(d4_a_device_that_cannot_map_is_refused_alone),
		T(a_primary_context_that_was_destroyed_is_replaced),
		T(a_device_number_out_of_range_is_refused),
		T(devices_that_were_not_there_are_refused),
		T(d9_one_context_serves_all_threads),
		T(d9_contexts_open_and_close_side_by_side),
	};
#undef T

	setenv("SOFTCUDA_DEVICES", "2", 1);
	return cmocka_run_group_tests_name("core dmabuf context", tests, soft_setup, soft_teardown);
}
