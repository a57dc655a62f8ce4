/* SPDX-License-Identifier: MIT */
/*
 * gdrcopy_copybw: bandwidth of gdr_copy_to_mapping and gdr_copy_from_mapping,
 * at one size or over a sweep, with a check of the data in both directions.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "buffers.h"
#include "pattern.h"
#include "tool.h"
#include "verify.h"
#include "window.h"

#define NAME        "gdrcopy_copybw"
#define BYTES_MAX   (1ULL << 40)
#define COUNT_MAX   1000000000000ULL
#define SIZES_MAX   72

static struct {
	struct tool_args tool;
	uint64_t size, copy, offset, writes, reads, warmup;
	bool size_given, sweep, no_verify;
	struct opt_sizes sizes;
} args;

static const struct opt options[] = {
	{ 's', "size", OPT_SIZE, "N", "131072", "bytes of the buffer",
	  &args.size, 1, BYTES_MAX, NULL, &args.size_given },
	{ 'c', "copy-size", OPT_SIZE, "N", NULL, "bytes of a copy, with -l the top of the sweep "
	  "(default: all of the buffer)", &args.copy, 1, BYTES_MAX, NULL, NULL },
	{ 'l', "sweep", OPT_FLAG, NULL, NULL, "copy 1, 2, 4, ... bytes up to and including the top",
	  &args.sweep, 0, 0, NULL, NULL },
	{ 0, "sizes", OPT_SIZES, "LIST", NULL, "copy these sizes, as in 4,64,1K; without -s the "
	  "buffer is as large as they need", &args.sizes, 1, BYTES_MAX, NULL, NULL },
	{ 'o', "offset", OPT_SIZE, "N", "0", "offset of the copies in the buffer, a multiple of 4",
	  &args.offset, 0, BYTES_MAX, NULL, NULL },
	{ 'w', "write-iters", OPT_NUMBER, "N", "10000", "writes of each size",
	  &args.writes, 1, COUNT_MAX, NULL, NULL },
	{ 'r', "read-iters", OPT_NUMBER, "N", "100", "reads of each size",
	  &args.reads, 1, COUNT_MAX, NULL, NULL },
	{ 0, "warmup", OPT_NUMBER, "N", "1", "untimed copies before each measurement",
	  &args.warmup, 0, COUNT_MAX, NULL, NULL },
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
	.summary = "Measure the bandwidth of CPU copies to and from mapped GPU memory.",
	.opts = options,
	.n = sizeof(options) / sizeof(options[0]),
	.notes =
		"MB/s are 10^6 bytes a second, GiB/s are 2^30. The data are compared in both\n"
		"directions. Exit status: 0; 1 after an error or a data mismatch; 130 if\n"
		"interrupted, after the partial results.\n",
};

struct copybw {
	struct tool tool;
	struct buffers buffers;
	struct window window;
	struct verify verify;
	uint64_t sizes[SIZES_MAX];
	size_t n_sizes;
	size_t buffer;          /* bytes, whole GPU pages */
};

/* One direction at one size. */
struct copy {
	struct copybw *bw;
	const char *name;
	size_t size;
};

static int complain(uint64_t size)
{
	fprintf(stderr, "ERROR: offset %llu + copy size %llu do not fit the buffer of %llu bytes "
		"(option -s)\n", (unsigned long long)args.offset, (unsigned long long)size,
		(unsigned long long)args.size);
	return -EINVAL;
}

static int choose_sizes(struct copybw *bw)
{
	uint64_t largest = 0;
	size_t i;

	if (args.offset % 4) {
		fprintf(stderr, "ERROR: offset %llu is not a multiple of 4\n",
			(unsigned long long)args.offset);
		return -EINVAL;
	}
	if (args.sizes.n && (args.sweep || args.copy)) {
		fprintf(stderr, "ERROR: --sizes excludes -l and -c\n");
		return -EINVAL;
	}
	if (args.sizes.n) {
		for (i = 0; i < args.sizes.n; i++) {
			bw->sizes[i] = args.sizes.v[i];
			if (largest < bw->sizes[i])
				largest = bw->sizes[i];
		}
		bw->n_sizes = i;
		if (!args.size_given)
			args.size = args.offset + largest;
	} else {
		largest = args.copy ? args.copy : args.size;
		if (args.sweep)
			bw->n_sizes = bench_sweep(largest, bw->sizes, SIZES_MAX);
		else
			bw->sizes[bw->n_sizes++] = largest;
	}
	if (largest > args.size || args.offset > args.size - largest)
		return complain(largest);
	bw->buffer = gpu_round_up(args.size);
	return 0;
}

static int copy_to(void *arg)
{
	const struct copy *c = arg;
	const struct copybw *bw = c->bw;

	return gdr_copy_to_mapping(bw->window.mh, bw->window.ptr + args.offset, bw->buffers.src.ptr,
				   c->size);
}

static int copy_from(void *arg)
{
	const struct copy *c = arg;
	const struct copybw *bw = c->bw;

	return gdr_copy_from_mapping(bw->window.mh, bw->buffers.dst.ptr,
				     bw->window.ptr + args.offset, c->size);
}

/* Six significant digits and no exponent, which scripts would not expect. */
static void format_rate(char *buf, size_t len, double v)
{
	int decimals = v > 0 ? 5 - (int)floor(log10(v)) : 0;

	snprintf(buf, len, "%.*f", decimals < 0 ? 0 : decimals > 9 ? 9 : decimals, v);
}

static void print_result(const struct copy *c, const char *token, const struct bench_result *b,
			 uint64_t asked)
{
	double bytes = (double)c->size * (double)b->iterations;
	double mb = bytes / b->elapsed_us, gib = mb * 1e6 / (1 << 30);
	const struct report_field row[] = {
		FIELD_STRING("test", c->name),
		FIELD_INTEGER("size_bytes", c->size),
		FIELD_INTEGER("offset_bytes", args.offset),
		FIELD_INTEGER("iterations", b->iterations),
		FIELD_REAL("elapsed_us", b->elapsed_us),
		FIELD_REAL("mb_per_s", mb),
		FIELD_REAL("gib_per_s", gib),
		FIELD_REAL("best_mb_per_s", (double)c->size / b->stats.min),
		FIELD_REAL("median_mb_per_s", (double)c->size / b->stats.median),
		FIELD_REAL("worst_mb_per_s", (double)c->size / b->stats.max),
		FIELD_BOOL("complete", b->complete),
	};
	char rate[32], rate_gib[32], partial[80] = "";

	format_rate(rate, sizeof(rate), mb);
	format_rate(rate_gib, sizeof(rate_gib), gib);
	if (!b->complete)
		snprintf(partial, sizeof(partial), " interrupted after %llu of %llu iterations",
			 (unsigned long long)b->iterations, (unsigned long long)asked);
	report_line(&c->bw->tool.report, "%s BW: %sMB/s (%s GiB/s)%s", token, rate, rate_gib,
		    partial);
	report_row(&c->bw->tool.report, row, sizeof(row) / sizeof(row[0]));
}

static int measure(struct copy *c, const char *token, int (*call)(void *), uint64_t iterations)
{
	/* Ten calls a bucket, so that reading the clock does not weigh on single reads. */
	struct bench_plan plan = {
		.label = c->name, .size = c->size, .call = call, .arg = c,
		.warmup = args.warmup, .iterations = iterations,
		.buckets = iterations < 10 ? 1 :
			iterations / 10 > BENCH_BUCKETS ? BENCH_BUCKETS :
			(unsigned)(iterations / 10),
	};
	struct bench_result result;
	int err;

	report_line(&c->bw->tool.report, "%s test, size=%zu offset=%llu num_iters=%llu",
		    call == copy_to ? "writing" : "reading", c->size,
		    (unsigned long long)args.offset, (unsigned long long)iterations);
	err = bench_run(&plan, &result);
	if (err)
		return window_error(c->name, err);
	if (result.stats.n)
		print_result(c, token, &result, iterations);
	return 0;
}

static int run_size(struct copybw *bw, size_t size)
{
	struct copy to = { bw, "gdr_copy_to_mapping", size };
	struct copy from = { bw, "gdr_copy_from_mapping", size };
	bool check = !args.no_verify;
	int err;

	err = check ? verify_prepare_write(&bw->verify, size) : 0;
	if (!err)
		err = measure(&to, "write", copy_to, args.writes);
	if (err || bench_stopped())
		return err;
	err = check ? verify_write(&bw->verify, size) : 0;
	if (!err && check)
		err = verify_prepare_read(&bw->verify, size);
	if (!err)
		err = measure(&from, "read", copy_from, args.reads);
	if (!err && check && !bench_stopped())
		verify_read(&bw->verify, size);
	return err;
}

static void print_setup(struct copybw *bw)
{
	struct report *r = &bw->tool.report;
	const struct report_field parameters[] = {
		FIELD_INTEGER("buffer_bytes", bw->buffer),
		FIELD_STRING("allocator", bw->buffers.dev.how->name),
		FIELD_INTEGER("warmup_iterations", args.warmup),
		FIELD_BOOL("verify", !args.no_verify),
		FIELD_BOOL("host_memory_pinned", bw->buffers.src.pinned && bw->buffers.dst.pinned),
	};
	size_t i;

	for (i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		report_parameter(r, &parameters[i]);
	report_note(r, "units: MB/s = 10^6 bytes per second, GiB/s = 2^30 bytes per second");
	report_line(r, "testing size: %llu", (unsigned long long)bw->sizes[bw->n_sizes - 1]);
	report_line(r, "rounded size: %zu", bw->buffer);
	report_line(r, "gpu alloc fn: %s", bw->buffers.dev.how->name);
	report_line(r, "device ptr: %llx", bw->buffers.dev.ptr);
}

static int run(struct copybw *bw)
{
	struct report *r = &bw->tool.report;
	size_t i;
	int err, err_close;

	print_setup(bw);
	err = window_open(&bw->window, r, bw->buffers.dev.ptr, bw->buffer, (int)args.tool.mapping);
	if (err)
		return err;
	window_print(&bw->window, r, false);
	bw->verify = (struct verify){
		.window = &bw->window, .report = r, .buffers = &bw->buffers, .offset = args.offset,
	};
	pattern_fill(bw->buffers.src.ptr, bw->buffer, 0);
	for (i = 0; i < bw->n_sizes && !err && !bench_stopped(); i++)
		err = run_size(bw, bw->sizes[i]);
	if (bw->verify.mismatches)
		report_note(r, "DATA MISMATCH: %u checks failed", bw->verify.mismatches);
	err_close = window_close(&bw->window, r);
	return err ? err : err_close;
}

int main(int argc, char **argv)
{
	struct copybw bw = { 0 };
	enum opts_result parsed = opts_parse(&program, argc, argv);
	int err, err_free;

	if (parsed != OPTS_RUN)
		return parsed == OPTS_DONE ? 0 : 1;
	if (choose_sizes(&bw) || tool_begin(&bw.tool, NAME, &args.tool, argc, argv))
		return 1;
	err = buffers_alloc(&gpu_allocators[args.tool.alloc], bw.buffer, &bw.buffers);
	if (!err) {
		err = run(&bw);
		err_free = buffers_free(&bw.buffers);
		err = err ? err : err_free;
	}
	return tool_end(&bw.tool, !err && !bw.verify.mismatches);
}
