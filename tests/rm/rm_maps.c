/* SPDX-License-Identifier: MIT */
/* The rm backend through the public interface: the life of pins and mappings. */
#include "soft_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(call) assert_int_equal(call, CUDA_SUCCESS)

static void memory_lives_until_unpin(void **state)
{
	CUdeviceptr ptr = cuda_alloc(6 * MIB);
	size_t held, now, total;
	struct vmm v;
	gdr_mh_t mh[2];
	void *va[2];

	vmm_new(0, 6 * MIB, 1, POSIX_FD, &v);
	pattern_to_device(ptr, 6 * MIB, 5);
	pattern_to_device(v.ptr, 6 * MIB, 6);
	assert_int_equal(gdr_pin_buffer(*state, ptr, 6 * MIB, 0, 0, &mh[0]), 0);
	assert_int_equal(gdr_map(*state, mh[0], &va[0], 6 * MIB), 0);
	assert_int_equal(gdr_pin_buffer(*state, v.ptr, 6 * MIB, 0, 0, &mh[1]), 0);
	assert_int_equal(gdr_map(*state, mh[1], &va[1], 6 * MIB), 0);
	CHECK(cuMemGetInfo_v2(&held, &total));
	cuda_free(ptr);
	vmm_free(&v);
	CHECK(cuMemGetInfo_v2(&now, &total));
	assert_int_equal(now, held);

	/* Nobody else gets the bytes. */
	ptr = cuda_alloc(6 * MIB);
	pattern_to_device(ptr, 6 * MIB, 9);
	pattern_on_cpu(va[0], 6 * MIB, 5);
	pattern_on_cpu(va[1], 6 * MIB, 6);
	cuda_free(ptr);

	for (int i = 0; i < 2; i++) {
		int flag = 5;

		assert_int_equal(gdr_get_callback_flag(*state, mh[i], &flag), 0);
		assert_int_equal(flag, 0);
		assert_int_equal(gdr_unmap(*state, mh[i], va[i], 6 * MIB), 0);
		/* Still pinned: map again, the bytes are still there. */
		assert_int_equal(gdr_map(*state, mh[i], &va[i], 6 * MIB), 0);
		pattern_on_cpu(va[i], 6 * MIB, 5 + (unsigned)i);
		assert_int_equal(gdr_unmap(*state, mh[i], va[i], 6 * MIB), 0);
		assert_int_equal(gdr_unpin_buffer(*state, mh[i]), 0);
	}
	CHECK(cuMemGetInfo_v2(&now, &total));
	assert_int_equal(now, held + 12 * MIB);
}

static void remap_reuses_the_window(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	unsigned maps, opens;
	gdr_mh_t mh;
	void *va;

	assert_int_equal(gdr_pin_buffer(*state, ptr, 2 * MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(*state, mh, &va, 2 * MIB), 0);
	maps = fake_rm_calls(FAKE_RM_MAP);
	opens = fake_rm_calls(FAKE_RM_OPEN_GPU);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(gdr_unmap(*state, mh, va, 2 * MIB), 0);
		assert_int_equal(gdr_map(*state, mh, &va, 2 * MIB), 0);
	}
	assert_int_equal(fake_rm_calls(FAKE_RM_MAP), maps);
	assert_int_equal(fake_rm_calls(FAKE_RM_OPEN_GPU), opens);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);      /* unmaps first */
	cuda_free(ptr);
}

static void shorter_then_longer_map(void **state)
{
	static const size_t sizes[] = { 4 * KIB, 2 * MIB, 64 * KIB, 1, 2 * MIB };
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	struct fake_rm_counts c;
	gdr_mh_t mh;
	void *va;

	pattern_to_device(ptr, 2 * MIB, 3);
	assert_int_equal(gdr_pin_buffer(*state, ptr, 2 * MIB, 0, 0, &mh), 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(gdr_map(*state, mh, &va, sizes[i]), 0);
		pattern_on_cpu(va, sizes[i], 3);
		fake_rm_counts(&c);
		assert_int_equal(c.windows, 1);
		assert_int_equal(c.mappings, 1);
		assert_int_equal(gdr_unmap(*state, mh, va, sizes[i]), 0);
	}
	assert_int_equal(gdr_map(*state, mh, &va, 2 * MIB + 1), EINVAL);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	cuda_free(ptr);
}

static void what_the_context_says(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	bool coherent = getenv("SOFTCUDA_COHERENT") != NULL;
	int wrong_type = coherent ? GDR_MAP_FLAG_REQ_WC_MAPPING : GDR_MAP_FLAG_REQ_CACHE_MAPPING;
	int major = 0, minor = 0, value = 7;
	gdr_info_v2_t info;
	gdr_mh_t mh;
	void *va;

	assert_int_equal(gdr_driver_get_version(*state, &major, &minor), 0);
	assert_int_equal(major, 2);
	assert_int_equal(minor, 6);
	assert_int_equal(gdr_get_attribute(*state, GDR_ATTR_USE_PERSISTENT_MAPPING, &value), 0);
	assert_int_equal(value, 1);
	assert_int_equal(gdr_get_attribute(*state, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &value),
			 0);
	assert_int_equal(value, 0);
	assert_int_equal(gdr_get_attribute(*state, GDR_ATTR_USING_DMA_BUF_MMAP, &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(gdr_pin_buffer_v2(*state, ptr, MIB, GDR_PIN_FLAG_FORCE_PCIE, &mh),
			 ENOTSUP);

	assert_int_equal(gdr_pin_buffer(*state, ptr, MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_get_info(*state, mh, &info), 0);
	assert_int_equal(info.va, ptr);
	assert_int_equal(info.mapped_size, MIB);
	assert_int_equal(info.page_size, GPU_PAGE_SIZE);
	assert_int_equal(info.mapped, 0);
	assert_int_equal(info.mapping_type, GDR_MAPPING_TYPE_NONE);
	assert_int_equal(gdr_map_v2(*state, mh, &va, MIB, wrong_type), EINVAL);
	assert_non_null(strstr(gdrx_last_error(), coherent ?
			       "GDR_MAP_FLAG_REQ_WC_MAPPING was asked for, and this memory can "
			       "only be mapped as GDR_MAPPING_TYPE_CACHING; use" :
			       "GDR_MAP_FLAG_REQ_CACHE_MAPPING was asked for, and this memory can "
			       "only be mapped as GDR_MAPPING_TYPE_WC; use"));
	assert_int_equal(gdr_map(*state, mh, &va, MIB), 0);
	assert_int_equal(gdr_get_info(*state, mh, &info), 0);
	assert_int_equal(info.mapped, 1);
	assert_int_not_equal(info.mapping_type, GDR_MAPPING_TYPE_NONE);
	assert_int_equal(info.mapping_type == GDR_MAPPING_TYPE_CACHING, coherent);
	assert_int_equal(info.wc_mapping, info.mapping_type == GDR_MAPPING_TYPE_WC);
	assert_int_equal(gdr_unmap(*state, mh, va, MIB), 0);
	assert_int_equal(gdr_map_v2(*state, mh, &va, MIB, (int)info.mapping_type), 0);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	cuda_free(ptr);
}

static void every_release_of_the_driver(void **state)
{
	static const unsigned releases[] = { 515, 530, 535, 545, 570, 595 };

	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		CUdeviceptr ptr;
		struct vmm v;
		gdr_t g;

		fake_rm_set_release(releases[i]);
		soft_use(0);
		g = gdr_open();
		assert_non_null(g);
		ptr = cuda_alloc(64 * KIB);
		vmm_new(0, 2 * MIB, 2, POSIX_FD, &v);
		round_trip(g, ptr, 64 * KIB);
		round_trip(g, v.ptr + MIB, 2 * MIB);
		cuda_free(ptr);
		vmm_free(&v);
		assert_int_equal(gdr_close(g), 0);
		assert_true(soft_is_clean());
	}
}

static void memory_below_a_subdevice(void **state)
{
	CUdeviceptr ptr;
	struct vmm v;

	fake_rm_set_subdevice_parents(true);
	ptr = cuda_alloc(64 * KIB);
	vmm_new(0, 2 * MIB, 2, POSIX_FD, &v);
	round_trip(*state, ptr, 64 * KIB);
	round_trip(*state, v.ptr + MIB, 2 * MIB);
	cuda_free(ptr);
	vmm_free(&v);
	assert_int_equal(fake_rm_calls(FAKE_RM_SUBDEVICE), 1);
}

static size_t address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* No room for the last part's window: nothing was reserved for it that could be lost. */
static void maps_that_find_no_room_cost_no_addresses(void **state)
{
	size_t before;
	gdr_mh_t mh;
	struct vmm v;
	void *va = NULL;

	vmm_new(0, 2 * MIB, 3, POSIX_FD, &v);
	assert_int_equal(gdr_pin_buffer(*state, v.ptr, 6 * MIB, 0, 0, &mh), 0);
	fake_rm_set_bar1_free(5 * MIB);
	assert_int_equal(gdr_map(*state, mh, &va, 6 * MIB), ENOMEM);
	before = address_space();
	for (int i = 0; i < 100; i++)
		assert_int_equal(gdr_map(*state, mh, &va, 6 * MIB), ENOMEM);
	assert_in_range(address_space(), 0, before + 16 * MIB);
	assert_null(va);
	fake_rm_set_bar1_free(2 * MIB);
	assert_int_equal(gdr_map(*state, mh, &va, 6 * MIB), 0);
	pattern_to_device(v.ptr, 6 * MIB, 3);
	pattern_on_cpu(va, 6 * MIB, 3);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	vmm_free(&v);
}

/* Following the advice helps: the window goes with the pin, not with its mapping. */
static void full_bar1_says_what_helps(void **state)
{
	CUdeviceptr ptr[2] = { cuda_alloc(8 * MIB), cuda_alloc(8 * MIB) };
	gdr_mh_t mh[2];
	void *va;

	for (int i = 0; i < 2; i++)
		assert_int_equal(gdr_pin_buffer(*state, ptr[i], 8 * MIB, 0, 0, &mh[i]), 0);
	fake_rm_set_bar1_free(8 * MIB);
	assert_int_equal(gdr_map(*state, mh[0], &va, 8 * MIB), 0);
	assert_int_equal(gdr_unmap(*state, mh[0], va, 8 * MIB), 0);
	assert_int_equal(gdr_map(*state, mh[1], &va, 8 * MIB), ENOMEM);
	assert_non_null(strstr(gdrx_last_error(), "unpin what is not needed"));
	assert_int_equal(gdr_unpin_buffer(*state, mh[0]), 0);
	assert_int_equal(gdr_map(*state, mh[1], &va, 8 * MIB), 0);
	assert_int_equal(gdr_unpin_buffer(*state, mh[1]), 0);
	for (int i = 0; i < 2; i++)
		cuda_free(ptr[i]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, soft_open, soft_close)
#define BARE(f) cmocka_unit_test_setup_teardown(f, soft_reset, soft_check_clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(memory_lives_until_unpin),
		TEST(remap_reuses_the_window),
		TEST(shorter_then_longer_map),
		TEST(what_the_context_says),
		BARE(every_release_of_the_driver),
		TEST(memory_below_a_subdevice),
		TEST(maps_that_find_no_room_cost_no_addresses),
		TEST(full_bar1_says_what_helps),
	};

	return cmocka_run_group_tests_name("rm_maps", tests, soft_start, NULL);
}
