/* SPDX-License-Identifier: MIT */
/*
 * D5: every CUDA call of the dmabuf backend failing, at each place, with each
 * result: the right errno, a sentence that names the call, and nothing left.
 */
#include "soft.h"

#include "cuda.h"

#define SIZE	   (64ul << 10)
#define MOST_CALLS 12

static const struct {
	CUresult res;
	int err;
} codes[] = {
	{ CUDA_ERROR_INVALID_VALUE, EINVAL },
	{ CUDA_ERROR_OUT_OF_MEMORY, ENOMEM },
	{ CUDA_ERROR_NOT_INITIALIZED, ENODEV },
	{ CUDA_ERROR_DEINITIALIZED, ENODEV },
	{ CUDA_ERROR_STUB_LIBRARY, ENODEV },
	{ CUDA_ERROR_DEVICE_UNAVAILABLE, ENODEV },
	{ CUDA_ERROR_NO_DEVICE, ENODEV },
	{ CUDA_ERROR_INVALID_DEVICE, ENODEV },
	{ CUDA_ERROR_INVALID_CONTEXT, EINVAL },
	{ CUDA_ERROR_INVALID_HANDLE, EINVAL },
	{ CUDA_ERROR_CONTEXT_IS_DESTROYED, EINVAL },
	{ CUDA_ERROR_NOT_PERMITTED, EPERM },
	{ CUDA_ERROR_NOT_SUPPORTED, ENOTSUP },
	{ CUDA_ERROR_SYSTEM_NOT_READY, ENODEV },
	{ CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, ENODEV },
	{ CUDA_ERROR_OPERATING_SYSTEM, EIO },
	{ CUDA_ERROR_ILLEGAL_ADDRESS, EIO },
	{ CUDA_ERROR_UNKNOWN, EIO },
	{ (CUresult)9876, EIO },
};

/* Where a call stands in the scenario, and what its failure means. */
enum effect {
	OPEN_UNSUPPORTED, /* gdr_open: ENOTSUP */
	OPEN_NO_DEVICE,	  /* gdr_open: ENODEV */
	PIN_FAILS,	  /* with the errno of the result */
	HARMLESS,
};

static const struct {
	const char *name;
	int calls;		  /* in the scenario, this many */
	enum effect first, later; /* effect of the first call, and of the others */
} functions[] = {
	{ "cuDriverGetVersion", 1, OPEN_NO_DEVICE, HARMLESS },
	{ "cuInit", 1, OPEN_NO_DEVICE, HARMLESS },
	{ "cuDeviceGetCount", 1, OPEN_NO_DEVICE, HARMLESS },
	/* one device: all the calls are about it */
	{ "cuDeviceGet", 1, OPEN_UNSUPPORTED, HARMLESS },
	{ "cuPointerGetAttribute", 3, PIN_FAILS, PIN_FAILS },
	{ "cuCtxGetCurrent", 3, PIN_FAILS, PIN_FAILS },
	{ "cuDevicePrimaryCtxRetain", 1, PIN_FAILS, PIN_FAILS },
	{ "cuMemGetHandleForAddressRange", 3, PIN_FAILS, PIN_FAILS },
	{ "cuThreadExchangeStreamCaptureMode", 6, HARMLESS, HARMLESS },
	{ "cuGetErrorName", 0, HARMLESS, HARMLESS },
};

static CUdeviceptr memory;

/*
 * One pin with a context of the application's, two without.  0, or the first
 * error; a failure does not keep the rest from being tried.
 */
static int scenario(int *open_err)
{
	int ret = 0;
	gdr_t g = gdr_open();

	*open_err = g ? 0 : errno;
	if (!g)
		return 0;
	for (int i = 0; i < 3; i++) {
		CUcontext now, ctx = i == 0 ? soft_context[0] : NULL;
		gdr_mh_t mh = { 3 };
		void *va;
		int err;

		if (i < 2)
			assert_cuda(soft.cuCtxSetCurrent(ctx));
		err = gdr_pin_buffer(g, memory, SIZE, 0, 0, &mh);
		if (err) {
			assert_int_equal(mh.h, 3);
			if (!ret)
				ret = err;
		} else {
			assert_int_equal(gdr_map(g, mh, &va, SIZE), 0);
			assert_int_equal(gdr_copy_to_mapping(mh, va, &ret, sizeof(ret)), 0);
			assert_int_equal(gdr_unmap(g, mh, va, SIZE), 0);
			assert_int_equal(gdr_unpin_buffer(g, mh), 0);
		}
		/* the calls of this test are not to be counted */
		now = soft_context[0];
		if (i == 2 && (soft.softcuda_set_faults(NULL) || soft.cuCtxGetCurrent(&now)))
			fail();
		if (i == 2)
			assert_null(now);
	}
	assert_int_equal(gdr_close(g), 0);
	return ret;
}

/* The thread's capture mode, which becomes CUDA's default again. */
static CUstreamCaptureMode take_capture_mode(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

	assert_cuda(soft.cuThreadExchangeStreamCaptureMode(&mode));
	return mode;
}

static int ours_is_the_only_context(void)
{
	unsigned flags;
	int active = -1;

	/* all the memory goes with the context: one test allocates it anew */
	assert_cuda(soft.cuCtxSetCurrent(NULL));
	assert_cuda(soft.cuDevicePrimaryCtxRelease_v2(0));
	assert_cuda(soft.cuDevicePrimaryCtxGetState(0, &flags, &active));
	assert_cuda(soft.cuDevicePrimaryCtxRetain(&soft_context[0], 0));
	assert_cuda(soft.cuCtxSetCurrent(soft_context[0]));
	memory = soft_alloc(SIZE);
	return !active;
}

static void try_fault(size_t f, int nth, size_t c)
{
	enum effect effect = nth == 1 ? functions[f].first : functions[f].later;
	int fds = count_fds(), ret, open_err, want_open = 0, want = 0;
	char spec[128];

	if (nth > functions[f].calls)
		effect = HARMLESS;
	if (effect == OPEN_UNSUPPORTED)
		want_open = ENOTSUP;
	else if (effect == OPEN_NO_DEVICE)
		want_open = ENODEV;
	else if (effect == PIN_FAILS)
		want = codes[c].err;
	snprintf(spec, sizeof(spec), "%s:%d:%d", functions[f].name, nth, (int)codes[c].res);
	assert_int_equal(soft.softcuda_set_faults(spec), 0);
	ret = scenario(&open_err);
	assert_int_equal(soft.softcuda_set_faults(NULL), 0);
	if (open_err != want_open || ret != want)
		fail_msg("%s: open %d, not %d; pin %d, not %d", spec, open_err, want_open, ret,
			 want);
	if (want) {
		char number[16];

		snprintf(number, sizeof(number), "(%d)", (int)codes[c].res);
		assert_error_names(functions[f].name);
		assert_error_names(number);
		if (codes[c].res != CUDA_ERROR_INVALID_VALUE &&
		    codes[c].res != CUDA_ERROR_NOT_SUPPORTED) {
			/* the memory is as good as any: nothing is said against it */
			assert_error_lacks("it is no device memory");
			assert_error_lacks("must");
		}
	}
	assert_int_equal(count_fds(), fds);
	/* every second exchange is the one that restores */
	if (strcmp(functions[f].name, "cuThreadExchangeStreamCaptureMode") || nth % 2)
		assert_int_equal(take_capture_mode(), CU_STREAM_CAPTURE_MODE_GLOBAL);
	else
		take_capture_mode();
}

static void d5_every_result_at_every_call(void **state)
{
	for (size_t f = 0; f < COUNT(functions); f++)
		for (size_t c = 0; c < COUNT(codes); c++)
			for (int nth = 1; nth <= functions[f].calls + 1; nth++)
				try_fault(f, nth, c);
	assert_true(ours_is_the_only_context());
}

/* The table above says how often each is called; so say the calls themselves. */
static void the_scenario_makes_the_calls_it_says(void **state)
{
	for (size_t f = 0; f < COUNT(functions); f++) {
		int open_err, ret, nth = 1;
		char spec[128];

		/* harmless ones cannot be counted so */
		if (functions[f].first == HARMLESS)
			continue;
		for (; nth < MOST_CALLS; nth++) {
			snprintf(spec, sizeof(spec), "%s:%d:999", functions[f].name, nth);
			assert_int_equal(soft.softcuda_set_faults(spec), 0);
			ret = scenario(&open_err);
			assert_cuda(soft.cuCtxSetCurrent(NULL));
			if (!ret && !open_err)
				break;
		}
		if (nth - 1 != functions[f].calls)
			fail_msg("%s is called %d times", functions[f].name, nth - 1);
	}
	assert_int_equal(soft.softcuda_set_faults(NULL), 0);
}

/* A driver that knows no attribute is one without the feature, not an error of its own. */
static void an_attribute_that_cannot_be_read_is_not_there(void **state)
{
	static const int want[] = { ENOTSUP, ENOTSUP, 0 }; /* 124, 152, 100 */

	for (size_t c = 0; c < COUNT(codes); c++) {
		for (int nth = 1; nth <= 3; nth++) {
			int open_err;
			char spec[128];

			snprintf(spec, sizeof(spec), "cuDeviceGetAttribute:%d:%d", nth,
				 (int)codes[c].res);
			assert_int_equal(soft.softcuda_set_faults(spec), 0);
			assert_int_equal(scenario(&open_err), 0);
			assert_int_equal(open_err, want[nth - 1]);
		}
	}
	assert_int_equal(soft.softcuda_set_faults(NULL), 0);
}

/* A context that cannot be made current, and one whose device cannot be asked. */
static void contexts_that_do_not_work(void **state)
{
	gdr_t g = gdr_open();
	CUcontext now = NULL;
	gdr_mh_t mh;

	assert_non_null(g);
	assert_cuda(soft.cuCtxSetCurrent(soft_context[0]));
	assert_int_equal(soft.softcuda_set_faults("cuCtxGetDevice:*:201,cuCtxSetCurrent:1:201"), 0);
	assert_int_equal(gdr_pin_buffer(g, memory, SIZE, 0, 0, &mh), EINVAL);
	assert_error_names("cuCtxSetCurrent failed with CUDA_ERROR_INVALID_CONTEXT (201)");
	/* the second time it can */
	assert_int_equal(gdr_pin_buffer(g, memory, SIZE, 0, 0, &mh), 0);
	assert_int_equal(soft.softcuda_set_faults(NULL), 0);
	assert_cuda(soft.cuCtxGetCurrent(&now));
	assert_ptr_equal(now, soft_context[0]);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	/* not even its failing release keeps a context from closing */
	assert_int_equal(soft.softcuda_set_faults("cuDevicePrimaryCtxRelease:1:999"), 0);
	assert_int_equal(gdr_close(g), 0);
	assert_int_equal(soft.softcuda_set_faults(NULL), 0);
	/* it failed before it did anything: the release is still due */
	assert_cuda(soft.cuDevicePrimaryCtxRelease_v2(0));
}

/* D5: the table itself, and success. */
static void d5_results_become_errno_values(void **state)
{
	assert_int_equal(gdr_cuda_errno(CUDA_SUCCESS), 0);
	for (size_t c = 0; c < COUNT(codes); c++)
		assert_int_equal(gdr_cuda_errno(codes[c].res), -codes[c].err);
}

/* A result without a name still has its number. */
static void a_result_without_a_name(void **state)
{
	gdr_t g = gdr_open();
	gdr_mh_t mh;

	assert_int_equal(soft.softcuda_set_faults("cuPointerGetAttribute:*:700,"
						  "cuGetErrorName:*:1"),
			 0);
	assert_int_equal(gdr_pin_buffer(g, memory, SIZE, 0, 0, &mh), EIO);
	assert_error_names("cuPointerGetAttribute failed with unknown error (700)");
	assert_int_equal(soft.softcuda_set_faults(NULL), 0);
	assert_int_equal(gdr_close(g), 0);
}

static int setup(void **state)
{
	if (soft.cuCtxSetCurrent(soft_context[0]))
		return -1;
	return soft.cuMemAlloc_v2(&memory, SIZE) != CUDA_SUCCESS;
}

static int teardown(void **state)
{
	return soft.softcuda_set_faults(NULL) || soft.cuMemFree_v2(memory);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(the_scenario_makes_the_calls_it_says),
		T(d5_results_become_errno_values),
		T(d5_every_result_at_every_call),
		T(an_attribute_that_cannot_be_read_is_not_there),
		T(contexts_that_do_not_work),
		T(a_result_without_a_name),
	};
#undef T

	return cmocka_run_group_tests_name("core dmabuf fault", tests, soft_setup, soft_teardown);
}
