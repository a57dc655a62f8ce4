/* SPDX-License-Identifier: MIT */
/* Description: start-up, devices, contexts, fork, and symbols by name. */
#include <pthread.h>
#include <stdio.h>
#include <dlfcn.h>

#include "soft.h"

CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, unsigned long long flags);
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, unsigned long long flags,
			     int *status);

static void nothing_works_before_init(void **state)
{
	CUdevice dev;
	CUcontext ctx;
	CUdeviceptr p;
	const char *str;
	int n;

	expect(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
	expect(cuDeviceGet(&dev, 0), CUDA_ERROR_NOT_INITIALIZED);
	expect(cuCtxGetCurrent(&ctx), CUDA_ERROR_NOT_INITIALIZED);
	expect(cuMemAlloc_v2(&p, 1), CUDA_ERROR_NOT_INITIALIZED);
	expect(cuMemFree_v2(1), CUDA_ERROR_NOT_INITIALIZED);
	expect(cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 1),
	       CUDA_ERROR_NOT_INITIALIZED);
	ok(cuDriverGetVersion(&n));
	assert_int_equal(n, 13030);
	expect(cuDriverGetVersion(NULL), CUDA_ERROR_INVALID_VALUE);
	ok(cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &str));
	assert_string_equal(str, "CUDA_ERROR_NOT_INITIALIZED");
	expect(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

static int init_in_child(void *arg)
{
	CUcontext ctx;
	CUdeviceptr p;

	return cuInit(0) || cuDevicePrimaryCtxRetain(&ctx, 0) || cuCtxSetCurrent(ctx) ||
	       cuMemAlloc_v2(&p, 4096) || cuMemsetD8_v2(p, 1, 4096);
}

static void child_of_untouched_parent_can_init(void **state)
{
	assert_int_equal(in_child(init_in_child, NULL), 0);
}

static int dead_in_child(void *arg)
{
	CUdeviceptr p;
	uint32_t client, object;
	size_t a, b;
	int n;

	return !(cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
		 cuDeviceGetCount(&n) == CUDA_ERROR_NOT_INITIALIZED &&
		 cuMemAlloc_v2(&p, 1) == CUDA_ERROR_NOT_INITIALIZED &&
		 cuMemGetInfo_v2(&a, &b) == CUDA_ERROR_NOT_INITIALIZED &&
		 cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED &&
		 cuMemFree_v2(*(CUdeviceptr *)arg) == CUDA_ERROR_NOT_INITIALIZED &&
		 softcuda_fd_object(0, &client, &object) < 0 &&
		 cuDriverGetVersion(&n) == CUDA_SUCCESS);
}

static void child_of_initialised_parent_is_dead(void **state)
{
	CUdeviceptr p;

	with_context(NULL);
	p = alloc(4096);
	assert_int_equal(in_child(dead_in_child, &p), 0);
	poke(p, 1);
	ok(cuMemFree_v2(p));
	without_context(NULL);
}

static void devices(void **state)
{
	CUuuid uuid = { { 0 } };
	CUdevice dev = -1;
	size_t bytes;
	char text[256];
	int n = 0;

	ok(cuInit(0));
	ok(cuDeviceGetCount(&n));
	assert_int_equal(n, 1);
	expect(cuDeviceGetCount(NULL), CUDA_ERROR_INVALID_VALUE);
	ok(cuDeviceGet(&dev, 0));
	assert_int_equal(dev, 0);
	expect(cuDeviceGet(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuDeviceGet(&dev, 1), CUDA_ERROR_INVALID_DEVICE);
	expect(cuDeviceGet(&dev, -1), CUDA_ERROR_INVALID_DEVICE);
	ok(cuDeviceGetName(text, sizeof(text), 0));
	assert_non_null(strstr(text, "softcuda"));
	assert_non_null(strstr(text, "no GPU"));
	ok(cuDeviceGetName(text, 5, 0));
	assert_string_equal(text, "soft");
	expect(cuDeviceGetName(text, 0, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuDeviceGetName(NULL, 5, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuDeviceGetName(text, 5, 7), CUDA_ERROR_INVALID_DEVICE);
	ok(cuDeviceGetPCIBusId(text, sizeof(text), 0));
	assert_string_equal(text, "5cda:01:00.0");
	ok(cuDeviceGetPCIBusId(text, 13, 0));
	expect(cuDeviceGetPCIBusId(text, 12, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuDeviceGetPCIBusId(NULL, 13, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuDeviceGetPCIBusId(text, 13, 1), CUDA_ERROR_INVALID_DEVICE);
	ok(cuDeviceGetUuid_v2(&uuid, 0));
	assert_memory_equal(uuid.bytes, "softcuda", 8);
	expect(cuDeviceGetUuid_v2(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuDeviceGetUuid_v2(&uuid, 1), CUDA_ERROR_INVALID_DEVICE);
	ok(cuDeviceTotalMem_v2(&bytes, 0));
	assert_int_equal(bytes, 1024 * MIB);
	expect(cuDeviceTotalMem_v2(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuDeviceTotalMem_v2(&bytes, 1), CUDA_ERROR_INVALID_DEVICE);
}

static void attributes(void **state)
{
	/* clang-format off */
	static const struct {
		int attr, value;
	} want[] = {
		{ 1, 1024 }, { 18, 0 }, { 19, 1 }, { 20, 0 }, { 33, 1 }, { 34, 0 }, { 41, 1 },
		{ 50, 0x5cda }, { 75, 9 }, { 76, 0 }, { 83, 1 }, { 100, 0 }, { 102, 1 }, { 103, 1 },
		{ 110, 1 }, { 116, 1 }, { 124, 1 }, { 152, 1 },
	};
	/* clang-format on */
	int v;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		v = -1;
		ok(cuDeviceGetAttribute(&v, (CUdevice_attribute)want[i].attr, 0));
		assert_int_equal(v, want[i].value);
	}
	expect(cuDeviceGetAttribute(&v, (CUdevice_attribute)9999, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuDeviceGetAttribute(NULL, (CUdevice_attribute)1, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuDeviceGetAttribute(&v, (CUdevice_attribute)1, 1), CUDA_ERROR_INVALID_DEVICE);
}

static void errors(void **state)
{
	const char *str = "x";

	ok(cuGetErrorString(CUDA_ERROR_NOT_READY, &str));
	assert_string_equal(str, "device not ready");
	expect(cuGetErrorString((CUresult)4242, &str), CUDA_ERROR_INVALID_VALUE);
	assert_null(str);
	expect(cuGetErrorName(CUDA_SUCCESS, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void *without_current(void *arg)
{
	CUcontext ctx = arg;
	CUdeviceptr p = *(CUdeviceptr *)arg, q;
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUdevice dev;
	int n;

	ok(cuCtxGetCurrent(&ctx));
	assert_null(ctx);
	expect(cuCtxGetDevice(&dev), CUDA_ERROR_INVALID_CONTEXT);
	expect(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
	expect(cuMemAlloc_v2(&q, 1), CUDA_ERROR_INVALID_CONTEXT);
	expect(cuMemsetD8_v2(p, 0, 1), CUDA_ERROR_INVALID_CONTEXT);
	expect(cuStreamQuery(NULL), CUDA_ERROR_INVALID_CONTEXT);
	ok(cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
	ok(cuThreadExchangeStreamCaptureMode(&mode));
	assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
	ok(cuThreadExchangeStreamCaptureMode(&mode));
	assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
	mode = (CUstreamCaptureMode)3;
	expect(cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);
	expect(cuThreadExchangeStreamCaptureMode(NULL), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFree_v2(p));
	return NULL;
}

static void contexts(void **state)
{
	CUcontext ctx = NULL, other;
	CUdeviceptr p;
	unsigned int flags;
	pthread_t thread;
	CUdevice dev;
	int active;

	expect(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
	expect(cuDevicePrimaryCtxRetain(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuDevicePrimaryCtxRetain(&ctx, 1), CUDA_ERROR_INVALID_DEVICE);
	expect(cuDevicePrimaryCtxRelease_v2(1), CUDA_ERROR_INVALID_DEVICE);
	ok(cuDevicePrimaryCtxGetState(0, &flags, &active));
	assert_int_equal(active, 0);
	ok(cuDevicePrimaryCtxRetain(&ctx, 0));
	ok(cuDevicePrimaryCtxRetain(&other, 0));
	assert_ptr_equal(ctx, other);
	ok(cuDevicePrimaryCtxGetState(0, &flags, &active));
	assert_int_equal(active, 1);
	expect(cuDevicePrimaryCtxGetState(0, NULL, &active), CUDA_ERROR_INVALID_VALUE);
	expect(cuDevicePrimaryCtxGetState(3, &flags, &active), CUDA_ERROR_INVALID_DEVICE);
	expect(cuCtxSetCurrent((CUcontext)(void *)&flags), CUDA_ERROR_INVALID_CONTEXT);
	ok(cuCtxSetCurrent(ctx));
	ok(cuCtxGetCurrent(&other));
	assert_ptr_equal(ctx, other);
	expect(cuCtxGetCurrent(NULL), CUDA_ERROR_INVALID_VALUE);
	ok(cuCtxGetDevice(&dev));
	assert_int_equal(dev, 0);
	expect(cuCtxGetDevice(NULL), CUDA_ERROR_INVALID_VALUE);
	ok(cuDevicePrimaryCtxRelease_v2(0));
	ok(cuCtxSynchronize());
	p = alloc(4);
	assert_int_equal(pthread_create(&thread, NULL, without_current, &p), 0);
	pthread_join(thread, NULL);
	ok(cuDevicePrimaryCtxRelease_v2(0));
	expect(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	expect(cuCtxSetCurrent(ctx), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	ok(cuCtxSetCurrent(NULL));
}

static void symbols(void **state)
{
	union {
		void *p;
		CUresult (*init)(unsigned int flags);
	} f;
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	int status;

	assert_non_null(lib);
	ok(cuGetProcAddress("cuInit", &f.p, 13030, 0));
	ok(f.init(0));
	assert_ptr_equal(f.p, dlsym(lib, "cuInit"));
	ok(cuGetProcAddress("cuMemAlloc", &f.p, 13030, 0));
	assert_ptr_equal(f.p, dlsym(lib, "cuMemAlloc_v2"));
	ok(cuGetProcAddress_v2("cuMemFree", &f.p, 12000, 2, &status));
	assert_ptr_equal(f.p, dlsym(lib, "cuMemFree_v2"));
	assert_int_equal(status, 0);
	ok(cuGetProcAddress_v2("cuMemGetHandleForAddressRange", &f.p, 11060, 0, &status));
	assert_null(f.p);
	assert_int_equal(status, 2);
	ok(cuGetProcAddress_v2("cuNoSuchThing", &f.p, 12000, 0, &status));
	assert_null(f.p);
	assert_int_equal(status, 1);
	ok(cuGetProcAddress_v2("cuInit", &f.p, 12000, 0, NULL));
	ok(cuGetProcAddress("cuGetProcAddress", &f.p, 11030, 0));
	assert_ptr_equal(f.p, dlsym(lib, "cuGetProcAddress"));
	ok(cuGetProcAddress("cuGetProcAddress", &f.p, 12000, 0));
	assert_ptr_equal(f.p, dlsym(lib, "cuGetProcAddress_v2"));
	expect(cuGetProcAddress("cuInit", &f.p, 13040, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuGetProcAddress("cuInit", &f.p, 13000, 4), CUDA_ERROR_INVALID_VALUE);
	expect(cuGetProcAddress("cuInit", NULL, 13000, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuGetProcAddress(NULL, &f.p, 13000, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuGetProcAddress("", &f.p, 13000, 0), CUDA_ERROR_INVALID_VALUE);
	/* Only what belongs to the interface is exported. */
	assert_null(dlsym(lib, "sc_enter"));
	dlclose(lib);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_works_before_init),
		cmocka_unit_test(child_of_untouched_parent_can_init),
		cmocka_unit_test(child_of_initialised_parent_is_dead),
		cmocka_unit_test(devices),
		cmocka_unit_test(attributes),
		cmocka_unit_test(errors),
		cmocka_unit_test(contexts),
		cmocka_unit_test(symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
