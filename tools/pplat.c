/* SPDX-License-Identifier: MIT */
/*
 * gdrcopy_pplat: how long a flag, alone or after data, takes from the CPU to a
 * running kernel and back, or the other way round; beside it the time of one load
 * through the mapping, which is one round trip on the bus.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "fence.h"
#include "pplat.h"
#include "provenance.h"

#define NAME        "gdrcopy_pplat"
#define BYTES_MAX   (1ULL << 30)
#define ROUNDS_MAX  (PPLAT_ROUNDS_MAX / 2)
#define LOADS       1000                /* for the round trip on the bus */
#define BLOCKS      "8"

static const char *const mode_names[] = { "0", "1", "both", NULL };

static struct pplat_options args;

static const struct opt options[] = {
	{ 't', "iterations", OPT_NUMBER, "N", "1000", "round trips that count",
	  &args.rounds, 1, ROUNDS_MAX, NULL, NULL },
	{ 'u', "timeout", OPT_NUMBER, "N", "10", "seconds that one side waits for the other; "
	  "0: for ever", &args.timeout, 0, 1000000, NULL, NULL },
	{ 's', "size", OPT_SIZE, "N", "0", "bytes of data that go before each flag, a multiple of "
	  "4; 0: only flags", &args.size, 0, BYTES_MAX, NULL, &args.size_given },
	{ 0, "sizes", OPT_SIZES, "LIST", NULL, "one measurement for each size, as in 0,64,4K",
	  &args.tool.sizes.list, 0, BYTES_MAX, NULL, NULL },
	{ 0, "min", OPT_SIZE, "N", NULL, "smallest size",
	  &args.tool.sizes.min, 4, BYTES_MAX, NULL, NULL },
	{ 0, "max", OPT_SIZE, "N", NULL, "largest size, included",
	  &args.tool.sizes.max, 4, BYTES_MAX, NULL, NULL },
	{ 0, "step", OPT_STRING, "N|xN", NULL, "from one size to the next: add N bytes, or "
	  "multiply by N (default: x2)", &args.tool.sizes.step, 0, 0, NULL, NULL },
	{ 'B', "blocks", OPT_SIZES, "LIST", BLOCKS, "blocks of the kernel, or several numbers of "
	  "them; each block has a share of the data and a flag",
	  &args.blocks, 1, PPLAT_BLOCKS_MAX, NULL, NULL },
	{ 'T', "block-threads", OPT_NUMBER, "N", "1024", "threads of a block",
	  &args.threads, 1, 1024, NULL, NULL },
	{ 'm', "mode", OPT_CHOICE, "MODE", "0", "who produces, the CPU (0) or the GPU (1)",
	  &args.mode, 0, 0, mode_names, NULL },
	{ 'G', "gpu-flag", OPT_CHOICE, "LOC", "gpumem", "where the flag is that the CPU writes and "
	  "the GPU polls", &args.gpu_flag, 0, 0, pplat_place_names, NULL },
	{ 'C', "cpu-flags", OPT_CHOICE, "LOC", "hostmem", "where the flags are that the GPU writes "
	  "and the CPU polls", &args.cpu_flags, 0, 0, pplat_place_names, NULL },
	{ 'D', "data", OPT_CHOICE, "LOC", "gpumem", "where the data are",
	  &args.data, 0, 0, pplat_place_names, NULL },
	{ 0, "verify-every", OPT_NUMBER, "N", "1", "have new data, and check them, every N round "
	  "trips", &args.verify_every, 1, PPLAT_ROUNDS_MAX, NULL, NULL },
	TOOL_OPT_NO_VERIFY(args.no_verify),
	{ 0, "warmup", OPT_NUMBER, "N", "100", "round trips before those that count",
	  &args.tool.warmup, 0, ROUNDS_MAX, NULL, NULL },
	TOOL_OPT_REPEAT(args.tool),
	TOOL_OPT_MIN_TIME(args.tool),
	TOOL_OPTS_LAST(args.tool),
};

static const struct opts_program program = {
	.name = NAME,
	.summary = "Measure the round trip of flags and data between the CPU and a GPU kernel.",
	.opts = options,
	.n = sizeof(options) / sizeof(options[0]),
	.notes =
		"Each round trip is timed by itself, by the side that starts it. The data differ\n"
		"from one to the next, and the side that receives them compares them. A time-out\n"
		"ends the kernel and tells what did not come. Exit status: 0; 1 after an error, a\n"
		"time-out or a data mismatch; 3 if worse than the baseline; 130 if interrupted,\n"
		"after the partial results.\n",
};

struct pplat {
	struct tool tool;
	struct sizes sizes;
	struct pplat_places places;
	struct pplat_memory memory;
	struct pplat_kernels kernels;
	struct pplat_result result;
	struct bench_stats bus;
	uint64_t mismatches;
};

/* An 8-byte load through the mapping goes to the GPU and comes back. */
static void measure_bus(struct pplat *p)
{
	static double sample[LOADS];
	const volatile uint64_t *word = (void *)p->memory.window.ptr;
	double timer_us = bench_timer_us(), start;

	for (size_t i = 0; i < LOADS + 10; i++) {
		start = bench_now_us();
		(void)*word;
		fence_loads();
		start = bench_now_us() - start - timer_us;
		/* Where there is no bus it can be less than the clock shows. */
		sample[i % LOADS] = start > 0.001 ? start : 0.001;
	}
	bench_stats(sample, LOADS, &p->bus);
	pplat_print_bus(&p->tool.report, &p->bus);
}

static int make_room(struct pplat_result *res)
{
	size_t need = res->outcome.n + res->plan.rounds;
	double *more;

	if (need <= res->room)
		return 0;
	more = realloc(res->outcome.sample, 2 * need * sizeof(*more));
	if (!more) {
		fprintf(stderr, "ERROR: no memory for the times of %zu round trips\n", need);
		return -ENOMEM;
	}
	res->outcome.sample = more;
	res->room = 2 * need;
	return 0;
}

/* One kernel.  Its median goes into low and high. */
static int run_kernel(struct pplat *p, double *us, double *low, double *high)
{
	struct pplat_result *res = &p->result;
	uint32_t verified = res->outcome.verified;
	uint64_t mismatches = res->outcome.mismatches;
	size_t before = res->outcome.n, n;
	struct bench_stats s;
	int err = make_room(res);

	if (err)
		return err;
	err = pplat_run(&p->memory, &p->kernels, &res->plan, &p->tool.report, &res->outcome);
	res->outcome.verified += verified;
	res->outcome.mismatches += mismatches;
	n = res->outcome.n - before;
	res->complete = !err && n == res->plan.rounds;
	res->kernels++;
	if (!n)
		return err;
	bench_stats(res->outcome.sample + before, n, &s);
	*us += s.mean * (double)n;
	*low = res->kernels == 1 || s.median < *low ? s.median : *low;
	*high = res->kernels == 1 || s.median > *high ? s.median : *high;
	return err;
}

/* As many kernels as --repeat and --min-time want. */
static int run_plan(struct pplat *p)
{
	struct pplat_result *res = &p->result;
	double us = 0, low = 0, high = 0;
	int err = 0;

	res->outcome = (struct pplat_outcome){ .sample = res->outcome.sample };
	res->kernels = 0;
	res->complete = true;
	while (!err && res->complete && res->outcome.n + res->plan.rounds <= BENCH_SAMPLES &&
	       (res->kernels < args.tool.repeat || us < (double)args.tool.min_time_ms * 1e3))
		err = run_kernel(p, &us, &low, &high);
	res->spread_percent = low > 0 ? (high - low) / low * 100 : 0;
	pplat_print_result(&p->tool.report, &args, res, &p->bus);
	p->mismatches += res->outcome.mismatches;
	return err;
}

static int run_one(struct pplat *p, bool gpu_produces, uint32_t bytes, unsigned blocks)
{
	struct pplat_plan *plan = &p->result.plan;
	unsigned resident;
	int err;

	*plan = (struct pplat_plan){
		.gpu_produces = gpu_produces, .bytes = bytes,
		.blocks = bytes ? blocks : 1,
		.threads = bytes ? (unsigned)args.threads : 1,
		.warmup = (uint32_t)args.tool.warmup, .rounds = (uint32_t)args.rounds,
		.verify_every = args.no_verify ? 0 : (uint32_t)args.verify_every,
		.timeout_us = (double)args.timeout * 1e6,
	};
	err = pplat_resident(&p->kernels, &p->tool.gpu, plan, &resident);
	if (err)
		return err;
	if (plan->blocks > resident) {
		fprintf(stderr, "ERROR: this GPU runs %u blocks of %u threads at a time; of %u "
			"(option -B) some would wait for others to end, and these for them\n",
			resident, plan->threads, plan->blocks);
		return -EINVAL;
	}
	pplat_print_plan(&p->tool.report, &args, plan);
	return run_plan(p);
}

/* Both modes, all sizes, all numbers of blocks; these make no difference without data. */
static int run_all(struct pplat *p)
{
	int err = 0;

	for (unsigned m = 0; m < 2; m++)
		for (size_t i = 0; i < p->sizes.n; i++)
			for (size_t b = 0; b < (p->sizes.v[i] ? args.blocks.n : 1); b++) {
				if (args.mode == !m || err || bench_stopped())
					continue;
				err = run_one(p, m, (uint32_t)p->sizes.v[i],
					      (unsigned)args.blocks.v[b]);
			}
	return err;
}

/* On the GPU that is current. */
static int run_gpu(struct pplat *p)
{
	struct report *r = &p->tool.report;
	int err, err_free;

	err = pplat_kernels_load(&p->kernels);
	if (err)
		return err;
	err = pplat_memory_alloc(&p->memory, &p->places, &args.tool, r);
	if (err)
		goto unload;
	measure_bus(p);
	err = run_all(p);
	/* Whatever waits for the GPU now, waits for ever. */
	if (p->result.outcome.stuck)
		return err;
	report_blank(r);
	err_free = pplat_memory_free(&p->memory, r);
	err = err ? err : err_free;
unload:
	err_free = cu_check(cu.ModuleUnload(p->kernels.module), "cuModuleUnload");
	return err ? err : err_free;
}

static int choose_sizes(struct pplat *p)
{
	int err;

	if (sizes_given(&args.tool.sizes) && args.size_given) {
		fprintf(stderr, "ERROR: -s excludes --sizes, --min, --max and --step\n");
		return -EINVAL;
	}
	if (!sizes_given(&args.tool.sizes))
		args.tool.sizes.list = (struct opt_sizes){ 1, { args.size } };
	err = sizes_choose(&args.tool.sizes, 4, 65536, &p->sizes);
	if (!err && args.tool.plot && !p->sizes.largest) {
		fprintf(stderr, "ERROR: option --plot: the picture is one of times against bytes "
			"of data: give some, as in --min 4 --max 64K\n");
		return -EINVAL;
	}
	for (size_t i = 0; i < p->sizes.n && !err; i++)
		if (p->sizes.v[i] % 4) {
			fprintf(stderr, "ERROR: data size %llu is not a multiple of 4\n",
				(unsigned long long)p->sizes.v[i]);
			err = -EINVAL;
		}
	return err;
}

static int check_rounds(void)
{
	if (args.rounds <= BENCH_SAMPLES / args.tool.repeat)
		return 0;
	fprintf(stderr, "ERROR: the time of each round trip is kept: at most %d of a measurement, "
		"-t and --repeat together\n", BENCH_SAMPLES);
	return -EINVAL;
}

int main(int argc, char **argv)
{
	struct pplat p = { .tool = { .results = &pplat_results, .several = true } };
	enum opts_result parsed = opts_parse(&program, argc, argv);
	int err, more;

	if (parsed != OPTS_RUN)
		return parsed == OPTS_DONE ? 0 : 1;
	args.tool.per_call = true;
	if (check_rounds() || choose_sizes(&p))
		return 1;
	p.places = (struct pplat_places){
		.gpu_flag = args.gpu_flag, .cpu_flags = args.cpu_flags, .data = args.data,
		.data_bytes = p.sizes.largest,
		.rounds = (uint32_t)(args.rounds + args.tool.warmup),
	};
	if (tool_begin(&p.tool, NAME, &args.tool, argc, argv))
		return 1;
	pplat_print_parameters(&p.tool.report, &args);
	tool_report_time(&p.tool);
	do {
		err = run_gpu(&p);
		more = err ? err : tool_next_gpu(&p.tool);
	} while (more > 0);
	err = err ? err : more;
	if (p.mismatches)
		report_note(&p.tool.report, "DATA MISMATCH: %llu",
			    (unsigned long long)p.mismatches);
	if (p.result.outcome.stuck) {
		report_begin_gpu(&p.tool.report, -1);
		provenance_warn_soft(&p.tool.report);
		report_close(&p.tool.report, 1, bench_stopped() != 0);
		_Exit(1);
	}
	free(p.result.outcome.sample);
	return tool_end(&p.tool, !err && !p.mismatches);
}
