/* SPDX-License-Identifier: MIT */
/* The sizes that a benchmark goes through, from --sizes or --min, --max and --step. */
#ifndef TOOLS_SIZES_H
#define TOOLS_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opts.h"

#define SIZES_MAX 256

struct sizes_args {
	struct opt_sizes list;          /* --sizes */
	uint64_t min, max;              /* 0: not given */
	const char *step;               /* "4K" adds, "x2" multiplies; NULL: x2 */
};

struct sizes {
	size_t n;
	uint64_t v[SIZES_MAX];
	uint64_t largest;
};

/* True if any of these options was given. */
bool sizes_given(const struct sizes_args *a);

/*
 * The list, or min, min stepped, ..., max, both ends included.  Where only one of
 * min and max was given, the other is taken from the arguments of that name.  0, or
 * -EINVAL with the reason on stderr.
 */
int sizes_choose(const struct sizes_args *a, uint64_t min, uint64_t max, struct sizes *out);

#endif
