/* SPDX-License-Identifier: MIT */
/* What the parts of gdrcopy_copybw share: the options, the state of a run, and its rows. */
#ifndef TOOLS_COPYBW_H
#define TOOLS_COPYBW_H

#include "copies.h"
#include "tool.h"

#define COPYBW_THREADS 256

struct copybw_args {
	struct tool_args tool;
	uint64_t size, copy, offset, writes, reads, threads;
	bool size_given, sweep, cuda, bidirectional, no_verify;
};

extern struct copybw_args copybw_args;

struct copybw {
	struct tool tool;
	struct copies copies;
	struct sizes sizes;
	size_t buffer;                  /* bytes, whole GPU pages */
	struct crossover crossover[2];  /* by direction */
};

/* A result.  All but the first lines may be left 0. */
struct copybw_row {
	const struct copies_test *test;
	uint64_t iterations;
	double elapsed_us, mb_per_s;
	bool complete;
	const char *thread;             /* the one whose row it is; NULL: all together */
	bool bidirectional;
	double best, median, worst;     /* MB/s */
	double spread_percent;
	struct bench_stats stats;       /* of the times of calls, or of buckets' means */
};

void copybw_report(struct copybw *bw, const struct copybw_row *row);

/* Six significant digits and no exponent, which scripts would not expect. */
void copybw_format_rate(char *buf, size_t len, double v);

/* How many threads copy at a time, and how far their pieces of the buffer are apart. */
size_t copybw_workers(void);
size_t copybw_stride(size_t copy_size);

/* copybw_crew.c: one size by several threads, or in both directions at a time. */
int copybw_run_crew(struct copybw *bw);

#endif
