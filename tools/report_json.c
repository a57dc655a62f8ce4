/* SPDX-License-Identifier: MIT */
/*
 * The JSON document, with no library.  It is printed at the end, since options
 * of a run and what became of it stand before the results.
 */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA 1

/* One object: names and values that are JSON already. */
struct object {
	size_t n;
	struct member {
		char *name;
		char *value;
	} *member;
};

struct list {
	size_t n;
	struct object *object;
};

struct report_json {
	const char *tool;
	struct object provenance, parameters, summary;
	struct list gpus, rows;
	struct object notes;            /* without names */
	bool failed;                    /* something did not fit into memory */
};

/* Length of the UTF-8 sequence at s, 0 if it is none (RFC 3629). */
static size_t sequence(const unsigned char *s)
{
	size_t i, n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 :
		      s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Not the shortest form, surrogates, beyond U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

/* Names from the system need not be UTF-8: other bytes become U+FFFD. */
static void print_string(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	fputc('"', f);
	while (*s) {
		n = sequence(s);
		if (!n) {
			fputs("\\ufffd", f);
			s++;
			continue;
		}
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if (*s < ' ')
			fprintf(f, "\\u%04x", *s);
		else
			fwrite(s, 1, n, f);
		s += n;
	}
	fputc('"', f);
}

static void print_real(FILE *f, double v)
{
	if (isfinite(v))
		fprintf(f, "%.9g", v);
	else
		fputs("null", f);
}

static void print_field(FILE *f, const struct report_field *v)
{
	switch (v->kind) {
	case REPORT_STRING:
		if (v->string)
			print_string(f, v->string);
		else
			fputs("null", f);
		break;
	case REPORT_INTEGER:
		fprintf(f, "%llu", (unsigned long long)v->integer);
		break;
	case REPORT_REAL:
		print_real(f, v->real);
		break;
	case REPORT_BOOL:
		fputs(v->truth ? "true" : "false", f);
		break;
	}
}

/* Its text as JSON, for free; NULL without memory. */
static char *value(const struct report_field *v)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	print_field(f, v);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

static int put(struct object *o, const char *name, const struct report_field *v)
{
	struct member *m = NULL;
	char *text = value(v), *copy;
	size_t i;

	if (!text)
		return -ENOMEM;
	for (i = 0; name && i < o->n; i++)
		if (o->member[i].name && !strcmp(o->member[i].name, name))
			m = &o->member[i];
	if (m) {
		free(m->value);
		m->value = text;
		return 0;
	}
	m = realloc(o->member, (o->n + 1) * sizeof(*m));
	if (m)
		o->member = m;
	copy = name ? strdup(name) : NULL;
	if (!m || (name && !copy)) {
		free(copy);
		free(text);
		return -ENOMEM;
	}
	o->member[o->n++] = (struct member){ copy, text };
	return 0;
}

static struct object *add_object(struct list *l)
{
	struct object *o = realloc(l->object, (l->n + 1) * sizeof(*o));

	if (!o)
		return NULL;
	l->object = o;
	o += l->n++;
	*o = (struct object){ 0 };
	return o;
}

static void free_object(struct object *o)
{
	size_t i;

	for (i = 0; i < o->n; i++) {
		free(o->member[i].name);
		free(o->member[i].value);
	}
	free(o->member);
}

static void free_list(struct list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free_object(&l->object[i]);
	free(l->object);
}

struct report_json *report_json_new(const char *tool)
{
	struct report_json *j = calloc(1, sizeof(*j));

	if (j)
		j->tool = tool;
	else
		fprintf(stderr, "ERROR: no memory for the JSON report\n");
	return j;
}

void report_json_set(struct report_json *j, const char *section, const struct report_field *field)
{
	struct object *o = &j->summary;

	if (!strcmp(section, "provenance"))
		o = &j->provenance;
	else if (!strcmp(section, "parameters"))
		o = &j->parameters;
	else if (strcmp(section, "summary") != 0 && j->gpus.n)
		o = &j->gpus.object[j->gpus.n - 1];
	if (put(o, field->name, field))
		j->failed = true;
}

void report_json_gpu(struct report_json *j)
{
	if (!add_object(&j->gpus))
		j->failed = true;
}

void report_json_note(struct report_json *j, const char *text)
{
	if (put(&j->notes, NULL, &(struct report_field)FIELD_STRING(NULL, text)))
		j->failed = true;
}

void report_json_row(struct report_json *j, const struct report_field *fields, size_t n)
{
	struct object *row = add_object(&j->rows);
	size_t i;

	if (!row)
		j->failed = true;
	for (i = 0; row && i < n; i++)
		if (put(row, fields[i].name, &fields[i]))
			j->failed = true;
}

static void write_object(FILE *out, const struct object *o, const char *indent)
{
	size_t i;

	fputc('{', out);
	for (i = 0; i < o->n; i++)
		fprintf(out, "%s\n%s  \"%s\": %s", i ? "," : "", indent, o->member[i].name,
			o->member[i].value);
	if (o->n)
		fprintf(out, "\n%s", indent);
	fputc('}', out);
}

static void write_list(FILE *out, const char *name, const struct list *l)
{
	size_t i;

	fprintf(out, ",\n  \"%s\": [", name);
	for (i = 0; i < l->n; i++) {
		fprintf(out, "%s\n    ", i ? "," : "");
		write_object(out, &l->object[i], "    ");
	}
	fprintf(out, "%s]", l->n ? "\n  " : "");
}

static void write_section(FILE *out, const char *name, const struct object *o)
{
	fprintf(out, ",\n  \"%s\": ", name);
	write_object(out, o, "  ");
}

int report_json_write(struct report_json *j, FILE *out, int exit_status, bool interrupted)
{
	size_t i;

	if (j->failed)
		return -ENOMEM;
	fprintf(out, "{\n  \"schema\": %d,\n  \"tool\": ", SCHEMA);
	print_string(out, j->tool);
	write_section(out, "provenance", &j->provenance);
	if (j->gpus.n)
		write_list(out, "gpus", &j->gpus);
	write_section(out, "parameters", &j->parameters);
	write_list(out, "results", &j->rows);
	if (j->summary.n)
		write_section(out, "summary", &j->summary);
	fprintf(out, ",\n  \"notes\": [");
	for (i = 0; i < j->notes.n; i++)
		fprintf(out, "%s\n    %s", i ? "," : "", j->notes.member[i].value);
	fprintf(out, "%s],\n  \"interrupted\": %s,\n  \"exit_status\": %d\n}\n",
		j->notes.n ? "\n  " : "", interrupted ? "true" : "false", exit_status);
	return ferror(out) ? -EIO : 0;
}

void report_json_free(struct report_json *j)
{
	free_object(&j->provenance);
	free_object(&j->parameters);
	free_object(&j->summary);
	free_object(&j->notes);
	free_list(&j->gpus);
	free_list(&j->rows);
	free(j);
}
