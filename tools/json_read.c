/* SPDX-License-Identifier: MIT */
/* Recursive descent over JSON; json_read.h has the contract. */
#include "json_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX   32
#define NUMBER_MAX  64

struct reader {
	const char *p, *end;
	bool no_memory;
};

static struct json *read_value(struct reader *r, unsigned depth);

static void skip_blanks(struct reader *r)
{
	while (r->p < r->end && *r->p && strchr(" \t\r\n", *r->p))
		r->p++;
}

/* True and past it if c comes next, after blanks. */
static bool accept(struct reader *r, char c)
{
	skip_blanks(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static struct json *new_node(struct reader *r, enum json_kind kind)
{
	struct json *j = calloc(1, sizeof(*j));

	if (j)
		j->kind = kind;
	else
		r->no_memory = true;
	return j;
}

static struct json *read_word(struct reader *r)
{
	static const struct {
		const char *text;
		enum json_kind kind;
	} words[] = { { "null", JSON_NULL }, { "false", JSON_FALSE }, { "true", JSON_TRUE } };
	size_t i, len;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		len = strlen(words[i].text);
		if ((size_t)(r->end - r->p) >= len && !memcmp(r->p, words[i].text, len)) {
			r->p += len;
			return new_node(r, words[i].kind);
		}
	}
	return NULL;
}

static const char *digits(const char *p)
{
	return p + strspn(p, "0123456789");
}

/* The length of what the grammar calls a number, 0 if it is none. */
static size_t number_length(const char *text)
{
	const char *p = text + (*text == '-'), *q;

	q = digits(p);
	if (q == p || (*p == '0' && q != p + 1))
		return 0;
	p = q;
	if (*p == '.') {
		q = digits(p + 1);
		if (q == p + 1)
			return 0;
		p = q;
	}
	if (*p == 'e' || *p == 'E') {
		p += p[1] == '+' || p[1] == '-' ? 2 : 1;
		q = digits(p);
		if (q == p)
			return 0;
		p = q;
	}
	return (size_t)(p - text);
}

static struct json *read_number(struct reader *r)
{
	char text[NUMBER_MAX] = "";
	size_t left = (size_t)(r->end - r->p), len;
	struct json *j;

	memcpy(text, r->p, left < sizeof(text) ? left : sizeof(text) - 1);
	len = number_length(text);
	/* One that fills the buffer may go on behind it. */
	if (!len || len == sizeof(text) - 1)
		return NULL;
	text[len] = '\0';
	j = new_node(r, JSON_NUMBER);
	if (j)
		j->number = strtod(text, NULL);
	r->p += len;
	return j;
}

/* Four hexadecimal digits, or -1. */
static long read_hex(struct reader *r)
{
	char text[5] = "", *end;
	long v;

	if (r->end - r->p < 4)
		return -1;
	memcpy(text, r->p, 4);
	if (strspn(text, "0123456789abcdefABCDEF") != 4)
		return -1;
	v = strtol(text, &end, 16);
	r->p += 4;
	return v;
}

static char *put_utf8(char *to, unsigned long c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*to++ = (char)(0xe0 | c >> 12);
		} else {
			*to++ = (char)(0xf0 | c >> 18);
			*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (c & 0x3f));
	return to;
}

/* After "\u"; half a pair of surrogates is refused. */
static char *read_code(struct reader *r, char *to)
{
	long high = read_hex(r), low;

	if (high < 0 || (high >= 0xdc00 && high < 0xe000))
		return NULL;
	if (high < 0xd800 || high >= 0xe000)
		return put_utf8(to, (unsigned long)high);
	if (r->end - r->p < 2 || r->p[0] != '\\' || r->p[1] != 'u')
		return NULL;
	r->p += 2;
	low = read_hex(r);
	if (low < 0xdc00 || low >= 0xe000)
		return NULL;
	return put_utf8(to, 0x10000 + ((unsigned long)(high - 0xd800) << 10) +
				    (unsigned long)(low - 0xdc00));
}

static char *read_escape(struct reader *r, char *to)
{
	static const char letters[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
	const char *l;

	if (r->p == r->end || !*r->p)
		return NULL;
	if (*r->p == 'u') {
		r->p++;
		return read_code(r, to);
	}
	l = strchr(letters, *r->p++);
	if (!l)
		return NULL;
	*to++ = meaning[l - letters];
	return to;
}

/* After the quote; what is read is never longer than what it is written as. */
static char *read_text(struct reader *r)
{
	const char *stop = memchr(r->p, '"', (size_t)(r->end - r->p));
	char *text, *to;

	/* Quotes may be escaped: the rest of the document is room enough for those. */
	if (!stop)
		return NULL;
	if (memchr(r->p, '\\', (size_t)(stop - r->p)))
		stop = r->end;
	text = to = malloc((size_t)(stop - r->p) + 1);
	if (!text) {
		r->no_memory = true;
		return NULL;
	}
	while (to && r->p < r->end && *r->p != '"' && (unsigned char)*r->p >= ' ') {
		if (*r->p != '\\') {
			*to++ = *r->p++;
			continue;
		}
		r->p++;
		to = read_escape(r, to);
	}
	if (!to || r->p == r->end || *r->p != '"') {
		free(text);
		return NULL;
	}
	r->p++;
	*to = '\0';
	return text;
}

static struct json *read_string(struct reader *r)
{
	char *text;
	struct json *j;

	r->p++;
	text = read_text(r);
	j = text ? new_node(r, JSON_STRING) : NULL;
	if (j)
		j->string = text;
	else
		free(text);
	return j;
}

/* One element, or "name": value. */
static struct json *read_element(struct reader *r, bool named, unsigned depth)
{
	char *name = NULL;
	struct json *j = NULL;

	if (named) {
		name = accept(r, '"') ? read_text(r) : NULL;
		if (!name)
			return NULL;
	}
	if (!named || accept(r, ':'))
		j = read_value(r, depth);
	if (j)
		j->name = name;
	else
		free(name);
	return j;
}

static struct json *read_list(struct reader *r, enum json_kind kind, unsigned depth)
{
	char end = kind == JSON_ARRAY ? ']' : '}';
	struct json *list = depth < DEPTH_MAX ? new_node(r, kind) : NULL, **next;

	if (!list)
		return NULL;
	r->p++;
	if (accept(r, end))
		return list;
	next = &list->child;
	do {
		*next = read_element(r, kind == JSON_OBJECT, depth + 1);
		if (!*next)
			goto free_list;
		next = &(*next)->next;
	} while (accept(r, ','));
	if (accept(r, end))
		return list;

free_list:
	json_free(list);
	return NULL;
}

static struct json *read_value(struct reader *r, unsigned depth)
{
	skip_blanks(r);
	if (r->p == r->end)
		return NULL;
	switch (*r->p) {
	case '{':
		return read_list(r, JSON_OBJECT, depth);
	case '[':
		return read_list(r, JSON_ARRAY, depth);
	case '"':
		return read_string(r);
	case 'n':
	case 'f':
	case 't':
		return read_word(r);
	default:
		return read_number(r);
	}
}

struct json *json_read(const char *text, size_t len, size_t *at)
{
	struct reader r = { .p = text, .end = text + len };
	struct json *j = read_value(&r, 0);

	skip_blanks(&r);
	if (j && r.p == r.end)
		return j;
	json_free(j);
	*at = (size_t)(r.p - text);
	errno = r.no_memory ? ENOMEM : EINVAL;
	return NULL;
}

/* Depth is bounded by the reader, length is not. */
void json_free(struct json *j)
{
	struct json *next;

	for (; j; j = next) {
		next = j->next;
		json_free(j->child);
		free(j->name);
		free(j->string);
		free(j);
	}
}

const struct json *json_get(const struct json *o, const char *name)
{
	const struct json *j;

	if (!o || o->kind != JSON_OBJECT)
		return NULL;
	for (j = o->child; j; j = j->next)
		if (!strcmp(j->name, name))
			return j;
	return NULL;
}
