/* SPDX-License-Identifier: MIT */
/* The summary that people and scripts read. */
#include <stdio.h>
#include <string.h>

#include "output.h"

static const char *const titles[SANITY_RESULTS] = {
	[SANITY_PASS] = "passed",
	[SANITY_FAIL] = "failed",
	[SANITY_WAIVE] = "waived",
};

static bool same(const struct sanity_outcome *a, const struct sanity_outcome *b)
{
	return a->test == b->test && a->result == b->result &&
	       (a->result == SANITY_PASS || strcmp(a->reason, b->reason) == 0);
}

/* Of several rounds, a name once, with the number of times. */
static void print_entry(const struct sanity_summary *s, size_t i)
{
	const struct sanity_outcome *o = &s->outcomes[i];
	size_t j, times = 1;

	if (s->repeat > 1) {
		for (j = 0; j < i; j++)
			if (same(&s->outcomes[j], o))
				return;
		for (j = i + 1; j < s->n; j++)
			times += same(&s->outcomes[j], o);
	}
	printf("    %s", o->test->name);
	if (times > 1)
		printf(" x %zu", times);
	if (o->result != SANITY_PASS)
		printf(" (%s)", o->reason);
	putchar('\n');
}

static void print_list(const struct sanity_summary *s, enum sanity_result result)
{
	size_t i;

	if (!s->count[result])
		return;
	printf("\nList of %s tests:\n", titles[result]);
	for (i = 0; i < s->n; i++)
		if (s->outcomes[i].result == result)
			print_entry(s, i);
}

static int end(const struct sanity_summary *s)
{
	/* stderr has the reason. */
	if (s->no_gpu)
		return 0;
	printf("Total: %zu, Passed: %zu, Failed: %zu, Waived: %zu\n", s->n, s->count[SANITY_PASS],
	       s->count[SANITY_FAIL], s->count[SANITY_WAIVE]);
	print_list(s, SANITY_PASS);
	print_list(s, SANITY_FAIL);
	print_list(s, SANITY_WAIVE);
	if (sanity.soft)
		printf("\n# SOFTCUDA: NO GPU IS USED. This says nothing about a GPU.\n");
	return 0;
}

const struct sanity_format sanity_text = { .end = end };
