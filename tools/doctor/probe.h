/* SPDX-License-Identifier: MIT */
/*
 * Tries on the live machine.  Each runs in a child process, so that a crash or
 * a hang is a result like others; results come back in shared memory.  The
 * parent never loads CUDA.
 */
#ifndef DOCTOR_PROBE_H
#define DOCTOR_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "gdrapi.h"

#define PROBE_GPUS     64
#define PROBE_TEXT     480
#define PROBE_ALLOCATORS 2      /* as gpu_allocators */

/* Backends, in the order of gdr_open. */
enum {
	PROBE_GDRDRV,
	PROBE_DMABUF,
	PROBE_RM,
	PROBE_BACKENDS,
};

/* How the child ended. */
struct probe_end {
	bool done;              /* it ran to its end */
	char how[96];           /* else: "killed by signal 11 (Segmentation fault)" */
};

struct cuda_gpu {
	int ordinal;
	char name[96];
	unsigned domain, bus, slot;
	/* Attributes; -1: the driver does not know this one. */
	int rdma, rdma_vmm, vmm, posix_fd, dmabuf, dmabuf_mmap, coherent, integrated, compute_mode;
};

struct cuda_facts {
	struct probe_end end;
	bool loaded, soft, ready;       /* libcuda is there; it is softcuda; cuInit succeeded */
	char path[256];                 /* of the library */
	char why[PROBE_TEXT];           /* why it could not be loaded, or has not the GPUs */
	int version;                    /* 1000 * major + 10 * minor */
	int result;                     /* of cuInit or cuDeviceGetCount */
	char result_name[64];
	int count;                      /* devices that CUDA has */
	int n;                          /* looked at; 0 if the list names one that is not there */
	struct cuda_gpu gpus[PROBE_GPUS];
};

struct nvml_gpu {
	bool found;
	bool has_bar1, has_mig, has_virtualization, has_link;
	uint64_t bar1_total, bar1_free; /* bytes */
	unsigned mig, virtualization;   /* nvmlGpuVirtualizationMode_t */
	unsigned gen, max_gen, width, max_width;
};

struct nvml_facts {
	struct probe_end end;
	bool loaded, ready;
	char why[PROBE_TEXT];
	char driver[64];
	bool has_cc;
	unsigned cc;                    /* nvmlSystemGetConfComputeState: ccFeature */
	struct nvml_gpu gpus[PROBE_GPUS];       /* as cuda_facts.gpus */
};

/* In this order; a failed or ended try stopped at it. */
enum backend_step {
	STEP_NONE,
	STEP_CONTEXT,
	STEP_ALLOC,
	STEP_PIN,
	STEP_MAP,
	STEP_WRITE,             /* copy to the mapping, and what CUDA then reads */
	STEP_READ,              /* copy from the mapping of what CUDA wrote */
	STEP_RELEASE,
	STEP_DONE,
};

extern const char *const probe_step_names[];

struct backend_try {
	enum backend_step step;
	char why[PROBE_TEXT];
	gdr_mapping_type_t type;
	bool timed;
	double store_mb_per_s;  /* 8-byte stores, one after another */
};

struct backend_facts {
	struct probe_end end;
	bool loaded;            /* CUDA */
	bool opened;
	char why[PROBE_TEXT];   /* why not, or why no CUDA */
	int major, minor;       /* driver version, where the backend has a driver */
	struct backend_try tries[PROBE_GPUS][PROBE_ALLOCATORS];
};

extern const char *const probe_backend_names[PROBE_BACKENDS];

/*
 * Run body(result, arg) in a child.  result has size bytes, which are the
 * child's to write and are *out on return, whatever became of it.
 */
void probe_run(void (*body)(void *result, void *arg), void *arg, void *out, size_t size,
	       uint64_t seconds, struct probe_end *end);

/* list: the GPUs to look at, as gpu_select takes it. */
void probe_cuda(bool soft, const char *list, uint64_t seconds, struct cuda_facts *out);
void probe_nvml(const struct cuda_facts *cuda, uint64_t seconds, struct nvml_facts *out);
void probe_backend(unsigned which, bool soft, const struct cuda_facts *cuda, uint64_t seconds,
		   struct backend_facts *out);

/* The version, "2.6", that a file libgdrapi says to have; false and why if it says none. */
bool probe_library(const char *file, uint64_t seconds, char *version, size_t len, char *why,
		   size_t why_len);

#endif
