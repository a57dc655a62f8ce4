/* SPDX-License-Identifier: MIT */
/*
 * Copies by several threads: the caller and helpers from a pool that the process
 * shares.  Helpers are made when a copy first needs them, sleep when there has been
 * none for a moment, and take part in whatever copies are under way, of any number
 * of callers.
 */
#ifndef GDR_PARALLEL_H
#define GDR_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

#include "copy.h"

#define GDR_PARALLEL_THREADS_MAX 64     /* of one copy, the caller among them */

/* The fields of struct gdrx_copy_options; 0 and NULL are its defaults. */
struct gdr_parallel {
	size_t threads, min_bytes;
	const void *cpus;
	size_t cpus_size;
};

/* n bytes; addresses are integers because dir decides which side is const. */
struct gdr_parallel_copy {
	enum gdr_copy_dir dir;
	gdr_mapping_type_t type;
	uintptr_t dev, host;
	size_t n;
};

/*
 * Does the copy; which threads do is an optimisation that cannot fail.  What the
 * caller did before is ordered before all of it, and all of it before what the
 * caller does then, as for gdr_copy_to and gdr_copy_from.
 */
void gdr_parallel_copy(const struct gdr_parallel_copy *c, const struct gdr_parallel *how);

/* Threads that a copy would be spread over, the caller among them. */
size_t gdr_parallel_threads(const struct gdr_parallel_copy *c, const struct gdr_parallel *how);

/* In a forked child: the helpers, and the copies under way, stayed in the parent. */
void gdr_parallel_after_fork_child(void);

#endif
