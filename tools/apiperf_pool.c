/* SPDX-License-Identifier: MIT */
/* Many buffers of one size: pieces of one allocation, or allocations of their own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "apiperf.h"

/* Backends keep a descriptor or two for each buffer: take as many as are allowed. */
static void raise_descriptor_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

static int free_memory(const struct apiperf_pool *p, size_t n)
{
	int err = 0;

	while (n-- > 0)
		if (cu_check(p->mem[n].how->free(&p->mem[n]), "freeing device memory"))
			err = -EIO;
	return err;
}

static int alloc_memory(struct apiperf_pool *p, const struct gpu_allocator *how, size_t size)
{
	size_t i, n = p->separate ? p->n : 1, each = p->separate ? size : p->n * size;
	CUresult res;

	for (i = 0; i < n; i++) {
		res = how->alloc(&p->mem[i], each, true, true);
		if (res == CUDA_SUCCESS)
			continue;
		fprintf(stderr, "ERROR: %zu bytes of device memory with %s, after %zu of %zu: "
			"%s (%d); ask for fewer or smaller buffers\n", each, how->name, i, n,
			cu_error_name(res), (int)res);
		free_memory(p, i);
		return -ENOMEM;
	}
	return 0;
}

int apiperf_pool_alloc(struct apiperf_pool *out, const struct apiperf_args *args, size_t n)
{
	struct apiperf_pool p = { .n = n, .separate = args->separate };
	size_t i, size = gpu_round_up(args->buffer_size);
	int err = -ENOMEM;

	raise_descriptor_limit();
	p.mem = calloc(p.separate ? n : 1, sizeof(*p.mem));
	p.buffers = calloc(n, sizeof(*p.buffers));
	if (p.mem && p.buffers)
		err = alloc_memory(&p, &gpu_allocators[args->tool.alloc], size);
	else
		fprintf(stderr, "ERROR: no memory for %zu buffers\n", n);
	if (err) {
		free(p.buffers);
		free(p.mem);
		return err;
	}
	for (i = 0; i < n; i++) {
		p.buffers[i].size = size;
		p.buffers[i].map_flags = (int)args->tool.mapping;
		p.buffers[i].ptr = p.separate ? p.mem[i].ptr : p.mem[0].ptr + i * size;
	}
	*out = p;
	return 0;
}

int apiperf_pool_free(struct apiperf_pool *p)
{
	int err = free_memory(p, p->separate ? p->n : 1);

	free(p->buffers);
	free(p->mem);
	memset(p, 0, sizeof(*p));
	return err;
}
