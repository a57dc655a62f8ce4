/* SPDX-License-Identifier: MIT */
/*
 * Copies by several threads: every byte, whatever the alignment and the number
 * of threads; as many threads as size and options say, on the CPUs asked for; many
 * callers at a time.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parallel_fixture.h"

static void every_byte_is_copied_once(void **state)
{
	static const size_t sizes[] = {
		1, 4095, 8191, 8192, 8193, 12288, 65535, 100000, 524288 + 77,
	};
	static const size_t offsets[] = { 0, 1, 64, 2048, 4095 };
	static const gdr_mapping_type_t types[] = {
		GDR_MAPPING_TYPE_WC, GDR_MAPPING_TYPE_CACHING, GDR_MAPPING_TYPE_DEVICE,
	};
	unsigned char *dev = aligned_alloc(4096, ROOM), *host = aligned_alloc(4096, ROOM);

	assert_true(dev && host);
	for (size_t s = 0; s < COUNT(sizes); s++)
		for (size_t o = 0; o < COUNT(offsets); o++)
			for (size_t threads = 1; threads <= 5; threads++)
				for (int dir = 0; dir < 2; dir++)
					if (!parallel_copies_right((enum gdr_copy_dir)dir,
							  types[(s + o) % COUNT(types)],
							  dev + 4096 + offsets[o],
							  host + 4096 + 17 * o, sizes[s], threads))
						fail_msg("%zu bytes, offset %zu, %zu threads, "
							 "direction %d", sizes[s], offsets[o],
							 threads, dir);
	free(dev);
	free(host);
}

static void all_threads_take_part(void **state)
{
	for (unsigned threads = 2; threads <= 6; threads++) {
		parallel_meet(threads, NULL);
		assert_true(parallel_by_helpers >= (int)threads - 1);
		assert_true(parallel_calls > parallel_by_helpers);
		assert_int_equal(parallel_signals_open, 0);
		assert_int_equal(parallel_faults_blocked, 0);
	}
}

static void helpers_run_on_the_cpus_asked_for(void **state)
{
	cpu_set_t mine, one;

	assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &mine))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		parallel_meet(2, &one);
		assert_int_equal(parallel_helper_cpu, cpu);
	}
	/* a CPU that is not there leaves the helper where it is */
	CPU_ZERO(&one);
	CPU_SET(CPU_SETSIZE - 1, &one);
	parallel_meet(2, &one);
	assert_true(parallel_by_helpers > 0);
}

static void threads_follow_size_and_options(void **state)
{
	struct gdr_parallel_copy c = { GDR_COPY_FROM_MAPPING, GDR_MAPPING_TYPE_WC, 0, 0, 0 };
	struct gdr_parallel how = { .threads = 4, .min_bytes = 1000 };
	cpu_set_t cpus;

	static const struct {
		size_t n, threads;
	} cases[] = { { 0, 1 }, { 999, 1 }, { 1999, 1 }, { 2000, 2 }, { 3999, 3 }, { 4000, 4 },
		      { 1 << 30, 4 } };

	for (size_t i = 0; i < COUNT(cases); i++) {
		c.n = cases[i].n;
		assert_int_equal(gdr_parallel_threads(&c, &how), cases[i].threads);
	}
	c.n = 1 << 30;
	how.threads = 1000000;
	assert_int_equal(gdr_parallel_threads(&c, &how), GDR_PARALLEL_THREADS_MAX);
	/* what pays is not more threads than CPUs */
	how.threads = 0;
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	CPU_SET(1, &cpus);
	CPU_SET(2, &cpus);
	how.cpus = &cpus;
	how.cpus_size = sizeof(cpus);
	assert_int_equal(gdr_parallel_threads(&c, &how), 3);
	how.cpus_size = 1;
	assert_int_equal(gdr_parallel_threads(&c, &how), 3);
	memset(&how, 0, sizeof(how));
	assert_true(gdr_parallel_threads(&c, &how) <= 16);
	c.dir = GDR_COPY_TO_MAPPING;
	assert_true(gdr_parallel_threads(&c, &how) <= 2);
	c.n = 4096;
	assert_int_equal(gdr_parallel_threads(&c, &how), 1);
}

static void several_callers_at_once(void **state)
{
	pthread_t t[5];
	void *wrong;

	for (size_t i = 0; i < COUNT(t); i++)
		assert_int_equal(pthread_create(&t[i], NULL, parallel_many_copies,
						&parallel_wrong_bytes), 0);
	for (size_t i = 0; i < COUNT(t); i++) {
		assert_int_equal(pthread_join(t[i], &wrong), 0);
		assert_null(wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_is_copied_once),
		cmocka_unit_test(all_threads_take_part),
		cmocka_unit_test(helpers_run_on_the_cpus_asked_for),
		cmocka_unit_test(threads_follow_size_and_options),
		cmocka_unit_test(several_callers_at_once),
	};

	parallel_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
