/* SPDX-License-Identifier: MIT */
/*
 * CUDA calls that fail under the rm backend, and memory that is not what it
 * should be: refused with a reason, and nothing is left behind.
 */
#include "soft_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "softcuda_hooks.h"

#define CALLS 6

static const struct {
	const char *name;
	int needed;                     /* the call whose failure must be seen; 0: none */
} functions[] = {
	{ "cuPointerGetAttributes", 1 },
	{ "cuPointerGetAttribute", 1 },
	{ "cuDeviceGetAttribute", 2 },
	{ "cuMemRetainAllocationHandle", 0 },
	{ "cuMemGetAllocationPropertiesFromHandle", 1 },
	{ "cuMemExportToShareableHandle", 1 },
	{ "cuIpcGetMemHandle", 1 },
	{ "cuMemAlloc", 1 },
	{ "cuMemcpyHtoDAsync", 1 },
	{ "cuMemcpyDtoHAsync", 1 },
	{ "cuStreamCreate", 1 },
	{ "cuStreamSynchronize", 1 },
	{ "cuMemGetAllocationGranularity", 1 },
	{ "cuMemCreate", 1 },
	{ "cuMemAddressReserve", 1 },
	{ "cuMemMap", 1 },
	{ "cuMemSetAccess", 1 },
	{ "cuDevicePrimaryCtxRetain", 0 },
	{ "cuCtxSetCurrent", 0 },
	{ "cuCtxGetCurrent", 0 },
	{ "cuCtxGetDevice", 0 },
	{ "cuThreadExchangeStreamCaptureMode", 0 },
};

static int run_with_fault(const char *name, int nth, CUresult res)
{
	CUdeviceptr ptr;
	char spec[96];
	struct vmm v;
	int ret;

	soft_use(0);
	ptr = cuda_alloc(64 * KIB);
	vmm_new(0, 2 * MIB, 3, POSIX_FD, &v);
	snprintf(spec, sizeof(spec), "%s:%d:%d", name, nth, (int)res);
	assert_int_equal(softcuda_set_faults(spec), 0);
	ret = soft_scenario(ptr, &v);
	assert_int_equal(softcuda_set_faults(NULL), 0);
	cuda_free(ptr);
	vmm_free(&v);
	if (!soft_is_clean())
		fail_msg("%s leaves something", spec);
	if (ret && strlen(gdrx_last_error()) < 20)
		fail_msg("%s: no reason", spec);
	return ret;
}

static void every_cuda_call_that_fails_leaves_nothing(void **state)
{
	static const CUresult results[] = {
		CUDA_ERROR_INVALID_VALUE,
		CUDA_ERROR_OUT_OF_MEMORY,
		CUDA_ERROR_UNKNOWN,
	};
	unsigned failed = 0;

	for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
		for (size_t r = 0; r < sizeof(results) / sizeof(results[0]); r++) {
			for (int nth = 1; nth <= CALLS; nth++) {
				int ret = run_with_fault(functions[f].name, nth, results[r]);

				failed += ret != 0;
				if (functions[f].needed == nth && !ret)
					fail_msg("%s failing goes unseen", functions[f].name);
			}
		}
	}
	print_message("%u failures seen\n", failed);
}

/* No room for scratch memory is a reason to try again later, not a verdict. */
static void no_memory_to_calibrate_is_not_for_ever(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	struct vmm v;

	vmm_new(0, 2 * MIB, 1, POSIX_FD, &v);
	assert_int_equal(softcuda_set_faults("cuMemAlloc:*:2,cuMemCreate:*:2"), 0);
	refuse_pin(*state, ptr, 2 * MIB, ENOMEM, "scratch memory");
	refuse_pin(*state, v.ptr, 2 * MIB, ENOMEM, "scratch memory");
	assert_int_equal(softcuda_set_faults(NULL), 0);
	round_trip(*state, ptr, 2 * MIB);
	round_trip(*state, v.ptr, 2 * MIB);
	cuda_free(ptr);
	vmm_free(&v);
}

static void memory_that_is_not_as_expected(void **state)
{
	static const struct {
		uint32_t class, space;
		uint64_t size;
		int err;
		const char *reason;
	} rows[] = {
		{ 0x3e, 1, 0, ENOTSUP, "no video memory" },
		{ 0x40, 1, 0, ENOTSUP, "no video memory" },
		{ 0x3e, 2, 0, ENOTSUP, "no video memory" },
		{ 0x40, 2, MIB, EINVAL, "past the end" },
	};
	CUdeviceptr ptr;
	struct vmm v;

	soft_use(0);
	ptr = cuda_alloc(2 * MIB);
	vmm_new(0, 2 * MIB, 1, POSIX_FD, &v);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		gdr_t g = gdr_open();

		assert_non_null(g);
		/* From the start, so that the scratch memory is no better ... */
		fake_rm_describe_soft(rows[i].class, rows[i].space, rows[i].size);
		refuse_pin(g, ptr, 2 * MIB, ENOTSUP, "could not be verified");
		refuse_pin(g, v.ptr, 2 * MIB, ENOTSUP, "could not be verified");
		assert_int_equal(gdr_close(g), 0);

		/* ... and with scratch memory that is as it should be. */
		fake_rm_describe_soft(0x40, 2, 0);
		g = gdr_open();
		assert_non_null(g);
		round_trip(g, ptr, 2 * MIB);
		round_trip(g, v.ptr, 2 * MIB);
		fake_rm_describe_soft(rows[i].class, rows[i].space, rows[i].size);
		refuse_pin(g, ptr, 2 * MIB, rows[i].err, rows[i].reason);
		refuse_pin(g, v.ptr, 2 * MIB, rows[i].err, rows[i].reason);
		assert_int_equal(gdr_close(g), 0);
		fake_rm_describe_soft(0x40, 2, 0);
	}
	cuda_free(ptr);
	vmm_free(&v);
}

static void pin_and_unpin(gdr_t g, CUdeviceptr ptr)
{
	gdr_mh_t mh;

	assert_int_equal(gdr_pin_buffer(g, ptr, 2 * MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
}

/* A pin with no CUDA context current, in a thread that never had one. */
static void no_current_context(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	CUcontext now;
	gdr_mh_t mh;
	void *va;

	pattern_to_device(ptr, 2 * MIB, 2);
	assert_int_equal(cuCtxSetCurrent(NULL), CUDA_SUCCESS);
	assert_int_equal(gdr_pin_buffer(*state, ptr, 2 * MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(*state, mh, &va, 2 * MIB), 0);
	pattern_on_cpu(va, 2 * MIB, 2);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	assert_int_equal(cuCtxGetCurrent(&now), CUDA_SUCCESS);
	assert_null(now);
	soft_use(0);
	cuda_free(ptr);
}

/* Where none is current, that of the memory serves, and no primary context is made. */
static void context_of_the_memory(void **state)
{
	CUdeviceptr ptr;
	CUcontext now;
	struct vmm v;
	gdr_t g;

	for (int known = 1; known >= 0; known--) {
		soft_use(0);
		assert_int_equal(cuCtxGetCurrent(&now), CUDA_SUCCESS);
		ptr = cuda_alloc(2 * MIB);
		vmm_new(0, 2 * MIB, 1, POSIX_FD, &v);
		g = gdr_open();
		assert_non_null(g);
		soft_memory_context = known ? now : NULL;
		soft_primaries = 0;
		assert_int_equal(cuCtxSetCurrent(NULL), CUDA_SUCCESS);
		pin_and_unpin(g, ptr);
		pin_and_unpin(g, v.ptr);
		assert_int_equal(cuCtxGetCurrent(&now), CUDA_SUCCESS);
		assert_null(now);
		assert_int_equal(soft_primaries, !known);
		soft_memory_context = NULL;
		soft_use(0);
		assert_int_equal(gdr_close(g), 0);
		cuda_free(ptr);
		vmm_free(&v);
		assert_true(soft_is_clean());
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, soft_open, soft_close)
#define BARE(f) cmocka_unit_test_setup_teardown(f, soft_reset, soft_check_clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BARE(every_cuda_call_that_fails_leaves_nothing),
		TEST(no_memory_to_calibrate_is_not_for_ever),
		BARE(memory_that_is_not_as_expected),
		TEST(no_current_context),
		BARE(context_of_the_memory),
	};

	return cmocka_run_group_tests_name("rm_cuda", tests, soft_start, NULL);
}
