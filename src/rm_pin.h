/* SPDX-License-Identifier: MIT */
/* A range of device memory held through RM, as one or several parts. */
#ifndef GDR_RM_PIN_H
#define GDR_RM_PIN_H

#include "rm_gpu.h"

/* An allocation that a range to pin touches. */
struct gdr_rm_memory {
	CUdevice dev;
	uint64_t start;                 /* of the allocation, or for VMM of the address range */
	uint64_t inside;                /* an address that is in both */
};

struct gdr_rm_range {
	struct gdr_rm_gpu *gpu;
	uint64_t va, size;              /* whole GPU pages */
	unsigned nparts;
	struct gdr_rm_part *parts;      /* side by side, size bytes in all */
};

/*
 * Find the device memory of [addr, addr + size); anything else is refused with
 * the reason.  Clients round buffers to GPU pages, so addr may lie up to a GPU
 * page before the allocation that is meant, and the end behind it.
 */
int gdr_rm_find_memory(const struct gdr_cuda *cu, uint64_t addr, uint64_t size,
		       struct gdr_rm_memory *mem);

/*
 * Hold the memory of a range whose gpu, va and size are set.  Nothing is held on
 * failure.  What was found may be a neighbour of the memory that is meant, and be
 * freed by another thread meanwhile: then it is looked for again.
 */
int gdr_rm_range_pin(struct gdr_rm_range *r, const struct gdr_rm_memory *found);

/* Let go; no mapping may exist.  First -errno. */
int gdr_rm_range_release(struct gdr_rm_range *r);

/* In a forked child: close descriptors, free memory. */
void gdr_rm_range_forget(struct gdr_rm_range *r);

#endif
