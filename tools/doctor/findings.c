/* SPDX-License-Identifier: MIT */
/* The list of findings, and how it is printed. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "report.h"

static const char *const words[] = { "OK", "NOTE", "SKIP", "WARN", "FAIL" };

void doctor_find(struct doctor *d, const char *name, int gpu, enum level level,
		 const char *fmt, ...)
{
	/* The last one takes what comes too late. */
	struct finding *f = &d->findings[d->n < FINDINGS_MAX ? d->n++ : FINDINGS_MAX - 1];
	va_list ap;

	*f = (struct finding){ .level = level, .area = d->area, .name = name, .gpu = gpu };
	va_start(ap, fmt);
	vsnprintf(f->why, sizeof(f->why), fmt, ap);
	va_end(ap);
	parse_clean(f->why);
}

static void set_fix(struct doctor *d, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

static void set_fix(struct doctor *d, const char *fmt, va_list ap)
{
	struct finding *f = &d->findings[d->n - 1];

	vsnprintf(f->fix, sizeof(f->fix), fmt, ap);
	parse_clean(f->fix);
}

void doctor_fix(struct doctor *d, const char *fmt, ...)
{
	va_list ap;

	if (d->soft && d->findings[d->n - 1].level == LEVEL_NOTE)
		return;
	va_start(ap, fmt);
	set_fix(d, fmt, ap);
	va_end(ap);
}

/* " NAME" of each variable of softcuda's that is set. */
static void soft_variables(char *buf, size_t len)
{
	static const char prefix[] = "SOFTCUDA_";
	size_t used = 0;
	char **e;

	buf[0] = '\0';
	for (e = environ; *e && used < len; e++)
		if (!strncmp(*e, prefix, strlen(prefix)))
			used += (size_t)snprintf(buf + used, len - used, " %.*s",
						 (int)strcspn(*e, "="), *e);
}

void doctor_fix_gpu(struct doctor *d, const char *fmt, ...)
{
	char names[256];
	va_list ap;

	if (d->soft) {
		soft_variables(names, sizeof(names));
		if (names[0])
			doctor_fix(d, "unset%s   # or give other values: softcuda(7)", names);
		return;
	}
	va_start(ap, fmt);
	set_fix(d, fmt, ap);
	va_end(ap);
}

static bool alike(const struct finding *a, const struct finding *b)
{
	return a->gpu >= 0 && b->gpu >= 0 && a->level == b->level &&
		!strcmp(a->area, b->area) && !strcmp(a->name, b->name) &&
		!strcmp(a->why, b->why) && !strcmp(a->fix, b->fix);
}

/* Said already, for a GPU before. */
static bool said(const struct doctor *d, size_t at)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (alike(&d->findings[i], &d->findings[at]))
			return true;
	return false;
}

/* "GPU 0: ", or "GPUs 0,1,2: " with all for which this holds, too; nothing with one GPU. */
static void gpus_of(const struct doctor *d, size_t at, char *buf, size_t len)
{
	size_t used = 0, i, n = 0;

	buf[0] = '\0';
	if (d->findings[at].gpu < 0 || d->cuda.n < 2)
		return;
	for (i = at; i < d->n && used < len; i++) {
		if (i != at && !alike(&d->findings[at], &d->findings[i]))
			continue;
		used += (size_t)snprintf(buf + used, len - used, "%s%d", n++ ? "," : "GPU ",
					 d->findings[i].gpu);
	}
	if (used < len)
		snprintf(buf + used, len - used, ": ");
}

static void print_line(const struct doctor *d, const struct report *r, size_t i)
{
	const struct finding *f = &d->findings[i];
	char gpus[256];

	gpus_of(d, i, gpus, sizeof(gpus));
	report_line(r, "  %-4s  %-14s %s%s", words[f->level], f->name, gpus, f->why);
	if (f->fix[0])
		report_line(r, "        %-14s -> %s", "", f->fix);
}

static void print_row(struct report *r, const struct finding *f)
{
	struct report_field fields[] = {
		FIELD_STRING("area", f->area),
		FIELD_STRING("finding", f->name),
		FIELD_REAL("gpu_ordinal", f->gpu < 0 ? NAN : f->gpu),
		FIELD_STRING("level", words[f->level]),
		FIELD_STRING("why", f->why),
		FIELD_STRING("fix", f->fix[0] ? f->fix : NULL),
	};

	report_row(r, fields, sizeof(fields) / sizeof(fields[0]));
}

void doctor_print(const struct doctor *d, struct report *r, bool problems_only)
{
	const char *area = "";
	size_t i;

	for (i = 0; i < d->n; i++) {
		const struct finding *f = &d->findings[i];

		if (problems_only && f->level < LEVEL_WARN)
			continue;
		print_row(r, f);
		if (said(d, i))
			continue;
		if (f->area != area)
			report_line(r, "%s", f->area);
		area = f->area;
		print_line(d, r, i);
	}
}
