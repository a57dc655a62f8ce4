/* SPDX-License-Identifier: MIT */
/* Test Anything Protocol, version 13, while the tests run. */
#include <stdio.h>

#include "output.h"

static int begin(const struct sanity_summary *s)
{
	size_t i;

	printf("TAP version 13\n1..%zu\n", s->planned);
	for (i = 0; i < s->nfacts; i++)
		printf("# %s: %s\n", s->facts[i].name, s->facts[i].value);
	fflush(stdout);
	return 0;
}

static void each(const struct sanity_summary *s, const struct sanity_outcome *o)
{
	printf("%sok %zu - %s", o->result == SANITY_FAIL ? "not " : "", s->n, o->test->name);
	if (o->result == SANITY_WAIVE)
		printf(" # SKIP %s", o->reason);
	printf("\n# %.3f s\n", o->seconds);
	if (o->result != SANITY_WAIVE && *o->reason)
		printf("# %s\n", o->reason);
	fflush(stdout);
}

static int end(const struct sanity_summary *s)
{
	if (s->no_gpu)
		printf("Bail out! %s\n", s->no_gpu);
	else if (sanity_interrupted())
		printf("Bail out! interrupted after %zu of %zu tests\n", s->n, s->planned);
	return 0;
}

const struct sanity_format sanity_tap = { begin, each, end };
