/* SPDX-License-Identifier: MIT */
/* JUnit's XML, as CI systems read it. */
#include <stdio.h>
#include <string.h>

#include "output.h"

/* Attribute values; bytes that XML 1.0 or UTF-8 do not have become '?'. */
static void print_escaped(const char *text)
{
	static const char special[] = "&<>\"";
	static const char *const names[] = { "&amp;", "&lt;", "&gt;", "&quot;" };
	const char *p, *s;

	for (p = text; *p; p++) {
		s = strchr(special, *p);
		if (s)
			fputs(names[s - special], stdout);
		else
			putchar(*p < ' ' || *p > '~' ? '?' : *p);
	}
}

static void print_attribute(const char *name, const char *value)
{
	printf(" %s=\"", name);
	print_escaped(value);
	putchar('"');
}

static void print_property(const char *name, const char *value)
{
	fputs("    <property", stdout);
	print_attribute("name", name);
	print_attribute("value", value);
	fputs("/>\n", stdout);
}

static void print_case(const struct sanity_summary *s, const struct sanity_outcome *o)
{
	fputs("  <testcase classname=\"gdrcopy_sanity\"", stdout);
	print_attribute("name", o->test->name);
	printf(" time=\"%.3f\"", o->seconds);
	if (o->result == SANITY_PASS && !*o->reason) {
		fputs("/>\n", stdout);
		return;
	}
	fputs(">\n", stdout);
	if (o->result == SANITY_PASS) {
		fputs("    <system-out>", stdout);
		print_escaped(o->reason);
		fputs("</system-out>\n", stdout);
	} else {
		fputs(o->result == SANITY_FAIL ? "    <failure" : "    <skipped", stdout);
		print_attribute("message", o->reason);
		fputs("/>\n", stdout);
	}
	fputs("  </testcase>\n", stdout);
}

/* An error that CI systems show: without tests, a suite would be a success. */
static void print_error(const char *why)
{
	fputs("  <testcase classname=\"gdrcopy_sanity\" name=\"choice_of_the_gpu\">\n"
	      "    <error", stdout);
	print_attribute("message", why);
	fputs("/>\n  </testcase>\n", stdout);
}

static int end(const struct sanity_summary *s)
{
	char seed[32];
	size_t i;

	printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	       "<testsuite name=\"gdrcopy_sanity\" tests=\"%zu\" failures=\"%zu\" errors=\"%d\" "
	       "skipped=\"%zu\" time=\"%.3f\">\n", s->n + !!s->no_gpu,
	       s->count[SANITY_FAIL], !!s->no_gpu, s->count[SANITY_WAIVE], s->seconds);
	fputs("  <properties>\n", stdout);
	for (i = 0; i < s->nfacts; i++)
		print_property(s->facts[i].name, s->facts[i].value);
	if (s->shuffled) {
		snprintf(seed, sizeof(seed), "%llu", (unsigned long long)s->seed);
		print_property("seed", seed);
	}
	fputs("  </properties>\n", stdout);
	for (i = 0; i < s->n; i++)
		print_case(s, &s->outcomes[i]);
	if (s->no_gpu)
		print_error(s->no_gpu);
	fputs("</testsuite>\n", stdout);
	return 0;
}

const struct sanity_format sanity_junit = { .end = end };
