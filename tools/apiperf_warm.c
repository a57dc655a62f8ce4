/* SPDX-License-Identifier: MIT */
/* Cycles on one buffer over the sizes, and the life of contexts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apiperf.h"
#include "progress.h"

/* The medians of the rounds of one call. */
struct medians {
	double low, high;
};

static void add_median(struct medians *m, const struct apiperf_samples *s, size_t from)
{
	size_t n = s->n - from;
	struct bench_stats st;
	double *copy = n ? malloc(n * sizeof(*copy)) : NULL;

	if (!copy)
		return;
	memcpy(copy, s->us + from, n * sizeof(*copy));
	bench_stats(copy, n, &st);
	free(copy);
	m->low = from && m->low < st.median ? m->low : st.median;
	m->high = from && m->high > st.median ? m->high : st.median;
}

/* Warm-up and cycles, once. */
static int one_round(struct apiperf *a, struct apiperf_buffer *b)
{
	const struct apiperf_args *args = a->args;
	double start = bench_now_us();
	size_t i;
	int err = 0;

	for (i = 0; i < args->tool.warmup && !err && !bench_stopped() &&
	     bench_now_us() - start < (double)args->max_time * 1e6; i++)
		err = apiperf_cycle(b, NULL, NULL);
	progress_begin();
	start = bench_now_us();
	for (i = 0; !err && apiperf_more(args, i, start); i++) {
		err = apiperf_cycle(b, &a->set, NULL);
		progress_show("cycles", b->size, (double)i, (double)args->iterations);
	}
	progress_clear();
	return err;
}

/* spread: between the rounds, percent, of each call. */
static int all_rounds(struct apiperf *a, struct apiperf_buffer *b, double *spread)
{
	struct medians m[CALLS] = { { 0 } };
	size_t r, c, from[CALLS];
	int err = 0;

	for (r = 0; r < a->args->tool.repeat && !err && !bench_stopped(); r++) {
		for (c = 0; c < CALLS; c++)
			from[c] = a->set.of[c].n;
		err = one_round(a, b);
		for (c = 0; c < CALLS; c++)
			add_median(&m[c], &a->set.of[c], from[c]);
	}
	for (c = 0; c < CALLS; c++)
		spread[c] = m[c].low > 0 ? 100 * (m[c].high / m[c].low - 1) : 0;
	return err;
}

static void print_histograms(struct apiperf *a, size_t size)
{
	size_t c;

	for (c = 0; c < CALLS; c++) {
		if (a->args->histograms == HISTOGRAMS_ALL ||
		    (a->args->histograms == HISTOGRAMS_PIN && c == CALL_PIN))
			apiperf_print_histogram(a, (enum apiperf_call)c, size, &a->set.of[c]);
	}
}

static void print_size(struct apiperf *a, size_t size, const double *spread,
		       struct bench_stats *stats)
{
	uint64_t planned = a->args->iterations * a->args->tool.repeat;
	size_t done = a->set.of[CALL_PIN_V2].n;
	struct apiperf_case k = {
		.phase = "warm", .size = size, .threads = 1, .handles = 1,
		.spread = a->args->tool.repeat > 1 ? spread : NULL, .cycles_per_s = NAN,
		.complete = !bench_stopped(),
	};

	if (!a->set.of[CALL_PIN].n)
		return;
	apiperf_print_raw(a, &k, &a->set);
	apiperf_print_means(a, size, &a->set);
	print_histograms(a, size);
	apiperf_print_title(a, "%zu bytes, warm", size);
	apiperf_print_set(a, &k, &a->set, stats);
	if (bench_stopped())
		report_note(&a->tool.report, "interrupted: %zu bytes after %zu of %llu cycles",
			    size, done, (unsigned long long)planned);
	else if (done < planned)
		report_note(&a->tool.report, "%zu bytes: %zu of %llu cycles in the time of "
			    "--max-time", size, done, (unsigned long long)planned);
}

static int measure_size(struct apiperf *a, gdr_t g, size_t size, struct bench_stats *stats)
{
	struct apiperf_buffer b = {
		.g = g, .ptr = a->dev.ptr, .size = size,
		.map_flags = (int)a->args->tool.mapping,
	};
	double spread[CALLS];
	int err = 0;

	apiperf_set_clear(&a->set);
	a->verify.seed++;
	if (!a->args->no_verify)
		err = apiperf_cycle(&b, NULL, &a->verify);
	if (err)
		return err;
	err = all_rounds(a, &b, spread);
	if (!err)
		print_size(a, size, spread, stats);
	return err;
}

int apiperf_warm(struct apiperf *a, gdr_t g)
{
	struct bench_stats stats[CALLS];
	size_t i;
	int err = 0;

	memset(a->small, 0, sizeof(a->small));
	memset(a->large, 0, sizeof(a->large));
	for (i = 0; i < a->sizes.n && !err && !bench_stopped(); i++) {
		memset(stats, 0, sizeof(stats));
		err = measure_size(a, g, a->sizes.v[i], stats);
		if (i == 0)
			memcpy(a->small, stats, sizeof(stats));
		if (i > 0 && i + 1 == a->sizes.n)
			memcpy(a->large, stats, sizeof(stats));
	}
	return err;
}

/* Only calls that concern no buffer: size_bytes is 0. */
int apiperf_contexts(struct apiperf *a)
{
	struct apiperf_case k = {
		.phase = "context", .threads = 1, .handles = 1, .cycles_per_s = NAN,
	};
	struct apiperf_buffer b = { 0 };
	struct bench_stats stats[CALLS] = { { 0 } };
	double start = bench_now_us();
	size_t i;
	int err = 0, err_close;

	apiperf_set_clear(&a->set);
	for (i = 0; !err && apiperf_more(a->args, i, start); i++) {
		err = apiperf_call(CALL_OPEN, &b, &a->set);
		if (err)
			return err;
		err = apiperf_call(CALL_GET_ATTRIBUTE, &b, &a->set);
		if (!err)
			err = apiperf_call(CALL_DRIVER_VERSION, &b, &a->set);
		err_close = apiperf_call(CALL_CLOSE, &b, &a->set);
		err = err ? err : err_close;
	}
	if (err || !i)
		return err;
	k.complete = !bench_stopped();
	apiperf_print_title(a, "contexts, opened while another one is open");
	apiperf_print_raw(a, &k, &a->set);
	apiperf_print_set(a, &k, &a->set, stats);
	for (i = 0; i < CALLS; i++) {
		if (stats[i].n)
			a->small[i] = stats[i];
	}
	return 0;
}

int apiperf_fresh(struct apiperf *a, size_t size)
{
	struct apiperf_buffer b = {
		.ptr = a->dev.ptr, .size = size, .map_flags = (int)a->args->tool.mapping,
	};
	size_t i;
	int err = 0;

	apiperf_set_clear(&a->set);
	for (i = 0; i < a->args->fresh && !err && !bench_stopped(); i++)
		err = apiperf_life(&b, &a->set, NULL);
	return err;
}
