/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver as the library uses it: libcuda loaded at run time, and the
 * one place where a CUresult becomes an errno.
 */
#ifndef GDR_CUDA_H
#define GDR_CUDA_H

#include <stdbool.h>

#include "cuda_abi.h"
#include "cuda_funcs.h"

/*
 * Functions the library calls.  REQUIRED ones are in every driver since 11.2;
 * OPTIONAL ones may be NULL.
 */
#define GDR_CUDA_REQUIRED(X) \
	X(DriverGetVersion, cuDriverGetVersion) \
	X(Init, cuInit) \
	X(GetErrorName, cuGetErrorName) \
	X(DeviceGetCount, cuDeviceGetCount) \
	X(DeviceGet, cuDeviceGet) \
	X(DeviceGetAttribute, cuDeviceGetAttribute) \
	X(PointerGetAttribute, cuPointerGetAttribute) \
	X(PointerGetAttributes, cuPointerGetAttributes) \
	X(CtxGetCurrent, cuCtxGetCurrent) \
	X(CtxSetCurrent, cuCtxSetCurrent) \
	X(CtxGetDevice, cuCtxGetDevice) \
	X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain) \
	X(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2) \
	X(ThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode) \
	X(MemAlloc, cuMemAlloc_v2) \
	X(MemFree, cuMemFree_v2) \
	X(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2) \
	X(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2) \
	X(StreamCreate, cuStreamCreate) \
	X(StreamDestroy, cuStreamDestroy_v2) \
	X(StreamSynchronize, cuStreamSynchronize) \
	X(IpcGetMemHandle, cuIpcGetMemHandle) \
	X(MemRetainAllocationHandle, cuMemRetainAllocationHandle) \
	X(MemExportToShareableHandle, cuMemExportToShareableHandle) \
	X(MemGetAllocationPropertiesFromHandle, cuMemGetAllocationPropertiesFromHandle) \
	X(MemRelease, cuMemRelease) \
	X(MemGetAllocationGranularity, cuMemGetAllocationGranularity) \
	X(MemCreate, cuMemCreate) \
	X(MemAddressReserve, cuMemAddressReserve) \
	X(MemAddressFree, cuMemAddressFree) \
	X(MemMap, cuMemMap) \
	X(MemUnmap, cuMemUnmap) \
	X(MemSetAccess, cuMemSetAccess)

#define GDR_CUDA_OPTIONAL(X) \
	X(MemGetHandleForAddressRange, cuMemGetHandleForAddressRange)

struct gdr_cuda {
#define X(field, symbol) __typeof__(symbol) *field;
	GDR_CUDA_REQUIRED(X)
	GDR_CUDA_OPTIONAL(X)
#undef X
};

/*
 * The driver's functions, loaded on first use and kept for good; NULL and *why
 * (a static or thread-local sentence) if there is none.  Does not call cuInit.
 */
const struct gdr_cuda *gdr_cuda_get(const char **why);

/* CUresult to -errno; 0 for success. */
int gdr_cuda_errno(CUresult res);

/* Record a failed CUDA call with gdr_log_fail; returns -errno. */
int gdr_cuda_fail(const struct gdr_cuda *cu, CUresult res, const char *call, const char *about);

/*
 * Make a context of dev current for a few calls of this thread, and relax
 * stream capture; leave restores both.  The caller's context serves if it is
 * of dev, else that of the memory of dev at near (0: of none); the primary one
 * only where that memory has none.  It is retained into *primary the first time
 * (NULL before) and stays the caller's to release.
 */
struct gdr_cuda_scope {
	CUcontext saved;
	CUstreamCaptureMode mode;
	bool switched;                  /* saved is to be made current again */
	bool relaxed;                   /* mode is to be set again */
};
int gdr_cuda_enter(const struct gdr_cuda *cu, CUdevice dev, CUdeviceptr near, CUcontext *primary,
		   struct gdr_cuda_scope *scope);
void gdr_cuda_leave(const struct gdr_cuda *cu, struct gdr_cuda_scope *scope);

#endif
