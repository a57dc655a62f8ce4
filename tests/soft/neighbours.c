/* SPDX-License-Identifier: MIT */
/*
 * Description: whole pages around small allocations can be exported, in their block,
 * and show the neighbours, whoever they are by then.
 */
#include "soft.h"

#define GPU_PAGE (64 * KIB)
#define BLOCK (2 * MIB)

static CUdeviceptr down(CUdeviceptr at, uint64_t to)
{
	return at & ~(to - 1);
}

/* As seen on an H200, driver 580: each of these in whole pages of both sizes. */
static void rounded_ranges(void **state)
{
	static const struct {
		size_t size, off;
	} blocks[] = {
		{ 64, 0 }, { 64, 0x200 }, { 4096, 0x400 }, { 65536, 0x1400 }, { 100000, 0x11400 },
	};
	static const uint64_t pages[] = { PAGE, GPU_PAGE };
	CUdeviceptr p[5];

	for (unsigned int i = 0; i < 5; i++) {
		p[i] = alloc(blocks[i].size);
		assert_int_equal(p[i] - p[0], blocks[i].off);
	}
	for (unsigned int i = 0; i < 10; i++) {
		CUdeviceptr at = p[i / 2], lo = down(at, pages[i % 2]);
		CUdeviceptr hi = down(at + blocks[i / 2].size + pages[i % 2] - 1, pages[i % 2]);
		unsigned char *w = window(lo, hi - lo);

		poke(at, 50 + i);
		assert_int_equal(w[at - lo], 50 + i);
		w[hi - lo - 1] = 9;
		munmap(w, hi - lo);
	}
	for (unsigned int i = 0; i < 5; i++)
		ok(cuMemFree_v2(p[i]));
}

static void all_of_the_block_and_no_more(void **state)
{
	CUdeviceptr p = alloc(64), last, big = alloc(3 * MIB), next;
	unsigned char *w = window(p, BLOCK);
	int fd = -1;

	poke(p, 1);
	assert_int_equal(w[0], 1);
	munmap(w, BLOCK);
	expect(export_range(p, BLOCK + PAGE, &fd), CUDA_ERROR_INVALID_VALUE);
	expect(export_range(p - PAGE, 2 * PAGE, &fd), CUDA_ERROR_INVALID_VALUE);
	/* where nobody has a byte */
	expect(export_range(p + PAGE, BLOCK - PAGE, &fd), CUDA_ERROR_INVALID_VALUE);
	/* from a page of nobody's on to one of somebody's */
	last = alloc(MIB - 512);
	next = alloc(MIB);
	assert_int_equal(next, p + MIB);
	ok(cuMemFree_v2(last));
	w = window(p + GPU_PAGE, MIB);
	poke(next, 2);
	assert_int_equal(w[MIB - GPU_PAGE], 2);
	munmap(w, MIB);
	/* larger memory has an object of its own, but ends where it ends */
	expect(export_range(big, 3 * MIB + PAGE, &fd), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(fd, -1);
	ok(cuMemFree_v2(next));
	ok(cuMemFree_v2(big));
	ok(cuMemFree_v2(p));
}

static void shows_who_comes_next(void **state)
{
	CUdeviceptr p = alloc(64), near = alloc(64), far = alloc(3 * PAGE), next;
	uint32_t *w = window(p, GPU_PAGE);
	size_t in_far = (size_t)(down(far, PAGE) + PAGE - p) / 4;

	poke(near, 1);
	poke(p + in_far * 4, 2);
	assert_int_equal(w[(near - p) / 4], 1);
	assert_int_equal(w[in_far], 2);
	w[in_far] = 3;
	assert_int_equal(peek(p + in_far * 4), 3);
	ok(cuMemFree_v2(near));
	ok(cuMemFree_v2(far));
	next = alloc(4 * PAGE);
	assert_int_equal(next, near);
	ok(cuMemsetD8_v2(next, 0x77, 4 * PAGE));
	assert_int_equal(w[(near - p) / 4], 0x77777777);
	assert_int_equal(w[in_far], 0x77777777);
	w[in_far] = 4;
	assert_int_equal(peek(p + in_far * 4), 4);
	/* the same pages again, for the one that came */
	munmap(w, GPU_PAGE);
	w = window(down(next, GPU_PAGE), GPU_PAGE);
	assert_int_equal(w[in_far], 4);
	munmap(w, GPU_PAGE);
	ok(cuMemFree_v2(next));
	ok(cuMemFree_v2(p));
}

/* A neighbour in the last page of a window is enough. */
static void shares_a_page(void **state)
{
	CUdeviceptr p = alloc(2 * PAGE + 512), q = alloc(64), r;
	uint32_t *w = window(p, 3 * PAGE);

	poke(p, 1);
	ok(cuMemFree_v2(p));
	r = alloc(2 * PAGE + 512);
	assert_int_equal(r, p);
	ok(cuMemsetD8_v2(r, 0xee, 2 * PAGE + 512));
	assert_int_equal(w[0], 0xeeeeeeee);
	assert_int_equal(w[PAGE / 4], 0xeeeeeeee);
	poke(q, 3);
	assert_int_equal(w[(q - p) / 4], 3);
	munmap(w, 3 * PAGE);
	ok(cuMemFree_v2(q));
	ok(cuMemFree_v2(r));
}

/* One allocation in two windows: one shows a neighbour, the other nothing else. */
static void each_part_by_its_own_window(void **state)
{
	CUdeviceptr p = alloc(64), q = alloc(4 * GPU_PAGE), r;
	uint32_t *both = window(p, GPU_PAGE), *alone = window(p + 2 * GPU_PAGE, GPU_PAGE);

	ok(cuMemsetD8_v2(q, 0x11, 4 * GPU_PAGE));
	ok(cuMemFree_v2(q));
	r = alloc(4 * GPU_PAGE);
	assert_int_equal(r, q);
	ok(cuMemsetD8_v2(r, 0x22, 4 * GPU_PAGE));
	assert_int_equal(both[PAGE / 4], 0x22222222);
	assert_int_equal(both[GPU_PAGE / 4 - 1], 0x22222222);
	assert_int_equal(alone[0], 0x11111111);
	assert_int_equal(alone[GPU_PAGE / 4 - 1], 0x11111111);
	munmap(both, GPU_PAGE);
	munmap(alone, GPU_PAGE);
	ok(cuMemFree_v2(r));
	ok(cuMemFree_v2(p));
}

static void outlives_the_block(void **state)
{
	size_t before = free_memory();
	CUdeviceptr p = alloc(64), q;
	uint32_t *w = window(p, GPU_PAGE);

	poke(p, 1);
	w[GPU_PAGE / 4 - 1] = 2;
	ok(cuMemFree_v2(p));
	assert_int_equal(before, free_memory());
	q = alloc(GPU_PAGE);
	ok(cuMemsetD8_v2(q, 0x33, GPU_PAGE));
	assert_int_equal(w[0], 1);
	assert_int_equal(w[GPU_PAGE / 4 - 1], 2);
	munmap(w, GPU_PAGE);
	ok(cuMemFree_v2(q));
}

/* A window of a driver's double begins and ends anywhere in the block's own file. */
static void mapped_from_within(void **state)
{
	CUdeviceptr p = alloc(GPU_PAGE), q = alloc(4 * GPU_PAGE), r = alloc(64), s;
	CUipcMemHandle handle;
	uint32_t words[16], *w;

	ok(cuIpcGetMemHandle(&handle, p));
	memcpy(words, &handle, sizeof(words));
	w = mmap(NULL, 4 * GPU_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(w, MAP_FAILED);
	assert_int_equal(softcuda_object_map(words[12], words[13], 2 * GPU_PAGE, 4 * GPU_PAGE, w),
			 0);
	poke(r, 5);
	assert_int_equal(w[(r - p - 2 * GPU_PAGE) / 4], 5);
	ok(cuMemFree_v2(q));
	s = alloc(4 * GPU_PAGE);
	assert_int_equal(s, q);
	ok(cuMemsetD8_v2(s, 0x44, 4 * GPU_PAGE));
	assert_int_equal(w[0], 0x44444444);
	/* in front of it nothing is held: an export of its own is possible */
	munmap(window(p + GPU_PAGE, GPU_PAGE), GPU_PAGE);
	munmap(w, 4 * GPU_PAGE);
	ok(cuMemFree_v2(s));
	ok(cuMemFree_v2(r));
	ok(cuMemFree_v2(p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounded_ranges),
		cmocka_unit_test(all_of_the_block_and_no_more),
		cmocka_unit_test(shows_who_comes_next),
		cmocka_unit_test(shares_a_page),
		cmocka_unit_test(each_part_by_its_own_window),
		cmocka_unit_test(outlives_the_block),
		cmocka_unit_test(mapped_from_within),
	};

	return cmocka_run_group_tests(tests, with_context, without_context);
}
