/* SPDX-License-Identifier: MIT */
/*
 * Copies by the CPU beside cuMemcpy: a table over the sizes, and from which size
 * on cuMemcpy overtakes one thread, and several.
 */
#ifndef TOOLS_CROSSOVER_H
#define TOOLS_CROSSOVER_H

#include <stddef.h>
#include <stdint.h>

#include "report.h"
#include "sizes.h"

enum crossover_way {
	CROSSOVER_CUDA,                 /* from and to page-locked memory */
	CROSSOVER_PAGEABLE,
	CROSSOVER_ONE_THREAD,
	CROSSOVER_THREADS,
	CROSSOVER_WAYS,
};

/* Times of one direction, zeroed by the caller at first; 0: not measured. */
struct crossover {
	uint64_t size[SIZES_MAX];               /* ascending */
	double us[SIZES_MAX][CROSSOVER_WAYS];
	size_t n;
};

/* The time of a copy of size bytes. */
void crossover_add(struct crossover *c, enum crossover_way way, uint64_t size, double us);

/*
 * The first size from which on cuMemcpy is the faster at every size measured;
 * *below is the one before it, 0 if there is none.  0: at the largest it is not.
 */
uint64_t crossover_find(const struct crossover *c, enum crossover_way way, uint64_t *below);

/* A line a way, and fields of the summary; direction is "to" or "from". */
void crossover_print(const struct crossover *c, struct report *r, const char *direction);

/*
 * Text: a line a size with all that was measured, microseconds or, as rates, MB/s; and
 * how many times as fast as cuMemcpy gdr_copy is.
 */
void crossover_print_table(const struct crossover *c, const struct report *r,
			   const char *direction, bool rates);

#endif
