/* SPDX-License-Identifier: MIT */
/*
 * What a tool prints on stdout, in one of three forms: text for people (and
 * for scripts that look for its lines), CSV, or one JSON document.  Facts
 * about the run are "# name: value" lines in the first two.
 */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum report_format {
	REPORT_TEXT,
	REPORT_CSV,
	REPORT_JSON,
};

enum report_kind {
	REPORT_STRING,
	REPORT_INTEGER,
	REPORT_REAL,            /* not finite: empty in CSV, null in JSON */
	REPORT_BOOL,
};

/* One field of a row or one fact.  The name ends with the unit, if there is one. */
struct report_field {
	const char *name;
	enum report_kind kind;
	const char *string;     /* NULL: empty in CSV, null in JSON */
	uint64_t integer;
	double real;
	bool truth;
};

#define FIELD_STRING(n, v)   { .name = (n), .kind = REPORT_STRING, .string = (v) }
#define FIELD_INTEGER(n, v)  { .name = (n), .kind = REPORT_INTEGER, .integer = (v) }
#define FIELD_REAL(n, v)     { .name = (n), .kind = REPORT_REAL, .real = (v) }
#define FIELD_BOOL(n, v)     { .name = (n), .kind = REPORT_BOOL, .truth = (v) }

struct report_json;

struct report {
	enum report_format format;
	const char *tool;
	bool rows;                      /* the CSV header is out */
	struct report_json *json;
};

/* 0 or -errno, with the reason on stderr: JSON may not be built in. */
int report_open(struct report *r, const char *tool, enum report_format format);

/* Text form only: a line, flushed. */
void report_line(const struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Text form only: an empty line. */
void report_blank(const struct report *r);

/* A fact about where and how this runs (provenance), or an option in effect. */
void report_fact(struct report *r, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void report_parameter(struct report *r, const struct report_field *field);

/* JSON: a field of "summary". */
void report_summary(struct report *r, const struct report_field *field);

/* Text and CSV: a "# ..." line; JSON: an entry of "notes". */
void report_note(struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* CSV and JSON: a result.  The fields of all rows of one report are the same. */
void report_row(struct report *r, const struct report_field *fields, size_t n);

/* Where remarks that are no result go: stdout in text form, else stderr. */
FILE *report_remarks(const struct report *r);

/* Write what is left and free; status goes into the JSON document.  0 or -errno. */
int report_close(struct report *r, int exit_status, bool interrupted);

/* report_json.c, or report_nojson.c where jansson is missing. */
struct report_json *report_json_new(const char *tool);
/* A section that is not there yet is made. */
void report_json_set(struct report_json *j, const char *section, const struct report_field *field);
void report_json_note(struct report_json *j, const char *text);
void report_json_row(struct report_json *j, const struct report_field *fields, size_t n);
int report_json_write(struct report_json *j, FILE *out, int exit_status, bool interrupted);
void report_json_free(struct report_json *j);

#endif
