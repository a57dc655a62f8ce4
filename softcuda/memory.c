/* SPDX-License-Identifier: MIT */
/*
 * cuMemAlloc and its kin.  Up to 1 MiB is taken from 2 MiB blocks in steps of
 * 512 bytes, first fit; more gets an object of its own, in whole 2 MiB.  A block
 * goes as soon as the last allocation in it is freed: there is no pool.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda.h"

#define SMALL_MAX (1ULL << 20)
#define SLOTS (SC_BLOCK / SC_SLOT)

static bool slot_used(const struct sc_object *o, unsigned int i)
{
	return o->used[i / 64] >> (i % 64) & 1;
}

static void slots_set(struct sc_object *o, unsigned int at, unsigned int n, bool used)
{
	for (unsigned int i = at; i < at + n; i++) {
		if (used)
			o->used[i / 64] |= 1ULL << (i % 64);
		else
			o->used[i / 64] &= ~(1ULL << (i % 64));
	}
}

static unsigned int slots_of(size_t size)
{
	return (unsigned int)((size + SC_SLOT - 1) / SC_SLOT);
}

/* The first of n free slots in a row, or SLOTS. */
static unsigned int slots_find(const struct sc_object *o, unsigned int n)
{
	for (unsigned int i = 0, run = 0; i < SLOTS; i++) {
		run = slot_used(o, i) ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return SLOTS;
}

static struct sc_object *blocks[SC_MAX_DEVICES];        /* in order of age */

static struct sc_object *block_new(int dev)
{
	struct sc_object **p = &blocks[dev], *o = sc_object_new(dev, SC_BLOCK, false, NULL);

	if (!o)
		return NULL;
	o->va = sc_va_reserve(SC_BLOCK, SC_BLOCK, 0);
	if (!o->va)
		goto put_object;
	if (sc_object_enter(o, o->va, SC_BLOCK))
		goto release_va;
	while (*p)
		p = &(*p)->next_block;
	*p = o;
	return o;

release_va:
	sc_va_release(o->va, SC_BLOCK);
put_object:
	sc_object_put(o);
	return NULL;
}

static void block_drop(struct sc_object *o)
{
	struct sc_object **p = &blocks[o->dev];

	while (*p != o)
		p = &(*p)->next_block;
	*p = o->next_block;
	sc_object_leave(o, o->va);
	sc_va_release(o->va, SC_BLOCK);
	sc_object_put(o);
}

static int place_small(struct sc_alloc *a)
{
	unsigned int n = slots_of(a->size), at = SLOTS;
	struct sc_object *o = blocks[a->dev];

	while (o && (at = slots_find(o, n)) == SLOTS)
		o = o->next_block;
	if (!o) {
		o = block_new(a->dev);
		if (!o)
			return -ENOMEM;
		at = 0;
	}
	slots_set(o, at, n, true);
	o->nused++;
	a->obj = o;
	a->off = at * SC_SLOT;
	a->start = o->va + a->off;
	return 0;
}

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

static bool page_used(const struct sc_object *o, uint64_t page)
{
	for (unsigned int i = 0; i < SC_PAGE / SC_SLOT; i++)
		if (slot_used(o, (unsigned int)(page * (SC_PAGE / SC_SLOT)) + i))
			return true;
	return false;
}

/* Cut the pages of [lo, hi) off from old exports, but for those a neighbour shares. */
static void release_pages(struct sc_object *o, uint64_t lo, uint64_t hi)
{
	uint64_t first = lo / SC_PAGE, end = (hi + SC_PAGE - 1) / SC_PAGE;

	if (page_used(o, first))
		first++;
	if (end > first && page_used(o, end - 1))
		end--;
	if (first >= end)
		return;
	sc_ipc_lock();
	/* Out of memory: the next owner of the pages shares them with the old export. */
	sc_file_detach(o, first * SC_PAGE, (end - first) * SC_PAGE);
	sc_ipc_publish();
	sc_ipc_unlock();
}

static void unplace(struct sc_alloc *a)
{
	struct sc_object *o = a->obj;

	if (a->kind == SC_SMALL) {
		slots_set(o, (unsigned int)(a->off / SC_SLOT), slots_of(a->size), false);
		if (!--o->nused)
			block_drop(o);
		else
			release_pages(o, a->off, a->off + a->size);
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
	if (a->kind == SC_SMALL ? place_small(a) : place_large(a))
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
	res = sc_stream_check(&stream);
	if (res)
		return res;
	op = sc_op_new(stream);
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
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
