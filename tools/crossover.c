/* SPDX-License-Identifier: MIT */
/* Where cuMemcpy overtakes copies by the CPU; see crossover.h. */
#include "crossover.h"

#include <stdio.h>
#include <string.h>

void crossover_add(struct crossover *c, enum crossover_way way, uint64_t size, double us)
{
	size_t i = 0;

	while (i < c->n && c->size[i] < size)
		i++;
	if (i == c->n || c->size[i] != size) {
		if (c->n == SIZES_MAX)
			return;
		memmove(&c->size[i + 1], &c->size[i], (c->n - i) * sizeof(c->size[0]));
		memmove(&c->us[i + 1], &c->us[i], (c->n - i) * sizeof(c->us[0]));
		memset(&c->us[i], 0, sizeof(c->us[i]));
		c->size[i] = size;
		c->n++;
	}
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

static int print_figure(char *buf, size_t len, uint64_t size, double us, bool rates)
{
	if (!(us > 0))
		return snprintf(buf, len, " %12s", "-");
	return snprintf(buf, len, rates ? " %12.2f" : " %12.4f", rates ? (double)size / us : us);
}

static void print_line(const struct crossover *c, const struct report *r, size_t i, bool rates)
{
	static const enum crossover_way columns[] = {
		CROSSOVER_ONE_THREAD, CROSSOVER_THREADS, CROSSOVER_CUDA, CROSSOVER_PAGEABLE,
	};
	double gdr = c->us[i][CROSSOVER_ONE_THREAD], cuda = c->us[i][CROSSOVER_CUDA];
	char line[160];
	size_t k, at = 0;

	for (k = 0; k < sizeof(columns) / sizeof(columns[0]); k++)
		at += (size_t)print_figure(line + at, sizeof(line) - at, c->size[i],
					   c->us[i][columns[k]], rates);
	if (gdr > 0 && cuda > 0)
		snprintf(line + at, sizeof(line) - at, cuda / gdr < 100 ? " %10.3g" : " %10.0f",
			 cuda / gdr);
	report_line(r, "%12llu%s", (unsigned long long)c->size[i], line);
}

void crossover_print_table(const struct crossover *c, const struct report *r,
			   const char *direction, bool rates)
{
	size_t i;

	if (!c->n)
		return;
	report_line(r, "%s the mapping, %s; ratio: how many times as fast as cuMemcpy gdr_copy is",
		    direction, rates ? "MB/s" : "us a call, medians");
	report_line(r, "%12s %12s %12s %12s %12s %10s", "bytes", "gdr_copy", "gdrx_copy",
		    "cuMemcpy", "pageable", "ratio");
	for (i = 0; i < c->n; i++)
		print_line(c, r, i, rates);
}
