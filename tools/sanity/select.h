/* SPDX-License-Identifier: MIT */
/* The tests of a run: chosen by group or by name, listed, shuffled. */
#ifndef SANITY_SELECT_H
#define SANITY_SELECT_H

#include "opts.h"
#include "runner.h"

struct sanity_selection {
	const struct sanity_test **tests;
	size_t n;
};

/*
 * Names, in their order, repeated ones again; without any, all groups up to
 * last.  -EINVAL for a name or pattern that fits nothing, with each of them on
 * stderr.
 */
int sanity_select(struct sanity_selection *s, const struct opt_strings *names,
		  enum sanity_group last);

void sanity_shuffle(struct sanity_selection *s, uint64_t *state);

/* All tests on stdout. */
void sanity_list(void);

#endif
