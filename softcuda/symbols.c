/* SPDX-License-Identifier: MIT */
/* cuGetProcAddress: functions by base name and the CUDA version that brought them. */
#include <stdlib.h>
#include <string.h>

#include "softcuda.h"

enum {
	QUERY_SUCCESS = 0,
	QUERY_NOT_FOUND = 1,
	QUERY_VERSION_NOT_SUFFICIENT = 2,
};

/* clang-format off */
static const struct symbol {
	const char *base;
	int since;              /* of the form exported here */
	void (*func)(void);
} symbols[] = {
#define S(base, since, func) { #base, since, (void (*)(void))func }
	S(cuCtxDisablePeerAccess, 4000, cuCtxDisablePeerAccess),
	S(cuCtxEnablePeerAccess, 4000, cuCtxEnablePeerAccess),
	S(cuCtxGetCurrent, 4000, cuCtxGetCurrent),
	S(cuCtxGetDevice, 2000, cuCtxGetDevice),
	S(cuCtxSetCurrent, 4000, cuCtxSetCurrent),
	S(cuCtxSynchronize, 2000, cuCtxSynchronize),
	S(cuDeviceCanAccessPeer, 4000, cuDeviceCanAccessPeer),
	S(cuDeviceGet, 2000, cuDeviceGet),
	S(cuDeviceGetAttribute, 2000, cuDeviceGetAttribute),
	S(cuDeviceGetCount, 2000, cuDeviceGetCount),
	S(cuDeviceGetName, 2000, cuDeviceGetName),
	S(cuDeviceGetPCIBusId, 4010, cuDeviceGetPCIBusId),
	S(cuDeviceGetUuid, 9020, cuDeviceGetUuid_v2),
	S(cuDevicePrimaryCtxGetState, 7000, cuDevicePrimaryCtxGetState),
	S(cuDevicePrimaryCtxRelease, 7000, cuDevicePrimaryCtxRelease_v2),
	S(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain),
	S(cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2),
	S(cuDriverGetVersion, 2020, cuDriverGetVersion),
	S(cuEventCreate, 2000, cuEventCreate),
	S(cuEventDestroy, 4000, cuEventDestroy_v2),
	S(cuEventElapsedTime, 2000, cuEventElapsedTime),
	S(cuEventQuery, 2000, cuEventQuery),
	S(cuEventRecord, 2000, cuEventRecord),
	S(cuEventSynchronize, 2000, cuEventSynchronize),
	S(cuGetErrorName, 6000, cuGetErrorName),
	S(cuGetErrorString, 6000, cuGetErrorString),
	S(cuGetProcAddress, 12000, cuGetProcAddress_v2),
	S(cuGetProcAddress, 11030, cuGetProcAddress),
	S(cuInit, 2000, cuInit),
	S(cuIpcCloseMemHandle, 4010, cuIpcCloseMemHandle),
	S(cuIpcGetMemHandle, 4010, cuIpcGetMemHandle),
	S(cuIpcOpenMemHandle, 4010, cuIpcOpenMemHandle_v2),
	S(cuLaunchHostFunc, 10000, cuLaunchHostFunc),
	S(cuLaunchKernel, 4000, cuLaunchKernel),
	S(cuMemAddressFree, 10020, cuMemAddressFree),
	S(cuMemAddressReserve, 10020, cuMemAddressReserve),
	S(cuMemAlloc, 3020, cuMemAlloc_v2),
	S(cuMemAllocAsync, 11020, cuMemAllocAsync),
	S(cuMemAllocHost, 3020, cuMemAllocHost_v2),
	S(cuMemAllocManaged, 6000, cuMemAllocManaged),
	S(cuMemCreate, 10020, cuMemCreate),
	S(cuMemExportToShareableHandle, 10020, cuMemExportToShareableHandle),
	S(cuMemFree, 3020, cuMemFree_v2),
	S(cuMemFreeAsync, 11020, cuMemFreeAsync),
	S(cuMemFreeHost, 2000, cuMemFreeHost),
	S(cuMemGetAddressRange, 3020, cuMemGetAddressRange_v2),
	S(cuMemGetAllocationGranularity, 10020, cuMemGetAllocationGranularity),
	S(cuMemGetAllocationPropertiesFromHandle, 10020, cuMemGetAllocationPropertiesFromHandle),
	S(cuMemGetHandleForAddressRange, 11070, cuMemGetHandleForAddressRange),
	S(cuMemGetInfo, 3020, cuMemGetInfo_v2),
	S(cuMemHostAlloc, 2020, cuMemHostAlloc),
	S(cuMemHostGetDevicePointer, 3020, cuMemHostGetDevicePointer_v2),
	S(cuMemImportFromShareableHandle, 10020, cuMemImportFromShareableHandle),
	S(cuMemMap, 10020, cuMemMap),
	S(cuMemRelease, 10020, cuMemRelease),
	S(cuMemRetainAllocationHandle, 11000, cuMemRetainAllocationHandle),
	S(cuMemSetAccess, 10020, cuMemSetAccess),
	S(cuMemUnmap, 10020, cuMemUnmap),
	S(cuMemcpy, 4000, cuMemcpy),
	S(cuMemcpyAsync, 4000, cuMemcpyAsync),
	S(cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2),
	S(cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2),
	S(cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2),
	S(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2),
	S(cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2),
	S(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2),
	S(cuMemsetD32, 3020, cuMemsetD32_v2),
	S(cuMemsetD8, 3020, cuMemsetD8_v2),
	S(cuModuleGetFunction, 2000, cuModuleGetFunction),
	S(cuModuleLoadData, 2000, cuModuleLoadData),
	S(cuModuleUnload, 2000, cuModuleUnload),
	S(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,
	  cuOccupancyMaxActiveBlocksPerMultiprocessor),
	S(cuPointerGetAttribute, 4000, cuPointerGetAttribute),
	S(cuPointerGetAttributes, 7000, cuPointerGetAttributes),
	S(cuPointerSetAttribute, 6000, cuPointerSetAttribute),
	S(cuStreamAddCallback, 5000, cuStreamAddCallback),
	S(cuStreamCreate, 2000, cuStreamCreate),
	S(cuStreamDestroy, 4000, cuStreamDestroy_v2),
	S(cuStreamQuery, 2000, cuStreamQuery),
	S(cuStreamSynchronize, 2000, cuStreamSynchronize),
	S(cuThreadExchangeStreamCaptureMode, 10010, cuThreadExchangeStreamCaptureMode),
#undef S
};
/* clang-format on */

#define NSYMBOLS (sizeof(symbols) / sizeof(symbols[0]))

size_t sc_symbol_base(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && !strcmp(name + n - 3, "_v2") ? n - 3 : n;
}

bool sc_symbol_known(const char *base)
{
	for (size_t i = 0; i < NSYMBOLS; i++)
		if (!strcmp(symbols[i].base, base))
			return true;
	return false;
}

/*
 * As the CUDA 13 reference says: success and a null pointer where there is no
 * such function, or none for that version.
 */
static CUresult look_up(const char *symbol, void **pfn, int version, unsigned long long flags,
			int *status)
{
	int found = QUERY_NOT_FOUND;

	if (!symbol || !*symbol || !pfn || flags > 2 || version > sc_config()->version)
		return CUDA_ERROR_INVALID_VALUE;
	*pfn = NULL;
	for (size_t i = 0; i < NSYMBOLS && found != QUERY_SUCCESS; i++) {
		if (strcmp(symbols[i].base, symbol))
			continue;
		found = QUERY_VERSION_NOT_SUFFICIENT;
		if (version >= symbols[i].since) {
			memcpy(pfn, &symbols[i].func, sizeof(*pfn));
			found = QUERY_SUCCESS;
		}
	}
	if (status)
		*status = found;
	return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, unsigned long long flags)
{
	SC_ENTER(SC_NEED_NOTHING);
	return look_up(symbol, pfn, version, flags, NULL);
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, unsigned long long flags,
			     int *status)
{
	SC_ENTER(SC_NEED_NOTHING);
	return look_up(symbol, pfn, version, flags, status);
}
