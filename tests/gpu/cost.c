/* SPDX-License-Identifier: MIT */
/*
 * Description: what pin, map, unmap and unpin cost, median of 1,000 after a
 * warm-up.  A benchmark: it fails only if a call does.
 */
#include <string.h>
#include <time.h>

#include "gpu_test.h"

#define ROUNDS 1000
enum { PIN, MAP, UNMAP, UNPIN, CALLS };

static double us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(gdr_t g, const struct gpu_allocator *how, size_t size)
{
	static const char *const names[CALLS] = { "pin", "map", "unmap", "unpin" };
	static double cost[CALLS][ROUNDS];
	struct gpu_mem mem;
	int i, c;

	CU(how->alloc(&mem, size, true, true));
	for (i = -20; i < ROUNDS; i++) {
		double t[CALLS + 1];
		gdr_mh_t mh;
		void *va;

		t[0] = us();
		GDR(gdr_pin_buffer(g, mem.ptr, size, 0, 0, &mh));
		t[1] = us();
		GDR(gdr_map(g, mh, &va, size));
		t[2] = us();
		GDR(gdr_unmap(g, mh, va, size));
		t[3] = us();
		GDR(gdr_unpin_buffer(g, mh));
		t[4] = us();
		for (c = 0; c < CALLS && i >= 0; c++)
			cost[c][i] = t[c + 1] - t[c];
	}
	CU(how->free(&mem));
	printf("%-12s %9zu bytes:", how->name, size);
	for (c = 0; c < CALLS; c++) {
		qsort(cost[c], ROUNDS, sizeof(double), by_value);
		printf("  %s %.1f us (p99 %.1f)", names[c], cost[c][ROUNDS / 2],
		       cost[c][ROUNDS * 99 / 100]);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 65536, 1 << 20, 16 << 20 };
	struct gpu gpu;
	unsigned a;
	size_t i;
	gdr_t g;

	gpu_test_begin(0, &gpu);
	g = gdr_open();
	CHECK(g);
	for (a = 0; gpu_allocator_names[a]; a++)
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			measure(g, &gpu_allocators[a], sizes[i]);
	GDR(gdr_close(g));
	gpu_close(&gpu);
	return 0;
}
