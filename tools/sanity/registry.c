/* SPDX-License-Identifier: MIT */
/* The tests that are linked in, collected from the section "sanity_tables". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define TESTS_MAX 256

/* Bounds of the section, from the linker. */
extern const struct sanity_table *const __start_sanity_tables[];
extern const struct sanity_table *const __stop_sanity_tables[];

static int by_group_and_name(const void *a, const void *b)
{
	const struct sanity_test *x = *(const struct sanity_test *const *)a;
	const struct sanity_test *y = *(const struct sanity_test *const *)b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct sanity_test *const *)a)->name,
		      (*(const struct sanity_test *const *)b)->name);
}

int sanity_registry(const struct sanity_test *const **tests, size_t *n)
{
	static const struct sanity_test *all[TESTS_MAX];
	/* Integers, since to C the two symbols are two objects. */
	size_t tables = ((uintptr_t)__stop_sanity_tables - (uintptr_t)__start_sanity_tables) /
			sizeof(__start_sanity_tables[0]);
	size_t i, k, count = 0;

	for (k = 0; k < tables; k++) {
		const struct sanity_table *t = __start_sanity_tables[k];

		for (i = 0; i < t->n; i++) {
			if (count == TESTS_MAX) {
				fprintf(stderr, "ERROR: more than %d tests\n", TESTS_MAX);
				return -E2BIG;
			}
			all[count++] = &t->tests[i];
		}
	}
	qsort(all, count, sizeof(all[0]), by_name);
	for (i = 1; i < count; i++) {
		if (strcmp(all[i - 1]->name, all[i]->name) == 0) {
			fprintf(stderr, "ERROR: two tests are called %s\n", all[i]->name);
			return -EEXIST;
		}
	}
	qsort(all, count, sizeof(all[0]), by_group_and_name);
	*tests = all;
	*n = count;
	return 0;
}
