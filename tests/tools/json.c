/* SPDX-License-Identifier: MIT */
/* The reader of JSON, and that it reads what the report writes. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "json_read.h"
#include "report.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* From memory of exactly this size, so that a sanitizer sees a step too far. */
static struct json *read_exactly(const char *text, size_t *at)
{
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);
	struct json *j;

	assert_non_null(copy);
	memcpy(copy, text, len);
	j = json_read(copy, len, at);
	free(copy);
	return j;
}

static void values(void **state)
{
	size_t at;
	struct json *j = read_exactly(" { \"a\" : [1, -2.5e1, 0.125, true, false, null, {} , [ ] ],"
				      "\"b\":\"x\",\"b\":2 } \n", &at);
	const struct json *a = json_get(j, "a"), *e;
	static const enum json_kind kinds[] = {
		JSON_NUMBER, JSON_NUMBER, JSON_NUMBER, JSON_TRUE, JSON_FALSE, JSON_NULL,
		JSON_OBJECT, JSON_ARRAY,
	};
	static const double numbers[] = { 1, -25, 0.125 };
	size_t i = 0;

	assert_non_null(j);
	assert_int_equal(a->kind, JSON_ARRAY);
	for (e = a->child; e; e = e->next, i++) {
		assert_int_equal(e->kind, kinds[i]);
		if (i < COUNT(numbers))
			assert_true(e->number == numbers[i]);
	}
	assert_int_equal(i, COUNT(kinds));
	assert_string_equal(json_get(j, "b")->string, "x");
	assert_null(json_get(j, "c"));
	assert_null(json_get(a, "a"));
	assert_null(json_get(NULL, "a"));
	json_free(j);
}

static void strings(void **state)
{
	size_t at;
	struct json *j = read_exactly("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t "
				      "\\u00b5 \\u20AC \\ud83d\\uDe00 é\"", &at);

	assert_non_null(j);
	assert_string_equal(j->string, "a\"\\/\b\f\n\r\t \xc2\xb5 \xe2\x82\xac "
				       "\xf0\x9f\x98\x80 \xc3\xa9");
	json_free(j);
}

static void what_is_no_json_is_refused(void **state)
{
	static const char *const bad[] = {
		"", " ", "{", "}", "[", "]", "[1", "[1,", "[1,]", "[1 2]", "{\"a\"", "{\"a\":",
		"{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "{1:1}", "\"", "\"a",
		"\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800\\n\"",
		"\"\\ud800\\ud800\"", "\"\\udc00\"", "\"a\nb\"", "nul", "nullx", "True", "+1", "-",
		"01", ".5", "1.", "1e", "1e+", "0x1", "1 1", "NaN", "Infinity", "-a", "[}", "{]",
		"\"a\"b", "1111111111111111111111111111111111111111111111111111111111111111111",
	};
	size_t at;

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct json *j;

		at = 99999;
		errno = 0;
		j = read_exactly(bad[i], &at);
		if (j || errno != EINVAL || at > strlen(bad[i]))
			fail_msg("taken, or with a wrong place: %s", bad[i]);
	}
}

/* Every beginning of a document is no document. */
static void what_is_cut_off_is_refused(void **state)
{
	static const char text[] = "{\"a\": [1.5e3, \"x\\u00e9\\n\", true, {\"b\": null}], "
				   "\"c\": -0.25}";
	size_t at, n;

	for (n = 0; n < sizeof(text) - 1; n++) {
		char *part = strndup(text, n);

		assert_non_null(part);
		assert_null(read_exactly(part, &at));
		assert_true(at <= n);
		free(part);
	}
}

static void depth_is_bounded(void **state)
{
	char text[4001];
	struct json *j;
	size_t at;

	memset(text, '[', 2000);
	memset(text + 2000, ']', 2000);
	text[4000] = '\0';
	assert_null(read_exactly(text, &at));
	text[32] = '\0';
	memset(text + 16, ']', 16);
	j = read_exactly(text, &at);
	assert_non_null(j);
	json_free(j);
}

static char *written(struct report_json *r)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(report_json_write(r, f, 3, false), 0);
	fclose(f);
	return text;
}

static void what_the_report_writes_is_read(void **state)
{
	static const char odd[] = "quote \" backslash \\ tab \t bell \a \xc3\xa9 "
				  "bad \xff\xc3 \xed\xa0\x80";
	struct report_json *r = report_json_new("test");
	const struct report_field row[] = {
		FIELD_STRING("string", odd), FIELD_STRING("null", NULL),
		FIELD_INTEGER("integer", 1ULL << 53), FIELD_REAL("real", 0.0125),
		FIELD_REAL("nan", NAN), FIELD_BOOL("bool", true),
	};
	const struct json *o;
	struct json *j;
	char *text;
	size_t at;

	assert_non_null(r);
	report_json_set(r, "provenance", &row[3]);
	report_json_set(r, "provenance", &(struct report_field)FIELD_REAL("real", 7));
	report_json_gpu(r);
	report_json_set(r, "gpu", &row[2]);
	report_json_row(r, row, COUNT(row));
	report_json_row(r, NULL, 0);
	report_json_note(r, "a \"note\"");
	text = written(r);
	j = read_exactly(text, &at);
	if (!j)
		fail_msg("at %zu: %s", at, text);
	assert_true(json_get(json_get(j, "provenance"), "real")->number == 7);
	assert_true(json_get(json_get(j, "gpus")->child, "integer")->number == 9007199254740992.0);
	o = json_get(j, "results")->child;
	assert_string_equal(json_get(o, "string")->string,
			    "quote \" backslash \\ tab \t bell \a \xc3\xa9 "
			    "bad \xef\xbf\xbd\xef\xbf\xbd "
			    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	assert_int_equal(json_get(o, "null")->kind, JSON_NULL);
	assert_int_equal(json_get(o, "nan")->kind, JSON_NULL);
	assert_true(json_get(o, "real")->number == 0.0125);
	assert_int_equal(json_get(o, "bool")->kind, JSON_TRUE);
	assert_int_equal(o->next->kind, JSON_OBJECT);
	assert_null(o->next->child);
	assert_string_equal(json_get(j, "notes")->child->string, "a \"note\"");
	assert_true(json_get(j, "exit_status")->number == 3);
	assert_null(json_get(j, "summary"));
	json_free(j);
	free(text);
	report_json_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(strings),
		cmocka_unit_test(what_is_no_json_is_refused),
		cmocka_unit_test(what_is_cut_off_is_refused),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(what_the_report_writes_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
