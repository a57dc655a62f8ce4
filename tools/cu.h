/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver as the tools use it: libcuda, or softcuda in its place,
 * loaded at run time, one table of functions, and the wording of its errors.
 */
#ifndef TOOLS_CU_H
#define TOOLS_CU_H

#include <stdbool.h>

#include "cuda_abi.h"
#include "cuda_funcs.h"

/* Functions that tools call and that must all be there. */
#define CU_FUNCTIONS(X) \
	X(Init, cuInit) \
	X(DriverGetVersion, cuDriverGetVersion) \
	X(GetErrorName, cuGetErrorName) \
	X(DeviceGetCount, cuDeviceGetCount) \
	X(DeviceGet, cuDeviceGet) \
	X(DeviceGetName, cuDeviceGetName) \
	X(DeviceGetAttribute, cuDeviceGetAttribute) \
	X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain) \
	X(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2) \
	X(CtxSetCurrent, cuCtxSetCurrent) \
	X(CtxGetDevice, cuCtxGetDevice) \
	X(CtxSynchronize, cuCtxSynchronize) \
	X(MemAlloc, cuMemAlloc_v2) \
	X(MemFree, cuMemFree_v2) \
	X(MemGetInfo, cuMemGetInfo_v2) \
	X(MemAllocManaged, cuMemAllocManaged) \
	X(MemAllocAsync, cuMemAllocAsync) \
	X(MemFreeAsync, cuMemFreeAsync) \
	X(MemAllocHost, cuMemAllocHost_v2) \
	X(MemHostAlloc, cuMemHostAlloc) \
	X(MemHostGetDevicePointer, cuMemHostGetDevicePointer_v2) \
	X(MemFreeHost, cuMemFreeHost) \
	X(PointerGetAttribute, cuPointerGetAttribute) \
	X(PointerSetAttribute, cuPointerSetAttribute) \
	X(MemsetD8, cuMemsetD8_v2) \
	X(MemsetD32, cuMemsetD32_v2) \
	X(Memcpy, cuMemcpy) \
	X(MemcpyHtoD, cuMemcpyHtoD_v2) \
	X(MemcpyDtoH, cuMemcpyDtoH_v2) \
	X(MemGetAllocationGranularity, cuMemGetAllocationGranularity) \
	X(MemAddressReserve, cuMemAddressReserve) \
	X(MemAddressFree, cuMemAddressFree) \
	X(MemCreate, cuMemCreate) \
	X(MemRelease, cuMemRelease) \
	X(MemMap, cuMemMap) \
	X(MemUnmap, cuMemUnmap) \
	X(MemSetAccess, cuMemSetAccess) \
	X(MemExportToShareableHandle, cuMemExportToShareableHandle) \
	X(IpcGetMemHandle, cuIpcGetMemHandle) \
	X(StreamQuery, cuStreamQuery) \
	X(StreamSynchronize, cuStreamSynchronize) \
	X(ModuleLoadData, cuModuleLoadData) \
	X(ModuleGetFunction, cuModuleGetFunction) \
	X(ModuleUnload, cuModuleUnload) \
	X(LaunchKernel, cuLaunchKernel) \
	X(OccupancyMaxActiveBlocks, cuOccupancyMaxActiveBlocksPerMultiprocessor)

/* What tools can do without: NULL where the driver lacks it. */
#define CU_OPTIONAL(X) \
	X(DeviceGetUuid, cuDeviceGetUuid_v2)

struct cu_table {
#define X(field, symbol) __typeof__(symbol) *field;
	CU_FUNCTIONS(X)
	CU_OPTIONAL(X)
#undef X
};

/* Valid once cu_load returned 0; never unloaded. */
extern struct cu_table cu;

/*
 * Load the driver and fill the table; 0, or -errno with the reason on stderr.
 * soft: take softcuda.  It is loaded by path, and before libgdrapi asks for
 * "libcuda.so.1", so that libgdrapi, too, gets it.  Does not call cuInit.
 */
int cu_load(bool soft);

/* True once softcuda was loaded, also if it stood where libcuda was looked for. */
bool cu_is_soft(void);

/* The file that was loaded; "" before cu_load. */
const char *cu_path(void);

/* GDRCOPY_SOFTCUDA asks for softcuda (set, not empty, not "0"). */
bool cu_soft_wanted(void);

/* "CUDA_ERROR_..." ; a static string. */
const char *cu_error_name(CUresult res);

/* 0 for success; else "ERROR: <call>: <name> (<number>)" on stderr and -EIO. */
int cu_check(CUresult res, const char *call);

/* Absolute path of the softcuda library in buf; -ENOENT if there is none (soft.c). */
int cu_find_soft(char *buf, size_t len);

#endif
