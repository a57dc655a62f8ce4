/* SPDX-License-Identifier: MIT */
/* The rm backend through the public interface: what can be mapped is mapped right. */
#include "soft_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) assert_int_equal(call, CUDA_SUCCESS)

static void vmm_memory(void **state)
{
	struct vmm v;

	vmm_new(0, 4 * MIB, 1, POSIX_FD, &v);
	round_trip(*state, v.ptr, 4 * MIB);
	round_trip(*state, v.ptr + 2 * MIB + 64 * KIB, 128 * KIB);
	round_trip(*state, v.ptr + 4 * MIB - 64 * KIB, 64 * KIB);
	vmm_free(&v);
	assert_true(fake_rm_calls(FAKE_RM_IMPORT) >= 4);
	assert_int_equal(fake_rm_calls(FAKE_RM_DUP), 0);
}

static void alloc_memory_of_many_sizes(void **state)
{
	static const size_t sizes[] = { 1, 255, 512, 4 * KIB, 64 * KIB - 1, 64 * KIB, 100000, MIB,
					2 * MIB - 512, 2 * MIB, 2 * MIB + 1, 5 * MIB };
	CUdeviceptr ptrs[12];

	for (int i = 0; i < 12; i++)
		ptrs[i] = cuda_alloc(sizes[i]);
	for (int i = 0; i < 12; i++) {
		if (ptrs[i] % GPU_PAGE_SIZE == 0)
			round_trip(*state, ptrs[i], sizes[i]);
	}
	for (int i = 0; i < 12; i++)
		cuda_free(ptrs[i]);
	assert_true(fake_rm_calls(FAKE_RM_DUP) > 0);
}

/* Blocks of one object, apart by whole GPU pages: each maps at its own offset. */
static void sub_allocations(void **state)
{
	CUdeviceptr ptrs[6];

	for (int i = 0; i < 6; i++) {
		ptrs[i] = cuda_alloc(64 * KIB);
		assert_int_equal(ptrs[i] % GPU_PAGE_SIZE, 0);
		pattern_to_device(ptrs[i], 64 * KIB, 100 + (unsigned)i);
	}
	for (int i = 0; i < 6; i++) {
		gdr_mh_t mh;
		void *va;

		assert_int_equal(gdr_pin_buffer(*state, ptrs[i], 64 * KIB, 0, 0, &mh), 0);
		assert_int_equal(gdr_map(*state, mh, &va, 64 * KIB), 0);
		pattern_on_cpu(va, 64 * KIB, 100 + (unsigned)i);
		assert_int_equal(gdr_unmap(*state, mh, va, 64 * KIB), 0);
		assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	}
	for (int i = 0; i < 6; i++)
		cuda_free(ptrs[i]);
}

static void part_of_an_allocation(void **state)
{
	CUdeviceptr ptr = cuda_alloc(8 * MIB);

	round_trip(*state, ptr + 3 * MIB + 64 * KIB, 192 * KIB);
	round_trip(*state, ptr + 8 * MIB - 64 * KIB, 64 * KIB);
	cuda_free(ptr);
}

/*
 * Clients round a buffer to GPU pages: the range then starts before the
 * allocation and ends behind it, in memory that CUDA has not handed out.
 */
static void range_rounded_to_gpu_pages(void **state)
{
	CUdeviceptr gap = cuda_alloc(512), ptr = cuda_alloc(5000), page;
	gdr_info_v2_t info;
	gdr_mh_t mh;
	char *va;

	cuda_free(gap); /* so that nothing is allocated where the page starts */
	page = ptr & GPU_PAGE_MASK;
	assert_true(page < ptr);
	pattern_to_device(ptr, 5000, 77);
	assert_int_equal(gdr_pin_buffer(*state, page, GPU_PAGE_SIZE, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(*state, mh, (void **)&va, GPU_PAGE_SIZE), 0);
	assert_int_equal(gdr_get_info(*state, mh, &info), 0);
	assert_int_equal(info.va, page);
	pattern_on_cpu(va + (ptr - page), 5000, 77);
	pattern_to_cpu(va + (ptr - page), 5000, 78);
	pattern_on_device(ptr, 5000, 78);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	cuda_free(ptr);
}

/* Pinned as asked, described by whole GPU pages, but not mapped. */
static void unaligned_start_pins_but_does_not_map(void **state)
{
	CUdeviceptr ptr = cuda_alloc(4 * MIB);
	gdr_info_v2_t info;
	gdr_mh_t mh;
	void *va = NULL;

	assert_int_equal(gdr_pin_buffer(*state, ptr + 65536 + 512, 65536, 0, 0, &mh), 0);
	assert_int_equal(gdr_get_info(*state, mh, &info), 0);
	assert_int_equal(info.va, ptr + 65536);
	assert_int_equal(info.mapped_size, 2 * 65536);
	assert_int_equal(gdr_map(*state, mh, &va, 65536), EINVAL);
	assert_null(va);
	assert_non_null(strstr(gdrx_last_error(), "aligned"));
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	cuda_free(ptr);
}

static void range_over_several_vmm_allocations(void **state)
{
	const size_t edge = 2 * MIB;
	unsigned char byte;
	gdr_mh_t mh;
	struct vmm v;
	char *va;

	vmm_new(0, edge, 4, POSIX_FD, &v);
	round_trip(*state, v.ptr, 4 * edge);
	round_trip(*state, v.ptr + edge - 64 * KIB, 128 * KIB);
	round_trip(*state, v.ptr + edge + 64 * KIB, 2 * edge);

	/* The bytes on both sides of each boundary, and a map that ends in the middle. */
	assert_int_equal(gdr_pin_buffer(*state, v.ptr + edge / 2, 3 * edge, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(*state, mh, (void **)&va, edge + 64 * KIB), 0);
	va[edge / 2 - 1] = 11;
	va[edge / 2] = 12;
	CHECK(cuMemcpyDtoH_v2(&byte, v.ptr + edge - 1, 1));
	assert_int_equal(byte, 11);
	CHECK(cuMemcpyDtoH_v2(&byte, v.ptr + edge, 1));
	assert_int_equal(byte, 12);
	assert_int_equal(gdr_unmap(*state, mh, va, edge + 64 * KIB), 0);
	assert_int_equal(gdr_map(*state, mh, (void **)&va, 3 * edge), 0);
	va[5 * edge / 2] = 13;
	CHECK(cuMemcpyDtoH_v2(&byte, v.ptr + 3 * edge, 1));
	assert_int_equal(byte, 13);
	assert_int_equal(gdr_unmap(*state, mh, va, 3 * edge), 0);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	vmm_free(&v);
}

static void hole_in_a_vmm_range_is_einval(void **state)
{
	struct vmm v;

	vmm_new(0, 2 * MIB, 3, POSIX_FD, &v);
	CHECK(cuMemUnmap(v.ptr + v.seg, v.seg));
	refuse_pin(*state, v.ptr, 3 * v.seg, EINVAL, "nothing is mapped");
	round_trip(*state, v.ptr, v.seg);
	CHECK(cuMemUnmap(v.ptr, v.seg));
	CHECK(cuMemUnmap(v.ptr + 2 * v.seg, v.seg));
	for (int i = 0; i < 3; i++)
		CHECK(cuMemRelease(v.handles[i]));
	CHECK(cuMemAddressFree(v.ptr, 3 * v.seg));
}

/* The memory's GPU counts, not the one whose context is current. */
static void pin_with_another_gpu_current(gdr_t g, CUdeviceptr ptr, CUdevice dev)
{
	gdr_mh_t mh;
	void *va;

	soft_use(dev);
	pattern_to_device(ptr, 2 * MIB, (unsigned)dev);
	soft_use(1 - dev);
	assert_int_equal(gdr_pin_buffer(g, ptr, 2 * MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(g, mh, &va, 2 * MIB), 0);
	pattern_on_cpu(va, 2 * MIB, (unsigned)dev);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	soft_use(dev);
}

static void two_gpus(void **state)
{
	struct vmm v[DEVICES];
	CUdeviceptr ptr[DEVICES];

	for (int i = 0; i < DEVICES; i++) {
		soft_use(i);
		ptr[i] = cuda_alloc(2 * MIB);
		vmm_new(i, 2 * MIB, 1, POSIX_FD, &v[i]);
		pin_with_another_gpu_current(*state, ptr[i], i);
		pin_with_another_gpu_current(*state, v[i].ptr, i);
		round_trip(*state, ptr[i], 2 * MIB);
		round_trip(*state, v[i].ptr, 2 * MIB);
	}
	for (int i = 0; i < DEVICES; i++) {
		cuda_free(ptr[i]);
		vmm_free(&v[i]);
	}
}

static void range_on_two_gpus_is_refused(void **state)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = POSIX_FD,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1 },
	};
	CUmemGenericAllocationHandle other;
	struct vmm v;

	vmm_new(0, 2 * MIB, 2, POSIX_FD, &v);
	CHECK(cuMemUnmap(v.ptr + v.seg, v.seg));
	CHECK(cuMemCreate(&other, v.seg, &prop, 0));
	CHECK(cuMemMap(v.ptr + v.seg, v.seg, 0, other, 0));
	refuse_pin(*state, v.ptr, 2 * v.seg, ENOTSUP, "devices 0 and 1");
	CHECK(cuMemRelease(other));
	vmm_free(&v);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, soft_open, soft_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(vmm_memory),
		TEST(alloc_memory_of_many_sizes),
		TEST(sub_allocations),
		TEST(part_of_an_allocation),
		TEST(range_rounded_to_gpu_pages),
		TEST(unaligned_start_pins_but_does_not_map),
		TEST(range_over_several_vmm_allocations),
		TEST(hole_in_a_vmm_range_is_einval),
		TEST(two_gpus),
		TEST(range_on_two_gpus_is_refused),
	};

	return cmocka_run_group_tests_name("rm_backend", tests, soft_start, NULL);
}
