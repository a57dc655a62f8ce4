/* SPDX-License-Identifier: MIT */
/*
 * Proof, on scratch memory of our own, that what we map is what CUDA means.
 * The words of a CUDA IPC handle are private to CUDA: which of them name the
 * RM objects is found here by trying, and believed only if the mapping shows
 * the right bytes in both directions.
 *
 * A check ends in 1: it works; 0: it does not, and gdr_log_last() says why; or
 * -errno: nothing was learned.  CUDA's failures are of the last kind, always.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "backend.h"
#include "copy.h"
#include "log.h"
#include "rm_gpu.h"

#define IPC_WORDS       (CU_IPC_HANDLE_SIZE / 4)
#define BIG             (4u << 20)      /* an object of its own */
#define SMALL           1024u           /* shares an object with others */
#define SPOTS           3
#define SAMPLES_MIN     3               /* one big, two small */
#define SAMPLES_MAX     8

/* RM client handles of user space: open-gpu-kernel-modules, all since 515. */
#define IS_CLIENT(word) (((word) & 0xfff00000u) == 0xc1d00000u)

/*
 * Scratch memory with a random number at its start, middle and end.  Copies may
 * be under way in nonce and seen until the memory is freed, which waits for them.
 */
struct scratch {
	CUdeviceptr ptr;
	size_t size;
	CUstream stream;                /* carries the copies */
	uint64_t nonce[SPOTS], seen;
	uint32_t words[IPC_WORDS];
};

static size_t spot(const struct scratch *s, int i)
{
	return i == 0 ? 0 : i == 1 ? s->size / 2 : s->size - sizeof(s->nonce[0]);
}

/* s->seen is what CUDA reads at a spot, after all that was written before. */
static int read_spot(const struct gdr_cuda *cu, struct scratch *s, int i)
{
	CUresult res = cu->MemcpyDtoHAsync(&s->seen, s->ptr + spot(s, i), sizeof(s->seen),
					   s->stream);

	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuMemcpyDtoHAsync", "from scratch memory");
	res = cu->StreamSynchronize(s->stream);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuStreamSynchronize",
				     "after copies of scratch memory");
	return 0;
}

static int write_nonces(const struct gdr_cuda *cu, struct scratch *s)
{
	CUresult res;
	int i, ret;

	if (getrandom(s->nonce, sizeof(s->nonce), 0) != (ssize_t)sizeof(s->nonce))
		return gdr_log_fail(EIO, "getrandom gave too few bytes");
	for (i = 0; i < SPOTS; i++) {
		res = cu->MemcpyHtoDAsync(s->ptr + spot(s, i), &s->nonce[i], sizeof(s->nonce[i]),
					  s->stream);
		if (res != CUDA_SUCCESS)
			return gdr_cuda_fail(cu, res, "cuMemcpyHtoDAsync", "to scratch memory");
	}
	ret = read_spot(cu, s, 0);
	if (ret < 0)
		return ret;
	if (s->seen != s->nonce[0])
		return gdr_log_fail(EIO, "the GPU's scratch memory does not hold what was written");
	return 0;
}

static int other_memory(void)
{
	gdr_log_fail(ENOTSUP, "the mapping shows other memory");
	return 0;
}

/* Is the mapping at cpu the scratch memory, read and written? */
static int compare(struct gdr_rm_gpu *gpu, struct scratch *s, char *cpu)
{
	int i;

	for (i = 0; i < SPOTS; i++) {
		uint64_t seen, turned = ~s->nonce[i];
		int ret;

		gdr_copy_from(gpu->type, &seen, cpu + spot(s, i), sizeof(seen));
		if (seen != s->nonce[i])
			return other_memory();
		gdr_copy_to(gpu->type, cpu + spot(s, i), &turned, sizeof(turned));
		ret = read_spot(gpu->cu, s, i);
		if (ret < 0)
			return ret;
		if (s->seen != turned)
			return other_memory();
		gdr_copy_to(gpu->type, cpu + spot(s, i), &s->nonce[i], sizeof(s->nonce[i]));
	}
	return 1;
}

/* What a refusal by RM says about this kind of memory: 0, unless it may pass. */
static int refused(int ret)
{
	return ret == -ENOMEM || ret == -EMFILE || ret == -ENFILE || ret == -EAGAIN ? ret : 0;
}

/* Map a part that is held, compare what is delta bytes into it. */
static int map_and_compare(struct gdr_rm_gpu *gpu, struct gdr_rm_part *part, uint64_t delta,
			struct scratch *s)
{
	struct gdr_mapping m;
	int ret = gdr_rm_part_window(gpu, part, part->len);

	if (ret < 0)
		return refused(ret);
	ret = gdr_mapping_create(part->file, 0, part->len, NULL, &m, &part->stuck);
	if (ret < 0)
		return gdr_log_fail(-ret, "mmap of /dev/nvidia%u: %s", gpu->card.minor,
				    gdr_log_errstr(-ret));
	ret = compare(gpu, s, (char *)m.addr + delta);
	if (gdr_mapping_destroy(&m) < 0) {
		part->stuck = true;
		return -EIO;
	}
	return ret;
}

/* The same; lets go of the part. */
static int compare_part(struct gdr_rm_gpu *gpu, struct gdr_rm_part *part, uint64_t delta,
			struct scratch *s)
{
	int ret = map_and_compare(gpu, part, delta, s);
	int err = gdr_rm_part_release(gpu, part);

	return ret < 0 || err == 0 ? ret : err;
}

/* Does layout find s? */
static int layout_fits(struct gdr_rm_gpu *gpu, struct gdr_rm_ipc_layout layout,
		       struct scratch *s)
{
	uint64_t offset = s->words[layout.offset];
	uint64_t delta = offset & GPU_PAGE_OFFSET;
	struct gdr_rm_part part = {
		.offset = offset - delta,
		.len = (delta + s->size + GPU_PAGE_OFFSET) & GPU_PAGE_MASK,
	};
	int ret = gdr_rm_part_dup(gpu, s->words[layout.client], s->words[layout.client + 1],
				  &part);

	return ret < 0 ? refused(ret) : compare_part(gpu, &part, delta, s);
}

/* Could these words be what layout says, for all samples? */
static bool is_candidate(struct gdr_rm_ipc_layout layout, const struct scratch *s, int n)
{
	int i;

	if (layout.offset == layout.client || layout.offset == layout.client + 1)
		return false;
	for (i = 0; i < n; i++) {
		const uint32_t *w = s[i].words;

		if (!IS_CLIENT(w[layout.client]) || w[layout.client + 1] == 0)
			return false;
		/* Objects start on a GPU page; small blocks lie anywhere in them. */
		if ((s[i].ptr - w[layout.offset]) & GPU_PAGE_OFFSET)
			return false;
	}
	return true;
}

/* Finds gpu->layout. */
static int find_layout(struct gdr_rm_gpu *gpu, struct scratch *s, int n)
{
	struct gdr_rm_ipc_layout layout;
	bool tried = false;
	int i, ret;

	for (layout.client = 0; layout.client + 1 < IPC_WORDS; layout.client++) {
		for (layout.offset = 0; layout.offset < IPC_WORDS; layout.offset++) {
			if (!is_candidate(layout, s, n))
				continue;
			tried = true;
			for (ret = 1, i = 0; i < n && ret == 1; i++)
				ret = layout_fits(gpu, layout, &s[i]);
			if (ret == 1)
				gpu->layout = layout;
			if (ret != 0)
				return ret;
		}
	}
	if (!tried)
		gdr_log_fail(ENOTSUP, "no words of CUDA's IPC handle name an RM object");
	return 0;
}

static int make_sample(const struct gdr_cuda *cu, CUstream stream, size_t size, struct scratch *s)
{
	CUipcMemHandle handle;
	CUresult res = cu->MemAlloc(&s->ptr, size);
	int ret;

	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuMemAlloc", "of scratch memory: the first pin of "
				     "cuMemAlloc memory on a GPU needs 6 MiB free there");
	s->size = size;
	s->stream = stream;
	ret = write_nonces(cu, s);
	if (ret == 0) {
		res = cu->IpcGetMemHandle(&handle, s->ptr);
		if (res != CUDA_SUCCESS)
			ret = gdr_cuda_fail(cu, res, "cuIpcGetMemHandle", "on scratch memory");
	}
	if (ret < 0) {
		cu->MemFree(s->ptr);
		return ret;
	}
	memcpy(s->words, &handle, sizeof(s->words));
	return 0;
}

/*
 * Samples until one begins inside a GPU page, which no object does: if all lay at
 * the start of their objects, any word that is 0 could pass for the offset.
 */
static int make_samples(const struct gdr_cuda *cu, CUstream stream, struct scratch *s, int *made)
{
	bool inside = false;
	int ret;

	while (*made < SAMPLES_MIN || !inside) {
		if (*made == SAMPLES_MAX)
			return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: CUDA placed all scratch "
				"memory at the start of GPU pages, where its IPC handles do not "
				"show which word is the offset; use VMM memory, or try again");
		ret = make_sample(cu, stream, *made ? SMALL : BIG, &s[*made]);
		if (ret < 0)
			return ret;
		inside |= (s[*made].ptr & GPU_PAGE_OFFSET) != 0;
		++*made;
	}
	return 0;
}

static int calibrate(struct gdr_rm_gpu *gpu, CUstream stream)
{
	struct scratch s[SAMPLES_MAX];
	int made = 0;
	int ret = make_samples(gpu->cu, stream, s, &made);

	if (ret == 0)
		ret = find_layout(gpu, s, made);
	while (made)
		gpu->cu->MemFree(s[--made].ptr);
	return ret;
}

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

/* Export, import, map and compare. */
static int compare_import(struct gdr_rm_gpu *gpu, CUmemGenericAllocationHandle handle,
			  struct scratch *s)
{
	struct gdr_rm_part part = { .len = s->size };
	CUresult res;
	int fd, ret = write_nonces(gpu->cu, s);

	if (ret < 0)
		return ret;
	res = gpu->cu->MemExportToShareableHandle(&fd, handle,
						  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(gpu->cu, res, "cuMemExportToShareableHandle",
				     "of scratch memory");
	ret = gdr_rm_part_import(gpu, fd, &part);
	close(fd);
	return ret < 0 ? refused(ret) : compare_part(gpu, &part, 0, s);
}

static int check_vmm(struct gdr_rm_gpu *gpu, CUstream stream)
{
	const struct gdr_cuda *cu = gpu->cu;
	CUmemAccessDesc access = {
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu->dev },
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUmemGenericAllocationHandle handle;
	struct scratch s = { .stream = stream };
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
		ret = compare_import(gpu, handle, &s);
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
	return verdict(gpu, near, &gpu->ipc, gpu->ipc_reason, sizeof(gpu->ipc_reason), calibrate,
		       "cuMemAlloc memory");
}

int gdr_rm_verify_vmm(struct gdr_rm_gpu *gpu, CUdeviceptr near)
{
	return verdict(gpu, near, &gpu->vmm, gpu->vmm_reason, sizeof(gpu->vmm_reason), check_vmm,
		       "VMM memory");
}
