/* SPDX-License-Identifier: MIT */
/* What gdrcopy_pplat tells: in words, as rows, and how rows are compared and drawn. */
#include <stdio.h>

#include "bench.h"
#include "pplat.h"

const char *const pplat_place_names[] = { "gpumem", "hostmem", NULL };

/* In both modes the name of the row. */
static const char *const tests[] = { "cpu_produces", "gpu_produces" };

static const char *const keys[] = {
	"test", "size_bytes", "blocks", "threads", "gpu_flag", "cpu_flags", "data", NULL,
};

const struct results pplat_results = {
	.keys = keys,
	.value = "median_us",
	.title = "Round trip between the CPU and a GPU kernel",
	.x = "size_bytes", .x_label = "bytes of data",
	.series = "grid",
	.panel = {
		{ .title = "The CPU produces, the GPU answers", .filter = "test",
		  .equals = "cpu_produces", .y = "median_us", .y_label = "µs (median)" },
		{ .title = "The GPU produces, the CPU answers", .filter = "test",
		  .equals = "gpu_produces", .y = "median_us", .y_label = "µs (median)" },
	},
	.panels = 2,
};

void pplat_print_parameters(struct report *r, const struct pplat_options *o)
{
	const struct report_field parameters[] = {
		FIELD_STRING("allocator", gpu_allocator_names[o->tool.alloc]),
		FIELD_INTEGER("timeout_s", o->timeout),
		FIELD_INTEGER("verify_every", o->no_verify ? 0 : o->verify_every),
		FIELD_BOOL("verify", !o->no_verify),
		FIELD_STRING("statistics_of", "single round trips"),
	};
	size_t i;

	for (i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		report_parameter(r, &parameters[i]);
}

void pplat_print_bus(struct report *r, const struct bench_stats *bus)
{
	const struct report_field facts[] = {
		FIELD_REAL("pcie_round_trip_min_us", bus->min),
		FIELD_REAL("pcie_round_trip_median_us", bus->median),
	};

	report_fact_field(r, &facts[0]);
	report_fact_field(r, &facts[1]);
	report_line(r, "%s an 8-byte load through the mapping: (min) %.4g, (median) %.4g us",
		    cu_is_soft() ? "no bus, host memory;" : "PCIe round trip, measured as",
		    bus->min, bus->median);
}

void pplat_print_plan(const struct report *r, const struct pplat_options *o,
		      const struct pplat_plan *plan)
{
	const char *const *place = pplat_place_names;
	bool data = plan->bytes > 0;

	report_blank(r);
	if (!data)
		report_line(r, "data size is 0: one block of one thread, whatever was asked for");
	report_line(r, "Benchmark mode: %s", plan->gpu_produces ?
		    "GPU produces and CPU consumes" : "CPU produces and GPU consumes");
	report_line(r, "gpu alloc fn: %s", gpu_allocator_names[o->tool.alloc]);
	report_line(r, "measuring the round trip of %s; GPU flag in %s, CPU flags in %s%s%s",
		    data ? "data and a flag" : "a flag", place[o->gpu_flag], place[o->cpu_flags],
		    data ? ", data in " : "", data ? place[o->data] : "");
	report_line(r, "iterations: %u after %u to warm up; data size: %u bytes; flag size: 4 "
		    "bytes; blocks: %u; threads a block: %u", plan->rounds, plan->warmup,
		    plan->bytes, plan->blocks, plan->threads);
	report_blank(r);
	if (plan->gpu_produces)
		report_line(r, "A round trip: the GPU writes %sa flag, the CPU sees it, %sanswers "
			    "with a flag, and the GPU sees that. The GPU times it.",
			    data ? "data and " : "", data ? "reads the data, and " : "and ");
	else
		report_line(r, "A round trip: the CPU writes %sa flag, the GPU sees it, %sanswers "
			    "with a flag, and the CPU sees that. The CPU times it.",
			    data ? "data and " : "", data ? "reads the data, and " : "and ");
	report_blank(r);
}

static void print_text(struct report *r, const struct pplat_result *res,
		       const struct bench_stats *s, const struct bench_stats *bus)
{
	report_line(r, "Round-trip latency per iteration is (min) %.6g, (median) %.6g us", s->min,
		    s->median);
	report_line(r, "P0 %.4g, P50 %.4g, P90 %.4g, P99 %.4g, max %.4g us; mean %.4g +- %.2g us",
		    s->min, s->median, s->p90, s->p99, s->max, s->mean, s->ci95);
	if (!cu_is_soft())
		report_line(r, "the median is %.2f PCIe round trips of %.4g us",
			    s->median / bus->median, bus->median);
	if (res->kernels > 1)
		report_line(r, "medians of %u kernels: the slowest is %.1f %% above the fastest",
			    res->kernels, res->spread_percent);
	if (res->outcome.verified)
		report_line(r, "data verified in %u round trips, warm-up included; mismatches: "
			    "%llu", res->outcome.verified,
			    (unsigned long long)res->outcome.mismatches);
}

void pplat_print_result(struct report *r, const struct pplat_options *o, struct pplat_result *res,
			const struct bench_stats *bus)
{
	const struct pplat_plan *plan = &res->plan;
	const struct pplat_outcome *out = &res->outcome;
	struct bench_stats s = { 0 };
	char grid[64];

	if (!out->n)
		return;
	bench_stats(out->sample, out->n, &s);
	snprintf(grid, sizeof(grid), "%u block%s of %u thread%s", plan->blocks,
		 plan->blocks > 1 ? "s" : "", plan->threads, plan->threads > 1 ? "s" : "");
	const struct report_field row[] = {
		FIELD_STRING("test", tests[plan->gpu_produces]),
		FIELD_INTEGER("size_bytes", plan->bytes),
		FIELD_INTEGER("blocks", plan->blocks),
		FIELD_INTEGER("threads", plan->threads),
		FIELD_STRING("grid", grid),
		FIELD_STRING("gpu_flag", pplat_place_names[o->gpu_flag]),
		FIELD_STRING("cpu_flags", pplat_place_names[o->cpu_flags]),
		FIELD_STRING("data", plan->bytes ? pplat_place_names[o->data] : "none"),
		TOOL_STATS_FIELDS(s),
		FIELD_REAL("spread_percent", res->spread_percent),
		FIELD_REAL("pcie_round_trip_us", bus->median),
		FIELD_INTEGER("verified", out->verified),
		FIELD_INTEGER("mismatches", out->mismatches),
		FIELD_BOOL("complete", res->complete),
	};

	print_text(r, res, &s, bus);
	report_row(r, row, sizeof(row) / sizeof(row[0]));
	if (!res->complete)
		report_note(r, "not complete: %s with %u bytes, %zu round trips",
			    tests[plan->gpu_produces], plan->bytes, out->n);
}
