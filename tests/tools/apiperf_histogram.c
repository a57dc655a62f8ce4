/* SPDX-License-Identifier: MIT */
/* Description: histograms count every sample, by the edges that they print. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "apiperf_samples.h"

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* What a reader of the printed edges counts. */
static void recount(const double *v, size_t n, const struct apiperf_histogram *h)
{
	size_t i, bin, total = 0, count[APIPERF_BINS_MAX] = { 0 };
	double edge[APIPERF_BINS_MAX + 1];
	char text[64];

	for (i = 0; i <= h->bins; i++) {
		snprintf(text, sizeof(text), "%f", h->edge[i]);
		edge[i] = strtod(text, NULL);
		assert_true(edge[i] == h->edge[i]);
		assert_true(i == 0 || edge[i] > edge[i - 1]);
	}
	for (i = 0; i < n; i++) {
		assert_true(v[i] >= edge[0] && v[i] <= edge[h->bins]);
		for (bin = 0; bin + 1 < h->bins && v[i] >= edge[bin + 1]; bin++)
			;
		count[bin]++;
	}
	for (bin = 0; bin < h->bins; bin++) {
		assert_int_equal(h->count[bin], count[bin]);
		total += h->count[bin];
	}
	assert_int_equal(total, n);
}

static void check_all(double *v, size_t n)
{
	static const size_t bins[] = { 1, 2, 7, 10, APIPERF_BINS_MAX };
	struct apiperf_histogram h;
	size_t b, log;

	qsort(v, n, sizeof(*v), by_value);
	for (b = 0; b < sizeof(bins) / sizeof(bins[0]); b++) {
		for (log = 0; log < 2; log++) {
			apiperf_histogram(v, n, bins[b], log, &h);
			assert_int_equal(h.bins, bins[b]);
			recount(v, n, &h);
		}
	}
}

static void test_few(void **state)
{
	double one[] = { 4.2 }, zero[] = { 0 }, same[] = { 0.017, 0.017, 0.017 };
	double near[] = { 0.017, 0.018 }, edge[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	double far[] = { 0, 0.001, 3.6e9 };

	(void)state;
	check_all(one, 1);
	check_all(zero, 1);
	check_all(same, 3);
	check_all(near, 2);
	check_all(edge, 11);
	check_all(far, 3);
}

static void test_many(void **state)
{
	struct apiperf_samples s = { 0 };
	uint64_t x = 1;
	int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		assert_int_equal(apiperf_samples_reserve(&s), 0);
		/* Mostly some microseconds, and a tail of milliseconds. */
		apiperf_samples_add(&s, (double)(x >> 40) / 4e6 +
				    ((x >> 33) % 500 == 0 ? (double)(x >> 50) : 0));
	}
	check_all(s.us, s.n);
	free(s.us);
}

static void test_edges(void **state)
{
	const double v[] = { 1, 1.5, 2, 2.5, 3 };
	struct apiperf_histogram h;

	(void)state;
	apiperf_histogram(v, 5, 2, false, &h);
	assert_true(h.edge[0] == 1 && h.edge[1] == 2 && h.edge[2] == 3);
	/* An edge belongs to the bin above it, the last one to the last bin. */
	assert_int_equal(h.count[0], 2);
	assert_int_equal(h.count[1], 3);
	apiperf_histogram((const double[]){ 1, 10, 100 }, 3, 2, true, &h);
	assert_true(h.edge[0] == 1 && h.edge[1] == 10 && h.edge[2] == 100);
	assert_int_equal(h.count[0], 1);
	assert_int_equal(h.count[1], 2);
}

static void test_samples(void **state)
{
	struct apiperf_samples s = { 0 };

	(void)state;
	assert_int_equal(apiperf_samples_reserve(&s), 0);
	apiperf_samples_add(&s, -0.004);
	assert_int_equal(apiperf_samples_reserve(&s), 0);
	apiperf_samples_add(&s, 12.34499999);
	assert_int_equal(s.n, 2);
	assert_true(s.us[0] == 0);
	assert_true(s.us[1] == 12.345);
	free(s.us);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
