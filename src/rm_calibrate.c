/* SPDX-License-Identifier: MIT */
/*
 * The words of a CUDA IPC handle are private to CUDA: which of them name the RM
 * objects is found here by trying, on scratch memory, and believed only if the
 * mapping shows the right bytes in both directions.
 */
#include <errno.h>
#include <string.h>

#include "log.h"
#include "rm_scratch.h"

#define IPC_WORDS       (CU_IPC_HANDLE_SIZE / 4)
#define BIG             (4u << 20)      /* an object of its own */
#define SMALL           1024u           /* shares an object with others */
#define SAMPLES_MIN     3               /* one big, two small */
#define SAMPLES_MAX     8

/* RM client handles of user space: open-gpu-kernel-modules, all since 515. */
#define IS_CLIENT(word) (((word) & 0xfff00000u) == 0xc1d00000u)

struct sample {
	struct gdr_rm_scratch mem;
	uint32_t words[IPC_WORDS];
};

/* Does layout find the sample?  A check. */
static int layout_fits(struct gdr_rm_gpu *gpu, struct gdr_rm_ipc_layout layout, struct sample *s)
{
	uint64_t offset = s->words[layout.offset];
	uint64_t delta = offset & GPU_PAGE_OFFSET;
	struct gdr_rm_part part = {
		.offset = offset - delta,
		.len = (delta + s->mem.size + GPU_PAGE_OFFSET) & GPU_PAGE_MASK,
	};
	int ret = gdr_rm_part_dup(gpu, s->words[layout.client], s->words[layout.client + 1],
				  &part);

	if (ret < 0)
		return gdr_rm_scratch_refused(ret);
	return gdr_rm_scratch_compare(gpu, &part, -(int64_t)delta, &s->mem);
}

/* Could these words be what layout says, for all samples? */
static bool is_candidate(struct gdr_rm_ipc_layout layout, const struct sample *s, int n)
{
	int i;

	if (layout.offset == layout.client || layout.offset == layout.client + 1)
		return false;
	for (i = 0; i < n; i++) {
		const uint32_t *w = s[i].words;

		if (!IS_CLIENT(w[layout.client]) || w[layout.client + 1] == 0)
			return false;
		/* Objects start on a GPU page; small blocks lie anywhere in them. */
		if ((s[i].mem.ptr - w[layout.offset]) & GPU_PAGE_OFFSET)
			return false;
	}
	return true;
}

static int find_layout(struct gdr_rm_gpu *gpu, struct sample *s, int n)
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

static int make_sample(const struct gdr_cuda *cu, CUstream stream, size_t size, struct sample *s)
{
	CUipcMemHandle handle;
	CUresult res = cu->MemAlloc(&s->mem.ptr, size);
	int ret;

	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuMemAlloc", "of scratch memory: the first pin of "
				     "cuMemAlloc memory on a GPU needs 6 MiB free there");
	s->mem.size = size;
	s->mem.stream = stream;
	ret = gdr_rm_scratch_write(cu, &s->mem);
	if (ret == 0) {
		res = cu->IpcGetMemHandle(&handle, s->mem.ptr);
		if (res != CUDA_SUCCESS)
			ret = gdr_cuda_fail(cu, res, "cuIpcGetMemHandle", "on scratch memory");
	}
	if (ret < 0) {
		cu->MemFree(s->mem.ptr);
		return ret;
	}
	memcpy(s->words, &handle, sizeof(s->words));
	return 0;
}

/*
 * Samples until one begins inside a GPU page, which no object does: if all lay at
 * the start of their objects, any word that is 0 could pass for the offset.
 */
static int make_samples(const struct gdr_cuda *cu, CUstream stream, struct sample *s, int *made)
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
		inside |= (s[*made].mem.ptr & GPU_PAGE_OFFSET) != 0;
		++*made;
	}
	return 0;
}

int gdr_rm_calibrate(struct gdr_rm_gpu *gpu, CUstream stream)
{
	struct sample s[SAMPLES_MAX];
	int made = 0;
	int ret = make_samples(gpu->cu, stream, s, &made);

	if (ret == 0)
		ret = find_layout(gpu, s, made);
	while (made)
		gpu->cu->MemFree(s[--made].mem.ptr);
	return ret;
}
