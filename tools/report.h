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

#define REPORT_FIELDS 40        /* of a row, at most */

/* A row that was kept.  Its strings are its own, its names those of the caller. */
struct report_row {
	size_t n;
	struct report_field *field;
};

struct report {
	enum report_format format;
	const char *tool;
	bool rows;                      /* the CSV header is out */
	struct report_json *json;
	int gpu;                        /* first field of each row; -1: it is left out */
	bool keep;                      /* keep the rows, for a plot or a comparison */
	struct report_row *kept;
	size_t n_kept;
	bool keep_failed;               /* there was no memory for one of them */
};

/* 0, or -errno with the reason on stderr. */
int report_open(struct report *r, const char *tool, enum report_format format);

/* Text form only: a line, flushed. */
void report_line(const struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Text form only: an empty line. */
void report_blank(const struct report *r);

/* A fact about where and how this runs (provenance), or an option in effect. */
void report_fact(struct report *r, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same as a number or a truth, which it is in JSON, too. */
void report_fact_field(struct report *r, const struct report_field *field);

/*
 * From here on facts are about the GPU of that ordinal, and its rows carry it.
 * JSON: they go into an entry of "gpus".  -1: about the run again, whose rows carry none.
 */
void report_begin_gpu(struct report *r, int ordinal);

void report_parameter(struct report *r, const struct report_field *field);

/* JSON: a field of "summary". */
void report_summary(struct report *r, const struct report_field *field);

/* Text and CSV: a "# ..." line; JSON: an entry of "notes". */
void report_note(struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* CSV and JSON: a result.  The fields of all rows of one report are the same, and named by
 * strings that stay. */
void report_row(struct report *r, const struct report_field *fields, size_t n);

/* Where remarks that are no result go: stdout in text form, else stderr. */
FILE *report_remarks(const struct report *r);

/* Free what report_close would, and write nothing. */
void report_drop(struct report *r);

/* Write what is left and free; status goes into the JSON document.  0 or -errno. */
int report_close(struct report *r, int exit_status, bool interrupted);

/* A field of a row by its name, or NULL. */
const struct report_field *report_find(const struct report_field *fields, size_t n,
				       const char *name);

/* report_json.c: the document; docs/report.schema.json describes it. */
struct report_json *report_json_new(const char *tool);
/* In "provenance", "parameters" or "summary"; a name that is there gets the new value. */
void report_json_set(struct report_json *j, const char *section, const struct report_field *field);
/* An entry of "gpus" begins; what is set in the section "gpu" goes there. */
void report_json_gpu(struct report_json *j);
void report_json_note(struct report_json *j, const char *text);
void report_json_row(struct report_json *j, const struct report_field *fields, size_t n);
int report_json_write(struct report_json *j, FILE *out, int exit_status, bool interrupted);
void report_json_free(struct report_json *j);

#endif
