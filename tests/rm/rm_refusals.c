/* SPDX-License-Identifier: MIT */
/*
 * What the rm backend refuses, and that whatever fails, at whichever step,
 * leaves nothing behind: no object, window, file, mapping or device memory.
 */
#include "soft_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) assert_int_equal(call, CUDA_SUCCESS)

static void managed_memory(void **state)
{
	CUdeviceptr ptr;

	CHECK(cuMemAllocManaged(&ptr, 2 * MIB, CU_MEM_ATTACH_GLOBAL));
	refuse_pin(*state, ptr, 2 * MIB, ENOTSUP, "managed memory");
	cuda_free(ptr);
}

static void stream_ordered_memory(void **state)
{
	CUstream stream;
	CUdeviceptr ptr;

	CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
	CHECK(cuMemAllocAsync(&ptr, 2 * MIB, stream));
	CHECK(cuStreamSynchronize(stream));
	refuse_pin(*state, ptr, 2 * MIB, ENOTSUP, "cuMemAllocAsync");
	CHECK(cuMemFreeAsync(ptr, stream));
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuStreamDestroy_v2(stream));
}

static void vmm_memory_without_handle_type(void **state)
{
	struct vmm v;

	vmm_new(0, 2 * MIB, 1, CU_MEM_HANDLE_TYPE_NONE, &v);
	refuse_pin(*state, v.ptr, 2 * MIB, ENOTSUP, "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR");
	vmm_free(&v);
}

static void host_memory(void **state)
{
	void *p;

	CHECK(cuMemAllocHost_v2(&p, 2 * MIB));
	refuse_pin(*state, (CUdeviceptr)(uintptr_t)p, MIB, ENOTSUP, "host memory");
	CHECK(cuMemFreeHost(p));
}

static void memory_that_cuda_does_not_know(void **state)
{
	void *p = test_malloc(MIB);

	refuse_pin(*state, (CUdeviceptr)(uintptr_t)p, MIB, EINVAL, "");
	assert_true(strlen(gdrx_last_error()) > 0);
	test_free(p);
}

static void range_past_the_end(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);

	refuse_pin(*state, ptr, 2 * MIB + 1, EINVAL, "past the end");
	refuse_pin(*state, ptr + MIB, 2 * MIB, EINVAL, "past the end");
	cuda_free(ptr);
}

/* Reversed: no client is followed by an object any more. */
static void reverse_words(uint32_t w[16])
{
	for (int i = 0; i < 8; i++) {
		uint32_t t = w[i];

		w[i] = w[15 - i];
		w[15 - i] = t;
	}
}

/* Another layout of the same kind, as another CUDA release may have. */
static void move_words(uint32_t w[16])
{
	uint32_t client = w[12], object = w[13], offset = w[7];

	w[7] = w[12] = w[13] = 0;
	w[3] = client;
	w[4] = object;
	w[10] = offset;
}

static void lose_offset(uint32_t w[16])
{
	w[7] = 0;
}

static void lose_client(uint32_t w[16])
{
	w[12] = 0;
}

/* Names that are right for the first sample and stay there: other memory afterwards. */
static void same_object_for_all(uint32_t w[16])
{
	static uint32_t first;

	if (!first)
		first = w[13];
	w[13] = first;
}

/* The offset word is off by one GPU page: inside the object, the wrong bytes. */
static void offset_of_the_neighbour(uint32_t w[16])
{
	w[7] += 0x10000;
}

static void unknown_ipc_layout_stops_alloc_but_not_vmm(void **state)
{
	static const struct {
		const char *name;
		void (*twist)(uint32_t words[16]);
	} twists[] = {
		{ "reverse_words", reverse_words },
		{ "lose_offset", lose_offset },
		{ "lose_client", lose_client },
		{ "same_object_for_all", same_object_for_all },
		{ "offset_of_the_neighbour", offset_of_the_neighbour },
	};

	for (size_t i = 0; i < sizeof(twists) / sizeof(twists[0]); i++) {
		CUdeviceptr ptr;
		struct vmm v;
		gdr_t g;

		soft_use(0);
		ptr = cuda_alloc(8 * MIB);      /* as large as any sample */
		vmm_new(0, 2 * MIB, 1, POSIX_FD, &v);
		pattern_to_device(ptr, 8 * MIB, 6);
		soft_twist_ipc = twists[i].twist;
		g = gdr_open();
		assert_non_null(g);
		print_message("%s\n", twists[i].name);
		refuse_pin(g, ptr, 2 * MIB, ENOTSUP, "could not be verified");
		/* Trying wrong words must not write to the memory that they name. */
		pattern_on_device(ptr, 8 * MIB, 6);
		round_trip(g, v.ptr, 2 * MIB);
		/* Said once and for all: no second calibration. */
		soft_twist_ipc = NULL;
		refuse_pin(g, ptr, 2 * MIB, ENOTSUP, "could not be verified");
		assert_int_equal(gdr_close(g), 0);
		cuda_free(ptr);
		vmm_free(&v);
		assert_true(soft_is_clean());
	}
}

static void other_ipc_layout_is_learned(void **state)
{
	CUdeviceptr ptr[3];

	soft_twist_ipc = move_words;
	for (int i = 0; i < 3; i++)
		ptr[i] = cuda_alloc(64 * KIB);
	for (int i = 0; i < 3; i++)
		round_trip(*state, ptr[i], 64 * KIB);
	for (int i = 0; i < 3; i++)
		cuda_free(ptr[i]);
}

static void full_bar1_is_enomem_and_not_for_ever(void **state)
{
	CUdeviceptr ptr = cuda_alloc(8 * MIB);
	gdr_mh_t mh;
	void *va = NULL;

	/* Not even room to calibrate. */
	fake_rm_set_bar1_free(64 * KIB);
	refuse_pin(*state, ptr, 8 * MIB, ENOMEM, "nvidia-smi -q -d MEMORY");
	fake_rm_set_bar1_free(6 * MIB);
	assert_int_equal(gdr_pin_buffer(*state, ptr, 8 * MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(*state, mh, &va, 8 * MIB), ENOMEM);
	assert_non_null(strstr(gdrx_last_error(), "nvidia-smi -q -d MEMORY"));
	assert_null(va);
	assert_int_equal(gdr_map(*state, mh, &va, 4 * MIB), 0);
	assert_int_equal(gdr_unmap(*state, mh, va, 4 * MIB), 0);
	fake_rm_set_bar1_free(8 * MIB);
	assert_int_equal(gdr_map(*state, mh, &va, 8 * MIB), 0);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	cuda_free(ptr);
}

static void memory_below_neither_parent(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	struct vmm v;

	vmm_new(0, 2 * MIB, 1, POSIX_FD, &v);
	round_trip(*state, ptr, 2 * MIB);
	round_trip(*state, v.ptr, 2 * MIB);
	fake_rm_fail(FAKE_RM_DUP, 1, 2, 0x36, 0);
	refuse_pin(*state, ptr, 2 * MIB, EINVAL, "neither");
	fake_rm_fail(FAKE_RM_IMPORT, 1, 2, 0x36, 0);
	refuse_pin(*state, v.ptr, 2 * MIB, EINVAL, "neither");
	cuda_free(ptr);
	vmm_free(&v);
}

static void gpu_that_the_driver_does_not_list(void **state)
{
	CUdeviceptr ptr;
	gdr_t g;

	soft_use(0);
	ptr = cuda_alloc(2 * MIB);
	fake_rm_reset();                /* no GPU at all */
	g = gdr_open();
	assert_non_null(g);
	refuse_pin(g, ptr, 2 * MIB, ENODEV, "card list");
	assert_int_equal(gdr_close(g), 0);
	cuda_free(ptr);
}

static void no_driver_is_said_by_open(void **state)
{
	fake_rm_fail(FAKE_RM_OPEN_CTL, 1, 1, 0, ENOENT);
	assert_null(gdr_open());
	assert_non_null(strstr(gdrx_open_report(), "/dev/nvidiactl"));
}

static void every_step_that_fails_leaves_nothing(void **state)
{
	static const struct {
		uint32_t status;
		int err;
	} failures[] = {
		{ 0x51, ENOMEM },
		{ 0x1f, EINVAL },
		{ 0x36, EIO },
		{ 0x0f, ENODEV },
		{ 0, ENOMEM },
	};
	size_t n_failures = sizeof(failures) / sizeof(failures[0]);

	for (size_t f = 0; f < n_failures; f++) {
		unsigned n, failed = 0;

		for (n = 1;; n++) {
			CUdeviceptr ptr;
			struct vmm v;
			bool struck;
			int ret;

			soft_use(0);
			ptr = cuda_alloc(64 * KIB);
			vmm_new(0, 2 * MIB, 3, POSIX_FD, &v);
			fake_rm_fail(FAKE_RM_ANY, n, 1, failures[f].status, failures[f].err);
			ret = soft_scenario(ptr, &v);
			struck = fake_rm_failed();
			fake_rm_fail_none();
			cuda_free(ptr);
			vmm_free(&v);
			if (!soft_is_clean())
				fail_msg("call %u failing with 0x%x/%d leaves something", n,
					 failures[f].status, failures[f].err);
			if (!struck) {
				assert_int_equal(ret, 0);
				break;
			}
			/* Some failures have a way around; the others say why. */
			if (ret) {
				failed++;
				assert_true(strlen(gdrx_last_error()) > 20 ||
					    strlen(gdrx_open_report()) > 20);
			}
		}
		print_message("status 0x%02x, errno %d: %u calls, %u failures\n",
			      failures[f].status, failures[f].err, n - 1, failed);
		assert_true(n > 40);
		assert_true(failed * 2 > n);
	}
}

/* Bytes of address space that are reserved and show nothing. */
static size_t reserved(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512], prot[8];
	size_t sum = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, prot) == 3 && !strcmp(prot, "---p"))
			sum += end - start;
	}
	fclose(f);
	return sum;
}

/* Of several parts, the third fails: the others go, and only its own place may stay reserved. */
static void map_of_parts_that_fails_gives_addresses_back(void **state)
{
	struct fake_rm_counts c;
	gdr_mh_t mh;
	struct vmm v;
	size_t before;
	void *va = NULL;

	vmm_new(0, 2 * MIB, 5, POSIX_FD, &v);
	assert_int_equal(gdr_pin_buffer(*state, v.ptr, 5 * v.seg, 0, 0, &mh), 0);
	before = reserved();
	fake_rm_fail(FAKE_RM_MMAP, 3, 1, 0, ENOMEM);
	assert_int_equal(gdr_map(*state, mh, &va, 5 * v.seg), ENOMEM);
	assert_true(fake_rm_failed());
	assert_null(va);
	fake_rm_counts(&c);
	assert_int_equal(c.mappings, 0);
	assert_true(reserved() <= before + v.seg);
	assert_int_equal(gdr_map(*state, mh, &va, 5 * v.seg), 0);
	pattern_to_device(v.ptr, 5 * v.seg, 3);
	pattern_on_cpu(va, 5 * v.seg, 3);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	vmm_free(&v);
}

/* An object that cannot be freed lives as long as its client, and no longer. */
static void free_that_fails_is_reported_and_made_up_for(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	gdr_t g = gdr_open();
	gdr_mh_t mh;
	void *va;

	assert_non_null(g);
	round_trip(g, ptr, 2 * MIB);
	assert_int_equal(gdr_pin_buffer(g, ptr, 2 * MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(g, mh, &va, 2 * MIB), 0);
	fake_rm_fail(FAKE_RM_FREE, 1, 1, 0x59, 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), EIO);
	assert_non_null(strstr(gdrx_last_error(), "0x59"));
	assert_int_equal(gdr_unpin_buffer(g, mh), EINVAL);
	assert_int_equal(gdr_close(g), 0);
	cuda_free(ptr);
}

static void window_that_cannot_be_given_back(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	gdr_mh_t mh;
	void *va = NULL;

	assert_int_equal(gdr_pin_buffer(*state, ptr, 2 * MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(*state, mh, &va, 64 * KIB), 0);
	assert_int_equal(gdr_unmap(*state, mh, va, 64 * KIB), 0);
	va = NULL;
	fake_rm_fail(FAKE_RM_UNMAP, 1, 1, 0x59, 0);
	assert_int_equal(gdr_map(*state, mh, &va, 2 * MIB), EIO);
	assert_null(va);
	assert_int_equal(gdr_map(*state, mh, &va, 2 * MIB), 0);
	pattern_to_device(ptr, 2 * MIB, 1);
	pattern_on_cpu(va, 2 * MIB, 1);
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	cuda_free(ptr);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, soft_open, soft_close)
#define BARE(f) cmocka_unit_test_setup_teardown(f, soft_reset, soft_check_clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(managed_memory),
		TEST(stream_ordered_memory),
		TEST(vmm_memory_without_handle_type),
		TEST(host_memory),
		TEST(memory_that_cuda_does_not_know),
		TEST(range_past_the_end),
		BARE(unknown_ipc_layout_stops_alloc_but_not_vmm),
		TEST(other_ipc_layout_is_learned),
		TEST(full_bar1_is_enomem_and_not_for_ever),
		TEST(memory_below_neither_parent),
		BARE(gpu_that_the_driver_does_not_list),
		BARE(no_driver_is_said_by_open),
		BARE(every_step_that_fails_leaves_nothing),
		TEST(map_of_parts_that_fails_gives_addresses_back),
		BARE(free_that_fails_is_reported_and_made_up_for),
		TEST(window_that_cannot_be_given_back),
	};

	return cmocka_run_group_tests_name("rm_refusals", tests, soft_start, NULL);
}
