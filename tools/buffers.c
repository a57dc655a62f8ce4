/* SPDX-License-Identifier: MIT */
/* Allocating and freeing the memory of a copy benchmark. */
#include "buffers.h"

#include <errno.h>
#include <stdio.h>

int buffers_alloc(const struct gpu_allocator *how, size_t size, struct buffers *out)
{
	struct buffers b = { .size = size };
	int err = gpu_mem_check(size, how->name, how->alloc(&b.dev, size, true, true));

	if (err)
		return err;
	err = host_alloc(size, &b.src);
	if (err)
		goto free_device;
	err = host_alloc(size, &b.dst);
	if (err)
		goto free_src;
	*out = b;
	return 0;

free_src:
	host_free(&b.src);
free_device:
	how->free(&b.dev);
	return err;
}

int buffers_free(const struct buffers *b)
{
	host_free(&b->dst);
	host_free(&b->src);
	return cu_check(b->dev.how->free(&b->dev), "freeing device memory");
}
