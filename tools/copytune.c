/* SPDX-License-Identifier: MIT */
/*
 * gdrcopy_copytune: every copy routine that is compiled in and that this
 * processor runs, over sizes and alignments on a real mapping, and copies by
 * several threads: which is fastest where.  The routines are linked in, the
 * mapping comes from the library.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "buffers.h"
#include "copy.h"
#include "pattern.h"
#include "tool.h"
#include "window.h"

#define NAME            "gdrcopy_copytune"
#define BYTES_MAX       (1ULL << 30)
#define SLACK           4096    /* room for offsets */
#define ITERATIONS_MIN  5
#define ITERATIONS_MAX  200000
#define BUCKETS         25
#define COLUMNS         16      /* routines, or numbers of threads */
#define HOPELESS        8       /* times slower than the fastest: not tried at larger sizes */

static struct {
	struct tool_args tool;
	struct opt_sizes sizes, threads;
	uint64_t min_bytes, ms;
} args;

static const struct opt options[] = {
	{ 0, "sizes", OPT_SIZES, "LIST", "1,8,14,16,64,200,256,1K,4K,16K,64K,256K,1M,4M,16M",
	  "bytes of the copies", &args.sizes, 1, BYTES_MAX, NULL, NULL },
	{ 0, "threads", OPT_SIZES, "LIST", "0,1,2,4,8,16",
	  "threads of the parallel copies; 0: the default", &args.threads, 0, 64, NULL, NULL },
	{ 0, "min-bytes", OPT_SIZE, "BYTES", "0",
	  "no thread for less than this; 0: the default",
	  &args.min_bytes, 0, BYTES_MAX, NULL, NULL },
	{ 't', "time", OPT_NUMBER, "MS", "20", "milliseconds for each figure",
	  &args.ms, 1, 10000, NULL, NULL },
	TOOL_OPTS_GPU(args.tool),
	TOOL_OPTS_PLACE(args.tool),
	TOOL_OPT_CSV(args.tool),
	TOOL_OPT_JSON(args.tool),
	TOOL_OPT_OUTPUT(args.tool),
	TOOL_OPT_BASELINE(args.tool),
	TOOL_OPT_HELP,
	TOOL_OPT_VERSION,
};

static const struct opts_program program = {
	.name = NAME,
	.summary = "Find out which copy routine, and how many threads, are fastest on a mapping.",
	.opts = options,
	.n = sizeof(options) / sizeof(options[0]),
	.notes =
		"Figures are GB/s, 10^9 bytes per second, by the median of up to 25 means over\n"
		"repeated calls. Copies to the mapping are counted when the call returns, and\n"
		"follow each other at once. What is eight times slower than the fastest is left\n"
		"out at larger sizes. Exit status: 0; 1 after an error; 3 if something is worse\n"
		"than the baseline; 130 if interrupted, after the partial results.\n",
};

static const char *const keys[] = {
	"test", "direction", "size_bytes", "device_offset", "host_offset", "routine", "threads",
	NULL
};

static const struct results results = {
	.keys = keys, .value = "gb_per_s", .more_is_better = true,
};

/* Offsets of the two sides from a page boundary. */
struct alignment {
	unsigned device, host;
};

static const struct alignment alignments[] = { { 0, 0 }, { 0, 1 }, { 3, 0 } };

struct copytune {
	struct tool tool;
	struct buffers buffers;
	struct window window;
};

struct column {
	char name[12];
};

/* What is timed: one copy, by a routine or by threads. */
struct shot {
	const struct copytune *tune;
	enum gdr_copy_dir dir;
	size_t n;
	struct alignment at;
	const struct gdr_copy_kernel *routine;  /* NULL: the library, by threads */
	size_t threads;
	bool dropped;
};

static int by_threads(const struct shot *s, char *dev, char *src, char *dst)
{
	const struct gdrx_copy_options o = {
		.size = sizeof(o), .threads = s->threads, .min_bytes = args.min_bytes,
	};

	if (s->dir == GDR_COPY_TO_MAPPING)
		return gdrx_copy_to_mapping(s->tune->window.mh, dev, src, s->n, &o);
	return gdrx_copy_from_mapping(s->tune->window.mh, dst, dev, s->n, &o);
}

static int shoot(void *arg)
{
	const struct shot *s = arg;
	char *dev = s->tune->window.ptr + s->at.device;
	char *src = (char *)s->tune->buffers.src.ptr + s->at.host;
	char *dst = (char *)s->tune->buffers.dst.ptr + s->at.host;
	gdr_mapping_type_t type = s->tune->window.info.mapping_type;

	if (!s->routine)
		return by_threads(s, dev, src, dst);
	if (s->dir == GDR_COPY_TO_MAPPING)
		gdr_copy_to_by(s->routine, type, dev, src, s->n);
	else
		gdr_copy_from_by(s->routine, type, dst, dev, s->n);
	return 0;
}

/* *us: of one call; 0 if interrupted before there was a figure.  0 or -errno. */
static int measure(struct shot *s, double *us)
{
	struct bench_plan plan = {
		.label = s->routine ? s->routine->name : "threads",
		.size = s->n, .call = shoot, .arg = s,
	};
	struct bench_result result;
	double once;
	int err;

	*us = 0;
	err = shoot(s);
	once = bench_now_us();
	if (!err)
		err = shoot(s);
	if (err)
		return window_error("gdrx_copy", err);
	once = bench_now_us() - once;
	plan.iterations = once > 0 ? (uint64_t)((double)args.ms * 1000 / once) : ITERATIONS_MAX;
	if (plan.iterations < ITERATIONS_MIN)
		plan.iterations = ITERATIONS_MIN;
	if (plan.iterations > ITERATIONS_MAX)
		plan.iterations = ITERATIONS_MAX;
	plan.buckets = plan.iterations < BUCKETS ? (unsigned)plan.iterations : BUCKETS;
	err = bench_run(&plan, &result);
	if (err) {
		bench_free(&result);
		return window_error("gdrx_copy", err);
	}
	if (result.stats.n)
		*us = result.stats.median;
	bench_free(&result);
	return 0;
}

static const char *direction(enum gdr_copy_dir dir)
{
	return dir == GDR_COPY_TO_MAPPING ? "to" : "from";
}

static void add_row(struct report *r, const struct shot *s, double us, bool fastest)
{
	const struct report_field row[] = {
		FIELD_STRING("test", s->routine ? "routine" : "threads"),
		FIELD_STRING("direction", direction(s->dir)),
		FIELD_INTEGER("size_bytes", s->n),
		FIELD_INTEGER("device_offset", s->at.device),
		FIELD_INTEGER("host_offset", s->at.host),
		FIELD_STRING("routine", s->routine ? s->routine->name : gdrx_copy_routine(s->dir)),
		FIELD_INTEGER("threads", s->threads),
		FIELD_REAL("median_us", us),
		FIELD_REAL("gb_per_s", (double)s->n / us * 1e-3),
		FIELD_BOOL("fastest", fastest),
	};

	report_row(r, row, sizeof(row) / sizeof(row[0]));
}

/* One size: a shot a column, which differ in routine or threads.  0 or -errno. */
static int run_line(struct report *r, struct shot *shots, const struct column *names,
		    size_t columns)
{
	double us[COLUMNS] = { 0 };
	char line[COLUMNS * 12 + 1] = "";
	size_t i, best = 0, used = 0;
	bool complete;
	int err;

	for (i = 0; i < columns && !bench_stopped(); i++) {
		err = shots[i].dropped ? 0 : measure(&shots[i], &us[i]);
		if (err)
			return err;
		if (us[i] > 0 && (!us[best] || us[i] < us[best]))
			best = i;
	}
	complete = !bench_stopped();
	for (i = 0; i < columns; i++) {
		if (us[i] > 0) {
			used += (size_t)snprintf(line + used, sizeof(line) - used, " %10.4f",
						 (double)shots[i].n / us[i] * 1e-3);
			add_row(r, &shots[i], us[i], complete && i == best);
		} else {
			used += (size_t)snprintf(line + used, sizeof(line) - used, " %10s", "-");
		}
		shots[i].dropped |= us[i] > HOPELESS * us[best];
	}
	if (us[best] > 0)
		report_line(r, "%10zu%s  %s", shots[0].n, line,
			    complete ? names[best].name : "(interrupted)");
	return 0;
}

static void print_header(const struct report *r, const struct column *names, size_t columns)
{
	char line[COLUMNS * 12 + 1] = "";
	size_t used = 0;

	for (size_t i = 0; i < columns; i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, " %10s", names[i].name);
	report_line(r, "%10s%s  fastest", "bytes", line);
}

/* All sizes; shots are complete but for the size. */
static int run_table(struct copytune *tune, struct shot *shots, const struct column *names,
		     size_t columns)
{
	struct report *r = &tune->tool.report;
	int err = 0;

	print_header(r, names, columns);
	for (size_t i = 0; i < args.sizes.n && !err && !bench_stopped(); i++) {
		for (size_t c = 0; c < columns; c++)
			shots[c].n = args.sizes.v[i];
		err = run_line(r, shots, names, columns);
	}
	report_blank(r);
	return err;
}

static int run_routines(struct copytune *tune, enum gdr_copy_dir dir, struct alignment at)
{
	struct shot shots[COLUMNS] = { { NULL } };
	struct column names[COLUMNS] = { { "" } };
	size_t n = 0;

	for (const struct gdr_copy_kernel *k = gdr_copy_kernels; k->name && n < COLUMNS; k++) {
		if (!k->supported() || !(dir == GDR_COPY_TO_MAPPING ? k->store : k->load))
			continue;
		shots[n] = (struct shot){ tune, dir, 0, at, k, 1, false };
		snprintf(names[n++].name, sizeof(names[0].name), "%.11s", k->name);
	}
	report_line(&tune->tool.report, "%s the mapping, device offset %u, host offset %u; the "
		    "library uses %s; GB/s:", direction(dir), at.device, at.host,
		    gdrx_copy_routine(dir));
	return run_table(tune, shots, names, n);
}

static int run_threads(struct copytune *tune, enum gdr_copy_dir dir)
{
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	struct shot shots[COLUMNS] = { { NULL } };
	struct column names[COLUMNS] = { { "" } };
	size_t n = 0;

	for (size_t i = 0; i < args.threads.n && n < COLUMNS; i++) {
		if (args.threads.v[i] > cpus)
			continue;
		shots[n] = (struct shot){
			tune, dir, 0, alignments[0], NULL, args.threads.v[i], false
		};
		if (args.threads.v[i])
			snprintf(names[n++].name, sizeof(names[0].name), "%u",
				 (unsigned)args.threads.v[i]);
		else
			strcpy(names[n++].name, "default");
	}
	if (!n)
		return 0;
	report_line(&tune->tool.report, "%s the mapping, by so many threads; GB/s:",
		    direction(dir));
	return run_table(tune, shots, names, n);
}

static int run(struct copytune *tune)
{
	struct report *r = &tune->tool.report;
	int err, err_close;

	err = window_open(&tune->window, r, tune->buffers.dev.ptr, tune->buffers.size,
			  (int)args.tool.mapping);
	if (err)
		return err;
	window_print(&tune->window, r, false);
	pattern_fill(tune->buffers.src.ptr, tune->buffers.size, 0);
	memset(tune->buffers.dst.ptr, 0, tune->buffers.size);
	report_blank(r);
	for (int dir = 0; dir < 2; dir++) {
		for (size_t p = 0; p < sizeof(alignments) / sizeof(alignments[0]) && !err; p++)
			err = run_routines(tune, (enum gdr_copy_dir)dir, alignments[p]);
		if (!err)
			err = run_threads(tune, (enum gdr_copy_dir)dir);
	}
	err_close = window_close(&tune->window, r);
	return err ? err : err_close;
}

static int run_gpu(struct copytune *tune, uint64_t largest)
{
	int err, err_free;

	err = buffers_alloc(&gpu_allocators[args.tool.alloc], gpu_round_up(largest + SLACK),
			    &tune->buffers);
	if (err)
		return err;
	err = run(tune);
	err_free = buffers_free(&tune->buffers);
	return err ? err : err_free;
}

int main(int argc, char **argv)
{
	struct copytune tune = { .tool = { .results = &results, .several = true } };
	enum opts_result parsed = opts_parse(&program, argc, argv);
	uint64_t largest = 0;
	int err;

	if (parsed != OPTS_RUN)
		return parsed == OPTS_DONE ? 0 : 1;
	for (size_t i = 0; i < args.sizes.n; i++)
		largest = args.sizes.v[i] > largest ? args.sizes.v[i] : largest;
	if (tool_begin(&tune.tool, NAME, &args.tool, argc, argv))
		return 1;
	do
		err = run_gpu(&tune, largest);
	while (!err && (err = tool_next_gpu(&tune.tool)) > 0);
	return tool_end(&tune.tool, !err);
}
