/* SPDX-License-Identifier: MIT */
/*
 * softcuda as the tests of the dmabuf backend see it: an application's side of
 * CUDA, looked up by name in the libcuda.so.1 that the library finds as well.
 */
#ifndef CORE_SOFT_H
#define CORE_SOFT_H

#include "fixture.h"

#include "cuda_abi.h"
#include "cuda_funcs.h"

int softcuda_set_faults(const char *spec);

#define SOFT_FUNCTIONS(X) \
	X(cuInit) \
	X(cuDeviceGetCount) \
	X(cuDevicePrimaryCtxRetain) \
	X(cuDevicePrimaryCtxRelease_v2) \
	X(cuDevicePrimaryCtxGetState) \
	X(cuCtxSetCurrent) \
	X(cuCtxGetCurrent) \
	X(cuCtxSynchronize) \
	X(cuThreadExchangeStreamCaptureMode) \
	X(cuMemAlloc_v2) \
	X(cuMemFree_v2) \
	X(cuMemGetInfo_v2) \
	X(cuMemAllocHost_v2) \
	X(cuMemFreeHost) \
	X(cuMemAllocManaged) \
	X(cuMemsetD8_v2) \
	X(cuMemcpyHtoD_v2) \
	X(cuMemcpyDtoH_v2) \
	X(cuMemAddressReserve) \
	X(cuMemAddressFree) \
	X(cuMemCreate) \
	X(cuMemRelease) \
	X(cuMemMap) \
	X(cuMemUnmap) \
	X(cuMemSetAccess) \
	X(softcuda_set_faults)

struct soft {
#define X(name) __typeof__(name) *name;
	SOFT_FUNCTIONS(X)
#undef X
};
extern struct soft soft;

/* Of each device, retained by soft_setup. */
extern CUcontext soft_context[2];

/* Group setup: load, initialise, device 0's primary context current; force the backend. */
int soft_setup(void **state);
/* Group teardown: give the contexts back. */
int soft_teardown(void **state);

#define assert_cuda(call) assert_int_equal(call, CUDA_SUCCESS)

CUdeviceptr soft_alloc(size_t size);
void soft_free(CUdeviceptr ptr);

/* One VMM allocation of whole 2 MiB, mapped and accessible. */
struct soft_vmm {
	CUdeviceptr ptr;
	size_t size;
	CUmemGenericAllocationHandle handle;
};
struct soft_vmm soft_vmm_alloc(size_t size, bool rdma_capable);
void soft_vmm_free(const struct soft_vmm *v);

/* Done when these return: CUDA's own calls may return earlier. */
void soft_set(CUdeviceptr ptr, unsigned char value, size_t size);
void soft_write(CUdeviceptr ptr, const void *from, size_t size);

/* Bytes in use on the current device. */
size_t soft_used(void);

void soft_fill(unsigned char *buf, size_t size, unsigned seed);

/* Is there memory at va? */
bool is_mapped(const void *va);

#endif
