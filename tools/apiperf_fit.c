/* SPDX-License-Identifier: MIT */
/* The buffer of the cycles, and --fit: the largest that can be pinned and mapped. */
#include <errno.h>
#include <string.h>

#include "apiperf.h"
#include "gdrapi_ext.h"
#include "window.h"

int apiperf_alloc(const struct apiperf *a, size_t size, bool may_fail, struct gpu_mem *out)
{
	const struct gpu_allocator *how = &gpu_allocators[a->args->tool.alloc];
	CUresult res = how->alloc(out, size, true, true);

	if (res == CUDA_ERROR_OUT_OF_MEMORY && may_fail)
		return -ENOMEM;
	return gpu_mem_check(size, how->name, res);
}

/* Pin and map all of it, and let go.  0, or -errno with the failed call in *call. */
static int try_window(const struct apiperf *a, gdr_t g, CUdeviceptr ptr, size_t size,
		      const char **call)
{
	gdr_mh_t mh;
	void *map;
	int err, err_unpin;

	*call = "gdr_pin_buffer";
	err = gdr_pin_buffer(g, ptr, size, 0, 0, &mh);
	if (err)
		return -err;
	*call = "gdr_map_v2";
	err = gdr_map_v2(g, mh, &map, size, (int)a->args->tool.mapping);
	if (!err) {
		*call = "gdr_unmap";
		err = gdr_unmap(g, mh, map, size);
	}
	err_unpin = gdr_unpin_buffer(g, mh);
	return err ? -err : -err_unpin;
}

static size_t power_of_two_below(size_t n)
{
	size_t p = GPU_PAGE_SIZE;

	while (p <= n / 2)
		p *= 2;
	return p;
}

static int take(struct apiperf *a, const struct gpu_mem *mem, size_t size)
{
	const struct sizes_args every = { 0 };
	int err = cu_check(a->dev.how->free(&a->dev), "freeing device memory");

	a->dev = *mem;
	a->buffer = size;
	return err ? err : sizes_choose(&every, GPU_PAGE_SIZE, size, &a->sizes);
}

int apiperf_fit(struct apiperf *a, gdr_t g)
{
	size_t size, free_bytes, total;
	const char *call;
	struct gpu_mem mem;
	int err;

	err = cu_check(cu.MemGetInfo(&free_bytes, &total), "cuMemGetInfo");
	if (err)
		return err;
	for (size = power_of_two_below(free_bytes); size > a->buffer; size /= 2) {
		err = apiperf_alloc(a, size, true, &mem);
		if (err == -ENOMEM) {
			report_note(&a->tool.report, "%zu bytes do not fit: no device memory",
				    size);
			continue;
		}
		if (err)
			return err;
		err = try_window(a, g, mem.ptr, size, &call);
		if (!err)
			return take(a, &mem, size);
		mem.how->free(&mem);
		if (err != -ENOMEM && err != -ENOSPC)
			return window_error(call, -err);
		report_note(&a->tool.report, "%zu bytes do not fit: %s: %s", size, call,
			    gdrx_last_error());
	}
	return 0;
}
