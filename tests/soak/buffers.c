/* SPDX-License-Identifier: MIT */
/* Memory of every kind that can be pinned: allocated, filled, freed while pinned or not. */
#include <string.h>

#include "soak.h"

#define SEGMENT ((size_t)2 << 20)

static struct soak_buffer *empty_slot(struct soak_worker *w)
{
	unsigned i;

	for (i = 0; i < soak.plan.buffers; i++)
		if (!w->buffers[i].ptr)
			return &w->buffers[i];
	return NULL;
}

struct soak_buffer *soak_live_buffer(struct soak_worker *w)
{
	size_t from = soak_below(w, soak.plan.buffers);
	unsigned i;

	for (i = 0; i < soak.plan.buffers; i++) {
		struct soak_buffer *b = &w->buffers[(from + i) % soak.plan.buffers];

		if (b->ptr && !b->freed)
			return b;
	}
	return NULL;
}

static CUresult create(CUmemGenericAllocationHandle *handle)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = soak.gpu.dev },
		.allocFlags = { .gpuDirectRDMACapable = 1 },
	};

	return cu.MemCreate(handle, SEGMENT, &prop, 0);
}

static void unmap_segments(CUdeviceptr at, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		CU(cu.MemUnmap(at + i * SEGMENT, SEGMENT));
}

/* Only memory may be lacking: everything else has to work. */
static CUresult allocate_segments(struct soak_buffer *b, unsigned n)
{
	CUmemAccessDesc access = {
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = soak.gpu.dev },
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUresult res = cu.MemAddressReserve(&b->ptr, n * SEGMENT, 0, 0, 0);

	if (res)
		return res;
	for (b->segments = 0; b->segments < n; b->segments++) {
		res = create(&b->segment[b->segments]);
		if (res)
			goto release;
		res = cu.MemMap(b->ptr + b->segments * SEGMENT, SEGMENT, 0,
				b->segment[b->segments], 0);
		if (res) {
			CU(cu.MemRelease(b->segment[b->segments]));
			goto release;
		}
	}
	b->size = n * SEGMENT;
	CU(cu.MemSetAccess(b->ptr, b->size, &access, 1));
	return CUDA_SUCCESS;

release:
	unmap_segments(b->ptr, b->segments);
	while (b->segments)
		CU(cu.MemRelease(b->segment[--b->segments]));
	CU(cu.MemAddressFree(b->ptr, n * SEGMENT));
	return res;
}

static size_t pages(struct soak_worker *w, size_t most)
{
	return GPU_PAGE_SIZE * (1 + soak_below(w, most / GPU_PAGE_SIZE));
}

static CUresult allocate(struct soak_worker *w, struct soak_buffer *b)
{
	const struct gpu_allocator *plain = &gpu_allocators[0];
	CUresult res = CUDA_ERROR_OUT_OF_MEMORY;

	switch (b->kind) {
	case KIND_LARGE:
		/* whole blocks of 2 MiB are its own, and aligned */
		b->own = soak_below(w, 2);
		if (b->own)
			res = plain->alloc(&b->mem, SEGMENT * (1 + soak_below(w, soak.plan.size /
					   SEGMENT)), false, true);
		else
			res = plain->alloc(&b->mem, pages(w, soak.plan.size), true, true);
		break;
	case KIND_SMALL:
		res = plain->alloc(&b->mem, pages(w, 4 * GPU_PAGE_SIZE), true, soak_below(w, 2));
		break;
	case KIND_WITHIN:
		res = plain->alloc(&b->mem, 1 + soak_below(w, 30000), false, true);
		/* one GPU page is pinned: what lies in the next one is not used */
		if (!res && b->mem.size > GPU_PAGE_SIZE - (b->mem.ptr & GPU_PAGE_OFFSET))
			b->mem.size = GPU_PAGE_SIZE - (b->mem.ptr & GPU_PAGE_OFFSET);
		break;
	case KIND_VMM:
		b->own = true;
		res = gpu_allocators[1].alloc(&b->mem, SEGMENT, true, true);
		break;
	case KIND_SEGMENTS:
		b->own = true;
		return allocate_segments(b, 2 + (unsigned)soak_below(w, SOAK_SEGMENTS - 1));
	case SOAK_KINDS:
		break;
	}
	if (!res) {
		b->ptr = b->mem.ptr;
		b->size = b->mem.size;
	}
	return res;
}

bool soak_op_allocate(struct soak_worker *w)
{
	struct soak_buffer *b = empty_slot(w);
	CUresult res;

	if (!b)
		return false;
	memset(b, 0, sizeof(*b));
	do {
		b->kind = (enum soak_kind)soak_below(w, SOAK_KINDS);
	} while ((b->kind == KIND_WITHIN && !soak.within) ||
		 (b->kind == KIND_SEGMENTS && soak.plan.size < SOAK_SEGMENTS * SEGMENT));
	res = allocate(w, b);
	if (res == CUDA_ERROR_OUT_OF_MEMORY) {
		b->ptr = 0;
		w->seen->no_room++;
		return false;
	}
	if (res)
		FAIL("allocation of kind %d: %s", (int)b->kind, cu_error_name(res));
	if (b->kind != KIND_WITHIN && soak_below(w, 2))
		b->start = GPU_PAGE_SIZE * soak_below(w, b->size / GPU_PAGE_SIZE);
	b->shadow = malloc(b->size);
	CHECK(b->shadow);
	soak_fill(w, b->shadow, b->size);
	CU(cu.MemcpyHtoD(b->ptr, b->shadow, b->size));
	CU(cu.CtxSynchronize());
	return true;
}

void soak_release(struct soak_buffer *b)
{
	unsigned i;

	if (b->kind != KIND_SEGMENTS) {
		CU(b->mem.how->free(&b->mem));
	} else {
		unmap_segments(b->ptr, b->segments);
		for (i = 0; i < b->segments; i++)
			CU(cu.MemRelease(b->segment[i]));
		CU(cu.MemAddressFree(b->ptr, b->size));
	}
	b->freed = true;
}

void soak_forget(struct soak_buffer *b)
{
	free(b->shadow);
	memset(b, 0, sizeof(*b));
}

static bool is_pinned(const struct soak_buffer *b)
{
	unsigned i;

	for (i = 0; i < SOAK_PINS; i++)
		if (b->pins[i].buffer)
			return true;
	return false;
}

bool soak_op_free(struct soak_worker *w)
{
	struct soak_buffer *b = soak_live_buffer(w);

	if (!b || is_pinned(b))
		return false;
	soak_look(w, b, 0, b->size);
	soak_release(b);
	soak_forget(b);
	return true;
}

/* The pins stay: they hold the memory, or are revoked. */
static void check_after_free(struct soak_worker *w, struct soak_buffer *b)
{
	unsigned char byte;
	unsigned i;
	int flag;

	for (i = 0; i < SOAK_PINS; i++) {
		struct soak_pin *p = &b->pins[i];

		if (!p->buffer)
			continue;
		GDR(gdr_get_callback_flag(p->g, p->mh, &flag));
		if (soak.persistent)
			CHECK(flag == 0);
		else if (b->own) /* else it is the block that CUDA frees or not */
			CHECK(flag == 1);
		if (!soak.persistent && b->own && p->map &&
		    !soak_faults((unsigned char *)p->map + soak_below(w, p->len), &byte))
			FAIL("a byte of freed memory can be read: 0x%02x", byte);
	}
	if (soak.persistent && b->own)
		soak_look(w, b, soak_below(w, b->size), b->size);
}

bool soak_op_free_pinned(struct soak_worker *w)
{
	struct soak_buffer *b = soak_live_buffer(w);

	if (!b || !is_pinned(b))
		return false;
	soak_release(b);
	check_after_free(w, b);
	return true;
}
