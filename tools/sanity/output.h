/* SPDX-License-Identifier: MIT */
/* What a run prints on stdout: for people, or in one of three machine formats. */
#ifndef SANITY_OUTPUT_H
#define SANITY_OUTPUT_H

#include "runner.h"

struct sanity_fact {
	char name[64];
	char value[400];
};

#define SANITY_FACTS_MAX 16

struct sanity_summary {
	struct sanity_fact facts[SANITY_FACTS_MAX];
	size_t nfacts;
	size_t planned;                 /* entries to run, rounds included */
	unsigned repeat;
	bool shuffled;
	uint64_t seed;
	unsigned timeout;               /* seconds a test */
	struct sanity_outcome *outcomes;
	size_t n;                       /* entries that were run */
	size_t count[SANITY_RESULTS];
	double seconds;
	const char *no_gpu;             /* why nothing could be run, or NULL */
	int status;                     /* of the program, known at the end */
};

/* begin before the first test, each after every test, end after the last; any may be NULL. */
struct sanity_format {
	int (*begin)(const struct sanity_summary *s);
	void (*each)(const struct sanity_summary *s, const struct sanity_outcome *o);
	int (*end)(const struct sanity_summary *s);
};

extern const struct sanity_format sanity_text, sanity_tap, sanity_junit, sanity_json;

#endif
