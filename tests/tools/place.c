/* SPDX-License-Identifier: MIT */
/* Where a tool runs, by a made-up /sys; and the sizes that options give. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "place.h"
#include "sizes.h"

static char sys[64];
static cpu_set_t at_start;

/* A file below the made-up /sys, with the directories that lead to it. */
static void put(const char *path, const char *text)
{
	char full[256], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", sys, path);
	for (slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int first_cpu(void)
{
	int i;

	for (i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &at_start))
			return i;
	return -1;
}

static int set_up(void **state)
{
	char line[64];

	strcpy(sys, "/tmp/gdrcopy-place-XXXXXX");
	if (!mkdtemp(sys) || sched_getaffinity(0, sizeof(at_start), &at_start))
		return -1;
	snprintf(line, sizeof(line), "%d,1000-1001\n", first_cpu());
	put("devices/system/node/node3/cpulist", line);
	put("devices/system/node/node4/cpulist", "\n");
	put("devices/system/node/node5/cpulist", "1000-1003\n");
	put("bus/pci/devices/0001:3b:00.0/numa_node", "3\n");
	put("bus/pci/devices/0001:3c:00.0/numa_node", "-1\n");
	put("devices/system/cpu/cpu7/node2/cpulist", "7\n");
	put("devices/system/cpu/cpu8/online", "1\n");
	return 0;
}

static int tear_down(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", sys);
	return system(command);
}

static void lists_of_cpus(void **state)
{
	static const char *const bad[] = {
		"", "x", "1-", "-1", "2-1", "1,", ",1", "1,,2", "1 2", "0x1",
	};
	cpu_set_t set;
	char text[64], small[24];
	size_t i;

	assert_int_equal(place_parse("0-3,8,10-11", &set), 0);
	assert_int_equal(CPU_COUNT(&set), 7);
	place_format(&set, text, sizeof(text));
	assert_string_equal(text, "0-3,8,10-11");
	place_format(&set, small, sizeof(small));
	assert_string_equal(small, "0-3,8,10-11");
	assert_int_equal(place_parse("0,2,4,6,8,10,12,14,16,18,20", &set), 0);
	place_format(&set, small, sizeof(small));
	assert_true(strlen(small) < sizeof(small));
	assert_string_equal(small + strlen(small) - 3, "...");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(place_parse(bad[i], &set), -EINVAL);
	assert_int_equal(place_parse("1024", &set), -ERANGE);
	assert_int_equal(place_parse("0-99999999999999999999", &set), -ERANGE);
	/* Nothing was written. */
	assert_int_equal(CPU_COUNT(&set), 11);
}

static void nodes_of_devices(void **state)
{
	assert_int_equal(place_pci_node(sys, 1, 0x3b, 0), 3);
	assert_int_equal(place_pci_node(sys, 1, 0x3c, 0), -1);
	assert_int_equal(place_pci_node(sys, 1, 0x3d, 0), -1);
	assert_int_equal(place_cpu_node(sys, 7), 2);
	assert_int_equal(place_cpu_node(sys, 8), -1);
	assert_int_equal(place_cpu_node(sys, 9), -1);
}

static void near_the_gpu_by_default(void **state)
{
	const struct place_args none = { 0 };
	struct place p;
	cpu_set_t now;

	assert_int_equal(place_apply(&none, sys, 3, &p), 0);
	assert_true(p.pinned);
	assert_int_equal(p.node, 3);
	assert_int_equal(CPU_COUNT(&p.cpus), 1);
	assert_true(CPU_ISSET(first_cpu(), &p.cpus));
	assert_string_equal(p.why, "of node 3, the GPU's");
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&now, &p.cpus));

	/* For the next GPU, whose node is not known, all is as it was. */
	assert_int_equal(place_apply(&none, sys, -1, &p), 0);
	assert_false(p.pinned);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&now, &at_start));
	assert_int_equal(place_apply(&none, sys, 9, &p), 0);
	assert_false(p.pinned);
	assert_string_equal(p.why, "the CPUs of node 9 are not known");
	/* Memory without CPUs, and CPUs that this process may not use. */
	assert_int_equal(place_apply(&none, sys, 4, &p), 0);
	assert_false(p.pinned);
	assert_int_equal(place_apply(&none, sys, 5, &p), 0);
	assert_false(p.pinned);
	assert_string_equal(p.why, "this process may use no CPU of node 5, the GPU's");
}

static void as_asked_for(void **state)
{
	struct place_args a = { .node = 3, .node_given = true };
	struct place p;

	assert_int_equal(place_apply(&a, sys, -1, &p), 0);
	assert_true(p.pinned);
	assert_int_equal(p.node, 3);
	a.node = 4;
	assert_int_equal(place_apply(&a, sys, 3, &p), -EINVAL);
	a.node = 9;
	assert_int_equal(place_apply(&a, sys, 3, &p), -ENOENT);
	a.none = true;
	assert_int_equal(place_apply(&a, sys, 3, &p), -EINVAL);
	a = (struct place_args){ .none = true };
	assert_int_equal(place_apply(&a, sys, 3, &p), 0);
	assert_false(p.pinned);
	assert_true(CPU_EQUAL(&p.cpus, &at_start));
	assert_int_equal(place_thread(&p, 1000), 0);
	assert_int_equal(place_apply(&a, sys, 3, &p), 0);
}

static void sizes_in_steps(void **state)
{
	struct sizes_args a = { 0 };
	struct sizes s;

	assert_false(sizes_given(&a));
	assert_int_equal(sizes_choose(&a, 1, 1, &s), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(sizes_choose(&a, 1, 9, &s), 0);
	assert_int_equal(s.n, 5);
	assert_int_equal(s.v[3], 8);
	assert_int_equal(s.v[4], 9);
	assert_int_equal(s.largest, 9);
	assert_int_equal(sizes_choose(&a, 1, UINT64_MAX, &s), 0);
	assert_int_equal(s.n, 65);
	assert_true(s.v[63] == 1ULL << 63);

	a = (struct sizes_args){ .min = 1000, .step = "2K" };
	assert_true(sizes_given(&a));
	assert_int_equal(sizes_choose(&a, 1, 5096, &s), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.v[1], 3048);
	assert_int_equal(s.v[2], 5096);
	a.step = "17179869183G";
	assert_int_equal(sizes_choose(&a, 1, 5000, &s), 0);
	assert_int_equal(s.n, 2);
	a.step = "x3";
	assert_int_equal(sizes_choose(&a, 1, UINT64_MAX, &s), 0);
	assert_int_equal(s.v[1], 3000);
	assert_true(s.v[s.n - 1] == UINT64_MAX);
	a = (struct sizes_args){ .step = "1" };
	assert_int_equal(sizes_choose(&a, 1, 256, &s), 0);
	assert_int_equal(s.n, 256);
	assert_int_equal(sizes_choose(&a, 1, 257, &s), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_cpus),
		cmocka_unit_test(nodes_of_devices),
		cmocka_unit_test(near_the_gpu_by_default),
		cmocka_unit_test(as_asked_for),
		cmocka_unit_test(sizes_in_steps),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
