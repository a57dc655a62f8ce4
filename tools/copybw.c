/* SPDX-License-Identifier: MIT */
/*
 * gdrcopy_copybw: bandwidth of gdr_copy_to_mapping and gdr_copy_from_mapping,
 * at one size or over a sweep, beside cuMemcpy if asked for, with a check of
 * the data in both directions.
 */
#include "copybw.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pattern.h"

#define NAME  "gdrcopy_copybw"

struct copybw_args copybw_args;
#define args copybw_args

static const struct opt options[] = {
	{ 's', "size", OPT_SIZE, "N", "131072", "bytes of the buffer; without -s it is as large as "
	  "the sizes need", &args.size, 1, TOOL_BYTES_MAX, NULL, &args.size_given },
	{ 'c', "copy-size", OPT_SIZE, "N", NULL, "bytes of a copy, with -l the top of the sweep "
	  "(default: all of the buffer)", &args.copy, 1, TOOL_BYTES_MAX, NULL, NULL },
	{ 'l', "sweep", OPT_FLAG, NULL, NULL, "copy 1, 2, 4, ... bytes up to and including the top",
	  &args.sweep, 0, 0, NULL, NULL },
	TOOL_OPTS_SIZES(args.tool),
	{ 'o', "offset", OPT_SIZE, "N", "0", "offset of the copies in the buffer, a multiple of 4",
	  &args.offset, 0, TOOL_BYTES_MAX, NULL, NULL },
	COPIES_OPTS_ITERATIONS(args.writes, args.reads),
	TOOL_OPTS_TIME(args.tool, "1"),
	{ 0, "threads", OPT_NUMBER, "N", "1", "threads that copy at the same time, each to or from "
	  "its own piece of the buffer, for --min-time (200 ms)", &args.threads, 1, COPYBW_THREADS,
	  NULL, NULL },
	{ 0, "bidirectional", OPT_FLAG, NULL, NULL, "write and read at the same time, by so many "
	  "threads each, for --min-time (200 ms)", &args.bidirectional, 0, 0, NULL, NULL },
	COPIES_OPT_CUMEMCPY(0, args.cuda),
	TOOL_OPT_NO_VERIFY(args.no_verify),
	TOOL_OPTS_LAST(args.tool),
};

static const struct opts_program program = {
	.name = NAME,
	.summary = "Measure the bandwidth of CPU copies to and from mapped GPU memory.",
	.opts = options,
	.n = sizeof(options) / sizeof(options[0]),
	.notes =
		"MB/s are 10^6 bytes a second, GiB/s are 2^30. The data are compared in both\n"
		"directions. Exit status: 0; 1 after an error or a data mismatch; 3 if something\n"
		"is worse than the baseline; 130 if interrupted, after the partial results.\n",
};

static const char *const keys[] = {
	"test", "size_bytes", "offset_bytes", "threads", "thread", "bidirectional", NULL
};

static const struct results results = {
	.keys = keys,
	.value = "mb_per_s",
	.more_is_better = true,
	.title = "Bandwidth of CPU copies to and from GPU memory",
	.x = "size_bytes", .x_label = "bytes of a copy", .series = "method",
	.subject = "gdr_copy",
	.panel = {
		{ "CPU to GPU", "direction", "to", "mb_per_s", "GB/s", 1000 },
		{ "GPU to CPU", "direction", "from", "mb_per_s", "GB/s", 1000 },
	},
	.panels = 2,
};

/* What does not go together. */
static int check_args(void)
{
	const char *why = NULL;
	bool crew = args.threads > 1 || args.bidirectional;

	if (sizes_given(&args.tool.sizes) && (args.sweep || args.copy))
		why = "--sizes, --min, --max and --step exclude -l and -c";
	else if (crew && args.cuda)
		why = "--cumemcpy excludes --threads and --bidirectional";
	else if (crew && args.tool.per_call)
		why = "--per-call excludes --threads and --bidirectional";
	if (!why && args.offset % 4) {
		fprintf(stderr, "ERROR: offset %llu is not a multiple of 4\n",
			(unsigned long long)args.offset);
		return -EINVAL;
	}
	if (!why)
		return 0;
	fprintf(stderr, "ERROR: %s\n", why);
	return -EINVAL;
}

static int complain(uint64_t size)
{
	fprintf(stderr, "ERROR: offset %llu + copy size %llu do not fit the buffer of %llu bytes "
		"(option -s)\n", (unsigned long long)args.offset, (unsigned long long)size,
		(unsigned long long)args.size);
	return -EINVAL;
}

static int choose_sizes(struct copybw *bw)
{
	const struct sizes_args *a = &args.tool.sizes;
	uint64_t top = args.copy ? args.copy : !args.size_given && a->max ? a->max : args.size;
	uint64_t largest;
	int err;

	err = sizes_choose(a, sizes_given(a) || args.sweep ? 1 : top, top, &bw->sizes);
	if (err)
		return err;
	largest = bw->sizes.largest;
	if (sizes_given(a) && !args.size_given)
		args.size = args.offset + largest;
	if (largest > args.size || args.offset > args.size - largest)
		return complain(largest);
	bw->buffer = gpu_round_up(args.size);
	if (copybw_workers() > 1)
		bw->buffer = gpu_round_up(copybw_workers() *
					  copybw_stride(args.size - args.offset));
	return 0;
}

void copybw_format_rate(char *buf, size_t len, double v)
{
	int decimals;

	/* Calls that took no longer than the clock shows around nothing have no rate. */
	if (!isfinite(v)) {
		snprintf(buf, len, "?");
		return;
	}
	decimals = v > 0 ? 5 - (int)floor(log10(v)) : 0;
	snprintf(buf, len, "%.*f", decimals < 0 ? 0 : decimals > 9 ? 9 : decimals, v);
}

void copybw_report(struct copybw *bw, const struct copybw_row *row)
{
	const struct report_field fields[] = {
		FIELD_STRING("test", row->test->name),
		FIELD_STRING("direction", copies_direction[row->test->direction]),
		FIELD_STRING("method", row->test->method),
		FIELD_INTEGER("size_bytes", bw->copies.n),
		FIELD_INTEGER("offset_bytes", args.offset),
		FIELD_INTEGER("threads", args.threads),
		FIELD_STRING("thread", row->thread),
		FIELD_BOOL("bidirectional", row->bidirectional),
		FIELD_INTEGER("iterations", row->iterations),
		FIELD_REAL("elapsed_us", row->elapsed_us),
		FIELD_REAL("mb_per_s", row->mb_per_s),
		FIELD_REAL("gib_per_s", row->mb_per_s * 1e6 / (1 << 30)),
		FIELD_REAL("best_mb_per_s", row->best),
		FIELD_REAL("median_mb_per_s", row->median),
		FIELD_REAL("worst_mb_per_s", row->worst),
		FIELD_REAL("spread_percent", row->spread_percent),
		TOOL_STATS_FIELDS(row->stats),
		FIELD_BOOL("complete", row->complete),
	};

	report_row(&bw->tool.report, fields, sizeof(fields) / sizeof(fields[0]));
}

static void print_result(struct copybw *bw, const struct copies_test *t, const char *token,
			 const struct bench_result *b)
{
	double n = (double)bw->copies.n;
	const struct copybw_row row = {
		.test = t, .iterations = b->iterations, .elapsed_us = b->elapsed_us,
		.mb_per_s = n * (double)b->iterations / b->elapsed_us, .complete = b->complete,
		.best = n / b->stats.min, .median = n / b->stats.median, .worst = n / b->stats.max,
		.spread_percent = b->spread_percent, .stats = b->stats,
	};
	const struct bench_stats *s = &b->stats;
	char rate[32], rate_gib[32], partial[80] = "", spread[48] = "";

	copybw_format_rate(rate, sizeof(rate), row.mb_per_s);
	copybw_format_rate(rate_gib, sizeof(rate_gib), row.mb_per_s * 1e6 / (1 << 30));
	if (!b->complete)
		snprintf(partial, sizeof(partial), " interrupted after %llu of %llu iterations",
			 (unsigned long long)b->iterations, (unsigned long long)b->planned);
	if (args.tool.repeat > 1)
		snprintf(spread, sizeof(spread), " rounds apart by %.1f %%", b->spread_percent);
	report_line(&bw->tool.report, "%s BW: %sMB/s (%s GiB/s)%s%s", token, rate, rate_gib, spread,
		    partial);
	if (args.tool.per_call)
		report_line(&bw->tool.report, "  us a call: P0 %.4g, P50 %.4g, P90 %.4g, P99 %.4g, "
			    "P99.9 %.4g, max %.4g", s->min, s->median, s->p90, s->p99, s->p999,
			    s->max);
	copybw_report(bw, &row);
	crossover_add(&bw->crossover[t->direction], t->way, bw->copies.n,
		      b->elapsed_us / (double)b->iterations);
}

static int measure(struct copybw *bw, const struct copies_test *t, const char *token)
{
	uint64_t iterations = t->direction ? args.reads : args.writes;
	struct bench_plan plan = tool_plan(&args.tool, iterations);
	struct bench_result result;
	int err;

	plan.label = t->name;
	plan.size = bw->copies.n;
	plan.call = t->call;
	plan.arg = &bw->copies;
	/* Ten calls a bucket, so that reading the clock does not weigh on single reads. */
	if (iterations / 10 < BENCH_BUCKETS)
		plan.buckets = iterations < 10 ? 1 : (unsigned)(iterations / 10);
	report_line(&bw->tool.report, "%s test, size=%zu offset=%llu num_iters=%llu",
		    t->way != CROSSOVER_ONE_THREAD ? t->name : t->direction ? "reading" : "writing",
		    bw->copies.n, (unsigned long long)args.offset, (unsigned long long)iterations);
	err = bench_run(&plan, &result);
	if (err)
		err = copies_error(&bw->copies, t, err);
	else if (result.stats.n)
		print_result(bw, t, token, &result);
	bench_free(&result);
	return err;
}

static int measure_cuda(struct copybw *bw)
{
	static const struct copies_test *const tests[] = {
		copies_cuda, copies_pageable, copies_threads,
	};
	size_t i, dir;
	int err = 0;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		for (dir = 0; dir < 2 && !err && !bench_stopped(); dir++)
			err = measure(bw, &tests[i][dir], tests[i][dir].name);
	return err;
}

static int run_size(struct copybw *bw)
{
	struct verify *v = &bw->copies.verify;
	size_t size = bw->copies.n;
	bool check = !args.no_verify;
	int err;

	if (copybw_workers() > 1)
		return copybw_run_crew(bw);
	err = check ? verify_prepare_write(v, size) : 0;
	if (!err)
		err = measure(bw, &copies_gdr[0], "write");
	if (err || bench_stopped())
		return err;
	err = check ? verify_write(v, size) : 0;
	if (!err && check)
		err = verify_prepare_read(v, size);
	if (!err)
		err = measure(bw, &copies_gdr[1], "read");
	if (!err && check && !bench_stopped())
		verify_read(v, size);
	if (!err && args.cuda && !bench_stopped())
		err = measure_cuda(bw);
	return err;
}

static void print_setup(struct copybw *bw)
{
	const struct buffers *b = &bw->copies.buffers;
	struct report *r = &bw->tool.report;
	const struct report_field parameters[] = {
		FIELD_INTEGER("buffer_bytes", bw->buffer),
		FIELD_STRING("allocator", b->dev.how->name),
		FIELD_INTEGER("threads", args.threads),
		FIELD_BOOL("bidirectional", args.bidirectional),
		FIELD_BOOL("verify", !args.no_verify),
		FIELD_BOOL("host_memory_pinned", b->src.pinned && b->dst.pinned),
	};
	size_t i;

	tool_report_time(&bw->tool);
	for (i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		report_parameter(r, &parameters[i]);
	report_note(r, "units: MB/s = 10^6 bytes per second, GiB/s = 2^30 bytes per second");
	report_line(r, "testing size: %llu", (unsigned long long)bw->sizes.v[bw->sizes.n - 1]);
	report_line(r, "rounded size: %zu", bw->buffer);
	report_line(r, "gpu alloc fn: %s", b->dev.how->name);
	report_line(r, "device ptr: %llx", b->dev.ptr);
}

static void print_comparison(struct copybw *bw)
{
	struct report *r = &bw->tool.report;
	int dir;

	for (dir = 0; dir < 2; dir++) {
		crossover_print_table(&bw->crossover[dir], r, copies_direction[dir], true);
		crossover_print(&bw->crossover[dir], r, copies_direction[dir]);
	}
}

static int run(struct copybw *bw)
{
	struct report *r = &bw->tool.report;
	struct copies *c = &bw->copies;
	size_t i;
	int err, err_close;

	print_setup(bw);
	err = window_open(&c->window, r, c->buffers.dev.ptr, bw->buffer, (int)args.tool.mapping);
	if (err)
		return err;
	window_print(&c->window, r, false);
	c->offset = args.offset;
	c->verify.window = &c->window;
	c->verify.report = r;
	c->verify.buffers = &c->buffers;
	c->verify.offset = args.offset;
	pattern_fill(c->buffers.src.ptr, bw->buffer, 0);
	for (i = 0; i < bw->sizes.n && !err && !bench_stopped(); i++) {
		c->n = bw->sizes.v[i];
		err = run_size(bw);
	}
	if (!err && args.cuda && !bench_stopped())
		print_comparison(bw);
	err_close = window_close(&c->window, r);
	return err ? err : err_close;
}

static int run_gpu(struct copybw *bw)
{
	unsigned mismatches = bw->copies.verify.mismatches;
	int err, err_free;

	memset(bw->crossover, 0, sizeof(bw->crossover));
	err = copies_alloc(&gpu_allocators[args.tool.alloc], bw->buffer, args.cuda, &bw->copies);
	if (err)
		return err;
	bw->copies.verify.mismatches = mismatches;
	err = run(bw);
	err_free = copies_free(&bw->copies);
	return err ? err : err_free;
}

int main(int argc, char **argv)
{
	struct copybw bw = { .tool = { .results = &results, .several = true } };
	enum opts_result parsed = opts_parse(&program, argc, argv);
	int err;

	if (parsed != OPTS_RUN)
		return parsed == OPTS_DONE ? 0 : 1;
	if (check_args() || choose_sizes(&bw) || tool_check_iterations(&args.tool, args.writes) ||
	    tool_check_iterations(&args.tool, args.reads) ||
	    tool_begin(&bw.tool, NAME, &args.tool, argc, argv))
		return 1;
	do
		err = run_gpu(&bw);
	while (!err && (err = tool_next_gpu(&bw.tool)) > 0);
	if (bw.copies.verify.mismatches)
		report_note(&bw.tool.report, "DATA MISMATCH: %u checks failed",
			    bw.copies.verify.mismatches);
	return tool_end(&bw.tool, !err && !bw.copies.verify.mismatches);
}
