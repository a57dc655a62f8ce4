/* SPDX-License-Identifier: MIT */
/*
 * Getting hold of the memory behind a range: what CUDA says it is, and the way
 * to it.  VMM memory is imported by its export descriptor, one part for each
 * cuMemMap in the range; cuMemAlloc memory is duplicated by the names in its
 * IPC handle.  What is neither is refused with the reason.
 */
#include "rm_pin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

/* Where cuMemAlloc can place a buffer (seen: multiples of 512; documented: of 256). */
#define ALLOC_ALIGN     256

/* What CUDA says about one address; type 0: nothing. */
struct answer {
	unsigned int type;              /* CUmemorytype */
	int managed;
	CUdevice dev;
	CUdeviceptr start;
};

static int ask(const struct gdr_cuda *cu, uint64_t addr, struct answer *a)
{
	CUpointer_attribute attrs[] = {
		CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
		CU_POINTER_ATTRIBUTE_IS_MANAGED,
		CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
		CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
	};
	void *data[] = { &a->type, &a->managed, &a->dev, &a->start };
	CUresult res;

	memset(a, 0, sizeof(*a));
	res = cu->PointerGetAttributes(sizeof(attrs) / sizeof(attrs[0]), attrs, data, addr);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuPointerGetAttributes", "for the address to pin");
	return 0;
}

int gdr_rm_find_memory(const struct gdr_cuda *cu, uint64_t addr, uint64_t size,
		       struct gdr_rm_memory *mem)
{
	struct answer a;
	uint64_t at = addr;
	int ret = ask(cu, at, &a);

	while (ret == 0 && a.type == 0) {
		at = (at & ~(uint64_t)(ALLOC_ALIGN - 1)) + ALLOC_ALIGN;
		if (at - addr >= GPU_PAGE_SIZE || at - addr >= size)
			return gdr_log_fail(EINVAL, "gdr_pin_buffer: 0x%llx is no memory that CUDA "
					    "knows", (unsigned long long)addr);
		ret = ask(cu, at, &a);
	}
	if (ret < 0)
		return ret;
	if (a.managed)
		return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: 0x%llx is managed memory, which "
				    "moves; allocate with cuMemAlloc or cuMemCreate",
				    (unsigned long long)at);
	if (a.type != CU_MEMORYTYPE_DEVICE)
		return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: 0x%llx is host memory, which needs "
				    "no mapping; allocate with cuMemAlloc or cuMemCreate",
				    (unsigned long long)at);
	mem->dev = a.dev;
	mem->start = a.start;
	mem->inside = at;
	return 0;
}

static int grow(struct gdr_rm_range *r, struct gdr_rm_part **part)
{
	struct gdr_rm_part *parts = realloc(r->parts, (r->nparts + 1) * sizeof(*parts));

	if (!parts)
		return gdr_log_fail(ENOMEM, "gdr_pin_buffer: out of memory");
	r->parts = parts;
	*part = &parts[r->nparts];
	memset(*part, 0, sizeof(**part));
	return 0;
}

/* The VMM mapping that at lies in. */
static int ask_mapping(const struct gdr_cuda *cu, uint64_t at, uint64_t *base, uint64_t *size)
{
	CUdeviceptr start;
	size_t len;
	CUresult res = cu->PointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, at);

	if (res == CUDA_SUCCESS)
		res = cu->PointerGetAttribute(&len, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, at);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuPointerGetAttribute",
				     "for the VMM mapping at the address to pin");
	if (at < start || at - start >= len)
		return gdr_log_fail(EIO, "gdr_pin_buffer: CUDA says that 0x%llx is mapped at "
				    "0x%llx, 0x%zx bytes", (unsigned long long)at,
				    (unsigned long long)start, len);
	*base = start;
	*size = len;
	return 0;
}

/* An export descriptor of the allocation, or -errno. */
static int export_allocation(const struct gdr_cuda *cu, CUmemGenericAllocationHandle handle,
			     uint64_t at)
{
	CUmemAllocationProp prop;
	CUresult res = cu->MemGetAllocationPropertiesFromHandle(&prop, handle);
	int fd;

	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuMemGetAllocationPropertiesFromHandle",
				     "for the memory to pin");
	if ((prop.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0)
		return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: the VMM memory at 0x%llx cannot be "
				    "exported; create it with requestedHandleTypes = "
				    "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, or use cuMemAlloc",
				    (unsigned long long)at);
	if (prop.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: the VMM memory at 0x%llx is not on "
				    "a GPU", (unsigned long long)at);
	res = cu->MemExportToShareableHandle(&fd, handle,
					     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuMemExportToShareableHandle",
				     "for the memory to pin");
	return fd;
}

/*
 * Hold the exported allocation, mapped as size bytes at base: the part from `at`
 * on, as far as it goes towards end.
 */
static int hold_export(struct gdr_rm_range *r, int fd, uint64_t base, uint64_t size, uint64_t at,
		       uint64_t end)
{
	struct gdr_rm_part *part = NULL;
	unsigned objects;
	int ret = gdr_rm_export_objects(r->gpu, fd, &objects);

	if (ret < 0)
		return ret;
	ret = gdr_rm_verify_vmm(r->gpu, at, size, objects);
	if (ret < 0)
		return ret;
	ret = grow(r, &part);
	if (ret < 0)
		return ret;
	part->offset = at - base;
	part->len = (end < base + size ? end : base + size) - at;
	ret = gdr_rm_part_import(r->gpu, fd, part);
	if (ret == 0)
		r->nparts++;
	return ret;
}

/* Hold the allocation mapped at `at`, as far as it goes towards end.  handle is consumed. */
static int pin_segment(struct gdr_rm_range *r, CUmemGenericAllocationHandle handle, uint64_t at,
		       uint64_t end)
{
	const struct gdr_cuda *cu = r->gpu->cu;
	uint64_t base = 0, size = 0;
	int fd, ret = ask_mapping(cu, at, &base, &size);

	if (ret < 0) {
		cu->MemRelease(handle);
		return ret;
	}
	fd = export_allocation(cu, handle, at);
	cu->MemRelease(handle);
	if (fd < 0)
		return fd;
	ret = hold_export(r, fd, base, size, at, end);
	close(fd);
	return ret;
}

/* VMM memory: one part for each cuMemMap in the range.  handle is the first's. */
static int pin_vmm(struct gdr_rm_range *r, CUmemGenericAllocationHandle handle)
{
	const struct gdr_cuda *cu = r->gpu->cu;
	uint64_t at = r->va, end = r->va + r->size;
	int ret;

	for (;;) {
		struct answer a;
		CUresult res;

		ret = pin_segment(r, handle, at, end);
		if (ret < 0)
			return ret;
		at += r->parts[r->nparts - 1].len;
		if (at == end)
			return 0;
		res = cu->MemRetainAllocationHandle(&handle, (void *)(uintptr_t)at);
		if (res == CUDA_ERROR_INVALID_VALUE)
			return gdr_log_fail(EINVAL, "gdr_pin_buffer: nothing is mapped at 0x%llx, "
					    "inside the range to pin", (unsigned long long)at);
		if (res != CUDA_SUCCESS)
			return gdr_cuda_fail(cu, res, "cuMemRetainAllocationHandle",
					     "for memory inside the range to pin");
		ret = ask(cu, at, &a);
		if (ret == 0 && a.dev != r->gpu->dev)
			ret = gdr_log_fail(ENOTSUP, "gdr_pin_buffer: the range lies on devices %d "
					   "and %d; pin each part by itself", r->gpu->dev, a.dev);
		if (ret < 0) {
			cu->MemRelease(handle);
			return ret;
		}
	}
}

/* Why memory that is neither VMM nor has an IPC handle cannot be pinned. */
static int refuse(const struct gdr_cuda *cu, CUresult res, uint64_t addr)
{
	CUmemoryPool pool = NULL;

	if (cu->PointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, addr) ==
	    CUDA_SUCCESS && pool)
		return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: 0x%llx is stream-ordered memory "
				    "(cuMemAllocAsync), which cannot be mapped this way; allocate "
				    "with cuMemAlloc or cuMemCreate", (unsigned long long)addr);
	if (res != CUDA_ERROR_INVALID_VALUE && res != CUDA_ERROR_NOT_SUPPORTED)
		return gdr_cuda_fail(cu, res, "cuIpcGetMemHandle", "for the memory to pin");
	return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: CUDA shares no memory like that at 0x%llx; "
			    "allocate with cuMemAlloc, or with cuMemCreate and the POSIX-fd "
			    "handle type", (unsigned long long)addr);
}

/* Whether the allocation was freed, or is part of another one, since it was found. */
static bool is_gone(const struct gdr_cuda *cu, const struct gdr_rm_memory *mem)
{
	struct answer a;

	return ask(cu, mem->inside, &a) == 0 &&
		(a.type == 0 || a.start != mem->start || a.dev != mem->dev);
}

/* cuMemAlloc memory: one part of the object that the allocation lies in. */
static int pin_ipc(struct gdr_rm_range *r, const struct gdr_rm_memory *mem)
{
	const struct gdr_cuda *cu = r->gpu->cu;
	uint32_t words[CU_IPC_HANDLE_SIZE / 4];
	struct gdr_cuda_scope scope;
	struct gdr_rm_part *part = NULL;
	CUipcMemHandle handle;
	CUresult res;
	int64_t offset;
	int ret = gdr_cuda_enter(cu, r->gpu->dev, mem->start, &r->gpu->primary, &scope);

	if (ret < 0)
		return ret;
	res = cu->IpcGetMemHandle(&handle, mem->start);
	gdr_cuda_leave(cu, &scope);
	/* The handle's offset is that of the allocation that is there now. */
	if (is_gone(cu, mem))
		return -ESTALE;
	if (res != CUDA_SUCCESS)
		return refuse(cu, res, mem->start);
	ret = gdr_rm_verify_ipc(r->gpu, mem->start);
	if (ret < 0)
		return ret;
	ret = grow(r, &part);
	if (ret < 0)
		return ret;
	memcpy(words, &handle, sizeof(words));
	/*
	 * Where the pin's first GPU page lies in the object: before the allocation,
	 * maybe.  That the object holds all of the pin is checked when it is held.
	 */
	offset = (int64_t)words[r->gpu->layout.offset] + (int64_t)(r->va - mem->start);
	if (offset < 0 || offset & (int64_t)GPU_PAGE_OFFSET)
		return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: CUDA places 0x%llx at offset 0x%x of "
				    "its memory object, which cannot be",
				    (unsigned long long)mem->start, words[r->gpu->layout.offset]);
	part->offset = (uint64_t)offset;
	part->len = r->size;
	ret = gdr_rm_part_dup(r->gpu, words[r->gpu->layout.client],
			      words[r->gpu->layout.client + 1], part);
	if (ret == 0)
		r->nparts = 1;
	return ret;
}

static int pin_parts(struct gdr_rm_range *r, const struct gdr_rm_memory *mem)
{
	CUmemGenericAllocationHandle handle;

	/* Fails for everything that is not VMM memory, of which the start must be mapped. */
	if (r->gpu->cu->MemRetainAllocationHandle(&handle, (void *)(uintptr_t)mem->inside) ==
	    CUDA_SUCCESS)
		return pin_vmm(r, handle);
	return pin_ipc(r, mem);
}

/* What is there now in place of mem; false and -errno if nothing of the range's. */
static bool find_again(const struct gdr_rm_range *r, struct gdr_rm_memory *mem, int *err)
{
	int ret = gdr_rm_find_memory(r->gpu->cu, mem->inside, r->va + r->size - mem->inside, mem);

	if (ret == 0 && mem->dev != r->gpu->dev)
		ret = gdr_log_fail(EINVAL, "gdr_pin_buffer: the memory at 0x%llx was freed "
				   "meanwhile", (unsigned long long)mem->inside);
	*err = ret;
	return ret == 0;
}

int gdr_rm_range_pin(struct gdr_rm_range *r, const struct gdr_rm_memory *found)
{
	struct gdr_rm_memory mem = *found;
	int ret;

	pthread_mutex_lock(&r->gpu->lock);
	do {
		ret = pin_parts(r, &mem);
	} while (ret == -ESTALE && find_again(r, &mem, &ret));
	pthread_mutex_unlock(&r->gpu->lock);
	if (ret < 0)
		gdr_rm_range_release(r);
	return ret;
}

int gdr_rm_range_release(struct gdr_rm_range *r)
{
	int ret = 0, err;

	while (r->nparts) {
		err = gdr_rm_part_release(r->gpu, &r->parts[--r->nparts]);
		if (ret == 0)
			ret = err;
	}
	free(r->parts);
	r->parts = NULL;
	return ret;
}

void gdr_rm_range_forget(struct gdr_rm_range *r)
{
	while (r->nparts)
		gdr_rm_part_forget(&r->parts[--r->nparts]);
	free(r->parts);
	r->parts = NULL;
}
