/* SPDX-License-Identifier: MIT */
/*
 * The JSON document, built with jansson:
 * { "schema": 1, "tool", "provenance": {}, "parameters": {}, "results": [],
 *   "notes": [], "interrupted", "exit_status" }
 */
#include "report.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

struct report_json {
	json_t *root;
	bool failed;            /* something did not fit into memory */
};

/* jansson takes the value over, also when it fails; NULL fails. */
static void put(struct report_json *j, json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value))
		j->failed = true;
}

static json_t *value(const struct report_field *f)
{
	switch (f->kind) {
	case REPORT_STRING:
		if (!f->string)
			return json_null();
		/* Names from the system need not be UTF-8. */
		return json_string(f->string) ?: json_string("(not UTF-8)");
	case REPORT_INTEGER:
		return json_integer((json_int_t)f->integer);
	case REPORT_REAL:
		return isfinite(f->real) ? json_real(f->real) : json_null();
	case REPORT_BOOL:
		return json_boolean(f->truth);
	}
	return NULL;
}

struct report_json *report_json_new(const char *tool)
{
	struct report_json *j = calloc(1, sizeof(*j));

	if (!j)
		goto fail;
	j->root = json_pack("{s:i, s:s, s:{}, s:{}, s:[], s:[]}", "schema", 1, "tool", tool,
			    "provenance", "parameters", "results", "notes");
	if (j->root)
		return j;
	free(j);
fail:
	fprintf(stderr, "ERROR: no memory for the JSON report\n");
	return NULL;
}

void report_json_set(struct report_json *j, const char *section, const struct report_field *field)
{
	if (!json_object_get(j->root, section))
		put(j, j->root, section, json_object());
	put(j, json_object_get(j->root, section), field->name, value(field));
}

void report_json_note(struct report_json *j, const char *text)
{
	if (json_array_append_new(json_object_get(j->root, "notes"), json_string(text)))
		j->failed = true;
}

void report_json_row(struct report_json *j, const struct report_field *fields, size_t n)
{
	json_t *row = json_object();
	size_t i;

	for (i = 0; i < n; i++)
		put(j, row, fields[i].name, value(&fields[i]));
	if (json_array_append_new(json_object_get(j->root, "results"), row))
		j->failed = true;
}

int report_json_write(struct report_json *j, FILE *out, int exit_status, bool interrupted)
{
	put(j, j->root, "interrupted", json_boolean(interrupted));
	put(j, j->root, "exit_status", json_integer(exit_status));
	if (j->failed)
		return -ENOMEM;
	if (json_dumpf(j->root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)))
		return -EIO;
	fputc('\n', out);
	return 0;
}

void report_json_free(struct report_json *j)
{
	json_decref(j->root);
	free(j);
}
