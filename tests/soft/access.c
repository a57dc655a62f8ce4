/* SPDX-License-Identifier: MIT */
/* Description: kernels touch another device's memory with leave only; copies always. */
#include "soft.h"

static const char ptx[] = ".version 7.0\n.target sm_70\n"
			  ".visible .entry softcuda_fill_u32(.param .u64 p)\n{ ret; }\n";

static CUcontext ctx[2];

static int two_devices(void **state)
{
	setenv("SOFTCUDA_DEVICES", "2", 1);
	ok(cuInit(0));
	ok(cuDevicePrimaryCtxRetain(&ctx[0], 0));
	ok(cuDevicePrimaryCtxRetain(&ctx[1], 1));
	ok(cuCtxSetCurrent(ctx[0]));
	return 0;
}

static int no_device(void **state)
{
	ok(cuDevicePrimaryCtxRelease_v2(1));
	return without_context(state);
}

/* Four words of v at p, by a kernel of the current device. */
static CUresult fill(CUdeviceptr p, uint32_t v)
{
	CUfunction func;
	CUmodule module;
	uint32_t n = 4;
	void *params[] = { &p, &n, &v };
	CUresult res;

	ok(cuModuleLoadData(&module, ptx));
	ok(cuModuleGetFunction(&func, module, "softcuda_fill_u32"));
	res = cuLaunchKernel(func, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
	ok(cuModuleUnload(module));
	return res ? res : cuCtxSynchronize();
}

/* Device 0's context anew, with its error and its leaves gone. */
static void reset(void)
{
	ok(cuDevicePrimaryCtxRelease_v2(0));
	ok(cuDevicePrimaryCtxRetain(&ctx[0], 0));
	ok(cuCtxSetCurrent(ctx[0]));
}

static void who_can(void **state)
{
	int can = 7;

	ok(cuDeviceCanAccessPeer(&can, 0, 1));
	assert_int_equal(can, 1);
	ok(cuDeviceCanAccessPeer(&can, 0, 0));
	assert_int_equal(can, 0);
	expect(cuDeviceCanAccessPeer(NULL, 0, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuDeviceCanAccessPeer(&can, 0, 2), CUDA_ERROR_INVALID_DEVICE);
	expect(cuDeviceCanAccessPeer(&can, -1, 0), CUDA_ERROR_INVALID_DEVICE);
}

static void arguments(void **state)
{
	expect(cuCtxEnablePeerAccess(ctx[1], 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuCtxEnablePeerAccess(ctx[0], 0), CUDA_ERROR_INVALID_CONTEXT);
	expect(cuCtxEnablePeerAccess(NULL, 0), CUDA_ERROR_INVALID_CONTEXT);
	expect(cuCtxDisablePeerAccess(NULL), CUDA_ERROR_INVALID_CONTEXT);
	expect(cuCtxDisablePeerAccess(ctx[1]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
	ok(cuCtxEnablePeerAccess(ctx[1], 0));
	expect(cuCtxEnablePeerAccess(ctx[1], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	ok(cuCtxSetCurrent(ctx[1]));
	expect(cuCtxDisablePeerAccess(ctx[0]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
	ok(cuCtxSetCurrent(ctx[0]));
	ok(cuCtxDisablePeerAccess(ctx[1]));
	/* a context that is gone */
	ok(cuDevicePrimaryCtxRelease_v2(1));
	expect(cuCtxEnablePeerAccess(ctx[1], 0), CUDA_ERROR_INVALID_CONTEXT);
	ok(cuDevicePrimaryCtxRetain(&ctx[1], 1));
}

static void kernels(void **state)
{
	CUdeviceptr p;

	ok(cuCtxSetCurrent(ctx[1]));
	p = alloc(4096);
	ok(fill(p, 1));
	ok(cuCtxSetCurrent(ctx[0]));
	ok(cuCtxEnablePeerAccess(ctx[1], 0));
	ok(fill(p, 2));
	assert_int_equal(peek(p), 2);
	ok(cuCtxDisablePeerAccess(ctx[1]));
	expect(fill(p, 3), CUDA_ERROR_ILLEGAL_ADDRESS);
	reset();
	assert_int_equal(peek(p), 2);
	/* the leave goes with the context that has it */
	ok(cuCtxEnablePeerAccess(ctx[1], 0));
	reset();
	expect(fill(p, 3), CUDA_ERROR_ILLEGAL_ADDRESS);
	reset();
	ok(cuMemFree_v2(p));
}

/* Between devices, and onto itself. */
static void copies(void **state)
{
	CUdeviceptr p = alloc(4096), q;
	unsigned int on = 1;
	int fd = -1;

	ok(cuCtxSetCurrent(ctx[1]));
	q = alloc(4096);
	ok(cuCtxSetCurrent(ctx[0]));
	poke(p, 5);
	ok(cuMemcpyDtoD_v2(q, p, 4));
	assert_int_equal(peek(q), 5);
	poke(p, 6);
	ok(cuMemcpyDtoDAsync_v2(q + 4, p, 4, NULL));
	ok(cuCtxSynchronize());
	assert_int_equal(peek(q + 4), 6);
	ok(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, q));
	poke(p, 7);
	ok(cuMemcpyDtoD_v2(q, p, 4));
	assert_int_equal(peek(q), 7);
	ok(cuMemcpyDtoD_v2(q, p, 0));
	expect(cuMemcpyDtoD_v2(q, p, 4097), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpyDtoD_v2(q, (uintptr_t)&fd, 4), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpyDtoDAsync_v2((uintptr_t)&fd, p, 4, NULL), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(fd, -1);
	ok(cuMemFree_v2(p));
	ok(cuMemFree_v2(q));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_can),
		cmocka_unit_test(arguments),
		cmocka_unit_test(kernels),
		cmocka_unit_test(copies),
	};

	return cmocka_run_group_tests(tests, two_devices, no_device);
}
