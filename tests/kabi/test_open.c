/* SPDX-License-Identifier: MIT */
/* gdr_open on the gdrdrv backend: the device node, the version check, fd 0. */
#include "fixture.h"

#include <fcntl.h>

static const uint32_t served[] = { V(2, 0), V(2, 3), V(2, 4), V(2, 5),
				   V(2, 6), V(2, 7), V(3, 1) };

static void serves_every_driver_from_2_0_on(void **state)
{
	size_t i;

	for (i = 0; i < COUNT(served); i++) {
		gdr_t g = open_driver(served[i]);
		int major = -1, minor = -1;

		assert_string_equal(gdrx_backend_name(g), "gdrdrv");
		assert_non_null(strstr(gdrx_open_report(), "gdrdrv: in use"));
		assert_int_equal(gdr_driver_get_version(g, &major, &minor), 0);
		assert_int_equal(major, served[i] >> 16);
		assert_int_equal(minor, served[i] & 0xffff);
		finish(g);
		driver_reset();
	}
}

static void is_the_first_choice(void **state)
{
	gdr_t g;

	unsetenv("GDRCOPY_BACKEND");
	g = open_driver(V(2, 6));
	assert_string_equal(gdrx_backend_name(g), "gdrdrv");
	finish(g);
}

/* gdr_open fails with err, and says word. */
static void refused(int err, const char *word)
{
	errno = 0;
	assert_null(gdr_open());
	assert_int_equal(errno, err);
	if (!strstr(gdrx_open_report(), word))
		fail_msg("no \"%s\" in \"%s\"", word, gdrx_open_report());
	assert_non_null(strstr(gdrx_open_report(), "gdrdrv: "));
	assert_non_null(strstr(gdrx_last_error(), word));
	assert_no_trouble();
	driver_reset();
}

static void refuses_drivers_before_2_0(void **state)
{
	static const uint32_t old[] = { 0, V(1, 9), V(1, 0xffff) };
	size_t i;

	for (i = 0; i < COUNT(old); i++) {
		char name[32];

		snprintf(name, sizeof(name), "gdrdrv %u.%u is too old", old[i] >> 16,
			 old[i] & 0xffff);
		will_open(0);
		will_get_version(old[i], 0, 0);
		will_close();
		refused(ENOTSUP, name);
	}
}

static void refuses_a_driver_for_newer_libraries(void **state)
{
	will_open(0);
	will_get_version(V(3, 0), GDR_API_VERSION + 1, 0);
	will_close();
	refused(ENOTSUP, "update the library");
}

static void accepts_a_driver_for_this_very_library(void **state)
{
	gdr_t g;

	will_open(0);
	will_get_version(V(2, 6), GDR_API_VERSION, 0);
	g = gdr_open();
	assert_non_null(g);
	finish(g);
}

static void open_failures_name_the_remedy(void **state)
{
	static const struct {
		int err;
		const char *word;
	} cases[] = {
		{ ENOENT, "modprobe gdrdrv" },
		{ EACCES, "chmod 0666 /dev/gdrdrv" },
		{ EPERM, "container's device rules" },
		{ ENXIO, "stale" },
		{ ENODEV, "/proc/devices" },
		{ EMFILE, "Too many open files" },
		{ ENOMEM, "open /dev/gdrdrv" },
	};
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		will_open(cases[i].err);
		refused(cases[i].err, cases[i].word);
	}
}

static void lack_of_memory_is_told(void **state)
{
	will_lack_memory(1);
	refused(ENOMEM, "no memory");
}

static void version_query_failures_close_the_device(void **state)
{
	static const int errors[] = { ENOTTY, EINVAL, EACCES, EFAULT, EIO };
	size_t i;

	for (i = 0; i < COUNT(errors); i++) {
		will_open(0);
		will_get_version(0, 0, errors[i]);
		will_close();
		refused(errors[i], "does not tell its version");
	}
}

static void retries_interrupted_calls(void **state)
{
	gdr_t g;

	will_open(EINTR);
	will_open(EINTR);
	will_open(0);
	will_get_version(0, 0, EINTR);
	will_get_version(0, 0, EINTR);
	will_get_version(V(2, 6), V(2, 0), 0);
	g = gdr_open();
	assert_non_null(g);
	finish(g);
}

/* D2: descriptor 0 is an ordinary one, and asking for the version never aborts. */
static void d2_works_on_descriptor_0(void **state)
{
	int stdin_copy = dup(STDIN_FILENO);
	int major = -1, minor = -1;
	gdr_mh_t mh;
	void *va;
	gdr_t g;

	close(STDIN_FILENO);
	g = open_driver(V(2, 6));
	assert_int_equal(*(const int *)(const void *)g,
			 0); /* the descriptor comes first */
	assert_int_equal(gdr_driver_get_version(g, &major, &minor), 0);
	assert_int_equal(major, 2);
	assert_int_equal(minor, 6);
	mh = pin(g, V(2, 6), 0);
	va = map(g, mh, V(2, 6), 0);
	will_munmap(SIZE, 0);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE), 0);
	will_unpin(0, 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	finish(g);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	if (stdin_copy >= 0) {
		dup2(stdin_copy, STDIN_FILENO);
		close(stdin_copy);
	}
}

static void d2_version_query_needs_a_context_and_outputs(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	int major = -1, minor = -1;

	assert_int_equal(gdr_driver_get_version(g, NULL, &minor), EINVAL);
	assert_int_equal(gdr_driver_get_version(g, &major, NULL), EINVAL);
	assert_int_equal(gdr_driver_get_version(NULL, &major, &minor), EINVAL);
	finish(g);
	assert_int_equal(gdr_driver_get_version(g, &major, &minor), EINVAL);
	assert_int_equal(major, -1);
	assert_int_equal(minor, -1);
}

static void closing_twice_is_an_error(void **state)
{
	gdr_t g = open_driver(V(2, 6));

	finish(g);
	assert_int_equal(gdr_close(g), EINVAL);
	assert_int_equal(gdr_close(NULL), EINVAL);
	assert_no_trouble();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(serves_every_driver_from_2_0_on, setup),
		cmocka_unit_test_setup(is_the_first_choice, setup),
		cmocka_unit_test_setup(refuses_drivers_before_2_0, setup),
		cmocka_unit_test_setup(refuses_a_driver_for_newer_libraries, setup),
		cmocka_unit_test_setup(accepts_a_driver_for_this_very_library, setup),
		cmocka_unit_test_setup(open_failures_name_the_remedy, setup),
		cmocka_unit_test_setup(lack_of_memory_is_told, setup),
		cmocka_unit_test_setup(version_query_failures_close_the_device, setup),
		cmocka_unit_test_setup(retries_interrupted_calls, setup),
		cmocka_unit_test_setup(d2_works_on_descriptor_0, setup),
		cmocka_unit_test_setup(d2_version_query_needs_a_context_and_outputs,
				       setup),
		cmocka_unit_test_setup(closing_twice_is_an_error, setup),
	};

	return cmocka_run_group_tests_name("kabi open", tests, NULL, NULL);
}
