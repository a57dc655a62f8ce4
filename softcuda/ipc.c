/* SPDX-License-Identifier: MIT */
/*
 * CUDA IPC: handles whose words lie where the real driver puts them, and memory
 * of other processes of the same user opened through /proc.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softcuda.h"

/*
 * As seen with driver 580: 2 pid; 4, 5 size asked for; 6 object size in 4 KiB
 * pages; 7 offset of the allocation in its object; 8, 9 constants; 10 a counter;
 * 12 client; 13 object.  0 and 1 look like an address.
 */
static void write_handle(CUipcMemHandle *handle, const struct sc_alloc *a)
{
	uint32_t w[16] = { 0 };

	w[0] = (uint32_t)(a->id * 0x1f0 + 0x3bfc0000);
	w[1] = 0x5608;
	w[2] = (uint32_t)getpid();
	w[4] = (uint32_t)a->size;
	w[5] = (uint32_t)((uint64_t)a->size >> 32);
	w[6] = (uint32_t)(a->obj->size / SC_PAGE);
	w[7] = (uint32_t)a->off;
	w[8] = 6;
	w[9] = 0xff00;
	w[10] = (uint32_t)a->id;
	w[12] = sc_object_client();
	w[13] = a->obj->number;
	memcpy(handle, w, sizeof(*handle));
}

/* Memory lock held for writing: peers find a in the table. */
static int share(struct sc_alloc *a)
{
	int err = sc_ipc_table_create();

	if (err)
		return err;
	/* Also if it was shared before: the table may have ended up empty since. */
	sc_ipc_lock();
	if (sc_ipc_locked()) {
		a->ipc = true;
		sc_ipc_publish();
	} else {
		err = -ENOLCK;
	}
	sc_ipc_unlock();
	return err;
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr ptr)
{
	CUresult res = CUDA_ERROR_INVALID_VALUE;
	struct sc_alloc *a;

	SC_ENTER(SC_NEED_CONTEXT);
	if (!handle)
		return res;
	sc_mem_wrlock();
	a = sc_range_find(ptr);
	if (!a || (a->kind != SC_SMALL && a->kind != SC_LARGE))
		goto unlock;
	if (share(a)) {
		res = CUDA_ERROR_OPERATING_SYSTEM;
		goto unlock;
	}
	write_handle(handle, a);
	res = CUDA_SUCCESS;
unlock:
	sc_mem_unlock();
	return res;
}

/* Memory lock held for writing: the peer's memory as an object of this process. */
static struct sc_object *open_object(const uint32_t *words, const struct sc_ipc_found *found,
				     int *err)
{
	struct sc_extent *ext = calloc(found->n, sizeof(*ext));
	struct sc_object *o = NULL;
	unsigned int n = 0;

	*err = -ENOMEM;
	for (; ext && n < found->n; n++) {
		const struct sc_ipc_piece *p = &found->pieces[n];
		int fd = sc_config()->source->open_peer(words[2], p->fd, p->number);

		if (fd < 0) {
			*err = fd;
			break;
		}
		ext[n] = (struct sc_extent){ p->start - found->pieces[0].start, p->len,
					     sc_file_adopt(fd, p->off + p->len), p->off };
		if (!ext[n].file) {
			sc_config()->source->discard(fd);
			break;
		}
	}
	if (ext && n == found->n) {
		o = sc_object_foreign(found->dev, ext, n);
	} else {
		while (ext && n--)
			sc_file_put(ext[n].file);
	}
	free(ext);
	return o;
}

/* Memory lock held for writing. */
static struct sc_alloc *open_alloc(const uint32_t *words, const struct sc_ipc_found *found,
				   int *err)
{
	struct sc_alloc *a = calloc(1, sizeof(*a));

	*err = -ENOMEM;
	if (!a)
		return NULL;
	a->obj = open_object(words, found, err);
	if (!a->obj)
		goto free_alloc;
	a->kind = SC_IPC;
	a->dev = found->dev;
	a->id = sc_range_new_id();
	a->opened = 1;
	memcpy(a->peer, words, sizeof(a->peer));
	a->off = words[7] & (sc_config()->source->page - 1);
	a->size = words[4] | (size_t)words[5] << 32;
	a->va_size = (a->obj->size + SC_BLOCK - 1) & ~(SC_BLOCK - 1);
	a->va = sc_va_reserve(a->va_size, SC_BLOCK, 0);
	if (!a->va)
		goto put_object;
	a->start = a->va + a->off;
	*err = sc_object_enter(a->obj, a->va, a->obj->size);
	if (*err)
		goto release_va;
	*err = sc_range_add(a);
	if (!*err)
		return a;
	sc_object_leave(a->obj, a->va);
release_va:
	sc_va_release(a->va, a->va_size);
put_object:
	sc_object_put(a->obj);
free_alloc:
	free(a);
	return NULL;
}

static struct sc_alloc *find_opened(const uint32_t *words)
{
	struct sc_alloc *a;

	for (unsigned int i = 0; (a = sc_range_at(i)); i++)
		if (a->kind == SC_IPC && !memcmp(a->peer, words, sizeof(a->peer)))
			break;
	return a;
}

static CUresult open_peer(const uint32_t *words, CUdeviceptr *ptr)
{
	struct sc_alloc *a = find_opened(words);
	struct sc_ipc_found found;
	int err;

	if (a) {
		a->opened++;
		*ptr = a->start;
		return CUDA_SUCCESS;
	}
	err = sc_ipc_table_find(words, &found);
	if (!err) {
		if (sc_device_valid(found.dev))
			a = open_alloc(words, &found, &err);
		else
			err = -ENODEV;
		sc_ipc_table_done(&found);
	}
	if (a) {
		*ptr = a->start;
		return CUDA_SUCCESS;
	}
	switch (err) {
	case -ENOENT:
	case -ESTALE:
		return CUDA_ERROR_INVALID_HANDLE;
	case -ENOMEM:
		return CUDA_ERROR_OUT_OF_MEMORY;
	case -ENODEV:
		return CUDA_ERROR_INVALID_DEVICE;
	default:
		return CUDA_ERROR_MAP_FAILED;
	}
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned int flags)
{
	uint32_t words[16];
	CUresult res;

	SC_ENTER(SC_NEED_CONTEXT);
	memcpy(words, &handle, sizeof(words));
	if (!ptr || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS || words[8] != 6 ||
	    words[9] != 0xff00)
		return CUDA_ERROR_INVALID_VALUE;
	if (words[2] == (uint32_t)getpid())
		return CUDA_ERROR_INVALID_CONTEXT;
	sc_mem_wrlock();
	res = open_peer(words, ptr);
	sc_mem_unlock();
	return res;
}
SC_ALIAS(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2);

CUresult cuIpcCloseMemHandle(CUdeviceptr ptr)
{
	CUresult res = CUDA_ERROR_INVALID_VALUE;
	struct sc_alloc *a;

	SC_ENTER(SC_NEED_CONTEXT);
	sc_stream_drain(sc_context_device());
	sc_mem_wrlock();
	a = sc_range_find(ptr);
	if (a && a->kind == SC_IPC && a->start == ptr) {
		if (!--a->opened)
			sc_memory_free(a);
		res = CUDA_SUCCESS;
	}
	sc_mem_unlock();
	return res;
}
