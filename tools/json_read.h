/* SPDX-License-Identifier: MIT */
/* A JSON document (RFC 8259) as a tree, for reports that are read again. */
#ifndef TOOLS_JSON_READ_H
#define TOOLS_JSON_READ_H

#include <stddef.h>

enum json_kind {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

struct json {
	enum json_kind kind;
	char *name;             /* of a member of an object; else NULL */
	char *string;           /* JSON_STRING, UTF-8; U+0000 ends it */
	double number;          /* JSON_NUMBER */
	struct json *child;     /* first element or member */
	struct json *next;      /* in the same array or object */
};

/*
 * Parse len bytes.  NULL and errno: EINVAL with *at the offset where it is no JSON, or
 * that is nested too deeply; ENOMEM.
 */
struct json *json_read(const char *text, size_t len, size_t *at);
void json_free(struct json *j);

/* A member of an object, the first of that name; NULL if there is none, or o is no object. */
const struct json *json_get(const struct json *o, const char *name);

#endif
