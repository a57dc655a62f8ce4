/* SPDX-License-Identifier: MIT */
/* The two ways to allocate device memory that can be pinned. */
#include "gpu.h"

#include <errno.h>
#include <stdio.h>

#include "gdrapi.h"

static CUresult plain_free(const struct gpu_mem *mem)
{
	return cu.MemFree(mem->base);
}

static CUresult plain_alloc(struct gpu_mem *out, size_t size, bool aligned, bool sync)
{
	struct gpu_mem m = { .size = size, .how = &gpu_allocators[GPU_MEM_ALLOC] };
	unsigned on = 1;
	CUresult res;

	m.alloc_size = aligned ? size + GPU_PAGE_OFFSET : size;
	res = cu.MemAlloc(&m.base, m.alloc_size);
	if (res != CUDA_SUCCESS)
		return res;
	if (sync) {
		res = cu.PointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, m.base);
		if (res != CUDA_SUCCESS) {
			cu.MemFree(m.base);
			return res;
		}
	}
	m.ptr = aligned ? gpu_round_up(m.base) : m.base;
	*out = m;
	return CUDA_SUCCESS;
}

static CUresult first(CUresult a, CUresult b)
{
	return a != CUDA_SUCCESS ? a : b;
}

static CUresult vmm_free(const struct gpu_mem *mem)
{
	CUresult res = cu.MemUnmap(mem->base, mem->alloc_size);

	res = first(res, cu.MemRelease(mem->handle));
	return first(res, cu.MemAddressFree(mem->base, mem->alloc_size));
}

/* What the memory is to be; fails where the GPU cannot have it pinned. */
static CUresult vmm_properties(CUmemAllocationProp *out)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED };
	CUdevice dev;
	CUresult res;
	int v;

	res = cu.CtxGetDevice(&dev);
	if (res != CUDA_SUCCESS)
		return res;
	res = cu.DeviceGetAttribute(&v,
		CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, dev);
	if (res != CUDA_SUCCESS)
		return res;
	if (!v)
		return CUDA_ERROR_NOT_SUPPORTED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = dev;
	prop.allocFlags.gpuDirectRDMACapable = 1;
	/* The rm backend maps such memory through this kind of handle. */
	res = cu.DeviceGetAttribute(&v,
		CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, dev);
	if (res == CUDA_SUCCESS && v)
		prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	*out = prop;
	return CUDA_SUCCESS;
}

static CUresult vmm_alloc(struct gpu_mem *out, size_t size, bool aligned, bool sync)
{
	struct gpu_mem m = { .size = size, .how = &gpu_allocators[GPU_MEM_CREATE] };
	CUmemAllocationProp prop;
	CUmemAccessDesc access = { .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	size_t granularity;
	CUresult res;

	/* Always aligned; SYNC_MEMOPS does not exist for such memory. */
	(void)aligned;
	(void)sync;
	res = vmm_properties(&prop);
	if (res != CUDA_SUCCESS)
		return res;
	res = cu.MemGetAllocationGranularity(&granularity, &prop,
					     CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
	if (res != CUDA_SUCCESS)
		return res;
	granularity = gpu_round_up(granularity);
	m.alloc_size = (size + granularity - 1) / granularity * granularity;

	res = cu.MemAddressReserve(&m.base, m.alloc_size, granularity, 0, 0);
	if (res != CUDA_SUCCESS)
		return res;
	res = cu.MemCreate(&m.handle, m.alloc_size, &prop, 0);
	if (res != CUDA_SUCCESS)
		goto free_address;
	res = cu.MemMap(m.base, m.alloc_size, 0, m.handle, 0);
	if (res != CUDA_SUCCESS)
		goto release;
	access.location = prop.location;
	res = cu.MemSetAccess(m.base, m.alloc_size, &access, 1);
	if (res != CUDA_SUCCESS)
		goto unmap;
	m.ptr = m.base;
	*out = m;
	return CUDA_SUCCESS;

unmap:
	cu.MemUnmap(m.base, m.alloc_size);
release:
	cu.MemRelease(m.handle);
free_address:
	cu.MemAddressFree(m.base, m.alloc_size);
	return res;
}

const struct gpu_allocator gpu_allocators[] = {
	[GPU_MEM_ALLOC] = { "cuMemAlloc", plain_alloc, plain_free },
	[GPU_MEM_CREATE] = { "cuMemCreate", vmm_alloc, vmm_free },
};

const char *const gpu_allocator_names[] = {
	[GPU_MEM_ALLOC] = "cuMemAlloc", [GPU_MEM_CREATE] = "cuMemCreate", NULL
};

int gpu_mem_check(size_t size, const char *call, CUresult res)
{
	if (res == CUDA_SUCCESS)
		return 0;
	fprintf(stderr, "ERROR: %zu bytes of device memory with %s: %s (%d)\n", size, call,
		cu_error_name(res), (int)res);
	if (res == CUDA_ERROR_OUT_OF_MEMORY && cu_is_soft())
		fprintf(stderr, "NOTE: SOFTCUDA_MEMORY sets the memory of the simulated GPU, as in "
			"SOFTCUDA_MEMORY=4G\n");
	return -EIO;
}
