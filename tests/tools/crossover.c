/* SPDX-License-Identifier: MIT */
/* From which size on cuMemcpy is the faster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "crossover.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const uint64_t sizes[] = { 4, 64, 1024, 16384 };

static uint64_t find(const double *cuda, const double *one, size_t n, uint64_t *below)
{
	struct crossover c = { .n = 0 };

	for (size_t i = 0; i < n; i++)
		crossover_add(&c, CROSSOVER_CUDA, sizes[i], cuda[i]);
	for (size_t i = 0; i < n; i++)
		crossover_add(&c, CROSSOVER_ONE_THREAD, sizes[i], one[i]);
	assert_int_equal(c.n, n);
	return crossover_find(&c, CROSSOVER_ONE_THREAD, below);
}

static void expect(const double *cuda, const double *one, uint64_t below, uint64_t at)
{
	uint64_t b;

	assert_int_equal(find(cuda, one, COUNT(sizes), &b), at);
	assert_int_equal(b, below);
}

static void it_lies_between_two_sizes(void **state)
{
	static const double cuda[] = { 6, 6, 6, 7 };

	expect(cuda, (const double[]){ 1, 1, 2, 20 }, 1024, 16384);
	expect(cuda, (const double[]){ 1, 7, 8, 20 }, 4, 64);
}

static void a_size_that_lies_below_a_slower_one_does_not_count(void **state)
{
	static const double cuda[] = { 6, 6, 6, 7 };

	/* slow at 64, as a first touch might be */
	expect(cuda, (const double[]){ 1, 9, 2, 20 }, 1024, 16384);
}

static void it_may_be_nowhere_or_everywhere(void **state)
{
	static const double cuda[] = { 6, 6, 6, 7 };

	expect(cuda, (const double[]){ 1, 1, 1, 1 }, 0, 0);
	expect(cuda, (const double[]){ 1, 1, 1, 7 }, 0, 0);
	expect(cuda, (const double[]){ 7, 7, 7, 8 }, 0, 4);
}

static void what_was_not_measured_is_left_out(void **state)
{
	struct crossover c = { .n = 0 };
	uint64_t below;

	assert_int_equal(crossover_find(&c, CROSSOVER_ONE_THREAD, &below), 0);
	crossover_add(&c, CROSSOVER_CUDA, 4, 1);
	crossover_add(&c, CROSSOVER_CUDA, 64, 1);
	crossover_add(&c, CROSSOVER_ONE_THREAD, 4, 2);
	assert_int_equal(crossover_find(&c, CROSSOVER_ONE_THREAD, &below), 4);
	assert_int_equal(crossover_find(&c, CROSSOVER_THREADS, &below), 0);
	for (uint64_t i = 0; i < 2 * SIZES_MAX; i++)
		crossover_add(&c, CROSSOVER_THREADS, 1000 + i, 1);
	assert_int_equal(c.n, SIZES_MAX);
}

static void sizes_may_come_in_any_order(void **state)
{
	struct crossover c = { .n = 0 };
	uint64_t below;

	crossover_add(&c, CROSSOVER_CUDA, 1024, 6);
	crossover_add(&c, CROSSOVER_CUDA, 4, 6);
	crossover_add(&c, CROSSOVER_ONE_THREAD, 4, 1);
	crossover_add(&c, CROSSOVER_CUDA, 64, 6);
	crossover_add(&c, CROSSOVER_ONE_THREAD, 1024, 9);
	crossover_add(&c, CROSSOVER_ONE_THREAD, 64, 1);
	assert_int_equal(c.n, 3);
	assert_int_equal(crossover_find(&c, CROSSOVER_ONE_THREAD, &below), 1024);
	assert_int_equal(below, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_lies_between_two_sizes),
		cmocka_unit_test(a_size_that_lies_below_a_slower_one_does_not_count),
		cmocka_unit_test(it_may_be_nowhere_or_everywhere),
		cmocka_unit_test(sizes_may_come_in_any_order),
		cmocka_unit_test(what_was_not_measured_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
