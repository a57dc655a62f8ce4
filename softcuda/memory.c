/* SPDX-License-Identifier: MIT */
/*
 * cuMemAlloc and its kin.  Up to 1 MiB is taken from the blocks of small.c; more
 * gets an object of its own, in whole 2 MiB.  There is no pool.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda.h"

#define SMALL_MAX (1ULL << 20)

static int place_large(struct sc_alloc *a)
{
	size_t size = (a->size + SC_BLOCK - 1) & ~(SC_BLOCK - 1);

	if (size < a->size)
		return -ENOMEM;
	a->obj = sc_object_new(a->dev, size, false, NULL);
	if (!a->obj)
		return -ENOMEM;
	a->va = sc_va_reserve(size, SC_BLOCK, 0);
	if (!a->va)
		goto put_object;
	if (sc_object_enter(a->obj, a->va, size))
		goto release_va;
	a->va_size = size;
	a->start = a->va;
	return 0;

release_va:
	sc_va_release(a->va, size);
put_object:
	sc_object_put(a->obj);
	return -ENOMEM;
}

static void unplace(struct sc_alloc *a)
{
	struct sc_object *o = a->obj;

	if (a->kind == SC_SMALL) {
		sc_small_leave(a);
	} else {
		if (a->va) {
			sc_object_leave(o, a->va);
			sc_va_release(a->va, a->va_size);
		}
		sc_object_put(o);
	}
}

/* Forget an allocation that lies in an object.  Memory lock held for writing. */
void sc_memory_free(struct sc_alloc *a)
{
	struct sc_object *o = a->obj;
	bool ipc = a->ipc;

	sc_object_get(o);
	unplace(a);
	sc_range_remove(a);
	if (ipc) {
		sc_ipc_lock();
		sc_ipc_publish();
		sc_ipc_unlock();
	}
	sc_object_put(o);
	free(a);
}

static CUresult allocate(CUdeviceptr *ptr, size_t size, bool async, int dev)
{
	struct sc_alloc *a = calloc(1, sizeof(*a));
	CUresult res = CUDA_ERROR_OUT_OF_MEMORY;

	if (!a)
		return res;
	a->size = size;
	a->dev = dev;
	a->kind = size <= SMALL_MAX ? SC_SMALL : SC_LARGE;
	if (async)
		a->kind = SC_ASYNC;
	a->id = sc_range_new_id();
	sc_mem_wrlock();
	if (a->kind == SC_SMALL ? sc_small_place(a) : place_large(a))
		goto unlock;
	if (sc_range_add(a)) {
		unplace(a);
		goto unlock;
	}
	*ptr = a->start;
	res = CUDA_SUCCESS;
	a = NULL;
unlock:
	sc_mem_unlock();
	free(a);
	return res;
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t size)
{
	SC_ENTER(SC_NEED_CONTEXT);
	if (!ptr || !size)
		return CUDA_ERROR_INVALID_VALUE;
	return allocate(ptr, size, false, sc_context_device());
}

CUresult cuMemAllocAsync(CUdeviceptr *ptr, size_t size, CUstream stream)
{
	CUresult res;

	SC_ENTER(SC_NEED_CONTEXT);
	if (!ptr || !size)
		return CUDA_ERROR_INVALID_VALUE;
	res = sc_stream_check(&stream);
	return res ? res : allocate(ptr, size, true, sc_stream_device(stream));
}

/* What cuMemFree takes: the start of an allocation of the right kind; its device, or -1. */
static int freeable(CUdeviceptr ptr, bool async_only)
{
	struct sc_alloc *a;
	int dev = -1;

	sc_mem_rdlock();
	a = sc_range_find(ptr);
	if (a && a->start == ptr && !a->freeing &&
	    (a->kind == SC_ASYNC || (!async_only && (a->kind == SC_SMALL || a->kind == SC_LARGE ||
						     a->kind == SC_MANAGED))))
		dev = a->dev;
	sc_mem_unlock();
	return dev;
}

/* Waits for the kernels of the device first, as the real driver does. */
CUresult cuMemFree_v2(CUdeviceptr ptr)
{
	CUresult res = CUDA_ERROR_INVALID_VALUE;
	struct sc_alloc *a;
	int dev;

	SC_ENTER(SC_NEED_INIT);
	dev = freeable(ptr, false);
	if (dev < 0)
		return CUDA_ERROR_INVALID_VALUE;
	sc_stream_drain(dev);
	sc_mem_wrlock();
	a = sc_range_find(ptr);
	if (a && a->start == ptr && a->kind == SC_MANAGED) {
		sc_host_free(a);
		res = CUDA_SUCCESS;
	} else if (a && a->start == ptr && a->kind < SC_IPC && !a->freeing) {
		sc_memory_free(a);
		res = CUDA_SUCCESS;
	}
	sc_mem_unlock();
	return res;
}

static void free_later(struct sc_op *op)
{
	struct sc_alloc *a;

	sc_mem_wrlock();
	a = sc_range_find(op->dst);
	if (a && a->start == op->dst && a->freeing)
		sc_memory_free(a);
	sc_mem_unlock();
}

CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream stream)
{
	struct sc_alloc *a;
	struct sc_op *op;
	CUresult res;

	SC_ENTER(SC_NEED_INIT);
	if (freeable(ptr, true) < 0)
		return CUDA_ERROR_INVALID_VALUE;
	res = sc_op_begin(stream, &op);
	if (res)
		return res;
	op->run = free_later;
	op->dst = ptr;
	sc_mem_wrlock();
	a = sc_range_find(ptr);
	if (a && a->start == ptr && a->kind == SC_ASYNC && !a->freeing)
		a->freeing = true;
	else
		res = CUDA_ERROR_INVALID_VALUE;
	sc_mem_unlock();
	if (res) {
		free(op);
		return res;
	}
	return sc_op_submit(op, false);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	uint64_t left, available;
	int dev;

	SC_ENTER(SC_NEED_CONTEXT);
	if (!free_bytes || !total)
		return CUDA_ERROR_INVALID_VALUE;
	dev = sc_context_device();
	sc_mem_rdlock();
	left = sc_config()->memory[dev] - sc_object_charged(dev);
	sc_mem_unlock();
	available = sc_config()->source->available(dev);
	*total = sc_config()->memory[dev];
	*free_bytes = left < available ? left : available;
	return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr ptr)
{
	struct sc_alloc *a;
	struct sc_map *m = NULL;
	CUresult res = CUDA_ERROR_NOT_FOUND;

	SC_ENTER(SC_NEED_CONTEXT);
	sc_mem_rdlock();
	a = sc_range_find(ptr);
	if (a && a->kind == SC_RESERVE)
		m = sc_range_map(a, ptr);
	if (a && (m || a->kind != SC_RESERVE)) {
		if (base)
			*base = m ? m->start : a->start;
		if (size)
			*size = m ? m->size : a->size;
		res = CUDA_SUCCESS;
	}
	sc_mem_unlock();
	return res;
}

/* Everything the primary context of dev owned; VMM memory belongs to none. */
void sc_memory_reset(int dev)
{
	struct sc_alloc *a;
	unsigned int i = 0;

	sc_mem_wrlock();
	while ((a = sc_range_at(i))) {
		if (a->dev != dev || a->kind == SC_RESERVE)
			i++;
		else if (a->kind == SC_HOST || a->kind == SC_MANAGED)
			sc_host_free(a);
		else
			sc_memory_free(a);
	}
	sc_mem_unlock();
}
