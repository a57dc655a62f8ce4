/* SPDX-License-Identifier: MIT */
/* Page-locked host memory and managed memory: addresses that CPU and device share. */
#include <stdlib.h>
#include <sys/mman.h>

#include "softcuda.h"

static CUresult allocate(CUdeviceptr *ptr, size_t size, enum sc_kind kind)
{
	struct sc_alloc *a = calloc(1, sizeof(*a));
	CUresult res = CUDA_ERROR_OUT_OF_MEMORY;
	void *p;

	if (!a || size + SC_PAGE < size)
		goto free_alloc;
	a->va_size = (size + SC_PAGE - 1) & ~(SC_PAGE - 1);
	p = mmap(NULL, a->va_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		goto free_alloc;
	a->kind = kind;
	a->size = size;
	a->dev = sc_context_device();
	a->id = sc_range_new_id();
	a->start = a->va = (CUdeviceptr)(uintptr_t)p;
	sc_mem_wrlock();
	if (!sc_range_add(a)) {
		*ptr = a->start;
		res = CUDA_SUCCESS;
	}
	sc_mem_unlock();
	if (!res)
		return CUDA_SUCCESS;
	munmap(p, a->va_size);
free_alloc:
	free(a);
	return res;
}

void sc_host_free(struct sc_alloc *a)
{
	sc_range_remove(a);
	munmap((void *)(uintptr_t)a->va, a->va_size);
	free(a);
}

static CUresult host_alloc(void **ptr, size_t size, unsigned int flags)
{
	CUdeviceptr p;
	CUresult res;

	/* PORTABLE, DEVICEMAP, WRITECOMBINED */
	if (!ptr || !size || flags & ~7u)
		return CUDA_ERROR_INVALID_VALUE;
	res = allocate(&p, size, SC_HOST);
	if (!res)
		*ptr = (void *)(uintptr_t)p;
	return res;
}

CUresult cuMemAllocHost_v2(void **ptr, size_t size)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return host_alloc(ptr, size, 0);
}

CUresult cuMemHostAlloc(void **ptr, size_t size, unsigned int flags)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return host_alloc(ptr, size, flags);
}

/* Unified addressing: all page-locked memory is mapped, at the same address. */
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *dptr, void *ptr, unsigned int flags)
{
	struct sc_alloc *a;

	SC_ENTER(SC_NEED_CONTEXT);
	if (!dptr || !ptr || flags)
		return CUDA_ERROR_INVALID_VALUE;
	sc_mem_rdlock();
	a = sc_range_find((CUdeviceptr)(uintptr_t)ptr);
	if (a && a->kind != SC_HOST)
		a = NULL;
	sc_mem_unlock();
	if (!a)
		return CUDA_ERROR_INVALID_VALUE;
	*dptr = (CUdeviceptr)(uintptr_t)ptr;
	return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *ptr)
{
	CUresult res = CUDA_ERROR_INVALID_VALUE;
	CUdeviceptr p = (CUdeviceptr)(uintptr_t)ptr;
	struct sc_alloc *a;
	int dev = -1;

	SC_ENTER(SC_NEED_INIT);
	sc_mem_rdlock();
	a = sc_range_find(p);
	if (a && a->kind == SC_HOST && a->start == p)
		dev = a->dev;
	sc_mem_unlock();
	if (dev < 0)
		return res;
	sc_stream_drain(dev);
	sc_mem_wrlock();
	a = sc_range_find(p);
	if (a && a->kind == SC_HOST && a->start == p) {
		sc_host_free(a);
		res = CUDA_SUCCESS;
	}
	sc_mem_unlock();
	return res;
}

CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t size, unsigned int flags)
{
	SC_ENTER(SC_NEED_CONTEXT);
	/* ATTACH_GLOBAL or ATTACH_HOST, one of them */
	if (!ptr || !size || (flags != CU_MEM_ATTACH_GLOBAL && flags != 2))
		return CUDA_ERROR_INVALID_VALUE;
	return allocate(ptr, size, SC_MANAGED);
}
