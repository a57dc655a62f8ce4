/* SPDX-License-Identifier: MIT */
/* The calls that the benchmarks time, and the checks of what they copied. */
#include "copies.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fence.h"
#include "gdrapi_ext.h"

const char *const copies_direction[2] = { "to", "from" };

static CUdeviceptr device(const struct copies *c)
{
	return c->buffers.dev.ptr + c->offset;
}

/* cuMemcpy tells host from device by the address. */
static int cuda_to(void *arg)
{
	const struct copies *c = arg;

	return cu.Memcpy(device(c), (uintptr_t)c->buffers.src.ptr, c->n) ? EIO : 0;
}

static int cuda_from(void *arg)
{
	const struct copies *c = arg;

	return cu.Memcpy((uintptr_t)c->buffers.dst.ptr, device(c), c->n) ? EIO : 0;
}

static int pageable_to(void *arg)
{
	const struct copies *c = arg;

	return cu.Memcpy(device(c), (uintptr_t)c->src_pageable.ptr, c->n) ? EIO : 0;
}

static int pageable_from(void *arg)
{
	const struct copies *c = arg;

	return cu.Memcpy((uintptr_t)c->dst_pageable.ptr, device(c), c->n) ? EIO : 0;
}

static int gdr_to(void *arg)
{
	const struct copies *c = arg;

	return gdr_copy_to_mapping(c->window.mh, c->window.ptr + c->offset, c->buffers.src.ptr,
				   c->n);
}

static int gdr_from(void *arg)
{
	const struct copies *c = arg;

	return gdr_copy_from_mapping(c->window.mh, c->buffers.dst.ptr, c->window.ptr + c->offset,
				     c->n);
}

/* By as many threads as the library takes. */
static int threads_to(void *arg)
{
	const struct copies *c = arg;

	return gdrx_copy_to_mapping(c->window.mh, c->window.ptr + c->offset, c->buffers.src.ptr,
				    c->n, NULL);
}

static int threads_from(void *arg)
{
	const struct copies *c = arg;

	return gdrx_copy_from_mapping(c->window.mh, c->buffers.dst.ptr, c->window.ptr + c->offset,
				      c->n, NULL);
}

/* Synchronous for memory with SYNC_MEMOPS. */
int copies_chill(void *arg)
{
	const struct copies *c = arg;

	return cu.MemsetD8(device(c), 0, c->n) ? EIO : 0;
}

static int gdr_to_cold(void *arg)
{
	int err = copies_chill(arg);

	if (!err)
		err = gdr_to(arg);
	fence_stores();
	return err;
}

static int gdr_from_cold(void *arg)
{
	int err = copies_chill(arg);

	if (!err)
		err = gdr_from(arg);
	fence_loads();
	return err;
}

static int check_to(struct copies *c)
{
	int err = verify_prepare_write(&c->verify, c->n);

	if (err)
		return err;
	err = gdr_to(c);
	if (err)
		return window_error("gdr_copy_to_mapping", err);
	return verify_write(&c->verify, c->n);
}

static int check_from(struct copies *c)
{
	int err = verify_prepare_read(&c->verify, c->n);

	if (err)
		return err;
	err = gdr_from(c);
	if (err)
		return window_error("gdr_copy_from_mapping", err);
	verify_read(&c->verify, c->n);
	return 0;
}

const struct copies_test copies_cuda[2] = {
	{ "cuMemcpy_H2D", "cuMemcpy (pinned)", 0, CROSSOVER_CUDA, cuda_to, NULL, NULL },
	{ "cuMemcpy_D2H", "cuMemcpy (pinned)", 1, CROSSOVER_CUDA, cuda_from, NULL, NULL },
};

const struct copies_test copies_pageable[2] = {
	{ "cuMemcpy_H2D_pageable", "cuMemcpy (pageable)", 0, CROSSOVER_PAGEABLE, pageable_to, NULL,
	  NULL },
	{ "cuMemcpy_D2H_pageable", "cuMemcpy (pageable)", 1, CROSSOVER_PAGEABLE, pageable_from,
	  NULL, NULL },
};

const struct copies_test copies_gdr[2] = {
	{ "gdr_copy_to_mapping", "gdr_copy", 0, CROSSOVER_ONE_THREAD, gdr_to, gdr_to_cold,
	  check_to },
	{ "gdr_copy_from_mapping", "gdr_copy", 1, CROSSOVER_ONE_THREAD, gdr_from, gdr_from_cold,
	  check_from },
};

const struct copies_test copies_threads[2] = {
	{ "gdrx_copy_to_mapping", "gdrx_copy (threads)", 0, CROSSOVER_THREADS, threads_to, NULL,
	  NULL },
	{ "gdrx_copy_from_mapping", "gdrx_copy (threads)", 1, CROSSOVER_THREADS, threads_from,
	  NULL, NULL },
};

int copies_error(const struct copies *c, const struct copies_test *t, int err)
{
	if (t->way != CROSSOVER_CUDA && t->way != CROSSOVER_PAGEABLE)
		return window_error(t->name, err);
	fprintf(stderr, "ERROR: %s of %zu bytes failed\n", t->name, c->n);
	return -err;
}

int copies_alloc(const struct gpu_allocator *how, size_t size, bool pageable, struct copies *out)
{
	struct copies c = { .n = 0 };
	int err = buffers_alloc(how, size, &c.buffers);

	if (err)
		return err;
	if (pageable) {
		err = host_alloc_pageable(size, &c.src_pageable);
		if (!err)
			err = host_alloc_pageable(size, &c.dst_pageable);
		if (err) {
			copies_free(&c);
			return err;
		}
	}
	*out = c;
	return 0;
}

int copies_free(const struct copies *c)
{
	host_free(&c->dst_pageable);
	host_free(&c->src_pageable);
	return buffers_free(&c->buffers);
}
