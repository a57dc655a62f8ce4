/* SPDX-License-Identifier: MIT */
/* Text and CSV, the choice between them and JSON, and rows that are kept. */
#include "report.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int write_error;         /* errno of the first flush of stdout that failed */

static void flush(void)
{
	if (fflush(stdout) && !write_error)
		write_error = errno;
}

int report_open(struct report *r, const char *tool, enum report_format format)
{
	*r = (struct report){ .format = format, .tool = tool, .gpu = -1 };
	if (format != REPORT_JSON)
		return 0;
	r->json = report_json_new(tool);
	return r->json ? 0 : -ENOMEM;
}

void report_line(const struct report *r, const char *fmt, ...)
{
	va_list ap;

	if (r->format != REPORT_TEXT)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	flush();
}

void report_blank(const struct report *r)
{
	if (r->format == REPORT_TEXT)
		putchar('\n');
}

/* Text from outside must not start a line of its own. */
static void one_line(char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = ' ';
	}
}

void report_note(struct report *r, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	one_line(text);
	if (r->format == REPORT_JSON) {
		report_json_note(r->json, text);
		return;
	}
	printf("# %s\n", text);
	flush();
}

static void print_string(const char *s)
{
	if (!s)
		return;
	if (!strpbrk(s, ",\"\n")) {
		fputs(s, stdout);
		return;
	}
	putchar('"');
	for (; *s; s++) {
		if (*s == '"')
			putchar('"');
		putchar(*s);
	}
	putchar('"');
}

static void print_value(const struct report_field *f)
{
	switch (f->kind) {
	case REPORT_STRING:
		print_string(f->string);
		break;
	case REPORT_INTEGER:
		printf("%llu", (unsigned long long)f->integer);
		break;
	case REPORT_REAL:
		if (isfinite(f->real))
			printf("%.9g", f->real);
		break;
	case REPORT_BOOL:
		fputs(f->truth ? "true" : "false", stdout);
		break;
	}
}

void report_fact(struct report *r, const char *name, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	one_line(text);
	report_fact_field(r, &(struct report_field)FIELD_STRING(name, text));
}

void report_fact_field(struct report *r, const struct report_field *field)
{
	if (r->format == REPORT_JSON) {
		report_json_set(r->json, r->gpu < 0 ? "provenance" : "gpu", field);
		return;
	}
	printf("# %s: ", field->name);
	/* Here a comma is no separator. */
	if (field->kind == REPORT_STRING)
		fputs(field->string ? field->string : "unknown", stdout);
	else
		print_value(field);
	putchar('\n');
	flush();
}

void report_begin_gpu(struct report *r, int ordinal)
{
	r->gpu = ordinal;
	if (r->format == REPORT_JSON && ordinal >= 0)
		report_json_gpu(r->json);
}

void report_parameter(struct report *r, const struct report_field *field)
{
	if (r->format == REPORT_JSON) {
		report_json_set(r->json, "parameters", field);
	} else if (r->format == REPORT_CSV) {
		printf("# %s: ", field->name);
		print_value(field);
		putchar('\n');
	}
}

void report_summary(struct report *r, const struct report_field *field)
{
	if (r->format != REPORT_JSON)
		return;
	report_json_set(r->json, "summary", field);
	/* Of several GPUs the summary has the last; each has its own. */
	if (r->gpu >= 0)
		report_json_set(r->json, "gpu", field);
}

static void keep_row(struct report *r, const struct report_field *fields, size_t n)
{
	struct report_row *rows = realloc(r->kept, (r->n_kept + 1) * sizeof(*rows));
	struct report_field *copy = calloc(n, sizeof(*copy));
	size_t i;

	if (rows)
		r->kept = rows;
	if (!rows || !copy) {
		free(copy);
		r->keep_failed = true;
		return;
	}
	for (i = 0; i < n; i++) {
		copy[i] = fields[i];
		if (!fields[i].string)
			continue;
		copy[i].string = strdup(fields[i].string);
		if (!copy[i].string)
			r->keep_failed = true;
	}
	r->kept[r->n_kept++] = (struct report_row){ n, copy };
}

static void free_kept(struct report *r)
{
	size_t i, f;

	for (i = 0; i < r->n_kept; i++) {
		for (f = 0; f < r->kept[i].n; f++)
			free((void *)(uintptr_t)r->kept[i].field[f].string);
		free(r->kept[i].field);
	}
	free(r->kept);
	r->kept = NULL;
	r->n_kept = 0;
}

const struct report_field *report_find(const struct report_field *fields, size_t n,
				       const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

static void print_csv(struct report *r, const struct report_field *fields, size_t n)
{
	size_t i;

	for (i = 0; i < n && !r->rows; i++)
		printf("%s%s", i ? "," : "", fields[i].name);
	if (!r->rows)
		putchar('\n');
	r->rows = true;
	for (i = 0; i < n; i++) {
		if (i)
			putchar(',');
		print_value(&fields[i]);
	}
	putchar('\n');
	flush();
}

void report_row(struct report *r, const struct report_field *fields, size_t n)
{
	struct report_field all[REPORT_FIELDS];
	size_t at = 0;

	assert(n < REPORT_FIELDS);
	if (r->gpu >= 0)
		all[at++] = (struct report_field)FIELD_INTEGER("gpu", (uint64_t)r->gpu);
	memcpy(all + at, fields, n * sizeof(*fields));
	n += at;
	if (r->keep)
		keep_row(r, all, n);
	if (r->format == REPORT_JSON)
		report_json_row(r->json, all, n);
	if (r->format == REPORT_CSV)
		print_csv(r, all, n);
}

FILE *report_remarks(const struct report *r)
{
	return r->format == REPORT_TEXT ? stdout : stderr;
}

void report_drop(struct report *r)
{
	free_kept(r);
	if (r->json)
		report_json_free(r->json);
	r->json = NULL;
}

int report_close(struct report *r, int exit_status, bool interrupted)
{
	int err = 0;

	if (r->json)
		err = report_json_write(r->json, stdout, exit_status, interrupted);
	report_drop(r);
	flush();
	if (write_error)
		err = -write_error;
	else if (ferror(stdout))
		err = -EIO;
	if (err)
		fprintf(stderr, "ERROR: the report could not be written: %s\n", strerror(-err));
	return err;
}
