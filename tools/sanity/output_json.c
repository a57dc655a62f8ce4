/* SPDX-License-Identifier: MIT */
/* The JSON document of the tools: facts, parameters, a row per test, and a summary. */
#include <stdio.h>

#include "output.h"
#include "report.h"

static const char *const words[SANITY_RESULTS] = {
	[SANITY_PASS] = "passed",
	[SANITY_FAIL] = "failed",
	[SANITY_WAIVE] = "waived",
};

static struct report report;

/* Now, so that a program without JSON says so before the tests. */
static int begin(const struct sanity_summary *s)
{
	return report_open(&report, "gdrcopy_sanity", REPORT_JSON);
}

static void add_row(const struct sanity_outcome *o)
{
	const struct report_field row[] = {
		FIELD_STRING("test", o->test->name),
		FIELD_STRING("result", words[o->result]),
		FIELD_STRING("reason", o->result != SANITY_PASS ? o->reason : NULL),
		FIELD_STRING("note", o->result == SANITY_PASS && *o->reason ? o->reason : NULL),
		FIELD_INTEGER("round", o->round),
		FIELD_REAL("seconds", o->seconds),
	};

	report_row(&report, row, sizeof(row) / sizeof(row[0]));
}

static int end(const struct sanity_summary *s)
{
	const struct report_field parameters[] = {
		FIELD_INTEGER("repeat", s->repeat),
		FIELD_BOOL("shuffle", s->shuffled),
		FIELD_INTEGER("seed", s->seed),
		FIELD_INTEGER("timeout_s", s->timeout),
	};
	const struct report_field summary[] = {
		FIELD_INTEGER("total", s->n),
		FIELD_INTEGER("passed", s->count[SANITY_PASS]),
		FIELD_INTEGER("failed", s->count[SANITY_FAIL]),
		FIELD_INTEGER("waived", s->count[SANITY_WAIVE]),
		FIELD_REAL("seconds", s->seconds),
	};
	size_t i;

	for (i = 0; i < s->nfacts; i++)
		report_fact(&report, s->facts[i].name, "%s", s->facts[i].value);
	for (i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		report_parameter(&report, &parameters[i]);
	for (i = 0; i < s->n; i++)
		add_row(&s->outcomes[i]);
	for (i = 0; i < sizeof(summary) / sizeof(summary[0]); i++)
		report_summary(&report, &summary[i]);
	if (s->no_gpu)
		report_note(&report, "ERROR: no test was run: %s", s->no_gpu);
	if (sanity.soft)
		report_note(&report, "SOFTCUDA: NO GPU IS USED. This says nothing about a GPU.");
	return report_close(&report, s->status, sanity_interrupted() != 0);
}

const struct sanity_format sanity_json = { .begin = begin, .end = end };
