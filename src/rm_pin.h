/* SPDX-License-Identifier: MIT */
/* A range of device memory held through RM, as one or several parts. */
#ifndef GDR_RM_PIN_H
#define GDR_RM_PIN_H

#include "rm_gpu.h"

/* What CUDA says about an address. */
struct gdr_rm_memory {
	CUdevice dev;
	uint64_t start, size;           /* the allocation, or for VMM the address range */
};

struct gdr_rm_range {
	struct gdr_rm_gpu *gpu;
	uint64_t va, size;              /* whole GPU pages */
	unsigned nparts;
	struct gdr_rm_part *parts;      /* side by side, size bytes in all */
};

/* Device memory that could be pinned: 0; anything else is refused with the reason. */
int gdr_rm_ask_memory(const struct gdr_cuda *cu, uint64_t addr, struct gdr_rm_memory *mem);

/*
 * Hold the memory of a range whose gpu, va and size are set and which covers
 * [addr, addr + size), the bytes that were asked for.  Nothing is held on failure.
 */
int gdr_rm_range_pin(struct gdr_rm_range *r, uint64_t addr, uint64_t size,
		     const struct gdr_rm_memory *mem);

/* Let go; no mapping may exist.  First -errno. */
int gdr_rm_range_release(struct gdr_rm_range *r);

/* In a forked child: close descriptors, free memory. */
void gdr_rm_range_forget(struct gdr_rm_range *r);

#endif
