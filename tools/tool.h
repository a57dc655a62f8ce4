/* SPDX-License-Identifier: MIT */
/*
 * What every tool does first and last: options, the CUDA driver, the report
 * and its header, placement, the GPUs; and what becomes of the results.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <limits.h>

#include "bench.h"
#include "gpu.h"
#include "opts.h"
#include "place.h"
#include "report.h"
#include "results.h"
#include "sizes.h"

#define TOOL_GPUS        64
#define TOOL_COUNT_MAX   1000000000000ULL
#define TOOL_BYTES_MAX   (1ULL << 40)
/* Exit status if --baseline found something worse. */
#define TOOL_WORSE       3

struct tool_args {
	/* TOOL_OPTS_GPU */
	const char *device;     /* a list of ordinals, UUIDs, PCI addresses; or "all" */
	unsigned alloc;         /* index in gpu_allocators */
	unsigned mapping;       /* gdr_map_flags_t */
	bool soft;
	/* TOOL_OPTS_SIZES */
	struct sizes_args sizes;
	/* TOOL_OPTS_TIME */
	uint64_t warmup, repeat, min_time_ms;
	bool per_call;
	/* TOOL_OPTS_PLACE */
	struct place_args place;
	/* TOOL_OPTS_OUTPUT */
	bool csv, json;
	const char *output, *plot, *baseline;
	double tolerance;       /* percent */
};

/*
 * Rows of the option table that tools share; a is a struct tool_args.  The groups
 * stand for several rows each, in the order in which they should be listed.
 */
#define TOOL_OPTS_SIZES(a) \
	{ 0, "sizes", OPT_SIZES, "LIST", NULL, "these sizes, as in 4,64,1K", \
	  &(a).sizes.list, 1, TOOL_BYTES_MAX, NULL, NULL }, \
	{ 0, "min", OPT_SIZE, "N", NULL, "smallest size", \
	  &(a).sizes.min, 1, TOOL_BYTES_MAX, NULL, NULL }, \
	{ 0, "max", OPT_SIZE, "N", NULL, "largest size, included", \
	  &(a).sizes.max, 1, TOOL_BYTES_MAX, NULL, NULL }, \
	{ 0, "step", OPT_STRING, "N|xN", NULL, "from one size to the next: add N bytes, or " \
	  "multiply by N (default: x2)", &(a).sizes.step, 0, 0, NULL, NULL }

#define TOOL_OPT_WARMUP(a, def) \
	{ 0, "warmup", OPT_NUMBER, "N", def, "untimed calls before each measurement", \
	  &(a).warmup, 0, TOOL_COUNT_MAX, NULL, NULL }
#define TOOL_OPT_REPEAT(a) \
	{ 0, "repeat", OPT_NUMBER, "N", "1", "measure everything so many times, and tell how far " \
	  "the rounds are apart", &(a).repeat, 1, 10000, NULL, NULL }
#define TOOL_OPT_MIN_TIME(a) \
	{ 0, "min-time", OPT_NUMBER, "MS", "0", "raise the iterations until a measurement takes " \
	  "so many milliseconds", &(a).min_time_ms, 0, 3600000, NULL, NULL }
#define TOOL_OPT_PER_CALL(a) \
	{ 0, "per-call", OPT_FLAG, NULL, NULL, "time every call by itself, less what the timer " \
	  "costs: percentiles of calls, not of means", &(a).per_call, 0, 0, NULL, NULL }
#define TOOL_OPTS_TIME(a, warmup) \
	TOOL_OPT_WARMUP(a, warmup), TOOL_OPT_REPEAT(a), TOOL_OPT_MIN_TIME(a), TOOL_OPT_PER_CALL(a)

#define TOOL_OPT_DEVICE(a) \
	{ 'd', "device", OPT_STRING, "GPU", "0", "GPUs to use: CUDA's ordinals, UUIDs or PCI " \
	  "addresses between commas, or all", &(a).device, 0, 0, NULL, NULL }
#define TOOL_OPT_ALLOC(a) \
	{ 'a', "alloc", OPT_CHOICE, "FN", "cuMemAlloc", "allocator of the device memory", \
	  &(a).alloc, 0, 0, gpu_allocator_names, NULL }
#define TOOL_OPT_MAPPING(a) \
	{ 'M', "mapping", OPT_CHOICE, "TYPE", "default", "mapping type to ask for", \
	  &(a).mapping, 0, 0, window_mapping_names, NULL }
#define TOOL_OPT_SOFT(a) \
	{ 0, "soft", OPT_FLAG, NULL, NULL, "run on softcuda: host memory plays the GPU's part; " \
	  "GDRCOPY_SOFTCUDA=1 does the same", &(a).soft, 0, 0, NULL, NULL }
#define TOOL_OPTS_GPU(a) \
	TOOL_OPT_DEVICE(a), TOOL_OPT_ALLOC(a), TOOL_OPT_MAPPING(a), TOOL_OPT_SOFT(a)

#define TOOL_OPTS_PLACE(a) \
	{ 0, "cpu", OPT_STRING, "LIST", NULL, "run on these CPUs, as in 0-7,16 (default: those " \
	  "of the GPU's NUMA node)", &(a).place.cpus, 0, 0, NULL, NULL }, \
	{ 0, "numa", OPT_NUMBER, "N", NULL, "run on the CPUs of NUMA node N", \
	  &(a).place.node, 0, 65535, NULL, &(a).place.node_given }, \
	{ 0, "no-affinity", OPT_FLAG, NULL, NULL, "run wherever the system puts it", \
	  &(a).place.none, 0, 0, NULL, NULL }

#define TOOL_OPT_CSV(a) \
	{ 0, "csv", OPT_FLAG, NULL, NULL, "print the results as CSV; other lines start with #", \
	  &(a).csv, 0, 0, NULL, NULL }
#define TOOL_OPT_JSON(a) \
	{ 0, "json", OPT_FLAG, NULL, NULL, "print one JSON document", &(a).json, 0, 0, NULL, NULL }
#define TOOL_OPT_OUTPUT(a) \
	{ 0, "output", OPT_STRING, "FILE", NULL, "print into this file", \
	  &(a).output, 0, 0, NULL, NULL }
#define TOOL_OPT_PLOT(a) \
	{ 0, "plot", OPT_STRING, "FILE", NULL, "draw the results, FILE.svg or FILE.png; needs " \
	  "gnuplot", &(a).plot, 0, 0, NULL, NULL }
#define TOOL_OPT_BASELINE(a) \
	{ 0, "baseline", OPT_STRING, "FILE", NULL, "compare with this output of --json; exit " \
	  "status 3 if something became worse", &(a).baseline, 0, 0, NULL, NULL }, \
	{ 0, "tolerance", OPT_REAL, "PERCENT", "10", "how much worse is no matter", \
	  &(a).tolerance, 0, 10000, NULL, NULL }
#define TOOL_OPTS_OUTPUT(a) \
	TOOL_OPT_CSV(a), TOOL_OPT_JSON(a), TOOL_OPT_OUTPUT(a), TOOL_OPT_PLOT(a), \
	TOOL_OPT_BASELINE(a)

/* flag: a bool. */
#define TOOL_OPT_NO_VERIFY(flag) \
	{ 0, "no-verify", OPT_FLAG, NULL, NULL, "do not check the data", &(flag), 0, 0, NULL, NULL }

#define TOOL_OPT_HELP \
	{ 'h', "help", OPT_HELP, NULL, NULL, "print this text", NULL, 0, 0, NULL, NULL }
#define TOOL_OPT_VERSION \
	{ 0, "version", OPT_VERSION, NULL, NULL, "print the version", NULL, 0, 0, NULL, NULL }

/* The end of the table of a tool that takes all of them. */
#define TOOL_OPTS_LAST(a) \
	TOOL_OPTS_GPU(a), TOOL_OPTS_PLACE(a), TOOL_OPTS_OUTPUT(a), TOOL_OPT_HELP, TOOL_OPT_VERSION

/* The fields of a row that tell about struct bench_stats s, microseconds. */
#define TOOL_STATS_FIELDS(s) \
	FIELD_INTEGER("samples", (s).n), \
	FIELD_REAL("min_us", (s).min), \
	FIELD_REAL("median_us", (s).median), \
	FIELD_REAL("p90_us", (s).p90), \
	FIELD_REAL("p99_us", (s).p99), \
	FIELD_REAL("p999_us", (s).p999), \
	FIELD_REAL("max_us", (s).max), \
	FIELD_REAL("mean_us", (s).mean), \
	FIELD_REAL("ci95_us", (s).ci95), \
	FIELD_REAL("stddev_us", (s).stddev), \
	FIELD_INTEGER("outliers", (s).outliers)

struct tool {
	/* Set by the caller before tool_begin, or NULL: no --baseline, no --plot. */
	const struct results *results;
	bool several;           /* set by the caller: it calls tool_next_gpu */

	struct report report;
	struct gpu gpu;         /* the one that is current */
	struct place place;

	const struct tool_args *args;
	int ordinal[TOOL_GPUS]; /* of the GPUs that were chosen */
	size_t n, at;
	struct baseline *baseline;
};

/*
 * Load CUDA, print the header, list the GPUs, go near the first one chosen and make it
 * current, and catch signals.  0, or -errno with the reason on stderr and nothing to undo.
 */
int tool_begin(struct tool *t, const char *name, const struct tool_args *a, int argc, char **argv);

/*
 * After the work on one GPU: make the next one current and go near it.  1 if there is one,
 * 0 if that was the last or a signal came, or -errno with the reason on stderr.
 */
int tool_next_gpu(struct tool *t);

/* A plan with the numbers that TOOL_OPTS_TIME gave; iterations calls in up to 100 buckets. */
struct bench_plan tool_plan(const struct tool_args *a, uint64_t iterations);

/* Whether --per-call can keep a sample of each of them; 0, or -EINVAL with the reason on stderr. */
int tool_check_iterations(const struct tool_args *a, uint64_t iterations);

/* "warmup_iterations" and the other parameters of TOOL_OPTS_TIME, and what the timer costs. */
void tool_report_time(struct tool *t);

/*
 * Release all that, compare with the baseline, draw, and finish the report; ok: neither
 * error nor mismatch.  The exit status.
 */
int tool_end(struct tool *t, bool ok);

#endif
