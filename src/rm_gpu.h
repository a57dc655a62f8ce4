/* SPDX-License-Identifier: MIT */
/*
 * One RM client per process and GPU, shared by all pins of all contexts, made
 * when the first pin needs it and released with the last context that used it.
 * What was learned about a GPU (rm_verify.c) lives and dies with it.
 */
#ifndef GDR_RM_GPU_H
#define GDR_RM_GPU_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend.h"
#include "cuda.h"
#include "gdrapi.h"
#include "rm.h"

/* A part of a memory object of the GPU, held by an object of our client. */
struct gdr_rm_part {
	uint32_t parent;                /* device or subdevice object */
	uint32_t object;
	uint64_t offset, len;           /* bytes, whole host pages, inside the object */
	int file;                       /* /dev/nvidiaN with the window, or -1 */
	uint64_t window_len;            /* bytes of the window; with file >= 0 */
	uint64_t linear;                /* RM's name of the window */
	bool stuck;                     /* a mapping could not be removed: never freed */
};

enum gdr_rm_verdict {
	GDR_RM_UNTRIED = 0,
	GDR_RM_WORKS,
	GDR_RM_BROKEN,                  /* reason says why; stays so */
};

/* What is known about one kind of memory. */
struct gdr_rm_known {
	enum gdr_rm_verdict verdict;
	char reason[320];
};

/* Which words of a CUDA IPC handle name what; found by calibration. */
struct gdr_rm_ipc_layout {
	unsigned client;        /* index of the u32 that is CUDA's RM client; the object follows */
	unsigned offset;        /* index of the u32 that is the offset in the object */
};

struct gdr_rm_gpu {
	/* Fixed once made. */
	const struct gdr_cuda *cu;
	CUdevice dev;
	struct gdr_owner owner;
	struct gdr_rm_card card;
	uint32_t instance;
	struct gdr_rm_client client;
	uint32_t device;
	gdr_mapping_type_t type;        /* what a mapping of this GPU's memory is */

	/* Registry lock. */
	struct gdr_rm_gpu *next;
	unsigned refs;

	/* Under lock, which is held over the calls that fill them in. */
	pthread_mutex_t lock;
	uint32_t subdevice;             /* 0 until memory below a subdevice is met */
	CUcontext primary;              /* retained, or NULL */
	struct gdr_rm_known ipc;        /* cuMemAlloc memory */
	struct gdr_rm_known vmm;        /* VMM memory exported as one object */
	struct gdr_rm_known vmm_many;   /* VMM memory exported as several */
	struct gdr_rm_ipc_layout layout;
};

/* Find or make the GPU of a CUDA device; the caller gets a reference.  0 or -errno. */
int gdr_rm_gpu_get(const struct gdr_cuda *cu, CUdevice dev, struct gdr_rm_gpu **out);

/*
 * Drop a reference.  The last one closes the client; no part is left.  In a
 * forked child it closes the descriptor, which does not reach the client.
 */
void gdr_rm_gpu_put(struct gdr_rm_gpu *gpu);

/* In a forked child: nothing that was made is to be found any more. */
void gdr_rm_gpu_after_fork_child(void);

/* How many objects an export descriptor carries, all of this GPU.  0 or -errno. */
int gdr_rm_export_objects(struct gdr_rm_gpu *gpu, int export_fd, unsigned *objects);

/*
 * Hold a memory object: by CUDA's names for it, or the first one of an export
 * descriptor.  Fills parent and object of *part; offset and len are the caller's,
 * and are checked against the object, which must be video memory.  Caller holds
 * gpu->lock.
 */
int gdr_rm_part_dup(struct gdr_rm_gpu *gpu, uint32_t src_client, uint32_t src_object,
		    struct gdr_rm_part *part);
int gdr_rm_part_import(struct gdr_rm_gpu *gpu, int export_fd, struct gdr_rm_part *part);

/*
 * Let go of the object and the window.  No mapping may exist, but for a stuck
 * one, because of which both stay until the process ends: -EIO.  First -errno.
 */
int gdr_rm_part_release(struct gdr_rm_gpu *gpu, struct gdr_rm_part *part);

/* In a forked child: close the window's descriptor. */
void gdr_rm_part_forget(struct gdr_rm_part *part);

/*
 * Make sure that part->file has a window of the first len bytes of the part, to
 * be mapped at offset 0 for exactly len bytes.  No mapping may exist, but for a
 * stuck one, because of which the window cannot get another length: -EIO.
 */
int gdr_rm_part_window(struct gdr_rm_gpu *gpu, struct gdr_rm_part *part, uint64_t len);

/*
 * rm_verify.c: prove on scratch memory of our own that memory of this kind is
 * mapped right, the first time it is met; near is memory of that kind.  Caller
 * holds gpu->lock.  -ENOTSUP and the reason, for good, if the driver refuses or
 * other memory shows; what says nothing about that may be tried again.
 */
int gdr_rm_verify_ipc(struct gdr_rm_gpu *gpu, CUdeviceptr near);

/* The same for VMM memory, of which near has size bytes exported as so many objects. */
int gdr_rm_verify_vmm(struct gdr_rm_gpu *gpu, CUdeviceptr near, size_t size, unsigned objects);

#endif
