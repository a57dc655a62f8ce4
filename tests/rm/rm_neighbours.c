/* SPDX-License-Identifier: MIT */
/*
 * Another thread frees or replaces what was found behind an address, while the pin
 * is made: a neighbour in the GPU page that a pin begins with, or the memory itself.
 */
#include "soft_fixture.h"

#include <errno.h>

static CUdeviceptr neighbour;

/* As if another thread had freed it just now. */
static CUresult neighbour_is_freed(CUipcMemHandle *handle, CUdeviceptr ptr)
{
	soft_ipc = NULL;
	assert_int_equal(ptr, neighbour);
	cuda_free(neighbour);
	return cuIpcGetMemHandle(handle, ptr);
}

/* A GPU page around a buffer begins in memory of somebody else. */
static void neighbour_freed_while_its_page_is_pinned(void **state)
{
	CUdeviceptr ptr, page;
	gdr_mh_t mh = { 77 };
	void *va;

	neighbour = cuda_alloc(512);
	ptr = cuda_alloc(8 * KIB);
	page = ptr & GPU_PAGE_MASK;
	assert_int_equal(page, neighbour);
	soft_ipc = neighbour_is_freed;
	assert_int_equal(gdr_pin_buffer(*state, page, 64 * KIB, 0, 0, &mh), 0);
	assert_null(soft_ipc);
	assert_int_equal(gdr_map(*state, mh, &va, 64 * KIB), 0);
	pattern_to_device(ptr, 8 * KIB, 3);
	pattern_on_cpu((char *)va + (ptr - page), 8 * KIB, 3);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	cuda_free(ptr);

	/* It was the memory that was meant. */
	neighbour = cuda_alloc(512);
	soft_ipc = neighbour_is_freed;
	refuse_pin(*state, neighbour, 64 * KIB, EINVAL, "is no memory that CUDA knows");
}

static CUdeviceptr before_it, in_its_place;

/* Another thread frees it, and gets memory that begins a GPU page earlier. */
static CUresult neighbour_is_replaced(CUipcMemHandle *handle, CUdeviceptr ptr)
{
	soft_ipc = NULL;
	cuda_free(before_it);
	cuda_free(neighbour);
	in_its_place = cuda_alloc(64 * KIB + 512);
	assert_int_equal(in_its_place, before_it);
	return cuIpcGetMemHandle(handle, ptr);
}

static void neighbour_replaced_while_its_page_is_pinned(void **state)
{
	CUdeviceptr ptr;
	gdr_mh_t mh;
	void *va;

	before_it = cuda_alloc(64 * KIB);
	neighbour = cuda_alloc(512);
	ptr = cuda_alloc(8 * KIB);
	assert_int_equal(neighbour, before_it + 64 * KIB);
	assert_int_equal(ptr & GPU_PAGE_MASK, neighbour);
	soft_ipc = neighbour_is_replaced;
	assert_int_equal(gdr_pin_buffer(*state, neighbour, 64 * KIB, 0, 0, &mh), 0);
	assert_null(soft_ipc);
	assert_int_equal(gdr_map(*state, mh, &va, 64 * KIB), 0);
	pattern_to_device(ptr, 8 * KIB, 5);
	pattern_on_cpu((char *)va + (ptr - neighbour), 8 * KIB, 5);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	cuda_free(ptr);
	cuda_free(in_its_place);
}

/* Another thread frees it, and gets memory of another GPU at the same address. */
static CUresult other_gpu_takes_its_place(CUipcMemHandle *handle, CUdeviceptr ptr)
{
	soft_ipc = NULL;
	cuda_free(neighbour);
	soft_use(1);
	in_its_place = cuda_alloc(2 * MIB);
	soft_use(0);
	assert_int_equal(in_its_place, neighbour);
	return cuIpcGetMemHandle(handle, ptr);
}

static void memory_moves_to_another_gpu_while_it_is_pinned(void **state)
{
	neighbour = cuda_alloc(2 * MIB);
	soft_ipc = other_gpu_takes_its_place;
	refuse_pin(*state, neighbour, 2 * MIB, EINVAL, "was freed meanwhile");
	assert_null(soft_ipc);
	round_trip(*state, in_its_place, 2 * MIB);
	cuda_free(in_its_place);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, soft_open, soft_close)
	static const struct CMUnitTest tests[] = {
		T(neighbour_freed_while_its_page_is_pinned),
		T(neighbour_replaced_while_its_page_is_pinned),
		T(memory_moves_to_another_gpu_while_it_is_pinned),
	};
#undef T

	return cmocka_run_group_tests_name("rm neighbours", tests, soft_start, NULL);
}
