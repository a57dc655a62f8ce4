/* SPDX-License-Identifier: MIT */
/*
 * gdrcopy_copylat: time of one gdr_copy_to_mapping or gdr_copy_from_mapping
 * call over a sweep of sizes, beside cuMemcpy if asked for, with a check of
 * the data in both directions.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "copylat.h"
#include "pattern.h"

#define NAME        "gdrcopy_copylat"
#define BYTES_MAX   (1ULL << 40)
#define COUNT_MAX   1000000000000ULL

static struct {
	struct tool_args tool;
	uint64_t size, writes, reads, warmup;
	bool size_given, cuda, cold, no_verify;
	struct opt_sizes sizes;
} args;

static const struct opt options[] = {
	{ 's', "size", OPT_SIZE, "N", "16777216", "bytes of the buffer and top of the sweep, "
	  "rounded up to 64 KiB", &args.size, 1, BYTES_MAX, NULL, &args.size_given },
	{ 0, "sizes", OPT_SIZES, "LIST", NULL, "copy these sizes, as in 4,64,1K; without -s the "
	  "buffer is as large as they need", &args.sizes, 1, BYTES_MAX, NULL, NULL },
	{ 'w', "write-iters", OPT_NUMBER, "N", "10000", "writes of each size",
	  &args.writes, 1, COUNT_MAX, NULL, NULL },
	{ 'r', "read-iters", OPT_NUMBER, "N", "100", "reads of each size",
	  &args.reads, 1, COUNT_MAX, NULL, NULL },
	{ 0, "warmup", OPT_NUMBER, "N", "1", "untimed copies before each measurement",
	  &args.warmup, 0, COUNT_MAX, NULL, NULL },
	{ 'c', "cumemcpy", OPT_FLAG, NULL, NULL, "measure cuMemcpy and copies by several threads, "
	  "too, and tell where cuMemcpy is faster",
	  &args.cuda, 0, 0, NULL, NULL },
	{ 'C', "cold-cache", OPT_FLAG, NULL, NULL, "have the GPU own the lines before each copy; "
	  "for caching mappings only", &args.cold, 0, 0, NULL, NULL },
	{ 0, "no-verify", OPT_FLAG, NULL, NULL, "do not check the data",
	  &args.no_verify, 0, 0, NULL, NULL },
	TOOL_OPT_DEVICE(args.tool),
	TOOL_OPT_ALLOC(args.tool),
	TOOL_OPT_MAPPING(args.tool),
	TOOL_OPT_SOFT(args.tool),
	TOOL_OPT_CSV(args.tool),
	TOOL_OPT_JSON(args.tool),
	TOOL_OPT_HELP,
	TOOL_OPT_VERSION,
};

static const struct opts_program program = {
	.name = NAME,
	.summary = "Measure the time of CPU copies to and from mapped GPU memory.",
	.opts = options,
	.n = sizeof(options) / sizeof(options[0]),
	.notes =
		"The calls of each size are timed in up to 100 buckets; all statistics are those\n"
		"of the buckets' means. Iterations above 100 are raised to a multiple of 100. The\n"
		"data are compared in both directions before each gdr measurement. Exit status:\n"
		"0; 1 after an error or a data mismatch; 130 if interrupted, after the partial\n"
		"results.\n",
};

static void print_row(struct copylat *lat, const struct test *t, const struct bench_result *b,
		      unsigned buckets)
{
	const struct bench_stats *s = &b->stats;
	const struct report_field row[] = {
		FIELD_STRING("test", t->name),
		FIELD_INTEGER("size_bytes", lat->n),
		FIELD_INTEGER("iterations", b->iterations),
		FIELD_INTEGER("samples", s->n),
		FIELD_REAL("min_us", s->min),
		FIELD_REAL("median_us", s->median),
		FIELD_REAL("p90_us", s->p90),
		FIELD_REAL("p99_us", s->p99),
		FIELD_REAL("max_us", s->max),
		FIELD_REAL("mean_us", s->mean),
		FIELD_REAL("stddev_us", s->stddev),
		FIELD_BOOL("complete", b->complete),
	};

	report_line(&lat->tool.report, "%s \t %8zu \t %11.4f \t %11.4f", t->name, lat->n, s->median,
		    s->min);
	report_row(&lat->tool.report, row, sizeof(row) / sizeof(row[0]));
	if (!b->complete)
		report_note(&lat->tool.report,
			    "interrupted: %s of %zu bytes after %zu of %u samples",
			    t->name, lat->n, s->n, buckets);
}

static int run_size(struct copylat *lat, const struct test *t)
{
	bool cold = args.cold && t->cold;
	struct bench_plan plan = {
		.label = t->name, .size = lat->n, .arg = lat,
		.call = cold ? t->cold : t->call,
		.overhead = cold ? copylat_chill : NULL,
		.warmup = args.warmup, .iterations = lat->iterations[t->direction],
		.buckets = lat->iterations[t->direction] < BENCH_BUCKETS ?
			(unsigned)lat->iterations[t->direction] : BENCH_BUCKETS,
	};
	struct bench_result result;
	int err;

	err = t->check && !args.no_verify ? t->check(lat) : 0;
	if (err)
		return err;
	err = bench_run(&plan, &result);
	if (err && t->way != CROSSOVER_CUDA)
		return window_error(t->name, err);
	if (err) {
		fprintf(stderr, "ERROR: %s of %zu bytes failed\n", t->name, lat->n);
		return -err;
	}
	if (result.stats.n) {
		print_row(lat, t, &result, plan.buckets);
		crossover_add(&lat->crossover[t->direction], t->way, lat->n, result.stats.median);
	}
	return 0;
}

static int run_test(struct copylat *lat, const struct test *t)
{
	const struct report *r = &lat->tool.report;
	size_t i;
	int err = 0;

	report_blank(r);
	report_line(r, "%s num iters for each size: %llu", t->name,
		    (unsigned long long)lat->iterations[t->direction]);
	if (t == &copylat_gdr_tests[0])
		report_line(r, "WARNING: this is the cost of the call on the CPU; the data may not "
			    "be visible to the GPU when it returns");
	report_line(r, "Test %s Size(B) \t Median Time(us) \t Min. Time(us)", t->header_tabs);
	for (i = 0; i < lat->n_sizes && !err && !bench_stopped(); i++) {
		lat->n = lat->sizes[i];
		err = run_size(lat, t);
	}
	return err;
}

static int run_tests(struct copylat *lat, const struct test *tests)
{
	size_t i;
	int err = 0;

	for (i = 0; i < COPYLAT_DIRECTIONS && !err && !bench_stopped(); i++)
		err = run_test(lat, &tests[i]);
	return err;
}

static void print_setup(struct copylat *lat)
{
	struct report *r = &lat->tool.report;
	const struct report_field parameters[] = {
		FIELD_INTEGER("buffer_bytes", lat->buffer),
		FIELD_STRING("allocator", lat->buffers.dev.how->name),
		FIELD_INTEGER("warmup_iterations", args.warmup),
		FIELD_BOOL("cold_cache", args.cold),
		FIELD_BOOL("verify", !args.no_verify),
		FIELD_BOOL("host_memory_pinned",
			   lat->buffers.src.pinned && lat->buffers.dst.pinned),
		FIELD_STRING("statistics_of", "means of up to 100 buckets of calls"),
	};
	size_t i;

	for (i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		report_parameter(r, &parameters[i]);
	report_line(r, "device ptr: 0x%llx", lat->buffers.dev.ptr);
	report_line(r, "allocated size: %zu", lat->buffer);
	report_line(r, "gpu alloc fn: %s", lat->buffers.dev.how->name);
	report_blank(r);
}

static int run_gdr(struct copylat *lat)
{
	struct report *r = &lat->tool.report;
	int err, err_close;

	report_blank(r);
	err = window_open(&lat->window, r, lat->buffers.dev.ptr, lat->buffer,
			  (int)args.tool.mapping);
	if (err)
		return err;
	window_print(&lat->window, r, true);
	report_line(r, "use cold cache: %s", args.cold ? "yes" : "no");
	lat->verify = (struct verify){
		.window = &lat->window, .report = r, .buffers = &lat->buffers,
	};
	if (args.cold && lat->window.info.mapping_type != GDR_MAPPING_TYPE_CACHING) {
		fprintf(stderr, "ERROR: a cold cache (-C) needs a caching mapping, and this one "
			"is not\n");
		err = -EINVAL;
	} else {
		err = run_tests(lat, copylat_gdr_tests);
		if (!err && args.cuda)
			err = run_tests(lat, copylat_thread_tests);
	}
	if (!err && args.cuda && !bench_stopped()) {
		report_blank(r);
		crossover_print(&lat->crossover[0], r, "to");
		crossover_print(&lat->crossover[1], r, "from");
	}
	if (lat->verify.mismatches)
		report_note(r, "DATA MISMATCH: %u checks failed", lat->verify.mismatches);
	err_close = window_close(&lat->window, r);
	return err ? err : err_close;
}

static int run(struct copylat *lat)
{
	int err = 0;

	print_setup(lat);
	pattern_fill(lat->buffers.src.ptr, lat->buffer, 0);
	if (args.cuda)
		err = run_tests(lat, copylat_cuda_tests);
	if (err || bench_stopped())
		return err;
	return run_gdr(lat);
}

/* The largest size and the list of sizes; -s is rounded up, and then the top. */
static int choose_sizes(struct copylat *lat)
{
	uint64_t largest = 0;
	size_t i;

	for (i = 0; i < args.sizes.n; i++) {
		lat->sizes[i] = args.sizes.v[i];
		if (largest < lat->sizes[i])
			largest = lat->sizes[i];
	}
	lat->n_sizes = i;
	if (largest && !args.size_given)
		args.size = largest;
	lat->buffer = gpu_round_up(args.size);
	if (largest > lat->buffer) {
		fprintf(stderr, "ERROR: copy size %llu does not fit the buffer of %zu bytes "
			"(option -s)\n", (unsigned long long)largest, lat->buffer);
		return -EINVAL;
	}
	if (!largest)
		lat->n_sizes = bench_sweep(lat->buffer, lat->sizes, SIZES_MAX);
	return 0;
}

/* So that all buckets are of one length. */
static void round_iterations(const char *what, uint64_t *n)
{
	uint64_t up = (*n + BENCH_BUCKETS - 1) / BENCH_BUCKETS * BENCH_BUCKETS;

	if (*n <= BENCH_BUCKETS || *n == up)
		return;
	fprintf(stderr, "WARNING: %s iterations raised from %llu to %llu, a multiple of %d\n", what,
		(unsigned long long)*n, (unsigned long long)up, BENCH_BUCKETS);
	*n = up;
}

int main(int argc, char **argv)
{
	struct copylat lat = { 0 };
	enum opts_result parsed = opts_parse(&program, argc, argv);
	int err, err_free;

	if (parsed != OPTS_RUN)
		return parsed == OPTS_DONE ? 0 : 1;
	round_iterations("write", &args.writes);
	round_iterations("read", &args.reads);
	lat.iterations[0] = args.writes;
	lat.iterations[1] = args.reads;
	if (choose_sizes(&lat) || tool_begin(&lat.tool, NAME, &args.tool, argc, argv))
		return 1;
	err = buffers_alloc(&gpu_allocators[args.tool.alloc], lat.buffer, &lat.buffers);
	if (!err) {
		err = run(&lat);
		err_free = buffers_free(&lat.buffers);
		err = err ? err : err_free;
	}
	return tool_end(&lat.tool, !err && !lat.verify.mismatches);
}
