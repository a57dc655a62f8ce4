/* SPDX-License-Identifier: MIT */
/* Which tests to run, and in which order. */
#include "select.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(struct sanity_selection *s, const struct sanity_test *test)
{
	const struct sanity_test **grown = realloc(s->tests, (s->n + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	grown[s->n++] = test;
	s->tests = grown;
	return 0;
}

/* A name as it is, or a shell pattern for all that match. */
static int add_named(struct sanity_selection *s, const char *name,
		     const struct sanity_test *const *all, size_t n)
{
	bool pattern = strpbrk(name, "*?[") != NULL;
	size_t i, before = s->n;

	for (i = 0; i < n; i++) {
		if (pattern ? fnmatch(name, all[i]->name, 0) : strcmp(name, all[i]->name))
			continue;
		if (add(s, all[i]))
			return -ENOMEM;
	}
	if (s->n > before)
		return 0;
	fprintf(stderr, "ERROR: %s \"%s\"; -l lists the tests\n",
		pattern ? "no test matches" : "there is no test", name);
	return -EINVAL;
}

int sanity_select(struct sanity_selection *s, const struct opt_strings *names,
		  enum sanity_group last)
{
	const struct sanity_test *const *all;
	size_t i, n;
	int err = sanity_registry(&all, &n);

	if (err)
		return err;
	/* All names are looked at, so that each wrong one is told. */
	for (i = 0; i < names->n; i++) {
		int bad = add_named(s, names->v[i], all, n);

		err = err ? err : bad;
	}
	for (i = 0; !names->n && !err && i < n; i++)
		if (all[i]->group <= last)
			err = add(s, all[i]);
	return err;
}

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void sanity_shuffle(struct sanity_selection *s, uint64_t *state)
{
	const struct sanity_test *t;
	size_t i, j;

	for (i = s->n; i > 1; i--) {
		j = next(state) % i;
		t = s->tests[i - 1];
		s->tests[i - 1] = s->tests[j];
		s->tests[j] = t;
	}
}

static void print_group(const struct sanity_test *const *all, size_t n, enum sanity_group group)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (all[i]->group == group)
			printf("    %s\n", all[i]->name);
}

void sanity_list(void)
{
	const struct sanity_test *const *all;
	size_t n;

	if (sanity_registry(&all, &n))
		return;
	printf("List of tests:\n");
	print_group(all, n, SANITY_DEFAULT);
	printf("\nList of extended tests (-e):\n");
	print_group(all, n, SANITY_EXTENDED);
	printf("\nList of further tests (--all):\n");
	print_group(all, n, SANITY_MORE);
}
