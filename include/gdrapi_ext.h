/* SPDX-License-Identifier: MIT */
/*
 * Additions to the GDRCopy interface, prefix gdrx_.  Programs that must also
 * run on other implementations look these symbols up with dlsym.
 * Thread-safe like everything in gdrapi.h.  Details: gdrx(3), gdrx_copy(3).
 */
#ifndef GDRAPI_EXT_H
#define GDRAPI_EXT_H

#include "gdrapi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "gdrdrv", "dmabuf" or "rm"; NULL if g is not open.  Static string. */
const char *gdrx_backend_name(gdr_t g);

/*
 * One sentence about the last call of this thread that failed: the step, the
 * object and the remedy.  "" if none has failed.  Valid until the next failure
 * in the same thread.
 */
const char *gdrx_last_error(void);

/*
 * What this thread's last gdr_open found, one line a backend: which was taken,
 * and why the others were not.  "" before the first gdr_open.
 */
const char *gdrx_open_report(void);

/*
 * Names of the copy routines in use, "avx512" for example; direction 0 is to
 * the mapping, 1 from it.  NULL for any other direction.  Static string.
 */
const char *gdrx_copy_routine(int direction);

/* How a copy may be spread over threads.  Zero all of it, set size, then what matters. */
struct gdrx_copy_options {
	size_t size;            /* sizeof(struct gdrx_copy_options) */
	size_t threads;         /* at most so many, the caller among them; 0: what pays here */
	size_t min_bytes;       /* no thread for less than this; 0: what pays here */
	const void *cpus;       /* cpu_set_t of the helping threads; NULL: the process's CPUs */
	size_t cpus_size;       /* its bytes, as for pthread_setaffinity_np; 0 with NULL */
};

/*
 * gdr_copy_to_mapping and gdr_copy_from_mapping by several threads where that
 * is faster; options NULL: all defaults.  The order towards what the caller did
 * before and does after the call is that of one copy.  The helping threads are
 * made when they are first needed, and sleep when no copy has come for a moment.
 * 0 or an errno value.
 */
int gdrx_copy_to_mapping(gdr_mh_t handle, void *map_d_ptr, const void *h_ptr, size_t size,
			 const struct gdrx_copy_options *options);
int gdrx_copy_from_mapping(gdr_mh_t handle, void *h_ptr, const void *map_d_ptr, size_t size,
			   const struct gdrx_copy_options *options);

/* A piece of a copy; h_ptr is only read in direction 0. */
struct gdrx_iov {
	void *map_d_ptr;
	void *h_ptr;
	size_t size;
};

/*
 * n pieces of one mapping in one call; direction as for gdrx_copy_routine.  They
 * are one copy: ordered towards what is before and after, not among each other.
 * 0 or an errno value.
 */
int gdrx_copy_iov(gdr_mh_t handle, int direction, const struct gdrx_iov *iov, size_t n);

#ifdef __cplusplus
}
#endif

#endif
