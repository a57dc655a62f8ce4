/* SPDX-License-Identifier: MIT */
/* Start and end of every tool. */
#include "tool.h"

#include <errno.h>
#include <stdio.h>

#include "bench.h"
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

int tool_begin(struct tool *t, const char *name, const struct tool_args *a, int argc, char **argv)
{
	bool soft = a->soft || cu_soft_wanted();
	int ordinal = (int)a->device;
	int err;

	if (a->csv && a->json) {
		fprintf(stderr, "ERROR: --csv and --json exclude each other\n");
		return -EINVAL;
	}
	err = report_open(&t->report, name,
			  a->json ? REPORT_JSON : a->csv ? REPORT_CSV : REPORT_TEXT);
	if (err)
		return err;
	err = cu_load(soft);
	if (err)
		goto close_report;
	err = gpu_init(soft);
	if (err)
		goto close_report;
	provenance_host(&t->report, argc, argv);
	err = list_gpus(&t->report);
	if (err)
		goto close_report;
	report_line(&t->report, "selecting device %d", ordinal);
	err = gpu_open(ordinal, &t->gpu);
	if (err)
		goto close_report;
	provenance_gpu(&t->report, &t->gpu);
	bench_catch_signals();
	return 0;

close_report:
	report_close(&t->report, 1, false);
	return err;
}

int tool_end(struct tool *t, bool ok)
{
	int sig = bench_stopped();
	int status = !ok ? 1 : sig ? 128 + sig : 0;

	gpu_close(&t->gpu);
	if (sig)
		report_note(&t->report, "INTERRUPTED: these are partial results.");
	provenance_warn_soft(&t->report);
	if (report_close(&t->report, status, sig != 0))
		status = 1;
	return status;
}
