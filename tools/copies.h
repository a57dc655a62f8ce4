/* SPDX-License-Identifier: MIT */
/* The ways to copy that the benchmarks compare, and the memory they work on. */
#ifndef TOOLS_COPIES_H
#define TOOLS_COPIES_H

#include <stddef.h>

#include "buffers.h"
#include "crossover.h"
#include "tool.h"
#include "verify.h"
#include "window.h"

struct copies {
	struct buffers buffers;
	struct host_mem src_pageable, dst_pageable;     /* ptr is NULL if not asked for */
	struct window window;
	struct verify verify;
	size_t offset;          /* of the device bytes, a multiple of 4 */
	size_t n;               /* bytes of a copy */
};

/* One way, in one direction. */
struct copies_test {
	const char *name;       /* of a row: the field "test" */
	const char *method;     /* the same in both directions: the field "method" */
	int direction;          /* 0 to the mapping, 1 from it */
	enum crossover_way way;
	int (*call)(void *copies);      /* 0 or an errno value */
	int (*cold)(void *copies);      /* call, with the lines on the GPU before it; or NULL */
	int (*check)(struct copies *);  /* one call, compared; or NULL */
};

/* Pairs, to the mapping and from it. */
extern const struct copies_test copies_cuda[2], copies_pageable[2], copies_gdr[2],
	copies_threads[2];

/* "to" and "from". */
extern const char *const copies_direction[2];

/* Rows of the option table, as those of tool.h; writes and reads: uint64_t, flag: bool. */
#define COPIES_OPTS_ITERATIONS(writes, reads) \
	{ 'w', "write-iters", OPT_NUMBER, "N", "10000", "writes of each size", \
	  &(writes), 1, TOOL_COUNT_MAX, NULL, NULL }, \
	{ 'r', "read-iters", OPT_NUMBER, "N", "100", "reads of each size", \
	  &(reads), 1, TOOL_COUNT_MAX, NULL, NULL }
#define COPIES_OPT_CUMEMCPY(letter, flag) \
	{ letter, "cumemcpy", OPT_FLAG, NULL, NULL, "measure cuMemcpy, from pinned and from " \
	  "pageable memory, and copies by several threads, too, and tell where cuMemcpy is " \
	  "faster", &(flag), 0, 0, NULL, NULL }

/* Have the GPU own the lines of the next copy; as a copies_test.call. */
int copies_chill(void *copies);

/* "ERROR: ..." about a call that failed; returns -err. */
int copies_error(const struct copies *c, const struct copies_test *t, int err);

/* The buffers, pageable ones too if asked for; 0, or -errno with the reason on stderr. */
int copies_alloc(const struct gpu_allocator *how, size_t size, bool pageable, struct copies *out);
int copies_free(const struct copies *c);

#endif
