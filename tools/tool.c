/* SPDX-License-Identifier: MIT */
/* Start and end of every tool. */
#include "tool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "provenance.h"

static int list_gpus(const struct report *r)
{
	int i, n = gpu_count();
	struct gpu g;

	for (i = 0; i < n; i++) {
		if (gpu_describe(i, &g))
			return -EIO;
		report_line(r, "GPU id:%d; name: %s; Bus id: %04x:%02x:%02x", i, g.name, g.domain,
			    g.bus, g.slot);
	}
	return n < 0 ? n : 0;
}

/* What needs neither CUDA nor a report to be refused. */
static int check_args(const struct tool *t, const struct tool_args *a)
{
	int err = gpu_select_check(a->device);

	if (!err && a->csv && a->json) {
		fprintf(stderr, "ERROR: --csv and --json exclude each other\n");
		err = -EINVAL;
	}
	if (!err && a->plot)
		err = plot_check(a->plot);
	/* Without a description of the rows the program has no such option. */
	assert(t->results || (!a->plot && !a->baseline));
	return err;
}

static int go_near(struct tool *t, int ordinal)
{
	struct gpu g;
	int err;

	err = gpu_describe(ordinal, &g);
	if (err)
		return err;
	return place_apply(&t->args->place, "/sys", gpu_numa_node(&g), &t->place);
}

static int open_gpu(struct tool *t)
{
	int ordinal = t->ordinal[t->at], err;

	report_line(&t->report, "selecting device %d", ordinal);
	err = go_near(t, ordinal);
	if (err)
		return err;
	err = gpu_open(ordinal, &t->gpu);
	if (err)
		return err;
	provenance_gpu(&t->report, &t->gpu, &t->place);
	return 0;
}

static int choose_gpus(struct tool *t)
{
	int err = gpu_select(t->args->device, t->ordinal, TOOL_GPUS, &t->n);

	if (!err && t->n > 1 && !t->several) {
		fprintf(stderr, "ERROR: option -d, --device: %s takes one GPU\n", t->report.tool);
		err = -EINVAL;
	}
	return err;
}

/*
 * The file becomes standard output.  It keeps what is in it until clear_output: it may be
 * the baseline, too.
 */
static int open_output(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666), err = 0;

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
		err = errno;
		fprintf(stderr, "ERROR: %s: %s\n", path, strerror(err));
	}
	if (fd >= 0)
		close(fd);
	return -err;
}

static void clear_output(const struct tool_args *a)
{
	/* What is no plain file has no length to change. */
	if (a->output && ftruncate(STDOUT_FILENO, 0) && errno != EINVAL)
		fprintf(stderr, "WARNING: %s: %s\n", a->output, strerror(errno));
}

/* Whether a report would go over the baseline. */
static bool is_output(const char *path)
{
	struct stat file, out;

	return stat(path, &file) == 0 && fstat(STDOUT_FILENO, &out) == 0 &&
	       file.st_dev == out.st_dev && file.st_ino == out.st_ino;
}

int tool_begin(struct tool *t, const char *name, const struct tool_args *a, int argc, char **argv)
{
	bool soft = a->soft || cu_soft_wanted();
	int err;

	t->args = a;
	err = check_args(t, a);
	if (err)
		return err;
	err = a->output ? open_output(a->output) : 0;
	if (err)
		return err;
	err = report_open(&t->report, name,
			  a->json ? REPORT_JSON : a->csv ? REPORT_CSV : REPORT_TEXT);
	if (err)
		return err;
	t->report.keep = a->baseline || a->plot;
	err = cu_load(soft);
	if (!err && a->baseline)
		err = baseline_open(a->baseline, name, cu_is_soft(), &t->baseline);
	if (!err)
		err = gpu_init(soft);
	/* With nothing to compare, let alone a file that is none, the baseline stays. */
	if (err && a->output && a->baseline && is_output(a->baseline)) {
		baseline_close(t->baseline);
		report_drop(&t->report);
		return err;
	}
	clear_output(a);
	if (err)
		goto close_report;
	provenance_host(&t->report, argc, argv);
	err = list_gpus(&t->report);
	if (!err)
		err = choose_gpus(t);
	if (!err)
		err = open_gpu(t);
	if (err)
		goto close_report;
	bench_catch_signals();
	return 0;

close_report:
	baseline_close(t->baseline);
	report_close(&t->report, 1, false);
	return err;
}

int tool_next_gpu(struct tool *t)
{
	int err;

	if (t->at + 1 == t->n || bench_stopped())
		return 0;
	gpu_close(&t->gpu);
	t->at++;
	t->gpu.dev = -1;
	report_blank(&t->report);
	err = open_gpu(t);
	return err ? err : 1;
}

struct bench_plan tool_plan(const struct tool_args *a, uint64_t iterations)
{
	return (struct bench_plan){
		.warmup = a->warmup,
		.iterations = iterations,
		.buckets = iterations < BENCH_BUCKETS ? (unsigned)iterations : BENCH_BUCKETS,
		.rounds = a->repeat,
		.min_time_us = (double)a->min_time_ms * 1e3,
		.each = a->per_call,
	};
}

int tool_check_iterations(const struct tool_args *a, uint64_t iterations)
{
	if (!a->per_call || iterations <= BENCH_SAMPLES / a->repeat)
		return 0;
	fprintf(stderr, "ERROR: --per-call keeps the time of each call: at most %d of a size, all "
		"rounds together\n", BENCH_SAMPLES);
	return -EINVAL;
}

void tool_report_time(struct tool *t)
{
	const struct tool_args *a = t->args;
	const struct report_field parameters[] = {
		FIELD_INTEGER("warmup_iterations", a->warmup),
		FIELD_INTEGER("repeat", a->repeat),
		FIELD_INTEGER("min_time_ms", a->min_time_ms),
		FIELD_BOOL("per_call", a->per_call),
		FIELD_REAL("timer_us", bench_timer_us()),
	};
	size_t i;

	for (i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		report_parameter(&t->report, &parameters[i]);
	if (a->per_call)
		report_note(&t->report, "each call is timed by itself; two readings of the clock "
			    "show %.4f us around nothing, and that is taken off", bench_timer_us());
}

/* A line under the title: whose figures these are. */
static void caption(const struct tool *t, char *buf, size_t len)
{
	char cpu[128];

	provenance_cpu(cpu, sizeof(cpu));
	snprintf(buf, len, "%s%s, CPU: %s; %s %s", cu_is_soft() ? "" : "GPU: ", t->gpu.name, cpu,
		 t->report.tool, GDRCOPY_VERSION);
}

/* What --baseline and --plot ask for.  0, TOOL_WORSE or 1. */
static int use_results(struct tool *t)
{
	const struct tool_args *a = t->args;
	int status = 0, n;
	char text[512];

	if (t->report.keep_failed) {
		fprintf(stderr, "ERROR: no memory to keep the results\n");
		return 1;
	}
	if (t->baseline) {
		n = baseline_compare(t->baseline, t->results, a->tolerance, &t->report);
		status = n < 0 ? 1 : n ? TOOL_WORSE : 0;
	}
	caption(t, text, sizeof(text));
	if (a->plot && plot_write(a->plot, t->results, text, &t->report))
		status = 1;
	return status;
}

int tool_end(struct tool *t, bool ok)
{
	int sig = bench_stopped();
	int status = !ok ? 1 : sig ? 128 + sig : 0, used = 0;

	if (t->gpu.dev >= 0)
		gpu_close(&t->gpu);
	report_begin_gpu(&t->report, -1);
	if (ok)
		used = use_results(t);
	status = status ? status : used;
	if (sig)
		report_note(&t->report, "INTERRUPTED: these are partial results.");
	provenance_warn_soft(&t->report);
	baseline_close(t->baseline);
	if (report_close(&t->report, status, sig != 0))
		status = 1;
	return status;
}
