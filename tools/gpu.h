/* SPDX-License-Identifier: MIT */
/*
 * GPUs and their memory: the list, the pick, the two allocators, host buffers.
 * Functions that return a CUresult print nothing; the others say on stderr why
 * they failed.
 */
#ifndef TOOLS_GPU_H
#define TOOLS_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cu.h"

struct gpu {
	int ordinal;
	CUdevice dev;
	char name[256];
	unsigned domain, bus, slot;     /* PCI address */
	char uuid[48];                  /* "GPU-...", "" if the driver does not tell */
	int driver;                     /* CUDA driver version, 1000 * major + 10 * minor */
};

/* cuInit, and unless softcuda was asked for a sentence which names it on failure.  0 or -errno. */
int gpu_init(bool soft);

/* Describe the GPU of an ordinal; makes no context.  0 or -errno. */
int gpu_describe(int ordinal, struct gpu *out);

/* The GPU's NUMA node, -1 if the platform does not tell; softcuda's has none. */
int gpu_numa_node(const struct gpu *gpu);

/* Number of GPUs, or -errno. */
int gpu_count(void);

/*
 * The GPUs that a list names, each once: "all", or ordinals, UUIDs or their beginnings, and
 * PCI addresses between commas.  0, or -errno with the reason on stderr (gpu_select.c).
 */
int gpu_select(const char *list, int *ordinal, size_t max, size_t *n);

/* Whether it could be such a list, for which CUDA need not be there. */
int gpu_select_check(const char *list);

/* Describe the GPU and make its primary context current; gpu_close releases it. */
int gpu_open(int ordinal, struct gpu *out);
void gpu_close(const struct gpu *gpu);

struct gpu_mem;

struct gpu_allocator {
	const char *name;
	/* size bytes; aligned: to GPU_PAGE_SIZE; sync: set SYNC_MEMOPS, where it can be. */
	CUresult (*alloc)(struct gpu_mem *out, size_t size, bool aligned, bool sync);
	/* Undoes everything; returns the first error. */
	CUresult (*free)(const struct gpu_mem *mem);
};

struct gpu_mem {
	CUdeviceptr ptr;                /* usable address */
	size_t size;                    /* bytes asked for */
	CUdeviceptr base;               /* what was allocated, or reserved */
	size_t alloc_size;
	CUmemGenericAllocationHandle handle;    /* cuMemCreate only */
	const struct gpu_allocator *how;
};

/* Numbers of gpu_allocators and gpu_allocator_names. */
enum {
	GPU_MEM_ALLOC,                  /* cuMemAlloc */
	GPU_MEM_CREATE,                 /* cuMemCreate: VMM memory */
};

extern const struct gpu_allocator gpu_allocators[];
extern const char *const gpu_allocator_names[];

/* 0, or -EIO after saying that so many bytes could not be had by a call. */
int gpu_mem_check(size_t size, const char *call, CUresult res);

/* size rounded up to whole GPU pages. */
size_t gpu_round_up(size_t size);

struct host_mem {
	void *ptr;
	size_t size;
	bool pinned;
};

/* Page-locked memory, or with a notice on stderr ordinary memory.  0 or -errno. */
int host_alloc(size_t size, struct host_mem *out);
/* Ordinary memory, on a page boundary, touched. */
int host_alloc_pageable(size_t size, struct host_mem *out);
void host_free(const struct host_mem *mem);

#endif
