/* SPDX-License-Identifier: MIT */
/* The times of single calls: kept whole, written out, and counted in histograms. */
#ifndef TOOLS_APIPERF_SAMPLES_H
#define TOOLS_APIPERF_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

struct apiperf_samples {
	double *us;                     /* in the order of the calls; whole nanoseconds */
	size_t n, room;
};

/* Room for one more than there are.  0 or -ENOMEM. */
int apiperf_samples_reserve(struct apiperf_samples *s);

/* One more, for which there is room; what the clock's own cost made negative is 0. */
void apiperf_samples_add(struct apiperf_samples *s, double us);

#define APIPERF_BINS_MAX 100

/*
 * bin i counts edge[i] <= sample < edge[i + 1], the last one also edge[bins].
 * Edges are whole picoseconds: printed with six decimals they are what was
 * counted by.
 */
struct apiperf_histogram {
	size_t bins;
	double edge[APIPERF_BINS_MAX + 1];
	size_t count[APIPERF_BINS_MAX];
};

/* Of n >= 1 sorted samples; the edges are equally far apart, or if log their logarithms are. */
void apiperf_histogram(const double *sorted, size_t n, size_t bins, bool log,
		       struct apiperf_histogram *out);

#endif
