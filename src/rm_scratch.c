/* SPDX-License-Identifier: MIT */
/* Writing random numbers through CUDA and looking for them through a mapping. */
#include "rm_scratch.h"

#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

#include "backend.h"
#include "copy.h"
#include "log.h"

size_t gdr_rm_scratch_spot(const struct gdr_rm_scratch *s, int i)
{
	return i == 0 ? 0 : i == 1 ? s->size / 2 : s->size - sizeof(s->nonce[0]);
}

/* s->seen is what CUDA reads at a spot, after all that was written before. */
static int read_spot(const struct gdr_cuda *cu, struct gdr_rm_scratch *s, int i)
{
	CUresult res = cu->MemcpyDtoHAsync(&s->seen, s->ptr + gdr_rm_scratch_spot(s, i),
					   sizeof(s->seen), s->stream);

	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuMemcpyDtoHAsync", "from scratch memory");
	res = cu->StreamSynchronize(s->stream);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuStreamSynchronize",
				     "after copies of scratch memory");
	return 0;
}

int gdr_rm_scratch_write(const struct gdr_cuda *cu, struct gdr_rm_scratch *s)
{
	CUresult res;
	int i, ret;

	if (getrandom(s->nonce, sizeof(s->nonce), 0) != (ssize_t)sizeof(s->nonce))
		return gdr_log_fail(EIO, "getrandom gave too few bytes");
	for (i = 0; i < GDR_RM_SPOTS; i++) {
		res = cu->MemcpyHtoDAsync(s->ptr + gdr_rm_scratch_spot(s, i), &s->nonce[i],
					  sizeof(s->nonce[i]), s->stream);
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

/* EACCES, ENOENT and ENXIO are of a node that does not open: no RM status becomes one. */
int gdr_rm_scratch_refused(int ret)
{
	switch (-ret) {
	case ENOMEM:
	case EMFILE:
	case ENFILE:
	case EAGAIN:
	case EACCES:
	case ENOENT:
	case ENXIO:
		return ret;
	default:
		return 0;
	}
}

/* The same for a window, where EPERM may be the node's, from a container's list of devices. */
static int window_refused(const struct gdr_rm_gpu *gpu, int ret)
{
	int file;

	if (ret != -EPERM)
		return gdr_rm_scratch_refused(ret);
	file = gdr_rm_open_gpu(gpu->card.minor);
	if (file < 0)
		return file;
	close(file);
	return 0;
}

static int other_memory(void)
{
	gdr_log_fail(ENOTSUP, "the mapping shows other memory");
	return 0;
}

/* A check: is random number i at cpu? */
static int compare_spot(struct gdr_rm_gpu *gpu, struct gdr_rm_scratch *s, int i, char *cpu)
{
	uint64_t seen, turned = ~s->nonce[i];
	int ret;

	gdr_copy_from(gpu->type, &seen, cpu, sizeof(seen));
	if (seen != s->nonce[i])
		return other_memory();
	gdr_copy_to(gpu->type, cpu, &turned, sizeof(turned));
	ret = read_spot(gpu->cu, s, i);
	if (ret < 0)
		return ret;
	if (s->seen != turned)
		return other_memory();
	gdr_copy_to(gpu->type, cpu, &s->nonce[i], sizeof(s->nonce[i]));
	return 1;
}

/* A check: do the len bytes at cpu show the scratch memory from byte `at` on? */
static int compare(struct gdr_rm_gpu *gpu, struct gdr_rm_scratch *s, char *cpu, uint64_t len,
		   int64_t at)
{
	int i, ret = 1;

	for (i = 0; i < GDR_RM_SPOTS && ret == 1; i++) {
		int64_t where = (int64_t)gdr_rm_scratch_spot(s, i) - at;

		if (where >= 0 && (uint64_t)where < len)
			ret = compare_spot(gpu, s, i, cpu + where);
	}
	return ret;
}

static int map_and_compare(struct gdr_rm_gpu *gpu, struct gdr_rm_part *part, int64_t at,
			   struct gdr_rm_scratch *s)
{
	struct gdr_mapping m;
	int ret = gdr_rm_part_window(gpu, part, part->len);

	if (ret < 0)
		return window_refused(gpu, ret);
	ret = gdr_mapping_create(part->file, 0, part->len, NULL, &m, &part->stuck);
	if (ret < 0)
		return gdr_log_fail(-ret, "mmap of /dev/nvidia%u: %s", gpu->card.minor,
				    gdr_log_errstr(-ret));
	ret = compare(gpu, s, m.addr, part->len, at);
	if (gdr_mapping_destroy(&m) < 0) {
		part->stuck = true;
		return -EIO;
	}
	return ret;
}

int gdr_rm_scratch_compare(struct gdr_rm_gpu *gpu, struct gdr_rm_part *part, int64_t at,
			   struct gdr_rm_scratch *s)
{
	int ret = map_and_compare(gpu, part, at, s);
	int err = gdr_rm_part_release(gpu, part);

	return ret < 0 || err == 0 ? ret : err;
}
