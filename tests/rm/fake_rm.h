/* SPDX-License-Identifier: MIT */
/*
 * A model of the NVIDIA driver's resource manager for tests without a GPU: what
 * is behind /dev/nvidiactl and /dev/nvidia<minor> in a program linked with
 * --wrap for the system calls in fake_wrap.c.  It is strict where the driver is
 * silent: whatever would leave a stale window open is recorded as a violation.
 */
#ifndef FAKE_RM_H
#define FAKE_RM_H

#include <stdbool.h>
#include <stdint.h>

enum fake_rm_step {
	FAKE_RM_ANY,                    /* for fake_rm_fail: each of those up to MADVISE */
	FAKE_RM_OPEN_CTL,
	FAKE_RM_OPEN_GPU,
	FAKE_RM_REGISTER,
	FAKE_RM_CARD_INFO,
	FAKE_RM_CLIENT,
	FAKE_RM_DEVICE,
	FAKE_RM_SUBDEVICE,
	FAKE_RM_ID_INFO,
	FAKE_RM_HANDLE_INFO,
	FAKE_RM_SURFACE_INFO,
	FAKE_RM_EXPORT_INFO,
	FAKE_RM_IMPORT,
	FAKE_RM_DUP,
	FAKE_RM_MAP,
	FAKE_RM_MMAP,
	FAKE_RM_MADVISE,
	FAKE_RM_UNMAP,                  /* not part of ANY: an object that cannot be */
	FAKE_RM_FREE,                   /* freed lives as long as its client */
	FAKE_RM_MUNMAP,                 /* nor this: a munmap that touches a window */
	FAKE_RM_STEPS,
};

struct fake_rm_gpu {
	uint32_t domain, bus, slot;
	uint32_t gpu_id;
	uint32_t minor;                 /* all three differ, as they do on real hosts */
	uint32_t instance;
	uint32_t ordinal;               /* CUDA's number */
	uint64_t bar1_base, bar1_size;
};

/* What exists now. */
struct fake_rm_counts {
	unsigned ctl_files, gpu_files;  /* open files, also those alive through a mapping */
	unsigned clients, devices, memories;
	unsigned windows;               /* as the RM sees them */
	unsigned mappings;              /* user mappings of windows */
};

/* Back to no GPU, release 580, no scripted failure, no violation.  Nothing may be open. */
void fake_rm_reset(void);
void fake_rm_add_gpu(const struct fake_rm_gpu *gpu);

/* Major release whose structures are spoken: 515 to 595; 580 after reset. */
void fake_rm_set_release(unsigned major);

/* Memory objects want a subdevice as parent; a device is refused with 0x36. */
void fake_rm_set_subdevice_parents(bool on);

/* Bytes of BAR1 that windows may take on every GPU. */
void fake_rm_set_bar1_free(uint64_t bytes);

/*
 * The nth call of step from now on, and the times - 1 calls after it, fail: a
 * request with status, or where that is 0 with errno err; a system call with err.
 */
void fake_rm_fail(enum fake_rm_step step, unsigned nth, unsigned times, uint32_t status, int err);
void fake_rm_fail_none(void);
bool fake_rm_failed(void);              /* has it struck since fake_rm_fail? */

/* One more, besides the one of fake_rm_fail: the next munmap of a window fails with ENOMEM. */
void fake_rm_fail_munmap(void);

/* What the end of the process does: removes the mappings, then closes the files. */
void fake_rm_process_end(void);

void fake_rm_counts(struct fake_rm_counts *out);
unsigned fake_rm_calls(enum fake_rm_step step);         /* since reset */

/* Breaches of the rules since reset, of forked children too; text of the last one. */
unsigned fake_rm_violations(void);
const char *fake_rm_violation(void);

/* Requests made by forked children on files they inherited. */
unsigned fake_rm_child_requests(void);

/*
 * Memory of a CUDA that is not there: an object of size bytes on the GPU with
 * this device instance, named by client and object as CUDA's IPC handle would.
 */
struct fake_rm_memory_info {
	uint32_t client, object;
	int memfd;                      /* the bytes; the fake's own */
};
void fake_rm_memory_new(uint64_t size, uint32_t instance, struct fake_rm_memory_info *out);
void fake_rm_memory_free(uint32_t object);      /* CUDA's reference; windows keep the bytes */
int fake_rm_memory_export(uint32_t object);     /* a new export descriptor */
void fake_rm_memory_describe(uint32_t object, uint32_t class, uint32_t space, uint32_t max_objects);
/*
 * What softcuda's memory is said to be from now on; after reset video memory, and
 * size 0, which is the true one.
 */
void fake_rm_describe_soft(uint32_t class, uint32_t space, uint64_t size);
/* How many objects softcuda's memory of so many bytes is exported as; NULL, after reset: 1. */
extern unsigned (*fake_rm_soft_objects)(uint64_t size);
unsigned fake_rm_memory_live(void);             /* objects whose bytes still exist */

#endif
