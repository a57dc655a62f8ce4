/* SPDX-License-Identifier: MIT */
/*
 * Prototypes of the CUDA driver functions that this project calls or
 * implements, under the names of the ELF symbols.  Needs the types of
 * cuda_abi.h or of NVIDIA's cuda.h.  Semantics: CUDA driver API reference.
 */
#ifndef GDR_CUDA_FUNCS_H
#define GDR_CUDA_FUNCS_H

/* Start-up and devices */
CUresult cuInit(unsigned int flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetErrorName(CUresult error, const char **str);
CUresult cuGetErrorString(CUresult error, const char **str);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGet(CUdevice *dev, int ordinal);
CUresult cuDeviceGetName(char *name, int len, CUdevice dev);
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attr, CUdevice dev);
CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev);
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev);

/* Contexts */
CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev);
CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active);
CUresult cuCtxSetCurrent(CUcontext ctx);
CUresult cuCtxGetCurrent(CUcontext *ctx);
CUresult cuCtxGetDevice(CUdevice *dev);
CUresult cuCtxSynchronize(void);
CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer);
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags);
CUresult cuCtxDisablePeerAccess(CUcontext peer);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);

/* Memory */
CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t size);
CUresult cuMemFree_v2(CUdeviceptr ptr);
CUresult cuMemGetInfo_v2(size_t *free, size_t *total);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr ptr);
CUresult cuMemAllocHost_v2(void **ptr, size_t size);
CUresult cuMemHostAlloc(void **ptr, size_t size, unsigned int flags);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *dptr, void *ptr, unsigned int flags);
CUresult cuMemFreeHost(void *ptr);
CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t size, unsigned int flags);
CUresult cuMemAllocAsync(CUdeviceptr *ptr, size_t size, CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream stream);
CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attr, CUdeviceptr ptr);
CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attrs, void **data,
				CUdeviceptr ptr);
CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attr, CUdeviceptr ptr);
CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char value, size_t n);
CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned int value, size_t n);
CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t size);
CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t size);
CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t size);
CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t size);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t size, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t size, CUstream stream);
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream);

/* Virtual memory management */
CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
				       CUmemAllocationGranularity_flags option);
CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr hint,
			     unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size);
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
		     const CUmemAllocationProp *prop, unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
		  CUmemGenericAllocationHandle handle, unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr ptr, size_t size);
CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
						CUmemGenericAllocationHandle handle);
CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
				      CUmemAllocationHandleType type, unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *os_handle,
					CUmemAllocationHandleType type);
CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr ptr, size_t size,
				       CUmemRangeHandleType type, unsigned long long flags);

/* Sharing */
CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr ptr);
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned int flags);
CUresult cuIpcCloseMemHandle(CUdeviceptr ptr);

/* Execution */
CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data,
			     unsigned int flags);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn func, void *data);
CUresult cuEventCreate(CUevent *event, unsigned int flags);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventQuery(CUevent event);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleGetFunction(CUfunction *func, CUmodule module, const char *name);
CUresult cuModuleUnload(CUmodule module);
CUresult cuLaunchKernel(CUfunction func, unsigned int grid_x, unsigned int grid_y,
			unsigned int grid_z, unsigned int block_x, unsigned int block_y,
			unsigned int block_z, unsigned int shared_bytes, CUstream stream,
			void **params, void **extra);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction func, int threads,
						     size_t shared_bytes);

#endif
