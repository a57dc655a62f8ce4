/* SPDX-License-Identifier: MIT */
/* The parts of the tools that need no CUDA: statistics, sweeps, numbers, patterns. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench.h"
#include "gpu.h"
#include "opts.h"
#include "pattern.h"

static void assert_near(double a, double b)
{
	assert_true(a - b < 1e-9 && b - a < 1e-9);
}

static void stats_of_known_samples(void **state)
{
	double v[100], one[] = { 7 }, eight[] = { 2, 9, 4, 5, 4, 7, 5, 4 };
	struct bench_stats s;
	int i;

	for (i = 0; i < 100; i++)
		v[i] = 100 - i;
	bench_stats(v, 100, &s);
	assert_int_equal(s.n, 100);
	assert_near(s.min, 1);
	assert_near(s.median, 51);      /* the upper of 50 and 51 */
	assert_near(s.p90, 90);
	assert_near(s.p99, 99);
	assert_near(s.max, 100);
	assert_near(s.p999, 100);
	assert_near(s.mean, 50.5);
	assert_near(s.ci95, 1.96 * s.stddev / 10);
	assert_int_equal(s.outliers, 0);
	v[99] = 1000;           /* the quartiles are 25 and 75 */
	v[98] = 226;
	bench_stats(v, 100, &s);
	assert_int_equal(s.outliers, 2);

	bench_stats(eight, 8, &s);
	assert_near(s.mean, 5);
	assert_near(s.stddev * s.stddev, 32.0 / 7);
	assert_near(s.median, 5);
	assert_near(s.p99, 9);

	bench_stats(one, 1, &s);
	assert_near(s.min, 7);
	assert_near(s.median, 7);
	assert_near(s.p99, 7);
	assert_near(s.stddev, 0);
	assert_near(s.ci95, 0);
}

static void percentile_is_nearest_rank(void **state)
{
	const double v[] = { 15, 20, 35, 40, 50 };

	assert_near(bench_percentile(v, 5, 0), 15);
	assert_near(bench_percentile(v, 5, 5), 15);
	assert_near(bench_percentile(v, 5, 30), 20);
	assert_near(bench_percentile(v, 5, 40), 20);
	assert_near(bench_percentile(v, 5, 50), 35);
	assert_near(bench_percentile(v, 5, 100), 50);
}

static void sweep_ends_with_its_top(void **state)
{
	uint64_t s[72];

	assert_int_equal(bench_sweep(1, s, 72), 1);
	assert_int_equal(s[0], 1);
	assert_int_equal(bench_sweep(8, s, 72), 4);
	assert_int_equal(s[3], 8);
	assert_int_equal(bench_sweep(9, s, 72), 5);
	assert_int_equal(s[3], 8);
	assert_int_equal(s[4], 9);
	assert_int_equal(bench_sweep(UINT64_MAX, s, 72), 65);
	assert_true(s[63] == 1ULL << 63 && s[64] == UINT64_MAX);
}

struct counter {
	uint64_t calls, fail_at, raise_at;
};

static int count_call(void *arg)
{
	struct counter *c = arg;

	c->calls++;
	if (c->calls == c->raise_at)
		raise(SIGTERM);
	return c->calls == c->fail_at ? EIO : 0;
}

static int count_other(void *arg)
{
	return 0;
}

static void run_makes_every_call(void **state)
{
	struct counter c = { 0 };
	struct bench_plan p = { .label = "test", .call = count_call, .arg = &c, .warmup = 5,
				.iterations = 1003, .buckets = 100 };
	struct bench_result r;

	assert_int_equal(bench_run(&p, &r), 0);
	assert_int_equal(c.calls, 1008);
	assert_int_equal(r.iterations, 1003);
	assert_int_equal(r.stats.n, 100);
	assert_true(r.complete);
	assert_true(r.elapsed_us > 0 && r.stats.min <= r.stats.median);
	assert_int_equal(r.rounds, 1);
	assert_near(r.spread_percent, 0);
	bench_free(&r);
}

static void rounds_are_warmed_up_and_pooled(void **state)
{
	struct counter c = { 0 };
	struct bench_plan p = { .label = "test", .call = count_call, .arg = &c, .warmup = 5,
				.iterations = 20, .buckets = 10, .rounds = 3 };
	struct bench_result r;

	assert_int_equal(bench_run(&p, &r), 0);
	assert_int_equal(c.calls, 75);
	assert_int_equal(r.iterations, 60);
	assert_int_equal(r.planned, 60);
	assert_int_equal(r.stats.n, 30);
	assert_int_equal(r.rounds, 3);
	assert_true(r.complete && r.spread_percent >= 0);
	for (size_t i = 1; i < r.stats.n; i++)
		assert_true(r.sample[i - 1] <= r.sample[i]);
	bench_free(&r);
}

static void each_call_is_a_sample(void **state)
{
	struct counter c = { 0 };
	struct bench_plan p = { .label = "test", .call = count_call, .arg = &c, .iterations = 5000,
				.buckets = 100, .each = true };
	struct bench_result r;

	assert_true(bench_timer_us() > 0);
	assert_int_equal(bench_run(&p, &r), 0);
	assert_int_equal(c.calls, 5000);
	assert_int_equal(r.stats.n, 5000);
	/* The clock's cost is taken off a call that does next to nothing. */
	assert_true(r.stats.min >= 0 && r.stats.median < bench_timer_us());
	bench_free(&r);
}

static int sleep_call(void *arg)
{
	usleep(100);
	return count_call(arg);
}

static void iterations_are_raised(void **state)
{
	struct counter c = { 0 };
	struct bench_plan p = { .label = "test", .call = sleep_call, .arg = &c, .iterations = 10,
				.buckets = 10, .min_time_us = 1e6 };
	struct bench_result r;
	double start = bench_now_us();

	assert_int_equal(bench_run(&p, &r), 0);
	assert_true(bench_now_us() - start >= 1e6);
	assert_true(r.iterations > 10 && r.iterations == r.planned && r.complete);
	assert_true(c.calls >= r.iterations);
	bench_free(&r);
	/* An error while it is found out by how much. */
	c = (struct counter){ .fail_at = 1 };
	assert_int_equal(bench_run(&p, &r), EIO);
	assert_int_equal(r.stats.n, 0);
	bench_free(&r);
}

static void run_stops_at_an_error(void **state)
{
	struct counter c = { .fail_at = 7 };
	struct bench_plan p = { .label = "test", .call = count_call, .arg = &c, .warmup = 5,
				.iterations = 10, .buckets = 1 };
	struct bench_result r;

	assert_int_equal(bench_run(&p, &r), EIO);
	assert_int_equal(c.calls, 7);
	assert_false(r.complete);
	bench_free(&r);
	c = (struct counter){ .fail_at = 3 };
	assert_int_equal(bench_run(&p, &r), EIO);
	assert_int_equal(c.calls, 3);
	assert_int_equal(r.stats.n, 0);
	bench_free(&r);
}

static void second_signal_kills(void **state)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		bench_catch_signals();
		raise(SIGINT);
		raise(SIGTERM);
		usleep(1100000);
		raise(SIGINT);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
}

static int slow_call(void *arg)
{
	usleep(2000);
	return 0;
}

static void nothing_takes_less_than_no_time(void **state)
{
	struct counter c = { 0 };
	struct bench_plan p = { .label = "test", .call = count_call, .arg = &c,
				.overhead = slow_call, .iterations = 10, .buckets = 5 };
	struct bench_result r;

	assert_int_equal(bench_run(&p, &r), 0);
	assert_int_equal(r.stats.n, 5);
	/* a sample in which the thread had no CPU is longer than the overhead */
	assert_true(r.stats.min == 0 && r.stats.median == 0);
	bench_free(&r);
}

/* Last, since a signal ends everything that follows. */
static void run_ends_with_a_signal(void **state)
{
	struct counter c = { .raise_at = 25 };
	struct bench_plan p = { .label = "test", .call = count_call, .arg = &c,
				.iterations = 100, .buckets = 10 };
	struct bench_result r;

	bench_catch_signals();
	assert_int_equal(bench_stopped(), 0);
	assert_int_equal(bench_run(&p, &r), 0);
	assert_int_equal(bench_stopped(), SIGTERM);
	assert_int_equal(c.calls, 25);
	assert_int_equal(r.iterations, 25);
	assert_int_equal(r.stats.n, 3);
	assert_false(r.complete);
	bench_free(&r);

	/* What the overhead of is not known is not counted. */
	p.overhead = count_other;
	assert_int_equal(bench_run(&p, &r), 0);
	assert_int_equal(r.stats.n, 0);
	bench_free(&r);
}

static void numbers(void **state)
{
	uint64_t v = 42;

	assert_int_equal(opts_number("0", false, &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(opts_number("0x1f", false, &v), 0);
	assert_int_equal(v, 31);
	assert_int_equal(opts_number("017", false, &v), 0);
	assert_int_equal(v, 15);
	assert_int_equal(opts_number("3k", true, &v), 0);
	assert_int_equal(v, 3072);
	assert_int_equal(opts_number("0x10M", true, &v), 0);
	assert_int_equal(v, 16 << 20);
	assert_int_equal(opts_number("3KiB", true, &v), 0);
	assert_int_equal(v, 3072);
	assert_int_equal(opts_number("3kb", true, &v), 0);
	assert_int_equal(v, 3000);
	assert_int_equal(opts_number("2MB", true, &v), 0);
	assert_int_equal(v, 2000000);
	assert_int_equal(opts_number("2gib", true, &v), 0);
	assert_true(v == 2ULL << 30);
	assert_int_equal(opts_number("2GB", true, &v), 0);
	assert_true(v == 2000000000);
	assert_int_equal(opts_number("18446744073GB", true, &v), 0);
	assert_int_equal(opts_number("18446744074GB", true, &v), -ERANGE);
	assert_int_equal(opts_number("1Ki", true, &v), -EINVAL);
	assert_int_equal(opts_number("1iB", true, &v), -EINVAL);
	assert_int_equal(opts_number("1B", true, &v), -EINVAL);
	assert_int_equal(opts_number("1KBs", true, &v), -EINVAL);
	assert_int_equal(opts_number("18446744073709551615", true, &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(opts_number("17179869183G", true, &v), 0);
	assert_int_equal(opts_number("17179869184G", true, &v), -ERANGE);
	assert_int_equal(opts_number("18446744073709551616", false, &v), -ERANGE);
	v = 42;
	assert_int_equal(opts_number("3k", false, &v), -EINVAL);
	assert_int_equal(opts_number("", true, &v), -EINVAL);
	assert_int_equal(opts_number("-1", true, &v), -EINVAL);
	assert_int_equal(opts_number("0x", true, &v), -EINVAL);
	assert_int_equal(v, 42);
}

static void differences_are_counted_and_told(void **state)
{
	uint32_t a[40], b[40];
	char text[2048] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");
	int i, rows = 0;
	char *p;

	pattern_fill(a, sizeof(a), 0);
	assert_int_equal(a[0], 0x3F4C5E6B);
	assert_int_equal(a[33], 0x3F4C5E6A ^ 2);
	pattern_fill(b, sizeof(b), ~0u);
	for (i = 0; i < 40; i++)
		assert_int_equal(a[i] ^ b[i], 0xFFFFFFFF);
	memcpy(b, a, sizeof(b));
	assert_int_equal(pattern_compare(a, b, sizeof(a), f), 0);
	for (i = 20; i < 40; i++)
		b[i] ^= 0x100;
	assert_int_equal(pattern_compare(a, b, 80, f), 0);
	assert_int_equal(pattern_compare(a, b, 81, f), 0);
	assert_int_equal(pattern_compare(a, b, 82, f), 1);
	assert_int_equal(pattern_compare(a, b, sizeof(a), NULL), 20);
	fclose(f);
	assert_non_null(strstr(text, "content  expected"));

	f = fmemopen(text, sizeof(text), "w");
	assert_int_equal(pattern_compare(a, b, sizeof(a), f), 20);
	fclose(f);
	for (p = text; (p = strchr(p, '\n')); p++)
		rows++;
	assert_int_equal(rows, 11);
}

static void partial_words_are_filled(void **state)
{
	char buf[12];

	memset(buf, 0x55, sizeof(buf));
	pattern_fill(buf, 7, 0);
	assert_int_equal((unsigned char)buf[4], 0x6A ^ 2);
	assert_int_equal((unsigned char)buf[6], 0x4C);
	assert_int_equal(buf[7], 0x55);
}

static void rounding(void **state)
{
	assert_int_equal(gpu_round_up(1), 65536);
	assert_int_equal(gpu_round_up(65536), 65536);
	assert_int_equal(gpu_round_up(65537), 131072);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stats_of_known_samples),
		cmocka_unit_test(percentile_is_nearest_rank),
		cmocka_unit_test(sweep_ends_with_its_top),
		cmocka_unit_test(run_makes_every_call),
		cmocka_unit_test(rounds_are_warmed_up_and_pooled),
		cmocka_unit_test(each_call_is_a_sample),
		cmocka_unit_test(iterations_are_raised),
		cmocka_unit_test(run_stops_at_an_error),
		cmocka_unit_test(numbers),
		cmocka_unit_test(differences_are_counted_and_told),
		cmocka_unit_test(partial_words_are_filled),
		cmocka_unit_test(rounding),
		cmocka_unit_test(nothing_takes_less_than_no_time),
		cmocka_unit_test(second_signal_kills),
		cmocka_unit_test(run_ends_with_a_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
