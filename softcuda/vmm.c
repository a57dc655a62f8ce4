/* SPDX-License-Identifier: MIT */
/*
 * Virtual memory management: address ranges, physical memory, and the mapping
 * of one in the other.  Memory lives while a handle or a mapping of it does.
 */
#include <stdlib.h>
#include <string.h>

#include "softcuda.h"

static bool aligned(uint64_t v)
{
	return !(v & (SC_BLOCK - 1));
}

/* What the driver says to a description of memory. */
static CUresult check_prop(const CUmemAllocationProp *p)
{
	static const unsigned char zero[sizeof(p->allocFlags.reserved)];

	if (!p || p->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    p->location.type != CU_MEM_LOCATION_TYPE_DEVICE || p->win32HandleMetaData ||
	    memcmp(p->allocFlags.reserved, zero, sizeof(zero)) ||
	    p->allocFlags.gpuDirectRDMACapable > 1)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sc_device_valid(p->location.id))
		return CUDA_ERROR_INVALID_DEVICE;
	if (p->requestedHandleTypes & ~(unsigned int)(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR |
						      CU_MEM_HANDLE_TYPE_FABRIC))
		return CUDA_ERROR_INVALID_VALUE;
	if (p->requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC)
		return CUDA_ERROR_NOT_PERMITTED;
	if (p->allocFlags.compressionType || p->allocFlags.usage)
		return CUDA_ERROR_NOT_SUPPORTED;
	return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
				       CUmemAllocationGranularity_flags option)
{
	CUresult res;

	SC_ENTER(SC_NEED_INIT);
	if (!granularity || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
			     option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
		return CUDA_ERROR_INVALID_VALUE;
	res = check_prop(prop);
	if (!res)
		*granularity = SC_BLOCK;
	return res;
}

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr hint,
			     unsigned long long flags)
{
	CUresult res = CUDA_ERROR_OUT_OF_MEMORY;
	struct sc_alloc *a;

	SC_ENTER(SC_NEED_INIT);
	if (!ptr || !size || !aligned(size) || alignment & (alignment - 1) || flags)
		return CUDA_ERROR_INVALID_VALUE;
	a = calloc(1, sizeof(*a));
	if (!a)
		return res;
	a->kind = SC_RESERVE;
	a->dev = -1;
	a->id = sc_range_new_id();
	a->size = a->va_size = size;
	a->va = sc_va_reserve(size, alignment > SC_BLOCK ? alignment : SC_BLOCK, hint);
	a->start = a->va;
	if (!a->va)
		goto free_alloc;
	sc_mem_wrlock();
	if (!sc_range_add(a)) {
		*ptr = a->start;
		res = CUDA_SUCCESS;
	}
	sc_mem_unlock();
	if (!res)
		return CUDA_SUCCESS;
	sc_va_release(a->va, a->va_size);
free_alloc:
	free(a);
	return res;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
	CUresult res = CUDA_ERROR_INVALID_VALUE;
	struct sc_alloc *a;

	SC_ENTER(SC_NEED_INIT);
	sc_mem_wrlock();
	a = sc_range_find(ptr);
	if (a && a->kind == SC_RESERVE && a->start == ptr && a->size == size && !a->nmaps) {
		sc_range_remove(a);
		sc_va_release(a->va, a->va_size);
		free(a->maps);
		free(a);
		res = CUDA_SUCCESS;
	}
	sc_mem_unlock();
	return res;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
		     const CUmemAllocationProp *prop, unsigned long long flags)
{
	struct sc_object *o;
	CUresult res;

	SC_ENTER(SC_NEED_INIT);
	if (!handle || !size || !aligned(size) || flags)
		return CUDA_ERROR_INVALID_VALUE;
	res = check_prop(prop);
	if (res)
		return res;
	sc_mem_wrlock();
	o = sc_object_new(prop->location.id, size, true, prop);
	if (o) {
		o->handles = 1;
		*handle = sc_object_handle(o);
	}
	sc_mem_unlock();
	return o ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct sc_object *o;

	SC_ENTER(SC_NEED_INIT);
	sc_mem_wrlock();
	o = sc_object_by_handle(handle);
	if (o) {
		o->handles--;
		sc_object_put(o);
	}
	sc_mem_unlock();
	return o ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Memory lock held for writing.  The new mapping has no access. */
static CUresult map(CUdeviceptr ptr, size_t size, struct sc_object *o)
{
	struct sc_alloc *a = sc_range_find(ptr);
	struct sc_map *maps;
	unsigned int i = 0;

	if (!a || a->kind != SC_RESERVE || size > a->start + a->size - ptr || size > o->size)
		return CUDA_ERROR_INVALID_VALUE;
	while (i < a->nmaps && a->maps[i].start + a->maps[i].size <= ptr)
		i++;
	if (i < a->nmaps && a->maps[i].start < ptr + size)
		return CUDA_ERROR_INVALID_VALUE;
	maps = realloc(a->maps, (a->nmaps + 1) * sizeof(*maps));
	if (!maps)
		return CUDA_ERROR_OUT_OF_MEMORY;
	a->maps = maps;
	if (sc_object_enter(o, ptr, size))
		return CUDA_ERROR_OUT_OF_MEMORY;
	memmove(&maps[i + 1], &maps[i], (a->nmaps - i) * sizeof(*maps));
	a->nmaps++;
	maps[i] = (struct sc_map){ .start = ptr, .size = size, .obj = o };
	sc_object_get(o);
	return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
		  unsigned long long flags)
{
	CUresult res = CUDA_ERROR_INVALID_VALUE;
	struct sc_object *o;

	SC_ENTER(SC_NEED_INIT);
	if (!ptr || !aligned(ptr) || !size || !aligned(size) || offset || flags)
		return CUDA_ERROR_INVALID_VALUE;
	sc_mem_wrlock();
	o = sc_object_by_handle(handle);
	if (o)
		res = map(ptr, size, o);
	sc_mem_unlock();
	return res;
}

/* Memory lock held: the mappings that make up [ptr, ptr + size) exactly; NULL if none do. */
static struct sc_alloc *whole_maps(CUdeviceptr ptr, size_t size, unsigned int *first,
				   unsigned int *n)
{
	struct sc_alloc *a = sc_range_find(ptr);
	CUdeviceptr at = ptr;

	if (!a || a->kind != SC_RESERVE || !size || size > a->start + a->size - ptr)
		return NULL;
	*first = 0;
	while (*first < a->nmaps && a->maps[*first].start < ptr)
		++*first;
	for (*n = 0; at < ptr + size; at += a->maps[*first + (*n)++].size)
		if (*first + *n == a->nmaps || a->maps[*first + *n].start != at)
			return NULL;
	return at == ptr + size ? a : NULL;
}

/* Waits for the kernels of all devices that the range is on, as cuMemFree does. */
CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
	struct sc_alloc *a;
	unsigned int first, n;

	SC_ENTER(SC_NEED_INIT);
	for (int dev = 0; dev < sc_config()->devices; dev++)
		sc_stream_drain(dev);
	sc_mem_wrlock();
	a = whole_maps(ptr, size, &first, &n);
	if (a) {
		for (unsigned int i = first; i < first + n; i++) {
			sc_object_leave(a->maps[i].obj, a->maps[i].start);
			sc_object_put(a->maps[i].obj);
		}
		a->nmaps -= n;
		memmove(&a->maps[first], &a->maps[first + n],
			(a->nmaps - first) * sizeof(*a->maps));
	}
	sc_mem_unlock();
	return a ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
	struct sc_alloc *a;
	unsigned int first, n;

	SC_ENTER(SC_NEED_INIT);
	if (!desc || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		unsigned int flags = desc[i].flags;

		if (desc[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
		    (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
		     flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
		     flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
			return CUDA_ERROR_INVALID_VALUE;
		if (!sc_device_valid(desc[i].location.id))
			return CUDA_ERROR_INVALID_DEVICE;
	}
	sc_mem_wrlock();
	a = whole_maps(ptr, size, &first, &n);
	for (unsigned int i = 0; a && i < n; i++)
		for (size_t d = 0; d < count; d++)
			a->maps[first + i].access[desc[d].location.id] =
				(unsigned char)desc[d].flags;
	sc_mem_unlock();
	return a ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The handle that the memory was mapped with, also if all its handles were released. */
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
	CUdeviceptr ptr = (CUdeviceptr)(uintptr_t)addr;
	struct sc_map *m = NULL;
	struct sc_alloc *a;

	SC_ENTER(SC_NEED_INIT);
	if (!handle || !addr)
		return CUDA_ERROR_INVALID_VALUE;
	sc_mem_wrlock();
	a = sc_range_find(ptr);
	if (a && a->kind == SC_RESERVE)
		m = sc_range_map(a, ptr);
	if (m) {
		sc_object_get(m->obj);
		m->obj->handles++;
		*handle = sc_object_handle(m->obj);
	}
	sc_mem_unlock();
	return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
						CUmemGenericAllocationHandle handle)
{
	struct sc_object *o;

	SC_ENTER(SC_NEED_INIT);
	if (!prop)
		return CUDA_ERROR_INVALID_VALUE;
	sc_mem_rdlock();
	o = sc_object_by_handle(handle);
	if (o)
		*prop = o->prop;
	sc_mem_unlock();
	return o ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
