/* SPDX-License-Identifier: MIT */
/* Pin, unpin and close on the gdrdrv backend: command by version, handles, errors. */
#include "fixture.h"

static const uint32_t served[] = { V(2, 0), V(2, 3), V(2, 4), V(2, 5), V(2, 6) };

#define TOKEN	 0x8877665544332211ull
#define VA_SPACE 0xccbbaa99u

/* As any pin fails: err comes out, the handle stays as it was, the error is told. */
static void pin_fails(int ret, int err, gdr_mh_t mh)
{
	char where[32];

	assert_int_equal(ret, err);
	assert_int_equal(mh.h, 0x5a5a);
	snprintf(where, sizeof(where), "0x%lx", ADDR);
	assert_non_null(strstr(gdrx_last_error(), where));
}

/* Has to run first: the registry allocates for the first handle of the process. */
static void a_pin_that_gets_no_handle_is_undone(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = { 0x5a5a };

	will_lack_memory(1); /* the pin itself */
	assert_int_equal(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh), ENOMEM);
	assert_null(driver_trouble_so_far());
	will_lack_memory(2); /* its handle */
	will_pin_v2(ADDR, SIZE, 0, 5, 0);
	will_unpin(5, 0);
	assert_int_equal(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh), ENOMEM);
	assert_int_equal(mh.h, 0x5a5a);
	finish(g);
}

static void tokens_are_passed_before_2_5_only(void **state)
{
	size_t i;

	for (i = 0; i < COUNT(served); i++) {
		gdr_t g = open_driver(served[i]);
		gdr_mh_t mh = { 0 };

		if (served[i] < HAS_PIN_V2)
			will_pin_v1(ADDR, SIZE, TOKEN, VA_SPACE, 3, 0);
		else
			will_pin_v2(ADDR, SIZE, 0, 3, 0);
		assert_int_equal(gdr_pin_buffer(g, ADDR, SIZE, TOKEN, VA_SPACE, &mh), 0);
		will_unpin(3, 0);
		assert_int_equal(gdr_unpin_buffer(g, mh), 0);
		finish(g);
		driver_reset();
	}
}

static void flags_need_2_5(void **state)
{
	size_t i;

	for (i = 0; i < COUNT(served); i++) {
		gdr_t g = open_driver(served[i]);
		gdr_mh_t mh = { 0x5a5a };
		int ret;

		if (served[i] >= HAS_PIN_V2)
			will_pin_v2(ADDR, SIZE, 1, 3, 0);
		ret = gdr_pin_buffer_v2(g, ADDR, SIZE, GDR_PIN_FLAG_FORCE_PCIE, &mh);
		if (served[i] >= HAS_PIN_V2) {
			assert_int_equal(ret, 0);
			will_unpin(3, 0);
			assert_int_equal(gdr_unpin_buffer(g, mh), 0);
		} else {
			pin_fails(ret, EINVAL, mh);
			assert_non_null(strstr(gdrx_last_error(), "load gdrdrv 2.5"));
		}
		finish(g);
		driver_reset();
	}
}

static void the_flagless_v2_pin_works_everywhere(void **state)
{
	size_t i;

	for (i = 0; i < COUNT(served); i++) {
		gdr_t g = open_driver(served[i]);
		gdr_mh_t mh = { 0 };

		will_pin(served[i], 3, 0);
		assert_int_equal(gdr_pin_buffer_v2(g, ADDR, SIZE, 0, &mh), 0);
		will_unpin(3, 0);
		assert_int_equal(gdr_unpin_buffer(g, mh), 0);
		finish(g);
		driver_reset();
	}
}

static void pin_errors_come_out(void **state)
{
	static const struct {
		int err, out;
		const char *word;
	} cases[] = {
		{ EINVAL, EINVAL, "one CUDA allocation" },
		{ ENOMEM, ENOMEM, "BAR1" },
		{ EOPNOTSUPP, EOPNOTSUPP, "cannot be pinned" },
		{ 524, EOPNOTSUPP,
		  "cannot be pinned" }, /* the kernel's private ENOTSUPP */
		{ ENODEV, ENODEV, "dmesg" },
		{ EIO, EIO, "dmesg" },
		{ EFAULT, EFAULT, "rebuild the module" },
		{ EACCES, EACCES, "call gdr_open after fork" },
		{ ENOTTY, ENOTTY, "reload it" },
		{ EBUSY, EBUSY, "see dmesg" },
	};
	size_t i, v;

	for (v = 0; v < COUNT(served); v++) {
		gdr_t g = open_driver(served[v]);

		for (i = 0; i < COUNT(cases); i++) {
			gdr_mh_t mh = { 0x5a5a };

			will_pin(served[v], 3, cases[i].err);
			pin_fails(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh), cases[i].out,
				  mh);
			assert_non_null(strstr(gdrx_last_error(), cases[i].word));
		}
		finish(g);
		driver_reset();
	}
}

static void retries_interrupted_pin_and_unpin(void **state)
{
	size_t i;

	for (i = 0; i < COUNT(served); i++) {
		gdr_t g = open_driver(served[i]);
		gdr_mh_t mh;

		will_pin(served[i], 0, EINTR);
		will_pin(served[i], 0, EINTR);
		mh = pin(g, served[i], 7);
		will_unpin(7, EINTR);
		will_unpin(7, 0);
		assert_int_equal(gdr_unpin_buffer(g, mh), 0);
		finish(g);
		driver_reset();
	}
}

/* D1: all 64 bits of the driver's handle reach mmap, the queries and unpin. */
static void d1_kernel_handles_have_64_bits(void **state)
{
	const uint64_t handle = 0x100000008ull;
	size_t i;

	for (i = 0; i < COUNT(served); i++) {
		gdr_t g = open_driver(served[i]);
		gdr_mh_t low = pin(g, served[i], 8), high = pin(g, served[i], handle);
		int flag = -1;
		void *va;

		va = map(g, high, served[i], handle);
		will_get_cb_flag(handle, 0, 0);
		assert_int_equal(gdr_get_callback_flag(g, high, &flag), 0);
		will_munmap(SIZE, 0);
		assert_int_equal(gdr_unmap(g, high, va, SIZE), 0);
		will_unpin(handle, 0);
		assert_int_equal(gdr_unpin_buffer(g, high), 0);
		will_unpin(8, 0);
		assert_int_equal(gdr_unpin_buffer(g, low), 0);
		finish(g);
		driver_reset();
	}
}

static void kernel_handle_0_is_one_like_any_other(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), 0);
	void *va = map(g, mh, V(2, 6), 0);

	will_munmap(SIZE, 0);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE), 0);
	will_unpin(0, 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	finish(g);
}

/* D10: a handle that is stale, made up or of another context reaches no ioctl. */
static void dead_handle(gdr_t g, gdr_mh_t mh)
{
	gdr_info_v2_t info;
	void *va = &info;
	char buf[8] = { 0 };
	int flag = 7;

	assert_int_equal(gdr_unpin_buffer(g, mh), EINVAL);
	assert_int_equal(gdr_map(g, mh, &va, SIZE), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE), EINVAL);
	assert_int_equal(gdr_get_info_v2(g, mh, &info), EINVAL);
	assert_int_equal(gdr_get_callback_flag(g, mh, &flag), EINVAL);
	assert_int_equal(gdr_copy_to_mapping(mh, buf, buf, sizeof(buf)), EINVAL);
	assert_int_equal(gdr_copy_from_mapping(mh, buf, buf, sizeof(buf)), EINVAL);
	assert_int_equal(flag, 7);
	assert_true(va == &info);
}

static void d10_dead_handles_are_refused(void **state)
{
	static const gdr_mh_t made_up[] = { { 0 },
					    { 1 },
					    { 0xdeadbeefcafef00dul },
					    { ~0ul } };
	gdr_t g = open_driver(V(2, 6)), other;
	gdr_mh_t mh = pin(g, V(2, 6), 5), again;
	size_t i;

	for (i = 0; i < COUNT(made_up); i++)
		dead_handle(g, made_up[i]);

	driver_use(1);
	other = open_driver(V(2, 6));
	dead_handle(other, mh);
	will_close();
	assert_int_equal(gdr_close(other), 0);
	driver_use(0);

	will_unpin(5, 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	dead_handle(g, mh);
	again = pin(g, V(2, 6), 6); /* does not revive the old one */
	dead_handle(g, mh);
	will_unpin(6, 0);
	assert_int_equal(gdr_unpin_buffer(g, again), 0);
	finish(g);
	dead_handle(g, again);
}

/* D13: unpin takes the handle away even if the driver fails, and says so. */
static void d13_a_failing_unpin_ends_the_handle(void **state)
{
	static const int errors[] = { EINVAL, EACCES, EIO, ENOTTY };
	gdr_t g = open_driver(V(2, 6));
	size_t i;

	for (i = 0; i < COUNT(errors); i++) {
		gdr_mh_t mh = pin(g, V(2, 6), i);

		will_unpin(i, errors[i]);
		assert_int_equal(gdr_unpin_buffer(g, mh), errors[i]);
		assert_non_null(strstr(gdrx_last_error(), "unpin, kernel handle 0x"));
		dead_handle(g, mh);
	}
	finish(g);
}

/* D13: closing goes on past failures, closes, and returns the first error. */
static void d13_close_goes_on_and_returns_the_first_error(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh;

	pin(g, V(2, 6), 1);
	pin(g, V(2, 6), 2);
	mh = pin(g, V(2, 6), 3);
	pin(g, V(2, 6), 4);
	map(g, mh, V(2, 6), 3);

	will_unpin(4, 0); /* the newest first */
	will_munmap(SIZE, 0);
	will_unpin(3, EIO);
	will_unpin(2, EACCES);
	will_unpin(1, 0);
	will_close();
	assert_int_equal(gdr_close(g), EIO);
	assert_no_trouble();
	assert_int_equal(gdr_close(g), EINVAL);
}

/* D22: flag bits that nobody defined never reach the driver. */
static void d22_unknown_pin_flags_are_refused(void **state)
{
	static const uint32_t flags[] = { 2, 3, 0xf0, 0x80000000, ~0u };
	size_t i, v;

	for (v = 0; v < COUNT(served); v++) {
		gdr_t g = open_driver(served[v]);

		for (i = 0; i < COUNT(flags); i++) {
			gdr_mh_t mh = { 0x5a5a };

			assert_int_equal(gdr_pin_buffer_v2(g, ADDR, SIZE, flags[i], &mh),
					 EINVAL);
			assert_int_equal(mh.h, 0x5a5a);
		}
		finish(g);
		driver_reset();
	}
}

/* D23: ranges that are empty, or wrap around when rounded, never reach the driver. */
static void d23_impossible_ranges_are_refused(void **state)
{
	static const struct {
		unsigned long addr;
		size_t size;
	} ranges[] = {
		{ 0, SIZE },	    { ADDR, 0 },
		{ ADDR, SIZE_MAX }, { ADDR, SIZE_MAX - ADDR },
		{ SIZE_MAX, 1 },    { SIZE_MAX - 0xffff, 1 },
	};
	gdr_t g = open_driver(V(2, 6));
	size_t i;

	for (i = 0; i < COUNT(ranges); i++) {
		gdr_mh_t mh = { 0x5a5a };

		assert_int_equal(gdr_pin_buffer(g, ranges[i].addr, ranges[i].size, 0, 0,
						&mh),
				 EINVAL);
		assert_int_equal(gdr_pin_buffer_v2(g, ranges[i].addr, ranges[i].size, 0,
						   &mh),
				 EINVAL);
		assert_int_equal(mh.h, 0x5a5a);
	}
	finish(g);
}

static void any_address_can_be_pinned(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = { 0 };

	will_pin_v2(ADDR + 8, 1, 0, 9, 0);
	assert_int_equal(gdr_pin_buffer(g, ADDR + 8, 1, 0, 0, &mh), 0);
	will_unpin(9, 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	finish(g);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_pin_that_gets_no_handle_is_undone, setup),
		cmocka_unit_test_setup(tokens_are_passed_before_2_5_only, setup),
		cmocka_unit_test_setup(flags_need_2_5, setup),
		cmocka_unit_test_setup(the_flagless_v2_pin_works_everywhere, setup),
		cmocka_unit_test_setup(pin_errors_come_out, setup),
		cmocka_unit_test_setup(retries_interrupted_pin_and_unpin, setup),
		cmocka_unit_test_setup(d1_kernel_handles_have_64_bits, setup),
		cmocka_unit_test_setup(kernel_handle_0_is_one_like_any_other, setup),
		cmocka_unit_test_setup(d10_dead_handles_are_refused, setup),
		cmocka_unit_test_setup(d13_a_failing_unpin_ends_the_handle, setup),
		cmocka_unit_test_setup(d13_close_goes_on_and_returns_the_first_error,
				       setup),
		cmocka_unit_test_setup(d22_unknown_pin_flags_are_refused, setup),
		cmocka_unit_test_setup(d23_impossible_ranges_are_refused, setup),
		cmocka_unit_test_setup(any_address_can_be_pinned, setup),
	};

	return cmocka_run_group_tests_name("kabi pin", tests, NULL, NULL);
}
