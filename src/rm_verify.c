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

static CUresult create(const struct gdr_cuda *cu, CUdevice dev, size_t *size,
		       CUmemGenericAllocationHandle *handle)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = dev },
	};
	CUresult res = cu->MemGetAllocationGranularity(size, &prop,
						       CU_MEM_ALLOC_GRANULARITY_MINIMUM);

	return res == CUDA_SUCCESS ? cu->MemCreate(handle, *size, &prop, 0) : res;
}

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

static int compare_export(struct gdr_rm_gpu *gpu, CUmemGenericAllocationHandle handle,
			  struct gdr_rm_scratch *s)
{
	CUresult res;
	int fd, ret = gdr_rm_scratch_write(gpu->cu, s);

	if (ret < 0)
		return ret;
	res = gpu->cu->MemExportToShareableHandle(&fd, handle,
						  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(gpu->cu, res, "cuMemExportToShareableHandle",
				     "of scratch memory");
	ret = compare_windows(gpu, fd, s);
	close(fd);
	return ret;
}

static int check_vmm(struct gdr_rm_gpu *gpu, CUstream stream)
{
	const struct gdr_cuda *cu = gpu->cu;
	CUmemAccessDesc access = {
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu->dev },
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUmemGenericAllocationHandle handle;
	struct gdr_rm_scratch s = { .stream = stream };
	CUresult res = create(cu, gpu->dev, &s.size, &handle);
	int ret = 0;

	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuMemCreate", "of scratch memory: the first pin of "
				     "VMM memory on a GPU needs 2 MiB free there");
	res = cu->MemAddressReserve(&s.ptr, s.size, 0, 0, 0);
	if (res != CUDA_SUCCESS)
		goto release;
	res = cu->MemMap(s.ptr, s.size, 0, handle, 0);
	if (res != CUDA_SUCCESS)
		goto unreserve;
	res = cu->MemSetAccess(s.ptr, s.size, &access, 1);
	if (res == CUDA_SUCCESS)
		ret = compare_export(gpu, handle, &s);
	cu->MemUnmap(s.ptr, s.size);
unreserve:
	cu->MemAddressFree(s.ptr, s.size);
release:
	cu->MemRelease(handle);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "mapping", "of scratch memory");
	return ret;
}

/*
 * Run a check in a stream of its own, which neither waits for the default stream
 * nor gets into a capture of one that does.
 */
static int run_check(struct gdr_rm_gpu *gpu, CUdeviceptr near,
		     int (*check)(struct gdr_rm_gpu *, CUstream))
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
		ret = check(gpu, stream);
		cu->StreamDestroy(stream);
	} else {
		ret = gdr_cuda_fail(cu, res, "cuStreamCreate", "for copies to scratch memory");
	}
	gdr_cuda_leave(cu, &scope);
	return ret;
}

/* Run a check once; keep what it says unless it could not say. */
static int verdict(struct gdr_rm_gpu *gpu, CUdeviceptr near, enum gdr_rm_verdict *known,
		   char *reason, size_t reason_size,
		   int (*check)(struct gdr_rm_gpu *, CUstream), const char *what)
{
	int ret;

	if (*known == GDR_RM_UNTRIED) {
		gdr_log(GDR_LOG_INFO, "gdr_pin_buffer: checking %s of GPU %d on scratch memory, "
			"once; waits for kernels that run there", what, gpu->dev);
		ret = run_check(gpu, near, check);
		if (ret < 0)
			return ret;
		*known = ret == 1 ? GDR_RM_WORKS : GDR_RM_BROKEN;
		if (ret == 0)
			snprintf(reason, reason_size, "%s", gdr_log_last());
	}
	if (*known == GDR_RM_WORKS)
		return 0;
	return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: this driver's %s could not be verified on "
			    "scratch memory, so none is mapped: %s", what, reason);
}

int gdr_rm_verify_ipc(struct gdr_rm_gpu *gpu, CUdeviceptr near)
{
	return verdict(gpu, near, &gpu->ipc, gpu->ipc_reason, sizeof(gpu->ipc_reason),
		       gdr_rm_calibrate, "cuMemAlloc memory");
}

int gdr_rm_verify_vmm(struct gdr_rm_gpu *gpu, CUdeviceptr near)
{
	return verdict(gpu, near, &gpu->vmm, gpu->vmm_reason, sizeof(gpu->vmm_reason), check_vmm,
		       "VMM memory");
}
