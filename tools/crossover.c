/* SPDX-License-Identifier: MIT */
/* Where cuMemcpy overtakes copies by the CPU; see crossover.h. */
#include "crossover.h"

#include <stdio.h>

void crossover_add(struct crossover *c, enum crossover_way way, uint64_t size, double us)
{
	size_t i = 0;

	while (i < c->n && c->size[i] != size)
		i++;
	if (i == CROSSOVER_SIZES)
		return;
	if (i == c->n)
		c->size[c->n++] = size;
	c->us[i][way] = us;
}

uint64_t crossover_find(const struct crossover *c, enum crossover_way way, uint64_t *below)
{
	uint64_t found = 0;

	*below = 0;
	for (size_t i = c->n; i-- > 0;) {
		if (!(c->us[i][way] > 0 && c->us[i][CROSSOVER_CUDA] > 0))
			continue;
		if (c->us[i][CROSSOVER_CUDA] >= c->us[i][way]) {
			*below = found ? c->size[i] : 0;
			break;
		}
		found = c->size[i];
	}
	return found;
}

static int was_measured(const struct crossover *c, enum crossover_way way)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->us[i][way] > 0 && c->us[i][CROSSOVER_CUDA] > 0)
			return 1;
	return 0;
}

static void print_way(const struct crossover *c, struct report *r, const char *direction,
		      enum crossover_way way)
{
	const char *who = way == CROSSOVER_ONE_THREAD ? "one thread" : "several threads";
	struct report_field field = FIELD_STRING(NULL, NULL);
	uint64_t below, at;
	char name[64];

	if (!was_measured(c, way))
		return;
	at = crossover_find(c, way, &below);
	if (!at)
		report_line(r, "cuMemcpy does not overtake %s %s the mapping up to %llu bytes", who,
			    direction, (unsigned long long)c->size[c->n - 1]);
	else if (!below)
		report_line(r, "cuMemcpy is faster than %s %s the mapping at all sizes", who,
			    direction);
	else
		report_line(r, "cuMemcpy overtakes %s %s the mapping between %llu and %llu bytes",
			    who, direction, (unsigned long long)below, (unsigned long long)at);
	snprintf(name, sizeof(name), "cumemcpy_overtakes_%s_%s_bytes",
		 way == CROSSOVER_ONE_THREAD ? "one_thread" : "threads", direction);
	if (at)
		field = (struct report_field)FIELD_INTEGER(name, at);
	field.name = name;
	report_summary(r, &field);
}

void crossover_print(const struct crossover *c, struct report *r, const char *direction)
{
	print_way(c, r, direction, CROSSOVER_ONE_THREAD);
	print_way(c, r, direction, CROSSOVER_THREADS);
}
