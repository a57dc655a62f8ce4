/* SPDX-License-Identifier: MIT */
/* Text and CSV, and the choice between them and JSON. */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static int write_error;         /* errno of the first flush of stdout that failed */

static void flush(void)
{
	if (fflush(stdout) && !write_error)
		write_error = errno;
}

int report_open(struct report *r, const char *tool, enum report_format format)
{
	*r = (struct report){ .format = format, .tool = tool };
	if (format != REPORT_JSON)
		return 0;
	r->json = report_json_new(tool);
	return r->json ? 0 : -ENOTSUP;
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

void report_fact(struct report *r, const char *name, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	one_line(text);
	if (r->format == REPORT_JSON) {
		struct report_field f = FIELD_STRING(name, text);

		report_json_set(r->json, "provenance", &f);
		return;
	}
	printf("# %s: %s\n", name, text);
	flush();
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
	if (r->format == REPORT_JSON)
		report_json_set(r->json, "summary", field);
}

void report_row(struct report *r, const struct report_field *fields, size_t n)
{
	size_t i;

	if (r->format == REPORT_JSON)
		report_json_row(r->json, fields, n);
	if (r->format != REPORT_CSV)
		return;
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

FILE *report_remarks(const struct report *r)
{
	return r->format == REPORT_TEXT ? stdout : stderr;
}

int report_close(struct report *r, int exit_status, bool interrupted)
{
	int err = 0;

	if (r->json) {
		err = report_json_write(r->json, stdout, exit_status, interrupted);
		report_json_free(r->json);
		r->json = NULL;
	}
	flush();
	if (write_error)
		err = -write_error;
	else if (ferror(stdout))
		err = -EIO;
	if (err)
		fprintf(stderr, "ERROR: the report could not be written: %s\n", strerror(-err));
	return err;
}
