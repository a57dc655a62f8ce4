/* SPDX-License-Identifier: MIT */
/*
 * Copies and fills, as operations in stream order.  All addresses are checked
 * before the first byte moves; a copy that cannot start yet is checked again
 * when it does.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softcuda.h"

enum side {
	DEVICE,         /* memory that CUDA knows */
	HOST,           /* a host pointer, page-locked or not, but no device address */
	EITHER,
};

/* Is host memory there at all?  mincore(2) answers ENOMEM if some page is not mapped. */
static bool host_mapped(CUdeviceptr ptr, size_t size)
{
	uintptr_t at = (uintptr_t)ptr & ~(SC_PAGE - 1), end = (uintptr_t)ptr + size;
	unsigned char pages[1024];

	for (uintptr_t n; at < end; at += n) {
		n = end - at < sizeof(pages) * SC_PAGE ? end - at : sizeof(pages) * SC_PAGE;
		if (mincore((void *)at, n, pages))
			return false;
	}
	return true;
}

static CUresult check(CUdeviceptr ptr, size_t size, bool write, enum side side, int dev)
{
	struct sc_alloc *a = sc_range_at(sc_range_after(ptr));

	if (!ptr || ptr + size < ptr)
		return CUDA_ERROR_INVALID_VALUE;
	if (!a || a->start >= ptr + size) {
		if (side == DEVICE || !host_mapped(ptr, size))
			return CUDA_ERROR_INVALID_VALUE;
		return CUDA_SUCCESS;
	}
	if (side == HOST && a->kind != SC_HOST && a->kind != SC_MANAGED)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t done = 0, n; done < size; done += n) {
		unsigned char *host;

		if (sc_range_resolve(ptr + done, dev, write, &host, &n))
			return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

/* The next run of bytes at ptr; checked before, so what is not known is the host's. */
static unsigned char *next_run(CUdeviceptr ptr, bool write, int dev, size_t *n)
{
	unsigned char *host;
	size_t len = *n;

	if (sc_range_resolve(ptr, dev, write, &host, &len))
		host = (unsigned char *)(uintptr_t)ptr;
	*n = len < *n ? len : *n;
	return host;
}

static void copy(struct sc_op *op)
{
	int dev = sc_stream_device(op->stream);
	bool ok;

	sc_mem_rdlock();
	ok = !check(op->dst, op->size, true, EITHER, dev) &&
	     !check(op->src, op->size, false, EITHER, dev);
	for (size_t done = 0, n; ok && done < op->size; done += n) {
		unsigned char *to, *from;

		n = op->size - done;
		to = next_run(op->dst + done, true, dev, &n);
		from = next_run(op->src + done, false, dev, &n);
		memmove(to, from, n);
	}
	sc_mem_unlock();
	if (!ok)
		sc_stream_fail(dev, CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void fill(struct sc_op *op)
{
	int dev = sc_stream_device(op->stream);
	bool ok;

	sc_mem_rdlock();
	ok = !check(op->dst, op->size, true, DEVICE, dev);
	for (size_t done = 0, n; ok && done < op->size; done += n) {
		unsigned char *to;

		n = op->size - done;
		to = next_run(op->dst + done, true, dev, &n);
		if (op->width == 1)
			memset(to, (int)op->value, n);
		else
			for (size_t i = 0; i + 4 <= n; i += 4)
				memcpy(to + i, &op->value, 4);
	}
	sc_mem_unlock();
	if (!ok)
		sc_stream_fail(dev, CUDA_ERROR_ILLEGAL_ADDRESS);
}

static CUresult submit_copy(CUdeviceptr dst, enum side dst_side, CUdeviceptr src,
			    enum side src_side, size_t size, CUstream stream, bool wait)
{
	struct sc_op *op;
	CUresult res = sc_stream_check(&stream);
	int dev;

	if (res || !size)
		return res;
	dev = sc_stream_device(stream);
	sc_mem_rdlock();
	res = check(dst, size, true, dst_side, dev);
	if (!res)
		res = check(src, size, false, src_side, dev);
	sc_mem_unlock();
	if (res)
		return res;
	op = sc_op_new(stream);
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	op->run = copy;
	op->dst = dst;
	op->src = src;
	op->size = size;
	return sc_op_submit(op, wait);
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t size)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return submit_copy(dst, EITHER, src, EITHER, size, NULL, true);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t size)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return submit_copy(dst, DEVICE, (CUdeviceptr)(uintptr_t)src, HOST, size, NULL, true);
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t size)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return submit_copy((CUdeviceptr)(uintptr_t)dst, HOST, src, DEVICE, size, NULL, true);
}

static bool has_sync_memops(CUdeviceptr ptr)
{
	struct sc_alloc *a;
	bool yes;

	sc_mem_rdlock();
	a = sc_range_find(ptr);
	yes = a && a->sync_memops;
	sc_mem_unlock();
	return yes;
}

/* Asynchronous, as on the device, unless the memory has SYNC_MEMOPS. */
CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t size)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return submit_copy(dst, DEVICE, src, DEVICE, size, NULL,
			   has_sync_memops(dst) || has_sync_memops(src));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return submit_copy(dst, DEVICE, src, DEVICE, size, stream, false);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t size, CUstream stream)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return submit_copy(dst, DEVICE, (CUdeviceptr)(uintptr_t)src, HOST, size, stream, false);
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t size, CUstream stream)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return submit_copy((CUdeviceptr)(uintptr_t)dst, HOST, src, DEVICE, size, stream, false);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return submit_copy(dst, EITHER, src, EITHER, size, stream, false);
}

/* Asynchronous, as on the device, unless the memory has SYNC_MEMOPS. */
static CUresult submit_fill(CUdeviceptr dst, uint64_t value, unsigned int width, size_t n)
{
	CUstream stream = NULL;
	struct sc_alloc *a;
	struct sc_op *op;
	CUresult res = sc_stream_check(&stream);
	bool wait;

	if (res || !n)
		return res;
	if (n > SIZE_MAX / width || dst % width)
		return CUDA_ERROR_INVALID_VALUE;
	sc_mem_rdlock();
	res = check(dst, n * width, true, DEVICE, sc_stream_device(stream));
	a = sc_range_find(dst);
	wait = a && a->sync_memops;
	sc_mem_unlock();
	if (res)
		return res;
	op = sc_op_new(stream);
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	op->run = fill;
	op->dst = dst;
	op->value = value;
	op->width = width;
	op->size = n * width;
	return sc_op_submit(op, wait);
}

CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char value, size_t n)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return submit_fill(dst, value, 1, n);
}

CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned int value, size_t n)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return submit_fill(dst, value, 4, n);
}
