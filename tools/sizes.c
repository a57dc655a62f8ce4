/* SPDX-License-Identifier: MIT */
/* Lists of sizes; sizes.h has the contracts. */
#include "sizes.h"

#include <errno.h>
#include <stdio.h>

bool sizes_given(const struct sizes_args *a)
{
	return a->list.n || a->min || a->max || a->step;
}

static int complain(const char *what)
{
	fprintf(stderr, "ERROR: %s\n", what);
	return -EINVAL;
}

/* factor is 0 where the step adds. */
static int parse_step(const char *text, uint64_t *add, uint64_t *factor)
{
	*add = *factor = 0;
	if (!text) {
		*factor = 2;
		return 0;
	}
	if (*text == 'x' && !opts_number(text + 1, false, factor) && *factor >= 2)
		return 0;
	*factor = 0;
	if (!opts_number(text, true, add) && *add)
		return 0;
	fprintf(stderr, "ERROR: option --step: \"%s\" is neither a size that is added, as in 4K, "
		"nor a factor of two or more, as in x2\n", text);
	return -EINVAL;
}

static int run_through(uint64_t min, uint64_t max, const char *step, struct sizes *out)
{
	uint64_t add, factor, s = min;

	if (parse_step(step, &add, &factor))
		return -EINVAL;
	if (min > max) {
		fprintf(stderr, "ERROR: --min %llu is larger than the largest size, %llu\n",
			(unsigned long long)min, (unsigned long long)max);
		return -EINVAL;
	}
	while (s < max) {
		if (out->n == SIZES_MAX - 1)
			return complain("--min, --max and --step make more than 256 sizes");
		out->v[out->n++] = s;
		/* What goes beyond 64 bits is beyond max, too. */
		if (factor ? s > max / factor : s > max - add || add > max)
			break;
		s = factor ? s * factor : s + add;
	}
	out->v[out->n++] = max;
	out->largest = max;
	return 0;
}

int sizes_choose(const struct sizes_args *a, uint64_t min, uint64_t max, struct sizes *out)
{
	size_t i;

	*out = (struct sizes){ 0 };
	if (a->list.n && (a->min || a->max || a->step))
		return complain("--sizes excludes --min, --max and --step");
	if (!a->list.n)
		return run_through(a->min ? a->min : min, a->max ? a->max : max, a->step, out);
	for (i = 0; i < a->list.n; i++) {
		out->v[out->n++] = a->list.v[i];
		if (out->largest < a->list.v[i])
			out->largest = a->list.v[i];
	}
	return 0;
}
