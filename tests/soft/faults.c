/* SPDX-License-Identifier: MIT */
/* Description: injected failures hit the call they name; a wrong list is refused. */
#include <stdio.h>

#include "soft.h"

static void nth_call(void **state)
{
	CUdeviceptr a, b = 7, c;

	assert_int_equal(softcuda_set_faults("cuMemAlloc:2:2,cuMemAlloc_v2:3:46"), 0);
	ok(cuMemAlloc_v2(&a, 4));
	expect(cuMemAlloc_v2(&b, 4), CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(b, 7);
	expect(cuMemAlloc_v2(&b, 4), CUDA_ERROR_DEVICE_UNAVAILABLE);
	ok(cuMemAlloc_v2(&c, 4));
	assert_int_equal(softcuda_set_faults(NULL), 0);
	ok(cuMemFree_v2(a));
	ok(cuMemFree_v2(c));
}

static void every_call(void **state)
{
	int n;

	assert_int_equal(softcuda_set_faults("cuDeviceGetCount:*:999"), 0);
	for (int i = 0; i < 3; i++)
		expect(cuDeviceGetCount(&n), CUDA_ERROR_UNKNOWN);
	assert_int_equal(softcuda_set_faults(""), 0);
	ok(cuDeviceGetCount(&n));
}

static void wrong_lists(void **state)
{
	/* clang-format off */
	static const char *const bad[] = {
		"cuMemAlloc", "cuMemAlloc:1", "cuMemAlloc:0:2", "cuMemAlloc:1:0", "cuMemAlloc:1:2x",
		"cuNoSuch:1:2", ":1:2", "cuMemAlloc:-1:2", "cuMemAlloc:1:-2", "cuMemAlloc:1:2,,",
		"cuMemAlloc:*x:2", "cuMemAlloc:1:2;cuInit:1:2", "cuInit:1:99999",
	};
	/* clang-format on */
	int n;

	assert_int_equal(softcuda_set_faults("cuDeviceGetCount:*:999"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(softcuda_set_faults(bad[i]) < 0);
	expect(cuDeviceGetCount(&n), CUDA_ERROR_UNKNOWN);       /* the old list stays */
	assert_int_equal(softcuda_set_faults(NULL), 0);
}

/* Every function can be made to fail, whatever its arguments. */
static void all_functions(void **state)
{
	CUipcMemHandle ipc = { { 0 } };
	char spec[80];

#define FAILS(name, call) \
	do { \
		snprintf(spec, sizeof(spec), "%s:1:304", name); \
		assert_int_equal(softcuda_set_faults(spec), 0); \
		expect(call, CUDA_ERROR_OPERATING_SYSTEM); \
	} while (0)
	FAILS("cuInit", cuInit(0));
	FAILS("cuDriverGetVersion", cuDriverGetVersion(NULL));
	FAILS("cuGetErrorName", cuGetErrorName(CUDA_SUCCESS, NULL));
	FAILS("cuDeviceGet", cuDeviceGet(NULL, 0));
	FAILS("cuDeviceGetAttribute", cuDeviceGetAttribute(NULL, (CUdevice_attribute)1, 0));
	FAILS("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(NULL, 0));
	FAILS("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease_v2(0));
	FAILS("cuCtxSetCurrent", cuCtxSetCurrent(NULL));
	FAILS("cuCtxGetCurrent", cuCtxGetCurrent(NULL));
	FAILS("cuCtxGetDevice", cuCtxGetDevice(NULL));
	FAILS("cuCtxSynchronize", cuCtxSynchronize());
	FAILS("cuThreadExchangeStreamCaptureMode", cuThreadExchangeStreamCaptureMode(NULL));
	FAILS("cuMemFree", cuMemFree_v2(0));
	FAILS("cuMemGetInfo", cuMemGetInfo_v2(NULL, NULL));
	FAILS("cuMemAllocHost", cuMemAllocHost_v2(NULL, 0));
	FAILS("cuMemFreeHost", cuMemFreeHost(NULL));
	FAILS("cuPointerGetAttribute",
	      cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_CONTEXT, 0));
	FAILS("cuPointerGetAttributes", cuPointerGetAttributes(0, NULL, NULL, 0));
	FAILS("cuPointerSetAttribute",
	      cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_CONTEXT, 0));
	FAILS("cuMemsetD8", cuMemsetD8_v2(0, 0, 0));
	FAILS("cuMemcpyHtoD", cuMemcpyHtoD_v2(0, NULL, 0));
	FAILS("cuMemcpyDtoH", cuMemcpyDtoH_v2(NULL, 0, 0));
	FAILS("cuMemGetAllocationGranularity", cuMemGetAllocationGranularity(NULL, NULL, 0));
	FAILS("cuMemAddressReserve", cuMemAddressReserve(NULL, 0, 0, 0, 0));
	FAILS("cuMemAddressFree", cuMemAddressFree(0, 0));
	FAILS("cuMemCreate", cuMemCreate(NULL, 0, NULL, 0));
	FAILS("cuMemRelease", cuMemRelease(0));
	FAILS("cuMemMap", cuMemMap(0, 0, 0, 0, 0));
	FAILS("cuMemUnmap", cuMemUnmap(0, 0));
	FAILS("cuMemSetAccess", cuMemSetAccess(0, 0, NULL, 0));
	FAILS("cuMemRetainAllocationHandle", cuMemRetainAllocationHandle(NULL, NULL));
	FAILS("cuMemGetAllocationPropertiesFromHandle",
	      cuMemGetAllocationPropertiesFromHandle(NULL, 0));
	FAILS("cuMemExportToShareableHandle", cuMemExportToShareableHandle(NULL, 0, 0, 0));
	FAILS("cuMemImportFromShareableHandle", cuMemImportFromShareableHandle(NULL, NULL, 0));
	FAILS("cuMemGetHandleForAddressRange", cuMemGetHandleForAddressRange(NULL, 0, 0, 0, 0));
	FAILS("cuIpcGetMemHandle", cuIpcGetMemHandle(NULL, 0));
	FAILS("cuIpcOpenMemHandle", cuIpcOpenMemHandle_v2(NULL, ipc, 0));
	FAILS("cuIpcCloseMemHandle", cuIpcCloseMemHandle(0));
	FAILS("cuStreamQuery", cuStreamQuery(NULL));
	FAILS("cuStreamSynchronize", cuStreamSynchronize(NULL));
	FAILS("cuModuleLoadData", cuModuleLoadData(NULL, NULL));
	FAILS("cuModuleGetFunction", cuModuleGetFunction(NULL, NULL, NULL));
	FAILS("cuModuleUnload", cuModuleUnload(NULL));
	FAILS("cuDeviceCanAccessPeer", cuDeviceCanAccessPeer(NULL, 0, 0));
	FAILS("cuCtxEnablePeerAccess", cuCtxEnablePeerAccess(NULL, 0));
	FAILS("cuCtxDisablePeerAccess", cuCtxDisablePeerAccess(NULL));
	FAILS("cuMemcpyDtoD", cuMemcpyDtoD_v2(0, 0, 0));
	FAILS("cuMemcpyDtoDAsync", cuMemcpyDtoDAsync_v2(0, 0, 0, NULL));
	FAILS("cuEventCreate", cuEventCreate(NULL, 0));
	FAILS("cuEventDestroy", cuEventDestroy_v2(NULL));
	FAILS("cuEventRecord", cuEventRecord(NULL, NULL));
	FAILS("cuEventQuery", cuEventQuery(NULL));
	FAILS("cuEventSynchronize", cuEventSynchronize(NULL));
	FAILS("cuEventElapsedTime", cuEventElapsedTime(NULL, NULL, NULL));
	FAILS("cuStreamAddCallback", cuStreamAddCallback(NULL, NULL, NULL, 0));
	FAILS("cuLaunchHostFunc", cuLaunchHostFunc(NULL, NULL, NULL));
	FAILS("cuLaunchKernel", cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
#undef FAILS
	assert_int_equal(softcuda_set_faults(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nth_call),
		cmocka_unit_test(every_call),
		cmocka_unit_test(wrong_lists),
		cmocka_unit_test(all_functions),
	};

	return cmocka_run_group_tests(tests, with_context, without_context);
}
