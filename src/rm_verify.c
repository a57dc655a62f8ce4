/* SPDX-License-Identifier: MIT */
/*
 * Proof, on scratch memory of our own, that what we map is what CUDA means: once
 * for each kind of memory, the first time it is met.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "log.h"
#include "rm_scratch.h"

/*
 * VMM memory of this size and more was seen exported as two objects, on a machine
 * with two GPUs (driver 580.159.04): the first is all of the memory, the second
 * does not go below a device.
 */
#define MANY_SIZE       ((size_t)512 << 20)

/* Scratch memory turned out to be of another kind than what it was made for. */
#define UNLIKE          2

struct check {
	const char *what;               /* memory is checked */
	int (*run)(struct gdr_rm_gpu *gpu, CUstream stream, const struct check *c);
	/* VMM memory to make scratch memory like: */
	size_t size;
	bool many;                      /* objects when exported */
};

/* A check: does a window at each random number show it? */
static int compare_windows(struct gdr_rm_gpu *gpu, int export_fd, struct gdr_rm_scratch *s)
{
	int i, ret = 1;

	for (i = 0; i < GDR_RM_SPOTS && ret == 1; i++) {
		struct gdr_rm_part part = {
			.offset = gdr_rm_scratch_spot(s, i) & GPU_PAGE_MASK,
			.len = GPU_PAGE_SIZE,
		};

		ret = gdr_rm_part_import(gpu, export_fd, &part);
		if (ret < 0)
			return gdr_rm_scratch_refused(ret);
		ret = gdr_rm_scratch_compare(gpu, &part, (int64_t)part.offset, s);
	}
	return ret;
}

/* A check, or UNLIKE. */
static int compare_export(struct gdr_rm_gpu *gpu, CUmemGenericAllocationHandle handle, bool many,
			  struct gdr_rm_scratch *s)
{
	unsigned objects;
	CUresult res;
	int fd, ret;

	res = gpu->cu->MemExportToShareableHandle(&fd, handle,
						  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(gpu->cu, res, "cuMemExportToShareableHandle",
				     "of scratch memory");
	ret = gdr_rm_export_objects(gpu, fd, &objects);
	if (ret < 0) {
		ret = gdr_rm_scratch_refused(ret);
	} else if ((objects > 1) != many) {
		ret = UNLIKE;
	} else {
		ret = gdr_rm_scratch_write(gpu->cu, s);
		if (ret == 0)
			ret = compare_windows(gpu, fd, s);
	}
	close(fd);
	return ret;
}

/* The same with scratch memory of so many bytes, made for it. */
static int check_size(struct gdr_rm_gpu *gpu, CUstream stream, const CUmemAllocationProp *prop,
		      size_t size, bool many)
{
	const struct gdr_cuda *cu = gpu->cu;
	CUmemAccessDesc access = {
		.location = prop->location,
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	struct gdr_rm_scratch s = { .size = size, .stream = stream };
	CUmemGenericAllocationHandle handle;
	char need[112];
	CUresult res;
	int ret = 0;

	snprintf(need, sizeof(need), "of scratch memory: the first pin of such VMM memory on a GPU "
		 "needs %zu MiB free there", size >> 20);
	res = cu->MemCreate(&handle, size, prop, 0);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuMemCreate", need);
	res = cu->MemAddressReserve(&s.ptr, size, 0, 0, 0);
	if (res != CUDA_SUCCESS)
		goto release;
	res = cu->MemMap(s.ptr, size, 0, handle, 0);
	if (res != CUDA_SUCCESS)
		goto unreserve;
	res = cu->MemSetAccess(s.ptr, size, &access, 1);
	if (res == CUDA_SUCCESS)
		ret = compare_export(gpu, handle, many, &s);
	cu->MemUnmap(s.ptr, size);
unreserve:
	cu->MemAddressFree(s.ptr, size);
release:
	cu->MemRelease(handle);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "mapping", "of scratch memory");
	return ret;
}

static int check_vmm(struct gdr_rm_gpu *gpu, CUstream stream, const struct check *c)
{
	const CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu->dev },
	};
	size_t size = MANY_SIZE;
	CUresult res = CUDA_SUCCESS;
	int ret;

	if (!c->many)
		res = gpu->cu->MemGetAllocationGranularity(&size, &prop,
							   CU_MEM_ALLOC_GRANULARITY_MINIMUM);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(gpu->cu, res, "cuMemGetAllocationGranularity",
				     "for scratch memory");
	ret = check_size(gpu, stream, &prop, size, c->many);
	if (ret == UNLIKE && size != c->size) {
		size = c->size;
		ret = check_size(gpu, stream, &prop, size, c->many);
	}
	if (ret == UNLIKE)
		return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: the driver exports this VMM memory "
				    "as %s, and scratch memory of the same size, 0x%zx bytes, "
				    "not; use cuMemAlloc",
				    c->many ? "several objects" : "one object", size);
	return ret;
}

static int check_ipc(struct gdr_rm_gpu *gpu, CUstream stream, const struct check *c)
{
	(void)c;
	return gdr_rm_calibrate(gpu, stream);
}

/*
 * Run a check in a stream of its own, which neither waits for the default stream
 * nor gets into a capture of one that does.
 */
static int run_check(struct gdr_rm_gpu *gpu, CUdeviceptr near, const struct check *c)
{
	const struct gdr_cuda *cu = gpu->cu;
	struct gdr_cuda_scope scope;
	CUstream stream;
	CUresult res;
	int ret = gdr_cuda_enter(cu, gpu->dev, near, &gpu->primary, &scope);

	if (ret < 0)
		return ret;
	res = cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	if (res == CUDA_SUCCESS) {
		ret = c->run(gpu, stream, c);
		cu->StreamDestroy(stream);
	} else {
		ret = gdr_cuda_fail(cu, res, "cuStreamCreate", "for copies to scratch memory");
	}
	gdr_cuda_leave(cu, &scope);
	return ret;
}

/* Run a check once; keep what it says unless it could not say. */
static int verify(struct gdr_rm_gpu *gpu, CUdeviceptr near, struct gdr_rm_known *known,
		  const struct check *c)
{
	int ret;

	if (known->verdict == GDR_RM_UNTRIED) {
		gdr_log(GDR_LOG_INFO, "gdr_pin_buffer: checking %s of GPU %d on scratch memory, "
			"once; waits for kernels that run there", c->what, gpu->dev);
		ret = run_check(gpu, near, c);
		if (ret < 0)
			return ret;
		known->verdict = ret == 1 ? GDR_RM_WORKS : GDR_RM_BROKEN;
		if (ret == 0)
			snprintf(known->reason, sizeof(known->reason), "%s", gdr_log_last());
	}
	if (known->verdict == GDR_RM_WORKS)
		return 0;
	return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: this driver's %s could not be verified on "
			    "scratch memory, so none is mapped: %s", c->what, known->reason);
}

int gdr_rm_verify_ipc(struct gdr_rm_gpu *gpu, CUdeviceptr near)
{
	static const struct check c = { "cuMemAlloc memory", check_ipc };

	return verify(gpu, near, &gpu->ipc, &c);
}

int gdr_rm_verify_vmm(struct gdr_rm_gpu *gpu, CUdeviceptr near, size_t size, unsigned objects)
{
	bool many = objects > 1;
	const struct check c = {
		many ? "VMM memory of several objects" : "VMM memory", check_vmm, size, many,
	};

	return verify(gpu, near, many ? &gpu->vmm_many : &gpu->vmm, &c);
}
