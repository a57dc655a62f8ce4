/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that others map: cuMemGetHandleForAddressRange, and whole objects
 * for VMM handles.  backing.c says what limits this.  A descriptor keeps its
 * pages, whatever becomes of the allocation.  Its file can be longer than the
 * range where a longer range with the same start is, or was, exported.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softcuda.h"

/* The part of piece p from done on that lies in one extent. */
static uint64_t part(const struct sc_piece *p, uint64_t done, const struct sc_extent **e)
{
	uint64_t at = p->off + done, end;

	*e = sc_object_extent(p->obj, at);
	end = (*e)->start + (*e)->len;
	return (end < p->off + p->len ? end : p->off + p->len) - at;
}

enum fit {
	FITS,           /* every byte lies in the file where the range wants it */
	CAN_MOVE,       /* those that do not may move */
	STUCK,
};

/* How the pieces, from offset 0 of file on, lie; file NULL: a new one. */
static enum fit look(const struct sc_piece *p, unsigned int n, const struct sc_file *file)
{
	enum fit fit = FITS;
	uint64_t pos = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct sc_extent *e;

		for (uint64_t done = 0, len; done < p[i].len; done += len, pos += len) {
			uint64_t at = p[i].off + done;

			len = part(&p[i], done, &e);
			if (e->file == file && e->off + (at - e->start) == pos)
				continue;
			if (!sc_file_movable(p[i].obj, e, at, len))
				return STUCK;
			fit = CAN_MOVE;
		}
	}
	return fit;
}

static int gather(const struct sc_piece *p, unsigned int n, struct sc_file *to, uint64_t total)
{
	uint64_t pos = 0;
	int err;

	if (to->size < total) {
		if (ftruncate(to->fd, (off_t)total))
			return -errno;
		to->size = total;
	}
	for (unsigned int i = 0; i < n; pos += p[i].len, i++) {
		err = sc_file_move(p[i].obj, p[i].off, p[i].len, to, pos);
		if (err)
			return err;
	}
	return 0;
}

int sc_export_open(struct sc_file *f, uint64_t lo, uint64_t hi)
{
	int fd = sc_config()->source->reopen(f->fd);

	if (fd == -EMFILE || fd == -ENFILE || (fd < 0 && !sc_config()->source->moves))
		return fd;
	if (fd < 0) {
		/* No /proc: whether this copy is still in use cannot be told. */
		fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			return -errno;
		f->frozen = true;
	}
	sc_file_cover(f, lo, hi);
	return fd;
}

/* The file that shows the range already, or could; NULL: it needs a new one. */
static struct sc_file *choose(const struct sc_piece *p, unsigned int n, uint64_t total,
			      enum fit *fit)
{
	const struct sc_extent *e;
	struct sc_file *f;
	bool kept;

	part(p, 0, &e);
	f = e->off + (p->off - e->start) ? NULL : e->file;
	*fit = look(p, n, f);
	if (!f || *fit == STUCK)
		return f;
	kept = (f->base && n == 1) || !sc_file_movable(p->obj, e, p->off, SC_PAGE);
	if (kept || (*fit == FITS && f->size == total))
		return f;
	*fit = look(p, n, NULL);
	return NULL;
}

/* From files whose pages can move. */
int sc_export_moving(const struct sc_piece *p, unsigned int n, int *fd)
{
	struct sc_file *f, *fresh = NULL;
	uint64_t total = 0;
	enum fit fit;
	int err = 0;

	for (unsigned int i = 0; i < n; i++)
		total += p[i].len;
	sc_ipc_lock();
	f = choose(p, n, total, &fit);
	if (fit == STUCK) {
		err = sc_udmabuf(p, n, fd);
		goto unlock;
	}
	if (!f) {
		f = fresh = sc_file_new(p->obj->dev, "softcuda", total);
		if (!f) {
			err = -errno;
			goto unlock;
		}
	}
	if (fit == CAN_MOVE) {
		err = gather(p, n, f, total);
		sc_ipc_publish();
	}
	if (!err) {
		int opened = sc_export_open(f, 0, total);

		if (opened < 0)
			err = opened;
		else
			*fd = opened;
	}
	sc_file_put(fresh);
unlock:
	sc_ipc_unlock();
	return err;
}

int sc_export_object(struct sc_object *o, int *fd)
{
	struct sc_piece p = { o, 0, o->size };
	enum fit fit = look(&p, 1, o->base);
	int err = 0;

	if (fit == STUCK)
		return -EBUSY;
	if (fit == CAN_MOVE)
		err = gather(&p, 1, o->base, o->size);
	if (err)
		return err;
	err = sc_export_open(o->base, 0, o->size);
	if (err < 0)
		return err;
	*fd = err;
	return 0;
}

/* The mappings that make up [ptr, ptr + size), without a gap and all alike. */
static CUresult vmm_pieces(const struct sc_alloc *a, CUdeviceptr ptr, size_t size,
			   struct sc_piece **pieces, unsigned int *n)
{
	struct sc_piece *p = calloc(a->nmaps + 1, sizeof(*p));
	CUresult res = CUDA_ERROR_INVALID_VALUE;
	const struct sc_object *first = NULL;

	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*n = 0;
	for (CUdeviceptr at = ptr; at < ptr + size;) {
		struct sc_map *m = sc_range_map(a, at);
		uint64_t off = m ? at - m->start : 0, left = ptr + size - at;

		if (!m || (first && (first->dev != m->obj->dev ||
				     memcmp(&first->prop, &m->obj->prop, sizeof(first->prop)))))
			goto out;
		first = m->obj;
		p[*n] = (struct sc_piece){ m->obj, off,
					   left < m->size - off ? left : m->size - off };
		at += p[(*n)++].len;
	}
	res = first && first->prop.allocFlags.gpuDirectRDMACapable ? CUDA_SUCCESS :
								     CUDA_ERROR_NOT_SUPPORTED;
out:
	if (res)
		free(p);
	else
		*pieces = p;
	return res;
}

/*
 * Small allocations share an object, their block: the range lies anywhere in it, if only
 * some allocation has bytes there.  Else it is one allocation, its last page counted whole.
 */
static CUresult alloc_piece(CUdeviceptr ptr, size_t size, struct sc_piece **pieces, unsigned int *n)
{
	struct sc_alloc *a;

	for (unsigned int i = sc_range_after(ptr); (a = sc_range_at(i)) && a->start < ptr + size;
	     i++) {
		CUdeviceptr lo = a->start & ~(SC_PAGE - 1);
		CUdeviceptr hi = (a->start + a->size + SC_PAGE - 1) & ~(SC_PAGE - 1);

		if (a->kind > SC_IPC || a->kind == SC_ASYNC)
			return CUDA_ERROR_NOT_SUPPORTED;
		if (a->kind == SC_SMALL) {
			lo = a->obj->va;
			hi = lo + SC_BLOCK;
		}
		if (ptr < lo || ptr + size > hi)
			continue;
		*pieces = calloc(1, sizeof(**pieces));
		if (!*pieces)
			return CUDA_ERROR_OUT_OF_MEMORY;
		**pieces = (struct sc_piece){ a->obj, a->off + ptr - a->start, size };
		*n = 1;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

static CUresult export_range(CUdeviceptr ptr, size_t size, int *fd)
{
	struct sc_alloc *a = sc_range_at(sc_range_after(ptr));
	struct sc_piece *pieces;
	unsigned int n;
	CUresult res;
	int err;

	if (a && a->kind == SC_RESERVE && a->start <= ptr)
		res = vmm_pieces(a, ptr, size, &pieces, &n);
	else
		res = alloc_piece(ptr, size, &pieces, &n);
	if (res)
		return res;
	err = sc_config()->source->export_pieces(pieces, n, fd);
	free(pieces);
	if (err == -EXDEV)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (err == -ENODEV || err == -EBUSY) {
		sc_complain("cannot export 0x%llx, %zu bytes: pages of it are still exported with "
			    "another start, and there is no usable /dev/udmabuf to show them twice",
			    ptr, size);
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	if (err == -EMFILE || err == -ENFILE)
		return CUDA_ERROR_OPERATING_SYSTEM;
	return err ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr ptr, size_t size,
				       CUmemRangeHandleType type, unsigned long long flags)
{
	int fd;
	CUresult res;

	SC_ENTER(SC_NEED_CONTEXT);
	if (!handle || !ptr || !size || (ptr | size) & (SC_PAGE - 1) || ptr + size < ptr ||
	    type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD ||
	    flags & ~GDR_CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE)
		return CUDA_ERROR_INVALID_VALUE;
	if (flags && !sc_config()->coherent)
		return CUDA_ERROR_NOT_SUPPORTED;
	sc_mem_wrlock();
	res = export_range(ptr, size, &fd);
	sc_mem_unlock();
	if (!res)
		memcpy(handle, &fd, sizeof(fd));
	return res;
}
