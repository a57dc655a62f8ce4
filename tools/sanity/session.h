/* SPDX-License-Identifier: MIT */
/*
 * CUDA and the library as most tests want them: brought up in this process,
 * waived where they cannot be, and a buffer that is pinned and mapped.
 */
#ifndef SANITY_SESSION_H
#define SANITY_SESSION_H

#include "test.h"

#define SMALL   ((size_t)1 << 16)       /* one GPU page */
#define MEDIUM  ((size_t)5 << 16)

/*
 * CUDA with a current context on the GPU of the run.  Waives if the variant's
 * allocator cannot be used there; several: if another process could not use the
 * GPU at the same time.  v may be NULL.
 */
const struct gpu *session_cuda(const struct sanity_variant *v, bool several);
void session_end(void);

/* gdr_open, which must work; waives where this GPU cannot be used through it. */
gdr_t session_open(void);

/* Value of an attribute of the GPU; 0 where the driver does not know the attribute. */
int session_attribute(CUdevice_attribute attr);

/* A GPU whose memory the CPU may cache; waives on any other. */
void session_needs_coherent(void);

bool session_is(const char *backend);
bool session_persistent(gdr_t g);

/* Waives unless the backend, GPU and platform can pin with GDR_PIN_FLAG_FORCE_PCIE. */
void session_needs_force_pcie(gdr_t g);

/* Aligned, with SYNC_MEMOPS; every byte is fill, also for the CPU, on return. */
struct gpu_mem session_alloc(const struct sanity_variant *v, size_t size, int fill);
void session_fill(const struct gpu_mem *mem, int fill);
void session_free(const struct gpu_mem *mem);

/* By the variant's call; must return 0 and a handle. */
gdr_mh_t session_pin(gdr_t g, const struct sanity_variant *v, CUdeviceptr ptr, size_t size);

/* A buffer pinned and mapped. */
struct mapped {
	gdr_t g;
	struct gpu_mem mem;
	gdr_mh_t mh;
	void *va;
	volatile int *m;        /* the CPU's address of the buffer */
};

#define SESSION_FILL 0x95

/* Allocate SMALL bytes, pin and map them.  Nothing is undone on failure: the test ends. */
struct mapped session_map(gdr_t g, const struct sanity_variant *v);
void session_unmap(const struct mapped *p);
/* Map what is pinned: p->g, p->mem and p->mh are set. */
void session_map_pinned(struct mapped *p);

/* A value that an earlier run or another process hardly left behind; not that of the fill. */
int session_number(void);

/* Everything before is done, for the CPU and for the GPU, before anything after. */
static inline void full_barrier(void)
{
#if defined(__x86_64__)
	__asm__ volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb sy" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* Open descriptors of this process. */
int session_open_files(void);

#endif
