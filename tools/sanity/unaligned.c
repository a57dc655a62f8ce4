/* SPDX-License-Identifier: MIT */
/*
 * Description: memory that does not start at a GPU page can be pinned and not
 * mapped; the aligned part of it can; and freeing a neighbour in the same memory
 * object does no harm to the mapping.
 */
#include <string.h>

#include "session.h"

#define SIZE    (SMALL + 4)
#define TRIES   10

/* Allocate until one is not aligned; *n of them, the last is it. */
static void allocate(const struct gpu_allocator *how, struct gpu_mem *mem, int *n)
{
	for (*n = 0; *n < TRIES;) {
		CU(how->alloc(&mem[*n], SIZE, false, true));
		if (mem[(*n)++].ptr & GPU_PAGE_OFFSET)
			return;
	}
	sanity_waive("%d allocations in a row happened to be aligned to 64 KiB", TRIES);
}

static void refuse_unaligned(gdr_t g, const struct sanity_variant *v, CUdeviceptr ptr)
{
	gdr_mh_t mh = session_pin(g, v, ptr, SIZE);
	gdr_info_t info;
	void *va = &va;

	REFUSED(gdr_map(g, mh, &va, SIZE), EINVAL);
	CHECK(va == &va);
	GDR(gdr_get_info(g, mh, &info));
	CHECK(!info.mapped);
	GDR(gdr_unpin_buffer(g, mh));
}

static void run(const struct sanity_variant *v)
{
	struct gpu_mem mem[TRIES], neighbour;
	CUdeviceptr inside;
	gdr_mh_t mh, other;
	void *va, *other_va;
	volatile int *m;
	size_t size;
	int n, i;
	gdr_t g;

	session_cuda(v, false);
	CU(v->alloc->alloc(&neighbour, 4, true, true));
	allocate(v->alloc, mem, &n);
	g = session_open();
	refuse_unaligned(g, v, mem[n - 1].ptr);

	inside = gpu_round_up(mem[n - 1].ptr);
	size = SIZE - (inside - mem[n - 1].ptr);
	mh = session_pin(g, v, inside, size);
	GDR(gdr_map(g, mh, &va, size));
	m = va;
	m[0] = 7;
	CHECK_INT(m[0], 7);

	other = session_pin(g, v, neighbour.ptr, 4);
	GDR(gdr_map(g, other, &other_va, 4));
	session_free(&neighbour);
	m[0] = 9;
	CHECK_INT(m[0], 9);

	/* The mapping goes with the pin, the neighbour's pin with the context. */
	GDR(gdr_unpin_buffer(g, mh));
	GDR(gdr_close(g));
	for (i = 0; i < n; i++)
		session_free(&mem[i]);
	session_end();
}

static const struct sanity_test unaligned[] = {
	{ "basic_unaligned_mapping", run, PLAIN, SANITY_DEFAULT },
};
SANITY_TABLE(unaligned);
