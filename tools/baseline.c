/* SPDX-License-Identifier: MIT */
/* The results of an earlier run, and how those of this one stand beside them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_read.h"
#include "results.h"

#define FILE_MAX (64u << 20)

struct baseline {
	struct json *doc;
	const struct json *rows;        /* "results" */
	const char *path;
};

static int complain(const char *path, const char *what, int err)
{
	fprintf(stderr, "ERROR: baseline %s: %s\n", path, what);
	return err;
}

/* All of a file, for free; NULL and errno. */
static char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "re");
	size_t room = 64 << 10, n = 0, got;
	char *text = NULL, *more;
	int err;

	if (!f)
		return NULL;
	do {
		room *= 2;
		more = room > FILE_MAX ? NULL : realloc(text, room);
		if (!more) {
			errno = room > FILE_MAX ? EFBIG : ENOMEM;
			goto fail;
		}
		text = more;
		got = fread(text + n, 1, room - n, f);
		n += got;
	} while (got && n == room);
	if (ferror(f))
		goto fail;
	fclose(f);
	*len = n;
	return text;

fail:
	err = errno;
	free(text);
	fclose(f);
	errno = err;
	return NULL;
}

static int parse(const char *path, struct json **out)
{
	char what[80], *text;
	size_t len, at = 0;
	int err;

	text = read_file(path, &len);
	if (!text) {
		err = errno;
		return complain(path, strerror(err), -err);
	}
	*out = json_read(text, len, &at);
	err = *out ? 0 : errno;
	free(text);
	if (err == EINVAL) {
		snprintf(what, sizeof(what), "no JSON at byte %zu", at);
		return complain(path, what, -EINVAL);
	}
	return err ? complain(path, strerror(err), -err) : 0;
}

static bool is_string(const struct json *j, const char *text)
{
	return j && j->kind == JSON_STRING && !strcmp(j->string, text);
}

/* Whether it is a report of this tool, made in the same world. */
static int judge(const struct baseline *b, const char *tool, bool soft)
{
	static const char *const worlds[] = {
		"its figures are softcuda's, and this runs on a GPU",
		"its figures are those of a GPU, and this runs on softcuda",
	};
	const struct json *was_soft = json_get(json_get(b->doc, "provenance"), "softcuda");
	char what[160];

	if (!is_string(json_get(b->doc, "tool"), tool)) {
		snprintf(what, sizeof(what), "this is no report of %s --json", tool);
		return complain(b->path, what, -EINVAL);
	}
	if (!b->rows || b->rows->kind != JSON_ARRAY)
		return complain(b->path, "the report has no results", -EINVAL);
	if (was_soft && (was_soft->kind == JSON_TRUE) != soft)
		return complain(b->path, worlds[soft], -EINVAL);
	return 0;
}

int baseline_open(const char *path, const char *tool, bool soft, struct baseline **out)
{
	struct baseline *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return complain(path, strerror(ENOMEM), -ENOMEM);
	b->path = path;
	err = parse(path, &b->doc);
	if (err)
		goto free;
	b->rows = json_get(b->doc, "results");
	err = judge(b, tool, soft);
	if (err)
		goto free;
	*out = b;
	return 0;

free:
	baseline_close(b);
	return err;
}

void baseline_close(struct baseline *b)
{
	if (!b)
		return;
	json_free(b->doc);
	free(b);
}

static bool equal(const struct json *was, const struct report_field *now)
{
	if (!was || !now)
		return !was && !now;
	switch (now->kind) {
	case REPORT_STRING:
		return now->string ? is_string(was, now->string) : was->kind == JSON_NULL;
	case REPORT_INTEGER:
		return was->kind == JSON_NUMBER && was->number == (double)now->integer;
	case REPORT_BOOL:
		return was->kind == (now->truth ? JSON_TRUE : JSON_FALSE);
	case REPORT_REAL:
		return was->kind == JSON_NUMBER && was->number == now->real;
	}
	return false;
}

static bool same_row(const struct results *what, const struct json *was,
		     const struct report_row *now, bool by_gpu)
{
	const char *const *k;

	if (by_gpu && !equal(json_get(was, "gpu"), report_find(now->field, now->n, "gpu")))
		return false;
	for (k = what->keys; *k; k++)
		if (!equal(json_get(was, *k), report_find(now->field, now->n, *k)))
			return false;
	return true;
}

static double figure(const struct report_row *row, const char *name)
{
	const struct report_field *f = report_find(row->field, row->n, name);

	return f && f->kind == REPORT_REAL ? f->real : NAN;
}

/* The figure that this row had; not a number if it had none. */
static double earlier(const struct baseline *b, const struct results *what,
		      const struct report_row *now, bool by_gpu)
{
	const struct json *row, *v;

	for (row = b->rows->child; row; row = row->next) {
		if (!same_row(what, row, now, by_gpu))
			continue;
		v = json_get(row, what->value);
		return v && v->kind == JSON_NUMBER ? v->number : NAN;
	}
	return NAN;
}

/* "test gdr_copy_to_mapping, size_bytes 64" */
static void name_row(const struct results *what, const struct report_row *row, bool by_gpu,
		     char *buf, size_t len)
{
	const struct report_field *f;
	const char *const *k;
	size_t at = 0;

	*buf = '\0';
	f = by_gpu ? report_find(row->field, row->n, "gpu") : NULL;
	if (f)
		at = (size_t)snprintf(buf, len, "gpu %llu", (unsigned long long)f->integer);
	for (k = what->keys; *k && at < len; k++) {
		f = report_find(row->field, row->n, *k);
		if (f && f->kind == REPORT_STRING && f->string)
			at += (size_t)snprintf(buf + at, len - at, "%s%s %s", at ? ", " : "", *k,
					       f->string);
		else if (f && f->kind == REPORT_INTEGER)
			at += (size_t)snprintf(buf + at, len - at, "%s%s %llu", at ? ", " : "", *k,
					       (unsigned long long)f->integer);
	}
}

/* Worse by so many percent; below 0 it is better. */
static double loss(double was, double now, bool more_is_better)
{
	return 100 * (more_is_better ? 1 - now / was : now / was - 1);
}

/* One GPU is compared with one GPU whatever their numbers are. */
static bool several_gpus(const struct baseline *b, const struct report *r)
{
	const struct json *row, *gpu, *first = NULL;
	const struct report_field *f;
	size_t i;

	for (row = b->rows->child; row; row = row->next) {
		gpu = json_get(row, "gpu");
		if (first && gpu && gpu->number != first->number)
			return true;
		first = first ? first : gpu;
	}
	for (i = 0; i < r->n_kept; i++) {
		f = report_find(r->kept[i].field, r->kept[i].n, "gpu");
		if (f && f->integer != report_find(r->kept[0].field, r->kept[0].n, "gpu")->integer)
			return true;
	}
	return false;
}

static void sum_up(struct report *r, size_t compared, size_t unknown, size_t worse, double worst,
		   double tolerance)
{
	const struct report_field fields[] = {
		FIELD_INTEGER("baseline_compared", compared),
		FIELD_INTEGER("baseline_not_there", unknown),
		FIELD_INTEGER("baseline_worse", worse),
		FIELD_REAL("baseline_worst_percent", worst),
		FIELD_REAL("baseline_tolerance_percent", tolerance),
	};
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		report_summary(r, &fields[i]);
	report_note(r, "baseline: %zu results compared, %zu worse by more than %g %%; the least "
		    "favourable is %.1f %% %s; %zu had no counterpart", compared, worse, tolerance,
		    fabs(worst), worst > 0 ? "worse" : "better", unknown);
}

int baseline_compare(const struct baseline *b, const struct results *what, double tolerance,
		     struct report *r)
{
	bool by_gpu = several_gpus(b, r);
	size_t i, compared = 0, unknown = 0, worse = 0;
	double was, now, percent, worst = -INFINITY;
	char name[200];

	for (i = 0; i < r->n_kept; i++) {
		was = earlier(b, what, &r->kept[i], by_gpu);
		now = figure(&r->kept[i], what->value);
		if (!(was > 0 && now > 0)) {
			unknown++;
			continue;
		}
		compared++;
		percent = loss(was, now, what->more_is_better);
		worst = fmax(worst, percent);
		if (percent <= tolerance)
			continue;
		worse++;
		name_row(what, &r->kept[i], by_gpu, name, sizeof(name));
		report_note(r, "WORSE: %s: %s %.6g, was %.6g, by %.1f %%", name, what->value, now,
			    was, percent);
	}
	if (!compared)
		return complain(b->path, "none of this run's results is in it; were the same sizes "
				"and options measured?", -ENOENT);
	sum_up(r, compared, unknown, worse, worst, tolerance);
	return (int)worse;
}
