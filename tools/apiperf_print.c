/* SPDX-License-Identifier: MIT */
/* The tables of gdrcopy_apiperf, its rows, and the file of --samples. */
#include <math.h>
#include <stdarg.h>

#include "apiperf.h"

/* Characters for the numbers of APIPERF_BINS_MAX bins. */
#define LIST_MAX 4096
#define BASELINE_SAMPLES 20

void apiperf_print_title(const struct apiperf *a, const char *fmt, ...)
{
	const struct report *r = &a->tool.report;
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	report_line(r, "%s", text);
	report_line(r, "%-23s %13s %7s %10s %10s %10s %10s %10s %10s %10s", "call, us",
		    "others pinned", "calls", "min", "median", "p90", "p99", "p99.9", "max",
		    "mean");
}

void apiperf_print_raw(const struct apiperf *a, const struct apiperf_case *k,
		       const struct apiperf_set *set)
{
	size_t c, i;

	for (c = 0; a->raw && c < CALLS; c++) {
		for (i = 0; i < set->of[c].n; i++)
			fprintf(a->raw, "%s,%s,%zu,%zu,%zu,%zu,%.3f\n", k->phase,
				apiperf_calls[c].name, k->size, k->threads, k->handles, i,
				set->of[c].us[i]);
	}
}

/* Numbers between blanks: the edges and the counts of a histogram. */
static void print_lists(const struct apiperf_histogram *h, char *edges, char *counts)
{
	size_t i, at = 0;

	for (i = 0; i <= h->bins && at < LIST_MAX; i++)
		at += (size_t)snprintf(edges + at, LIST_MAX - at, "%s%.6f", i ? " " : "",
				       h->edge[i]);
	for (i = at = 0; i < h->bins && at < LIST_MAX; i++)
		at += (size_t)snprintf(counts + at, LIST_MAX - at, "%s%zu", i ? " " : "",
				       h->count[i]);
}

/* The samples are sorted. */
static void count(const struct apiperf *a, const struct apiperf_samples *s,
		  struct apiperf_histogram *out)
{
	apiperf_histogram(s->us, s->n, a->args->bins, a->args->log, out);
}

static void report(struct apiperf *a, const struct apiperf_case *k, enum apiperf_call c,
		   const struct bench_stats *s, const struct apiperf_histogram *h)
{
	char edges[LIST_MAX], counts[LIST_MAX];
	const struct report_field row[] = {
		FIELD_STRING("phase", k->phase),
		FIELD_STRING("test", apiperf_calls[c].name),
		FIELD_INTEGER("size_bytes", k->size),
		FIELD_INTEGER("others_pinned_from", k->others_from),
		FIELD_INTEGER("others_pinned_to", k->others_to),
		FIELD_INTEGER("threads", k->threads),
		FIELD_INTEGER("handles", k->handles),
		TOOL_STATS_FIELDS(*s),
		/* For --baseline: a few samples would be worse as often as not. */
		FIELD_REAL("baseline_us", s->n >= BASELINE_SAMPLES ? s->median : NAN),
		/* What does not depend on the size is no curve over it. */
		FIELD_STRING("curves", apiperf_calls[c].by_size ? k->phase : NULL),
		FIELD_REAL("spread_percent", k->spread ? k->spread[c] : NAN),
		FIELD_REAL("cycles_per_s", k->cycles_per_s),
		FIELD_STRING("histogram_edges_us", edges),
		FIELD_STRING("histogram_counts", counts),
		FIELD_BOOL("complete", k->complete),
	};

	print_lists(h, edges, counts);
	report_row(&a->tool.report, row, sizeof(row) / sizeof(row[0]));
}

void apiperf_print_row(struct apiperf *a, const struct apiperf_case *k, enum apiperf_call c,
		       struct apiperf_samples *s, struct bench_stats *stats)
{
	struct apiperf_histogram h;
	struct bench_stats st;
	char others[48], spread[48] = "";

	if (!s->n)
		return;
	bench_stats(s->us, s->n, &st);
	count(a, s, &h);
	if (k->others_from == k->others_to)
		snprintf(others, sizeof(others), "%zu", k->others_from);
	else
		snprintf(others, sizeof(others), "%zu-%zu", k->others_from, k->others_to);
	if (k->spread)
		snprintf(spread, sizeof(spread), "  rounds %.1f %% apart", k->spread[c]);
	report_line(&a->tool.report,
		    "%-23s %13s %7zu %10.3f %10.3f %10.3f %10.3f %10.3f %10.3f %10.3f%s",
		    apiperf_calls[c].name, others, s->n, st.min, st.median, st.p90, st.p99, st.p999,
		    st.max, st.mean, spread);
	report(a, k, c, &st, &h);
	if (stats)
		*stats = st;
}

void apiperf_print_set(struct apiperf *a, const struct apiperf_case *k, struct apiperf_set *set,
		       struct bench_stats *stats)
{
	size_t c;

	for (c = 0; c < CALLS; c++)
		apiperf_print_row(a, k, (enum apiperf_call)c, &set->of[c],
				  stats ? &stats[c] : NULL);
	report_blank(&a->tool.report);
}

static double mean(const struct apiperf_samples *s)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		sum += s->us[i];
	return s->n ? sum / (double)s->n : 0;
}

void apiperf_print_means(const struct apiperf *a, size_t size, const struct apiperf_set *set)
{
	report_line(&a->tool.report, "Size(B)\tpin.Time(us)\tmap.Time(us)\tget_info.Time(us)\t"
		    "unmap.Time(us)\tunpin.Time(us)");
	report_line(&a->tool.report, "%zu\t%f\t%f\t%f\t%f\t%f", size, mean(&set->of[CALL_PIN]),
		    mean(&set->of[CALL_MAP]), mean(&set->of[CALL_GET_INFO_V2]),
		    mean(&set->of[CALL_UNMAP]), mean(&set->of[CALL_UNPIN]));
}

void apiperf_print_histogram(const struct apiperf *a, enum apiperf_call c, size_t size,
			     struct apiperf_samples *s)
{
	struct apiperf_histogram h;
	struct bench_stats st;
	size_t i;

	if (!s->n)
		return;
	bench_stats(s->us, s->n, &st);
	count(a, s, &h);
	report_line(&a->tool.report, "%s of %zu bytes: microseconds, and how many of %zu calls "
		    "took so many", apiperf_calls[c].name, size, s->n);
	for (i = 0; i < h.bins; i++)
		report_line(&a->tool.report, "[%f\t-\t%f]\t%zu", h.edge[i], h.edge[i + 1],
			    h.count[i]);
	report_blank(&a->tool.report);
}

static void summary_row(const struct apiperf *a, enum apiperf_call c, size_t size,
			const struct bench_stats *s, double first)
{
	char bytes[24] = "", cold[24] = "";

	if (!s->n)
		return;
	if (apiperf_calls[c].by_size)
		snprintf(bytes, sizeof(bytes), "%zu", size);
	if (first > 0)
		snprintf(cold, sizeof(cold), "%.1f", first);
	report_line(&a->tool.report, "| %-22s | %11s | %10s | %10.2f | %10.2f | %10.2f |",
		    apiperf_calls[c].name, bytes, cold, s->median, s->p99, s->max);
}

/* A table for documents: lines that start with a bar. */
void apiperf_print_summary(const struct apiperf *a)
{
	const struct report *r = &a->tool.report;
	size_t small = a->sizes.v[0], large = a->sizes.v[a->sizes.n - 1];
	size_t c;

	report_line(r, "| %-22s | %11s | %10s | %10s | %10s | %10s |", "call", "bytes", "first, us",
		    "median, us", "p99, us", "max, us");
	report_line(r, "| :--------------------- | ----------: | ---------: | ---------: | "
		    "---------: | ---------: |");
	for (c = 0; c < CALLS; c++) {
		summary_row(a, (enum apiperf_call)c, small, &a->small[c], a->first[c].median);
		if (apiperf_calls[c].by_size)
			summary_row(a, (enum apiperf_call)c, large, &a->large[c], 0);
	}
}
