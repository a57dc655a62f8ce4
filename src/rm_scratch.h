/* SPDX-License-Identifier: MIT */
/*
 * Scratch memory of our own, to see whether a mapping shows what CUDA means.
 *
 * A check ends in 1: it does; 0: it does not, and gdr_log_last() says why; or
 * -errno: nothing was learned.  CUDA's failures are of the last kind, always.
 */
#ifndef GDR_RM_SCRATCH_H
#define GDR_RM_SCRATCH_H

#include "rm_gpu.h"

#define GDR_RM_SPOTS    3

/*
 * Device memory with a random number at its start, middle and end.  Copies may be
 * under way in nonce and seen until the memory is freed, which waits for them.
 */
struct gdr_rm_scratch {
	CUdeviceptr ptr;
	size_t size;
	CUstream stream;                /* carries the copies */
	uint64_t nonce[GDR_RM_SPOTS], seen;
};

/* Where random number i lies in the memory. */
size_t gdr_rm_scratch_spot(const struct gdr_rm_scratch *s, int i);

/* Choose the numbers and have CUDA write them to the memory.  0 or -errno. */
int gdr_rm_scratch_write(const struct gdr_cuda *cu, struct gdr_rm_scratch *s);

/*
 * A check: map the part, which is held and shows the memory from byte `at` on
 * (before it, if negative), and compare every number that lies in it, read and
 * written.  Lets go of the part.
 */
int gdr_rm_scratch_compare(struct gdr_rm_gpu *gpu, struct gdr_rm_part *part, int64_t at,
			   struct gdr_rm_scratch *s);

/* What a refusal by RM says about this kind of memory: 0, unless it may pass. */
int gdr_rm_scratch_refused(int ret);

/* rm_calibrate.c, a check: finds gpu->layout.  Copies go through stream. */
int gdr_rm_calibrate(struct gdr_rm_gpu *gpu, CUstream stream);

#endif
