/* SPDX-License-Identifier: MIT */
/*
 * gdrcopy_apiperf: what each control call of libgdrapi costs, the first time and
 * later, by size, with many buffers, and by several threads.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "apiperf.h"
#include "provenance.h"
#include "window.h"

#define NAME         "gdrcopy_apiperf"
#define BUFFERS_MAX  1000000
#define THREADS_MAX  1024

static struct apiperf_args args;

static const char *const handles_names[] = { "both", "one", "own", NULL };
static const char *const histogram_names[] = { "pin", "all", "none", NULL };

static const struct opt options[] = {
	{ 's', "size", OPT_SIZE, "N", "16777216", "largest buffer, rounded up to 64 KiB; the sizes "
	  "are 65536, 131072, ...", &args.size, 1, TOOL_BYTES_MAX, NULL, &args.size_given },
	TOOL_OPTS_SIZES(args.tool),
	{ 0, "fit", OPT_FLAG, NULL, NULL, "instead of -s: up to the largest power of two that can "
	  "be allocated, pinned and mapped", &args.fit, 0, 0, NULL, NULL },
	{ 'n', "iterations", OPT_NUMBER, "N", "100", "timed cycles of each size", &args.iterations,
	  1, BENCH_SAMPLES, NULL, NULL },
	{ 'w', "warmup", OPT_NUMBER, "N", "10", "untimed cycles before them", &args.tool.warmup, 0,
	  TOOL_COUNT_MAX, NULL, NULL },
	TOOL_OPT_REPEAT(args.tool),
	TOOL_OPT_MIN_TIME(args.tool),
	{ 0, "max-time", OPT_NUMBER, "S", "10", "end the cycles of a size after so many seconds",
	  &args.max_time, 1, 86400, NULL, NULL },
	{ 0, "first", OPT_NUMBER, "N", "1", "measure the first calls of N processes", &args.first,
	  1, 10000, NULL, NULL },
	{ 0, "fresh", OPT_NUMBER, "N", "10", "measure N contexts that are opened while no other "
	  "is", &args.fresh, 0, 1000000, NULL, NULL },
	{ 0, "buffers", OPT_NUMBER, "N", "0", "measure N buffers that are pinned and mapped at "
	  "once", &args.buffers, 0, BUFFERS_MAX, NULL, NULL },
	{ 0, "threads", OPT_NUMBER, "N", "0", "measure 1, 2, 4, ... and N threads, with a buffer "
	  "each", &args.threads, 0, THREADS_MAX, NULL, NULL },
	{ 0, "handles", OPT_CHOICE, "HOW", "both", "threads on one gdr_t, on an own one each",
	  &args.handles, 0, 0, handles_names, NULL },
	{ 0, "buffer-size", OPT_SIZE, "N", "65536", "bytes of the buffers of --buffers and "
	  "--threads, rounded up to 64 KiB", &args.buffer_size, 1, TOOL_BYTES_MAX, NULL, NULL },
	{ 0, "separate", OPT_FLAG, NULL, NULL, "allocate each of them by itself, not all at once",
	  &args.separate, 0, 0, NULL, NULL },
	{ 0, "histogram", OPT_CHOICE, "OF", "pin", "calls whose histograms are printed",
	  &args.histograms, 0, 0, histogram_names, NULL },
	{ 0, "bins", OPT_NUMBER, "N", "10", "bins of a histogram", &args.bins, 1, APIPERF_BINS_MAX,
	  NULL, NULL },
	{ 0, "log", OPT_FLAG, NULL, NULL, "bins of equal ratio, not of equal width", &args.log, 0,
	  0, NULL, NULL },
	{ 0, "samples", OPT_STRING, "FILE", NULL, "write each single time into this file, as CSV",
	  &args.samples, 0, 0, NULL, NULL },
	{ 0, "no-verify", OPT_FLAG, NULL, NULL, "do not check that mappings reach the memory",
	  &args.no_verify, 0, 0, NULL, NULL },
	{ 0, "first-calls-child", OPT_FLAG, NULL, NULL, NULL, &args.child, 0, 0, NULL, NULL },
	TOOL_OPTS_LAST(args.tool),
};

static const struct opts_program program = {
	.name = NAME,
	.summary = "Measure the time of GDRCopy's control calls: open, pin, map, and so on.",
	.opts = options,
	.n = sizeof(options) / sizeof(options[0]),
	.notes =
		"A cycle pins, maps, queries, unmaps and unpins one buffer. Every call is timed\n"
		"by itself, less what the clock shows around nothing. The lines that start with\n"
		"a bar are a table for documents. Exit status: 0; 1 after an error or a data\n"
		"mismatch; 3 if --baseline found something worse; 130 if interrupted, after the\n"
		"partial results.\n",
};

static const char *const keys[] = {
	"phase", "test", "size_bytes", "others_pinned_from", "threads", "handles", NULL,
};

static const struct results results = {
	.keys = keys,
	.value = "baseline_us",
	.title = "GDRCopy: time of the control calls",
	.x = "size_bytes",
	.x_label = "size of the buffer",
	.series = "test",
	.panel = {
		{ "median of warm calls", "curves", "warm", "median_us", "microseconds", false },
		{ "99th percentile", "curves", "warm", "p99_us", "microseconds", false },
	},
	.panels = 2,
};

/* Each size is whole GPU pages, and all are within the buffer. */
static int choose_sizes(struct apiperf *a)
{
	size_t i, n;

	if (args.fit && (args.size_given || sizes_given(&args.tool.sizes))) {
		fprintf(stderr, "ERROR: --fit excludes -s, --sizes, --min, --max and --step\n");
		return -EINVAL;
	}
	if (sizes_choose(&args.tool.sizes, GPU_PAGE_SIZE, gpu_round_up(args.size), &a->sizes))
		return -EINVAL;
	for (i = n = 0; i < a->sizes.n; i++) {
		a->sizes.v[n] = gpu_round_up(a->sizes.v[i]);
		/* Steps below a page. */
		n += !n || a->sizes.v[n] != a->sizes.v[n - 1];
	}
	a->sizes.n = n;
	a->sizes.largest = gpu_round_up(a->sizes.largest);
	if (args.size_given && a->sizes.largest > gpu_round_up(args.size)) {
		fprintf(stderr, "ERROR: size %llu does not fit the buffer of %zu bytes "
			"(option -s)\n", (unsigned long long)a->sizes.largest,
			gpu_round_up(args.size));
		return -EINVAL;
	}
	a->buffer = args.size_given ? gpu_round_up(args.size) : a->sizes.largest;
	return 0;
}

static void report_parameters(struct apiperf *a)
{
	const struct report_field parameters[] = {
		FIELD_INTEGER("buffer_bytes", a->buffer),
		FIELD_STRING("allocator", gpu_allocator_names[args.tool.alloc]),
		FIELD_INTEGER("iterations", args.iterations),
		FIELD_INTEGER("first_processes", args.first),
		FIELD_INTEGER("fresh_contexts", args.fresh),
		FIELD_INTEGER("buffers", args.buffers),
		FIELD_INTEGER("threads", args.threads),
		FIELD_INTEGER("small_buffer_bytes", gpu_round_up(args.buffer_size)),
		FIELD_BOOL("separate_allocations", args.separate),
		FIELD_INTEGER("max_time_s", args.max_time),
		FIELD_BOOL("logarithmic_bins", args.log),
		FIELD_BOOL("verify", !args.no_verify),
	};
	size_t i;

	for (i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		report_parameter(&a->tool.report, &parameters[i]);
	tool_report_time(&a->tool);
}

/* What the header says about library and mapping, from a context opened for it. */
static int report_library(struct apiperf *a, const gdr_info_t *info)
{
	struct apiperf_buffer b = { 0 };
	const char *type = "unknown";
	int err = apiperf_call(CALL_OPEN, &b, NULL);

	if (err)
		return err;
	provenance_gdr(&a->tool.report, b.g);
	gdr_get_mapping_type_string(info->mapping_type, &type);
	report_fact(&a->tool.report, "mapping_type", "%s", type);
	return apiperf_call(CALL_CLOSE, &b, NULL);
}

/* First calls, and contexts that are alone. */
static int run_cold(struct apiperf *a)
{
	struct apiperf_case k = {
		.phase = "first", .size = a->sizes.v[0], .threads = 1, .handles = 1,
		.cycles_per_s = NAN, .complete = true,
	};
	gdr_info_t info;
	int err;

	err = apiperf_first(a, k.size, &info);
	if (!err)
		err = report_library(a, &info);
	if (err)
		return err;
	k.complete = !bench_stopped();
	report_blank(&a->tool.report);
	apiperf_print_title(a, "%zu bytes, first calls of a process", k.size);
	apiperf_print_raw(a, &k, &a->set);
	apiperf_print_set(a, &k, &a->set, a->first);
	if (!args.fresh || bench_stopped())
		return 0;
	err = apiperf_fresh(a, k.size);
	if (err)
		return err;
	k.phase = "fresh";
	k.complete = !bench_stopped();
	apiperf_print_title(a, "%zu bytes, contexts opened while no other is", k.size);
	apiperf_print_raw(a, &k, &a->set);
	apiperf_print_set(a, &k, &a->set, NULL);
	return 0;
}

/* Once more, for --fit found it. */
static void report_buffer(struct apiperf *a)
{
	const struct report_field bytes = FIELD_INTEGER("buffer_bytes", a->buffer);

	report_parameter(&a->tool.report, &bytes);
	report_line(&a->tool.report, "allocated size: %zu", a->buffer);
}

static int run_warm(struct apiperf *a)
{
	struct apiperf_buffer b = { 0 };
	int err, err_close;

	err = apiperf_call(CALL_OPEN, &b, NULL);
	if (err)
		return err;
	if (args.fit)
		err = apiperf_fit(a, b.g);
	if (args.fit && !err)
		report_buffer(a);
	if (!err)
		err = apiperf_warm(a, b.g);
	if (!err)
		err = apiperf_contexts(a);
	if (!err && !bench_stopped())
		err = apiperf_many(a, b.g);
	if (!err && !bench_stopped())
		err = apiperf_threads(a, b.g);
	if (!err)
		apiperf_print_summary(a);
	if (a->verify.mismatches)
		report_note(&a->tool.report, "DATA MISMATCH: %u words differ",
			    a->verify.mismatches);
	report_line(&a->tool.report, "closing gdrdrv");
	err_close = apiperf_call(CALL_CLOSE, &b, NULL);
	return err ? err : err_close;
}

static int run_gpu(struct apiperf *a)
{
	struct report *r = &a->tool.report;
	int err, err_free;

	/* The GPU before may have had more memory. */
	err = args.fit ? choose_sizes(a) : 0;
	if (!err)
		err = apiperf_alloc(a, a->buffer, false, &a->dev);
	if (err)
		return err;
	report_line(r, "device ptr: 0x%llx", a->dev.ptr);
	report_line(r, "allocated size: %zu", a->buffer);
	report_line(r, "gpu alloc fn: %s", a->dev.how->name);
	apiperf_set_init(&a->set);
	err = run_cold(a);
	if (!err && !bench_stopped())
		err = run_warm(a);
	apiperf_set_free(&a->set);
	err_free = cu_check(a->dev.how->free(&a->dev), "freeing device memory");
	return err ? err : err_free;
}

static int run(struct apiperf *a)
{
	int err, more;

	report_parameters(a);
	do {
		err = run_gpu(a);
		more = err ? 0 : tool_next_gpu(&a->tool);
	} while (more > 0);
	return err ? err : more;
}

static int open_samples(struct apiperf *a)
{
	if (!args.samples)
		return 0;
	a->raw = fopen(args.samples, "we");
	if (!a->raw) {
		fprintf(stderr, "ERROR: --samples %s: %s\n", args.samples, strerror(errno));
		return -EIO;
	}
	fprintf(a->raw, "phase,call,size_bytes,threads,handles,index,us\n");
	return 0;
}

static int close_samples(struct apiperf *a)
{
	bool bad;

	if (!a->raw)
		return 0;
	bad = ferror(a->raw);
	bad = fclose(a->raw) || bad;
	if (bad)
		fprintf(stderr, "ERROR: --samples %s could not be written\n", args.samples);
	return bad ? -EIO : 0;
}

int main(int argc, char **argv)
{
	struct apiperf a = {
		.args = &args, .verify = { .cuda = true },
		.tool = { .results = &results, .several = true },
	};
	enum opts_result parsed = opts_parse(&program, argc, argv);
	int err, err_close;

	if (parsed != OPTS_RUN)
		return parsed == OPTS_DONE ? 0 : 1;
	if (args.child)
		return apiperf_first_child(&args);
	if (choose_sizes(&a) || open_samples(&a))
		return 1;
	err = tool_begin(&a.tool, NAME, &args.tool, argc, argv);
	if (err) {
		close_samples(&a);
		return 1;
	}
	err = run(&a);
	err_close = close_samples(&a);
	err = err ? err : err_close;
	return tool_end(&a.tool, !err && !a.verify.mismatches);
}
