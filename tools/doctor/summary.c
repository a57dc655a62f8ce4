/* SPDX-License-Identifier: MIT */
/* The verdict: what gdr_open takes, whether that works, and what to do first if not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "report.h"

/* As src/context.c chooses; softcuda's loader makes dmabuf the default (cu.c). */
const char *doctor_forced(const struct doctor *d)
{
	const char *name = getenv("GDRCOPY_BACKEND");
	const char *dmabuf = getenv("GDRCOPY_USE_DMABUF_MMAP");

	if (name && *name)
		return name;
	if (dmabuf && !strcmp(dmabuf, "1"))
		return "dmabuf";
	return d->soft && !name ? "dmabuf" : NULL;
}

int doctor_chosen(const struct doctor *d)
{
	const char *only = doctor_forced(d);
	int i;

	for (i = 0; i < PROBE_BACKENDS; i++)
		if ((!only || !strcmp(only, probe_backend_names[i])) && d->backends[i].opened)
			return i;
	return -1;
}

bool doctor_copies(const struct doctor *d, int backend, int gpu)
{
	const struct backend_try *t = d->backends[backend].tries[gpu];

	return t[0].step == STEP_DONE || t[1].step == STEP_DONE;
}

bool doctor_works(const struct doctor *d)
{
	int chosen = doctor_chosen(d), i;

	for (i = 0; chosen >= 0 && i < d->cuda.n; i++)
		if (!doctor_copies(d, chosen, i))
			return false;
	return chosen >= 0 && d->cuda.n > 0 && d->backends[chosen].end.done;
}

int doctor_alternative(const struct doctor *d)
{
	int b, i;

	for (b = 0; b < PROBE_BACKENDS; b++) {
		for (i = 0; i < d->cuda.n && doctor_copies(d, b, i); i++)
			;
		if (d->backends[b].end.done && d->cuda.n && i == d->cuda.n)
			return b;
	}
	return -1;
}

/* What gets things going is before what only would be better. */
static const struct finding *first_problem(const struct doctor *d)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (d->findings[i].level == LEVEL_FAIL && d->findings[i].fix[0])
			return &d->findings[i];
	for (i = 0; i < d->n; i++)
		if (d->findings[i].level == LEVEL_FAIL)
			return &d->findings[i];
	return NULL;
}

static size_t count(const struct doctor *d, enum level level)
{
	size_t i, n = 0;

	for (i = 0; i < d->n; i++)
		n += d->findings[i].level == level;
	return n;
}

int doctor_summary(const struct doctor *d, struct report *r)
{
	const struct finding *first = first_problem(d);
	int chosen = doctor_chosen(d);
	bool works = doctor_works(d);
	char verdict[1024], problem[600] = "no backend works";
	const char *soft = d->cuda.soft ? ", on softcuda: host memory, no GPU" : "";
	bool backend = first && !strcmp(first->area, "backends");
	int n;

	if (first)
		snprintf(problem, sizeof(problem), "%s%s%s", backend ? first->name : "",
			 backend ? ": " : "", first->why);
	if (works)
		n = snprintf(verdict, sizeof(verdict), "GDRCopy works here through %s%s.%s%s",
			     probe_backend_names[chosen], soft, first ? " Still to mend: " : "",
			     first ? problem : "");
	else
		n = snprintf(verdict, sizeof(verdict), "GDRCopy does not work here: %s",
			     problem);
	if (first && first->fix[0])
		snprintf(verdict + n, sizeof(verdict) - (size_t)n, ". %s: %s",
			 works ? "To mend it" : "First thing to do", first->fix);
	report_line(r, "\n%zu OK, %zu NOTE, %zu SKIP, %zu WARN, %zu FAIL", count(d, LEVEL_OK),
		    count(d, LEVEL_NOTE), count(d, LEVEL_SKIP), count(d, LEVEL_WARN),
		    count(d, LEVEL_FAIL));
	report_line(r, "%s", verdict);
	if (r->format == REPORT_CSV)
		report_fact(r, "verdict", "%s", verdict);
	report_summary(r, &(struct report_field)FIELD_STRING("verdict", verdict));
	report_summary(r, &(struct report_field)FIELD_BOOL("works", works));
	report_summary(r, &(struct report_field)FIELD_STRING("backend",
		works ? probe_backend_names[chosen] : NULL));
	report_summary(r, &(struct report_field)FIELD_STRING("first_fix",
		first && first->fix[0] ? first->fix : NULL));
	report_summary(r, &(struct report_field)FIELD_INTEGER("warnings", count(d, LEVEL_WARN)));
	report_summary(r, &(struct report_field)FIELD_INTEGER("failures", count(d, LEVEL_FAIL)));
	return works ? 0 : 1;
}
