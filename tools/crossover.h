/* SPDX-License-Identifier: MIT */
/* Where cuMemcpy overtakes copies by the CPU: by one thread, and by several. */
#ifndef TOOLS_CROSSOVER_H
#define TOOLS_CROSSOVER_H

#include <stddef.h>
#include <stdint.h>

#include "report.h"

#define CROSSOVER_SIZES 72

enum crossover_way {
	CROSSOVER_CUDA,
	CROSSOVER_ONE_THREAD,
	CROSSOVER_THREADS,
	CROSSOVER_WAYS,
};

/* Times of one direction, zeroed by the caller at first; 0: not measured. */
struct crossover {
	uint64_t size[CROSSOVER_SIZES];         /* ascending */
	double us[CROSSOVER_SIZES][CROSSOVER_WAYS];
	size_t n;
};

/* The time of a copy of size bytes.  Sizes come in ascending order, for each way the same. */
void crossover_add(struct crossover *c, enum crossover_way way, uint64_t size, double us);

/*
 * The first size from which on cuMemcpy is the faster at every size measured;
 * *below is the one before it, 0 if there is none.  0: at the largest it is not.
 */
uint64_t crossover_find(const struct crossover *c, enum crossover_way way, uint64_t *below);

/* A line a way, and fields of the summary; direction is "to" or "from". */
void crossover_print(const struct crossover *c, struct report *r, const char *direction);

#endif
