/* SPDX-License-Identifier: MIT */
/*
 * gdrcopy_copylat: time of one gdr_copy_to_mapping or gdr_copy_from_mapping
 * call over a sweep of sizes, beside cuMemcpy if asked for, with a check of
 * the data in both directions.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "copies.h"
#include "pattern.h"
#include "tool.h"

#define NAME  "gdrcopy_copylat"

static struct {
	struct tool_args tool;
	uint64_t size, writes, reads;
	bool size_given, cuda, cold, no_verify;
} args;

static const struct opt options[] = {
	{ 's', "size", OPT_SIZE, "N", "16777216", "bytes of the buffer and top of the sweep, "
	  "rounded up to 64 KiB; without -s the buffer is as large as the sizes need",
	  &args.size, 1, TOOL_BYTES_MAX, NULL, &args.size_given },
	TOOL_OPTS_SIZES(args.tool),
	COPIES_OPTS_ITERATIONS(args.writes, args.reads),
	TOOL_OPTS_TIME(args.tool, "1"),
	COPIES_OPT_CUMEMCPY('c', args.cuda),
	{ 'C', "cold-cache", OPT_FLAG, NULL, NULL, "have the GPU own the lines before each copy; "
	  "for caching mappings only", &args.cold, 0, 0, NULL, NULL },
	TOOL_OPT_NO_VERIFY(args.no_verify),
	TOOL_OPTS_LAST(args.tool),
};

static const struct opts_program program = {
	.name = NAME,
	.summary = "Measure the time of CPU copies to and from mapped GPU memory.",
	.opts = options,
	.n = sizeof(options) / sizeof(options[0]),
	.notes =
		"The calls of each size are timed in up to 100 buckets; all statistics are those\n"
		"of the buckets' means, or with --per-call those of single calls. Iterations\n"
		"above 100 are raised to a multiple of 100. The data are compared in both\n"
		"directions before each gdr measurement. Exit status: 0; 1 after an error or a\n"
		"data mismatch; 3 if something is worse than the baseline; 130 if interrupted,\n"
		"after the partial results.\n",
};

static const char *const keys[] = { "test", "size_bytes", NULL };

static const struct results results = {
	.keys = keys,
	.value = "median_us",
	.title = "CPU copies to and from GPU memory",
	.x = "size_bytes", .x_label = "bytes of a copy", .series = "method",
	.subject = "gdr_copy",
	.panel = {
		{ "CPU to GPU: time of a call", "direction", "to", "median_us", "µs (median)" },
		{ "GPU to CPU: time of a call", "direction", "from", "median_us", "µs (median)" },
		{ "CPU to GPU: bandwidth", "direction", "to", "gb_per_s", "GB/s" },
		{ "GPU to CPU: bandwidth", "direction", "from", "gb_per_s", "GB/s" },
	},
	.panels = 4,
};

struct copylat {
	struct tool tool;
	struct copies copies;
	struct sizes sizes;
	size_t buffer;                  /* bytes, whole GPU pages */
	uint64_t iterations[2];         /* by direction */
	struct crossover crossover[2];  /* by direction */
};

/* The columns of text beyond those that are always there. */
static void print_more(char *buf, size_t len, const struct bench_result *b)
{
	const struct bench_stats *s = &b->stats;
	int at = 0;

	*buf = '\0';
	if (args.tool.per_call)
		at = snprintf(buf, len, " \t %11.4f \t %11.4f \t %11.4f \t %11.4f", s->p90, s->p99,
			      s->p999, s->max);
	if (args.tool.repeat > 1 && at >= 0)
		snprintf(buf + at, len - (size_t)at, " \t %8.1f", b->spread_percent);
}

static void print_row(struct copylat *lat, const struct copies_test *t,
		      const struct bench_result *b)
{
	const struct bench_stats *s = &b->stats;
	struct report *r = &lat->tool.report;
	size_t n = lat->copies.n;
	const struct report_field row[] = {
		FIELD_STRING("test", t->name),
		FIELD_STRING("direction", copies_direction[t->direction]),
		FIELD_STRING("method", t->method),
		FIELD_INTEGER("size_bytes", n),
		FIELD_INTEGER("iterations", b->iterations),
		FIELD_INTEGER("rounds", b->rounds),
		TOOL_STATS_FIELDS(*s),
		FIELD_REAL("spread_percent", b->spread_percent),
		FIELD_REAL("gb_per_s", (double)n / s->median * 1e-3),
		FIELD_BOOL("complete", b->complete),
	};
	char more[120];

	print_more(more, sizeof(more), b);
	report_line(r, "%s \t %8zu \t %11.4f \t %11.4f%s", t->name, n, s->median, s->min, more);
	report_row(r, row, sizeof(row) / sizeof(row[0]));
	if (!b->complete)
		report_note(r, "interrupted: %s of %zu bytes after %llu of %llu calls", t->name, n,
			    (unsigned long long)b->iterations, (unsigned long long)b->planned);
}

static int run_size(struct copylat *lat, const struct copies_test *t)
{
	bool cold = args.cold && t->cold;
	struct bench_plan plan = tool_plan(&args.tool, lat->iterations[t->direction]);
	struct bench_result result;
	int err;

	plan.label = t->name;
	plan.size = lat->copies.n;
	plan.call = cold ? t->cold : t->call;
	plan.overhead = cold ? copies_chill : NULL;
	plan.arg = &lat->copies;
	err = t->check && !args.no_verify ? t->check(&lat->copies) : 0;
	if (err)
		return err;
	err = bench_run(&plan, &result);
	if (err) {
		err = copies_error(&lat->copies, t, err);
	} else if (result.stats.n) {
		print_row(lat, t, &result);
		crossover_add(&lat->crossover[t->direction], t->way, lat->copies.n,
			      result.stats.median);
	}
	bench_free(&result);
	return err;
}

static void print_heading(struct copylat *lat, const struct copies_test *t)
{
	static const char tails[] = " \t P90(us) \t P99(us) \t P99.9(us) \t Max. Time(us)";
	bool gdr = t->way == CROSSOVER_ONE_THREAD || t->way == CROSSOVER_THREADS;
	const struct report *r = &lat->tool.report;

	report_blank(r);
	report_line(r, "%s num iters for each size: %llu", t->name,
		    (unsigned long long)lat->iterations[t->direction]);
	if (t == &copies_gdr[0])
		report_line(r, "WARNING: this is the cost of the call on the CPU; the data may not "
			    "be visible to the GPU when it returns");
	report_line(r, "Test %s Size(B) \t Median Time(us) \t Min. Time(us)%s%s",
		    gdr ? "\t\t\t" : "\t\t", args.tool.per_call ? tails : "",
		    args.tool.repeat > 1 ? " \t Spread(%)" : "");
}

/* Both directions of a way. */
static int run_tests(struct copylat *lat, const struct copies_test *tests)
{
	size_t dir, i;
	int err = 0;

	for (dir = 0; dir < 2 && !err && !bench_stopped(); dir++) {
		print_heading(lat, &tests[dir]);
		for (i = 0; i < lat->sizes.n && !err && !bench_stopped(); i++) {
			lat->copies.n = lat->sizes.v[i];
			err = run_size(lat, &tests[dir]);
		}
	}
	return err;
}

static void print_setup(struct copylat *lat)
{
	const struct buffers *b = &lat->copies.buffers;
	struct report *r = &lat->tool.report;
	const struct report_field parameters[] = {
		FIELD_INTEGER("buffer_bytes", lat->buffer),
		FIELD_STRING("allocator", b->dev.how->name),
		FIELD_BOOL("cold_cache", args.cold),
		FIELD_BOOL("verify", !args.no_verify),
		FIELD_BOOL("host_memory_pinned", b->src.pinned && b->dst.pinned),
		FIELD_STRING("statistics_of", args.tool.per_call ? "single calls" :
			     "means of up to 100 buckets of calls in each round"),
	};
	size_t i;

	tool_report_time(&lat->tool);
	for (i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		report_parameter(r, &parameters[i]);
	report_line(r, "device ptr: 0x%llx", b->dev.ptr);
	report_line(r, "allocated size: %zu", lat->buffer);
	report_line(r, "gpu alloc fn: %s", b->dev.how->name);
	report_blank(r);
}

static void print_comparison(struct copylat *lat)
{
	const struct report *r = &lat->tool.report;
	int dir;

	for (dir = 0; dir < 2; dir++) {
		report_blank(r);
		crossover_print_table(&lat->crossover[dir], r, copies_direction[dir], false);
	}
	report_blank(r);
	for (dir = 0; dir < 2; dir++)
		crossover_print(&lat->crossover[dir], &lat->tool.report, copies_direction[dir]);
}

static int run_gdr(struct copylat *lat)
{
	struct report *r = &lat->tool.report;
	struct copies *c = &lat->copies;
	int err, err_close;

	report_blank(r);
	err = window_open(&c->window, r, c->buffers.dev.ptr, lat->buffer, (int)args.tool.mapping);
	if (err)
		return err;
	window_print(&c->window, r, true);
	report_line(r, "use cold cache: %s", args.cold ? "yes" : "no");
	c->verify.window = &c->window;
	c->verify.report = r;
	c->verify.buffers = &c->buffers;
	if (args.cold && c->window.info.mapping_type != GDR_MAPPING_TYPE_CACHING) {
		fprintf(stderr, "ERROR: a cold cache (-C) needs a caching mapping, and this one "
			"is not\n");
		err = -EINVAL;
	} else {
		err = run_tests(lat, copies_gdr);
		if (!err && args.cuda)
			err = run_tests(lat, copies_threads);
	}
	if (!err && args.cuda && !bench_stopped())
		print_comparison(lat);
	err_close = window_close(&c->window, r);
	return err ? err : err_close;
}

static int run_gpu(struct copylat *lat)
{
	unsigned mismatches = lat->copies.verify.mismatches;
	int err, err_free;

	memset(lat->crossover, 0, sizeof(lat->crossover));
	err = copies_alloc(&gpu_allocators[args.tool.alloc], lat->buffer, args.cuda, &lat->copies);
	if (err)
		return err;
	lat->copies.verify.mismatches = mismatches;
	print_setup(lat);
	pattern_fill(lat->copies.buffers.src.ptr, lat->buffer, 0);
	if (args.cuda)
		err = run_tests(lat, copies_cuda);
	if (!err && args.cuda)
		err = run_tests(lat, copies_pageable);
	if (!err && !bench_stopped())
		err = run_gdr(lat);
	err_free = copies_free(&lat->copies);
	return err ? err : err_free;
}

/* The sizes and the buffer; -s is rounded up, and then the top. */
static int choose_sizes(struct copylat *lat)
{
	const struct sizes_args *a = &args.tool.sizes;
	uint64_t top = !args.size_given && a->max ? a->max : gpu_round_up(args.size);
	int err = sizes_choose(a, 1, top, &lat->sizes);

	if (err)
		return err;
	if (!args.size_given && sizes_given(a))
		args.size = lat->sizes.largest;
	lat->buffer = gpu_round_up(args.size);
	if (lat->sizes.largest > lat->buffer) {
		fprintf(stderr, "ERROR: copy size %llu does not fit the buffer of %zu bytes "
			"(option -s)\n", (unsigned long long)lat->sizes.largest, lat->buffer);
		return -EINVAL;
	}
	return 0;
}

/* So that all buckets are of one length. */
static void round_iterations(const char *what, uint64_t *n)
{
	uint64_t up = (*n + BENCH_BUCKETS - 1) / BENCH_BUCKETS * BENCH_BUCKETS;

	if (args.tool.per_call || *n <= BENCH_BUCKETS || *n == up)
		return;
	fprintf(stderr, "WARNING: %s iterations raised from %llu to %llu, a multiple of %d\n", what,
		(unsigned long long)*n, (unsigned long long)up, BENCH_BUCKETS);
	*n = up;
}

int main(int argc, char **argv)
{
	struct copylat lat = { .tool = { .results = &results, .several = true } };
	enum opts_result parsed = opts_parse(&program, argc, argv);
	int err;

	if (parsed != OPTS_RUN)
		return parsed == OPTS_DONE ? 0 : 1;
	if (args.cold && args.tool.per_call) {
		fprintf(stderr, "ERROR: -C and --per-call exclude each other: what makes the cache "
			"cold is taken off the mean of many calls\n");
		return 1;
	}
	round_iterations("write", &args.writes);
	round_iterations("read", &args.reads);
	lat.iterations[0] = args.writes;
	lat.iterations[1] = args.reads;
	if (tool_check_iterations(&args.tool, args.writes) ||
	    tool_check_iterations(&args.tool, args.reads) || choose_sizes(&lat) ||
	    tool_begin(&lat.tool, NAME, &args.tool, argc, argv))
		return 1;
	do
		err = run_gpu(&lat);
	while (!err && (err = tool_next_gpu(&lat.tool)) > 0);
	if (lat.copies.verify.mismatches)
		report_note(&lat.tool.report, "DATA MISMATCH: %u checks failed",
			    lat.copies.verify.mismatches);
	return tool_end(&lat.tool, !err && !lat.copies.verify.mismatches);
}
