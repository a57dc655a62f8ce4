/* SPDX-License-Identifier: MIT */
/* The memory of a copy benchmark: device memory, and a host buffer for each direction. */
#ifndef TOOLS_BUFFERS_H
#define TOOLS_BUFFERS_H

#include "gpu.h"

struct buffers {
	struct gpu_mem dev;
	struct host_mem src, dst;
	size_t size;            /* bytes of each, whole GPU pages */
};

/* All three of size bytes; 0, or -errno with the reason on stderr. */
int buffers_alloc(const struct gpu_allocator *how, size_t size, struct buffers *out);

/* 0 or the first -errno. */
int buffers_free(const struct buffers *b);

#endif
