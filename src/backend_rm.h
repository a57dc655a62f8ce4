/* SPDX-License-Identifier: MIT */
/* Contexts and pins of the rm backend, for backend_rm.c and for tests that look inside. */
#ifndef GDR_BACKEND_RM_H
#define GDR_BACKEND_RM_H

#include "backend.h"
#include "rm_pin.h"

struct rm_gdr {
	struct gdr base;
	const struct gdr_cuda *cu;
	struct gdr_rm_gpu **gpus;       /* one reference each */
	unsigned ngpus;
};

struct rm_memh {
	struct gdr_memh base;
	struct gdr_rm_range range;
	uint64_t misaligned;            /* bytes from range.va to the pinned address */
};

#endif
