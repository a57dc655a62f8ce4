/* SPDX-License-Identifier: MIT */
/*
 * Measuring: the clock, repeated calls timed in buckets or one by one,
 * statistics over the samples, and the end by a signal.
 */
#ifndef TOOLS_BENCH_H
#define TOOLS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_BUCKETS   100
#define BENCH_SAMPLES   10000000        /* at most, of one measurement */

/* CLOCK_MONOTONIC, microseconds. */
double bench_now_us(void);

/* What one reading of the clock costs; it is part of every timed bucket. */
double bench_clock_cost_us(void);

/*
 * What two readings around nothing show: the median of many.  It is in every
 * call that is timed by itself.
 */
double bench_timer_us(void);

/* In the unit of the samples.  median is the upper one for an even count. */
struct bench_stats {
	size_t n;
	double min, median, max;
	double p90, p99, p999;  /* nearest rank */
	double mean, stddev;    /* stddev: of the samples, n - 1; 0 for one sample */
	double ci95;            /* the mean is known to +- this, by the normal distribution */
	size_t outliers;        /* samples over three interquartile ranges off the quartiles */
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
	uint64_t warmup;                /* untimed calls before each round */
	uint64_t iterations;            /* of a round, at least 1 */
	unsigned buckets;               /* 1..BENCH_BUCKETS, not more than iterations */
	uint64_t rounds;                /* all that is done so often; 0 stands for 1 */
	double min_time_us;             /* calls are added until they took this long */
	bool each;                      /* a sample a call, less bench_timer_us(); no overhead */
};

struct bench_result {
	uint64_t iterations;            /* calls that were timed */
	uint64_t planned;               /* calls that were to be */
	uint64_t rounds;                /* that were complete */
	bool complete;                  /* false: a signal ended it early */
	double elapsed_us;              /* sum of the samples times their calls */
	double *sample;                 /* us a call, sorted: a bucket's mean, or one call */
	double spread_percent;          /* slowest against fastest round, by medians; 0 for one */
	struct bench_stats stats;       /* of sample; stats.n is 0 if nothing was timed */
};

/* 0, or the errno value of the call that failed, or ENOMEM.  Then bench_free in any case. */
int bench_run(const struct bench_plan *plan, struct bench_result *out);
void bench_free(struct bench_result *r);

/*
 * From now on SIGINT, SIGTERM and SIGHUP end measurements; another one at least a
 * second later ends the program.
 */
void bench_catch_signals(void);

/* The signal that came, or 0. */
int bench_stopped(void);

/* Powers of two from 1 up to top, and top itself.  Returns their number; max >= 65. */
size_t bench_sweep(uint64_t top, uint64_t *sizes, size_t max);

#endif
