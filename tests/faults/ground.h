/* SPDX-License-Identifier: MIT */
/*
 * What a backend runs on here: softcuda's memory, or the model of gdrdrv, or the
 * model of NVIDIA's driver over softcuda's memory.
 */
#ifndef FAULTS_GROUND_H
#define FAULTS_GROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ground {
	const char *backend;            /* its name */
	bool cuda;
	/* Device memory, there from start on. */
	uint64_t plain, plain_size;     /* cuMemAlloc, on a GPU page */
	uint64_t parts, parts_size;     /* VMM memory, several allocations side by side */
	uint64_t small, small_size;     /* not on a page */
	uint64_t inner, inner_size;     /* on a GPU page, within an object that others share */
};

/* Once a process: GDRCOPY_BACKEND, CUDA, memory.  NULL, and a reason on stderr. */
struct ground *ground_start(const char *backend);

/* Models and counts as new; no context is open. */
void ground_reset(const struct ground *g);

/* Make CUDA's context current in this thread, or none. */
void ground_context(const struct ground *g, bool current);

/* Has this thread no context of CUDA's? */
bool ground_no_context(const struct ground *g);

/*
 * When all contexts are closed: nothing is held, but for what could not be
 * unmapped, which goes now.  False, and what it is on stderr.
 */
bool ground_is_clean(const struct ground *g);

#endif
