/* SPDX-License-Identifier: MIT */
/*
 * Measuring: the clock, repeated calls timed in buckets, statistics over the
 * buckets, the progress line, and the end by a signal.
 */
#ifndef TOOLS_BENCH_H
#define TOOLS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_BUCKETS 100

/* CLOCK_MONOTONIC, microseconds. */
double bench_now_us(void);

/* What one reading of the clock costs; it is part of every timed bucket. */
double bench_clock_cost_us(void);

/* In the unit of the samples.  median is the upper one for an even count. */
struct bench_stats {
	size_t n;
	double min, median, max;
	double p90, p99;        /* nearest rank */
	double mean, stddev;    /* stddev: of the samples, n - 1; 0 for one sample */
};

/* Sorts the samples; n is not 0. */
void bench_stats(double *sample, size_t n, struct bench_stats *out);

/* The smallest sample that at least percent % of the sorted samples do not exceed. */
double bench_percentile(const double *sorted, size_t n, double percent);

struct bench_plan {
	const char *label;              /* for the progress line */
	uint64_t size;                  /* bytes a call, for the same */
	int (*call)(void *arg);         /* what is timed: 0 or an errno value, which ends the run */
	int (*overhead)(void *arg);     /* the part of call that is not to count; NULL: none */
	void *arg;
	uint64_t warmup;                /* untimed calls before the first bucket */
	uint64_t iterations;            /* at least 1 */
	unsigned buckets;               /* 1..BENCH_BUCKETS, not more than iterations */
};

struct bench_result {
	uint64_t iterations;            /* calls that were timed */
	bool complete;                  /* false: a signal ended it early */
	double elapsed_us;              /* sum over the buckets, overhead taken off */
	double sample[BENCH_BUCKETS];   /* us a call: the mean of one bucket; sorted */
	struct bench_stats stats;       /* of sample; stats.n is 0 if nothing was timed */
};

/* 0, or the errno value of the call that failed. */
int bench_run(const struct bench_plan *plan, struct bench_result *out);

/*
 * From now on SIGINT and SIGTERM end measurements; another one at least a
 * second later ends the program.
 */
void bench_catch_signals(void);

/* The signal that came, or 0. */
int bench_stopped(void);

/* Powers of two from 1 up to top, and top itself.  Returns their number; max >= 65. */
size_t bench_sweep(uint64_t top, uint64_t *sizes, size_t max);

#endif
