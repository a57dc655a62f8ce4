/* SPDX-License-Identifier: MIT */
/*
 * Mappings that cannot be removed.  The memory that they show is never freed and
 * its window never given back, until the end of the process takes all of it.
 */
#include "soft_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* So many pieces are mapped for good, and nothing was freed below them. */
static void expect_left(unsigned mappings)
{
	struct fake_rm_counts c;

	if (fake_rm_violations())
		fail_msg("%s", fake_rm_violation());
	fake_rm_counts(&c);
	assert_int_equal(c.mappings, mappings);
	assert_int_equal(c.windows, mappings);
	assert_int_equal(c.memories, mappings);
	assert_int_equal(c.gpu_files, mappings);
}

static int close_and_end(void **state)
{
	fake_rm_fail_none();
	assert_int_equal(gdr_close(*state), 0);
	if (fake_rm_violations())
		return -1;
	fake_rm_process_end();
	return soft_check_clean(state);
}

static void expect_eio(int ret)
{
	assert_int_equal(ret, EIO);
	assert_non_null(strstr(gdrx_last_error(), "could not be removed"));
	assert_non_null(strstr(gdrx_last_error(), "until the process ends"));
}

/* The first pin's check: it cannot remove its own mapping, and may be tried again. */
static void scratch_of_cuda_alloc(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	gdr_mh_t mh;

	for (unsigned nth = 1; nth <= 3; nth++) {
		fake_rm_fail(FAKE_RM_MUNMAP, nth, 1, 0, ENOMEM);
		expect_eio(gdr_pin_buffer(*state, ptr, 2 * MIB, 0, 0, &mh));
		assert_true(fake_rm_failed());
		fake_rm_fail_none();
		expect_left(nth);
	}
	round_trip(*state, ptr, 2 * MIB);
	expect_left(3);
	cuda_free(ptr);
}

static void scratch_of_vmm(void **state)
{
	gdr_mh_t mh;
	struct vmm v;

	vmm_new(0, 2 * MIB, 1, POSIX_FD, &v);
	fake_rm_fail_munmap();
	expect_eio(gdr_pin_buffer(*state, v.ptr, 2 * MIB, 0, 0, &mh));
	expect_left(1);
	round_trip(*state, v.ptr, 2 * MIB);
	expect_left(1);
	vmm_free(&v);
}

/* The check's mapping may be inherited by a child, and cannot be removed at once. */
static void scratch_that_fork_would_inherit(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	gdr_mh_t mh;

	fake_rm_fail(FAKE_RM_MADVISE, 1, 1, 0, ENOMEM);
	fake_rm_fail_munmap();
	assert_int_equal(gdr_pin_buffer(*state, ptr, 2 * MIB, 0, 0, &mh), ENOMEM);
	assert_non_null(strstr(gdrx_last_error(), "until the process ends"));
	expect_left(1);
	round_trip(*state, ptr, 2 * MIB);
	expect_left(1);
	cuda_free(ptr);
}

static void map_that_cannot_be_undone(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	struct fake_rm_counts c;
	gdr_mh_t mh;
	void *va = NULL;

	assert_int_equal(gdr_pin_buffer(*state, ptr, 2 * MIB, 0, 0, &mh), 0);
	fake_rm_fail(FAKE_RM_MADVISE, 1, 1, 0, ENOMEM);
	fake_rm_fail_munmap();
	assert_int_equal(gdr_map(*state, mh, &va, 2 * MIB), ENOMEM);
	assert_null(va);
	expect_left(1);

	/* Another window would need this one to go; the same one is still right. */
	assert_int_equal(gdr_map(*state, mh, &va, 64 * KIB), EIO);
	assert_non_null(strstr(gdrx_last_error(), "could not be removed"));
	assert_null(va);
	expect_left(1);
	assert_int_equal(gdr_map(*state, mh, &va, 2 * MIB), 0);
	pattern_to_device(ptr, 2 * MIB, 1);
	pattern_on_cpu(va, 2 * MIB, 1);
	assert_int_equal(gdr_unmap(*state, mh, va, 2 * MIB), 0);

	expect_eio(gdr_unpin_buffer(*state, mh));
	expect_left(1);
	fake_rm_counts(&c);
	assert_int_equal(c.clients, 1);
	cuda_free(ptr);
}

/* Of three parts the last fails, and the first two stay mapped. */
static void map_of_parts_that_cannot_be_undone(void **state)
{
	gdr_mh_t mh;
	struct vmm v;
	void *va = NULL;

	vmm_new(0, 2 * MIB, 3, POSIX_FD, &v);
	assert_int_equal(gdr_pin_buffer(*state, v.ptr, 6 * MIB, 0, 0, &mh), 0);
	fake_rm_fail(FAKE_RM_MMAP, 3, 1, 0, ENOMEM);
	fake_rm_fail_munmap();
	assert_int_equal(gdr_map(*state, mh, &va, 6 * MIB), ENOMEM);
	assert_null(va);
	assert_int_equal(gdr_map(*state, mh, &va, 64 * KIB), EIO);
	expect_eio(gdr_unpin_buffer(*state, mh));
	expect_left(2);
	vmm_free(&v);
}

/* An unmap that fails may be tried again; at unpin it is the last try. */
static void unmap_that_fails(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	gdr_mh_t mh;
	void *va;

	assert_int_equal(gdr_pin_buffer(*state, ptr, 2 * MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(*state, mh, &va, 2 * MIB), 0);
	fake_rm_fail_munmap();
	assert_int_equal(gdr_unmap(*state, mh, va, 2 * MIB), ENOMEM);
	pattern_to_device(ptr, 2 * MIB, 4);
	pattern_on_cpu(va, 2 * MIB, 4);
	assert_int_equal(gdr_unmap(*state, mh, va, 2 * MIB), 0);
	assert_int_equal(gdr_map(*state, mh, &va, 2 * MIB), 0);
	fake_rm_fail_munmap();
	assert_int_equal(gdr_unpin_buffer(*state, mh), ENOMEM);
	expect_left(1);
	cuda_free(ptr);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, soft_open, close_and_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(scratch_of_cuda_alloc),
		TEST(scratch_of_vmm),
		TEST(scratch_that_fork_would_inherit),
		TEST(map_that_cannot_be_undone),
		TEST(map_of_parts_that_cannot_be_undone),
		TEST(unmap_that_fails),
	};

	return cmocka_run_group_tests_name("rm_stuck", tests, soft_start, NULL);
}
