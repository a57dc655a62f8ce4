/* SPDX-License-Identifier: MIT */
/* What gdrcopy_copylat times: the state of a run, and the calls. */
#ifndef TOOLS_COPYLAT_H
#define TOOLS_COPYLAT_H

#include <stddef.h>
#include <stdint.h>

#include "buffers.h"
#include "crossover.h"
#include "tool.h"
#include "verify.h"
#include "window.h"

#define SIZES_MAX       72

#define COPYLAT_DIRECTIONS 2    /* to the mapping, from it */

struct copylat {
	struct tool tool;
	struct buffers buffers;
	struct window window;
	struct verify verify;
	uint64_t sizes[SIZES_MAX];
	size_t n_sizes;
	size_t buffer;          /* bytes, whole GPU pages */
	size_t n;               /* bytes of the copy being timed */
	uint64_t iterations[2]; /* by direction */
	struct crossover crossover[2];  /* by direction: to the mapping, from it */
};

/* One block of the output. */
struct test {
	const char *name;
	const char *header_tabs;
	int (*call)(void *lat);
	int (*cold)(void *lat);         /* call, with the lines on the GPU before it */
	int (*check)(struct copylat *lat);
	int direction;                  /* 0 to the mapping, 1 from it */
	enum crossover_way way;
};

/* In the order of the directions. */
extern const struct test copylat_cuda_tests[COPYLAT_DIRECTIONS];
extern const struct test copylat_gdr_tests[COPYLAT_DIRECTIONS];
extern const struct test copylat_thread_tests[COPYLAT_DIRECTIONS];

/* Have the GPU own the lines of the next copy; lat is a struct copylat. */
int copylat_chill(void *lat);

#endif
