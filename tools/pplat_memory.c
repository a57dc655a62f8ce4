/* SPDX-License-Identifier: MIT */
/*
 * The memory of gdrcopy_pplat: flags and data in device memory with a mapping,
 * and in page-locked host memory; which of the two is used, is chosen object by
 * object.  Each flag has a page of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence.h"
#include "pplat.h"

/* Offsets in both kinds of memory. */
#define GPU_FLAG        0u
#define STOP            4096u
#define CPU_FLAGS       65536u
#define DATA            (CPU_FLAGS + 4u * PPLAT_BLOCKS_MAX)

static int gdr_check(const char *call, int err)
{
	return err ? window_error(call, err) : 0;
}

static int alloc_host(struct pplat_memory *m, CUdeviceptr *gpu)
{
	void *p;
	int err;

	err = cu_check(cu.MemHostAlloc(&p, m->size[PPLAT_HOSTMEM],
				       CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
		       "cuMemHostAlloc");
	if (err)
		return err;
	err = cu_check(cu.MemHostGetDevicePointer(gpu, p, 0), "cuMemHostGetDevicePointer");
	if (err) {
		cu.MemFreeHost(p);
		return err;
	}
	m->host = p;
	return 0;
}

static int alloc_dev(struct pplat_memory *m, const struct gpu_allocator *how)
{
	size_t size = m->size[PPLAT_GPUMEM];

	return gpu_mem_check(size, how->name, how->alloc(&m->dev, size, true, true));
}

static struct pplat_spot spot(const struct pplat_memory *m, CUdeviceptr host_gpu,
			      enum pplat_place place, size_t at)
{
	if (place == PPLAT_HOSTMEM)
		return (struct pplat_spot){ place, m->host + at, host_gpu + at };
	return (struct pplat_spot){ place, m->window.ptr + at, m->dev.ptr + at };
}

int pplat_memory_alloc(struct pplat_memory *m, const struct pplat_places *places,
		       const struct tool_args *args, struct report *r)
{
	size_t reports = PPLAT_BLOCKS_MAX * sizeof(struct pplat_report);
	size_t size = reports + 8ull * places->rounds;
	CUdeviceptr host_gpu;
	int err;

	memset(m, 0, sizeof(*m));
	m->size[PPLAT_GPUMEM] = m->size[PPLAT_HOSTMEM] = gpu_round_up(DATA);
	m->size[places->data] = gpu_round_up(DATA + places->data_bytes);
	m->copy = calloc(places->data_bytes / 4 + 1, 4);
	if (!m->copy) {
		fprintf(stderr, "ERROR: no memory for %zu bytes of data\n", places->data_bytes);
		return -ENOMEM;
	}
	err = alloc_host(m, &host_gpu);
	if (err)
		goto free_copy;
	err = alloc_dev(m, &gpu_allocators[args->alloc]);
	if (err)
		goto free_host;
	err = gpu_mem_check(size, "cuMemAlloc", cu.MemAlloc(&m->reports, size));
	if (err)
		goto free_dev;
	m->samples = m->reports + reports;
	err = window_open(&m->window, r, m->dev.ptr, m->size[PPLAT_GPUMEM], (int)args->mapping);
	if (err)
		goto free_reports;
	m->gpu_flag = spot(m, host_gpu, places->gpu_flag, GPU_FLAG);
	m->cpu_flags = spot(m, host_gpu, places->cpu_flags, CPU_FLAGS);
	m->data = spot(m, host_gpu, places->data, DATA);
	/* In any case here: it must work where the mapping does not. */
	m->stop = spot(m, host_gpu, PPLAT_HOSTMEM, STOP);
	return 0;

free_reports:
	cu.MemFree(m->reports);
free_dev:
	m->dev.how->free(&m->dev);
free_host:
	cu.MemFreeHost(m->host);
free_copy:
	free(m->copy);
	return err;
}

int pplat_memory_free(struct pplat_memory *m, const struct report *r)
{
	int err[4] = {
		window_close(&m->window, r),
		cu_check(cu.MemFree(m->reports), "cuMemFree"),
		cu_check(m->dev.how->free(&m->dev), "freeing device memory"),
		cu_check(cu.MemFreeHost(m->host), "cuMemFreeHost"),
	};

	free(m->copy);
	for (size_t i = 0; i < sizeof(err) / sizeof(err[0]); i++)
		if (err[i])
			return err[i];
	return 0;
}

int pplat_memory_clear(struct pplat_memory *m)
{
	int err;

	memset(m->host, 0, m->size[PPLAT_HOSTMEM]);
	err = cu_check(cu.MemsetD8(m->dev.ptr, 0, m->size[PPLAT_GPUMEM]), "cuMemsetD8");
	if (!err)
		err = cu_check(cu.MemsetD8(m->reports, 0, m->samples - m->reports), "cuMemsetD8");
	return err ? err : cu_check(cu.CtxSynchronize(), "cuCtxSynchronize");
}

/* Words of page-locked memory are one access each: the GPU looks at any time. */
int pplat_put(struct pplat_memory *m, const struct pplat_spot *s, const uint32_t *words, size_t n)
{
	if (s->place == PPLAT_GPUMEM)
		return gdr_check("gdr_copy_to_mapping",
				 gdr_copy_to_mapping(m->window.mh, s->cpu, words, 4 * n));
	if (n > 1)
		memcpy(s->cpu, words, 4 * n);
	else
		__atomic_store_n((uint32_t *)(void *)s->cpu, *words, __ATOMIC_RELEASE);
	return 0;
}

int pplat_get(struct pplat_memory *m, const struct pplat_spot *s, size_t at, uint32_t *words,
	      size_t n)
{
	char *from = s->cpu + 4 * at;

	if (s->place == PPLAT_GPUMEM)
		return gdr_check("gdr_copy_from_mapping",
				 gdr_copy_from_mapping(m->window.mh, words, from, 4 * n));
	if (n > 1)
		memcpy(words, from, 4 * n);
	else
		*words = __atomic_load_n((uint32_t *)(void *)from, __ATOMIC_ACQUIRE);
	return 0;
}
