/* SPDX-License-Identifier: MIT */
/* Statistics over samples; bench.h has the contracts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* Two-sided 95 % of the normal distribution; below 30 samples it is too narrow. */
#define NORMAL_95  1.96
/* Tukey's outer fences: so many interquartile ranges beyond the quartiles. */
#define FAR_OUT    3

static int compare_doubles(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

double bench_percentile(const double *sorted, size_t n, double percent)
{
	double rank = ceil(percent / 100.0 * (double)n);
	size_t i = rank < 1 ? 0 : (size_t)rank - 1;

	return sorted[i < n ? i : n - 1];
}

static size_t count_far_out(const double *sorted, size_t n)
{
	double q1 = bench_percentile(sorted, n, 25), q3 = bench_percentile(sorted, n, 75);
	double low = q1 - FAR_OUT * (q3 - q1), high = q3 + FAR_OUT * (q3 - q1);
	size_t i, count = 0;

	for (i = 0; i < n; i++)
		count += sorted[i] < low || sorted[i] > high;
	return count;
}

void bench_stats(double *sample, size_t n, struct bench_stats *out)
{
	double sum = 0, squares = 0, mean, stddev;
	size_t i;

	qsort(sample, n, sizeof(*sample), compare_doubles);
	for (i = 0; i < n; i++)
		sum += sample[i];
	mean = sum / (double)n;
	for (i = 0; i < n; i++)
		squares += (sample[i] - mean) * (sample[i] - mean);
	stddev = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	*out = (struct bench_stats){
		.n = n,
		.min = sample[0],
		.median = sample[n / 2],
		.max = sample[n - 1],
		.p90 = bench_percentile(sample, n, 90),
		.p99 = bench_percentile(sample, n, 99),
		.p999 = bench_percentile(sample, n, 99.9),
		.mean = mean,
		.stddev = stddev,
		.ci95 = NORMAL_95 * stddev / sqrt((double)n),
		.outliers = count_far_out(sample, n),
	};
}
