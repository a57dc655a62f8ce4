/* SPDX-License-Identifier: MIT */
/* See soft.h. */
#include "soft.h"

#include <dlfcn.h>
#include <sys/mman.h>

struct soft soft;
CUcontext soft_context[2];

static int devices;

int soft_setup(void **state)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
#define X(name) \
	soft.name = (__typeof__(name) *)dlsym(lib, #name); \
	if (!soft.name) { \
		fprintf(stderr, "no %s: not softcuda?\n", #name); \
		return -1; \
	}
	SOFT_FUNCTIONS(X)
#undef X
	if (soft.cuInit(0) || soft.cuDeviceGetCount(&devices))
		return -1;
	for (int i = 0; i < devices && i < 2; i++)
		if (soft.cuDevicePrimaryCtxRetain(&soft_context[i], i))
			return -1;
	setenv("GDRCOPY_BACKEND", "dmabuf", 1);
	unsetenv("GDRCOPY_USE_DMABUF_MMAP");
	return soft.cuCtxSetCurrent(soft_context[0]);
}

int soft_teardown(void **state)
{
	soft.cuCtxSetCurrent(NULL);
	for (int i = 0; i < devices && i < 2; i++) {
		unsigned flags;
		int active;

		if (soft.cuDevicePrimaryCtxRelease_v2(i) ||
		    soft.cuDevicePrimaryCtxGetState(i, &flags, &active) || active) {
			fprintf(stderr, "the primary context of device %d is still held\n", i);
			return -1;
		}
	}
	return 0;
}

CUdeviceptr soft_alloc(size_t size)
{
	CUdeviceptr ptr = 0;

	assert_cuda(soft.cuMemAlloc_v2(&ptr, size));
	return ptr;
}

void soft_free(CUdeviceptr ptr)
{
	assert_cuda(soft.cuMemFree_v2(ptr));
}

struct soft_vmm soft_vmm_alloc(size_t size, bool rdma_capable)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 },
		.allocFlags.gpuDirectRDMACapable = rdma_capable,
	};
	CUmemAccessDesc access = {
		.location = prop.location,
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	struct soft_vmm v = { .size = size };

	assert_cuda(soft.cuMemCreate(&v.handle, size, &prop, 0));
	assert_cuda(soft.cuMemAddressReserve(&v.ptr, size, 0, 0, 0));
	assert_cuda(soft.cuMemMap(v.ptr, size, 0, v.handle, 0));
	assert_cuda(soft.cuMemSetAccess(v.ptr, size, &access, 1));
	return v;
}

void soft_vmm_free(const struct soft_vmm *v)
{
	assert_cuda(soft.cuMemUnmap(v->ptr, v->size));
	assert_cuda(soft.cuMemAddressFree(v->ptr, v->size));
	assert_cuda(soft.cuMemRelease(v->handle));
}

void soft_set(CUdeviceptr ptr, unsigned char value, size_t size)
{
	assert_cuda(soft.cuMemsetD8_v2(ptr, value, size));
	assert_cuda(soft.cuCtxSynchronize());
}

void soft_write(CUdeviceptr ptr, const void *from, size_t size)
{
	assert_cuda(soft.cuMemcpyHtoD_v2(ptr, from, size));
	assert_cuda(soft.cuCtxSynchronize());
}

size_t soft_used(void)
{
	size_t free_bytes = 0, total = 0;

	assert_cuda(soft.cuMemGetInfo_v2(&free_bytes, &total));
	return total - free_bytes;
}

void soft_fill(unsigned char *buf, size_t size, unsigned seed)
{
	uint32_t x = seed * 2654435761u + 1;

	for (size_t i = 0; i < size; i++) {
		x = x * 1664525u + 1013904223u;
		buf[i] = (unsigned char)(x >> 24);
	}
}

bool is_mapped(const void *va)
{
	unsigned char resident;

	return mincore((void *)((uintptr_t)va & ~(page_size() - 1)), 1, &resident) == 0;
}
