/* SPDX-License-Identifier: MIT */
/*
 * Errors on the gdrdrv backend with logging on: what the log says, and that
 * saying it changes nothing.  A program of its own, since the environment is
 * read once.
 */
#include "fixture.h"

#include <fcntl.h>

#define HANDLE 0x10ull

/* Each call of the backend that can fail, failing once. */
static void fail_everywhere(gdr_t g, gdr_mh_t mh)
{
	gdr_mh_t none = { 0 };
	gdr_info_v2_t info;
	void *va;
	int v;

	will_pin_v2(ADDR, SIZE, 0, 0, EINVAL);
	assert_int_equal(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &none), EINVAL);
	will_pin_v2(ADDR, SIZE, 1, 0, ENOMEM);
	assert_int_equal(gdr_pin_buffer_v2(g, ADDR, SIZE, 1, &none), ENOMEM);
	will_get_info_v2(HANDLE, 0, EFAULT);
	assert_int_equal(gdr_get_info_v2(g, mh, &info), EFAULT);
	will_get_cb_flag(HANDLE, 0, EIO);
	assert_int_equal(gdr_get_callback_flag(g, mh, &v), EIO);
	will_get_attr(1, 0, ENOTTY);
	assert_int_equal(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &v),
			 ENOTTY);
	will_request_type(HANDLE, 2, EOPNOTSUPP);
	assert_int_equal(gdr_map_v2(g, mh, &va, SIZE, GDR_MAP_FLAG_REQ_CACHE_MAPPING),
			 EOPNOTSUPP);
	will_request_type(HANDLE, 0, 0);
	will_mmap(SIZE, HANDLE * page_size(), EAGAIN);
	assert_int_equal(gdr_map(g, mh, &va, SIZE), EAGAIN);
	will_map(V(2, 6), HANDLE, SIZE, 0);
	will_munmap(SIZE, EPERM); /* must not hide the cause */
	assert_int_equal(gdr_map(g, mh, &va, SIZE), EAGAIN);
}

static int stderr_copy = -1;

static int restore_stderr(void **state)
{
	if (stderr_copy >= 0) {
		dup2(stderr_copy, STDERR_FILENO);
		close(stderr_copy);
	}
	stderr_copy = -1;
	return 0;
}

/* D21: the error is the call's, also when the log has nowhere to go. */
static void d21_errors_survive_a_closed_stderr(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);

	stderr_copy = dup(STDERR_FILENO);
	assert_true(stderr_copy >= 0);
	close(STDERR_FILENO);
	fail_everywhere(g, mh);
	will_unpin(HANDLE, EINVAL);
	assert_int_equal(gdr_unpin_buffer(g, mh), EINVAL);
	will_close();
	assert_int_equal(gdr_close(g), 0);
	driver_use(1);
	will_open(ENOENT);
	errno = 0;
	assert_null(gdr_open());
	assert_int_equal(errno, ENOENT);
	restore_stderr(NULL);
	assert_null(driver_trouble_so_far()); /* one munmap was made to fail */
}

static void each_failure_is_logged_once(void **state)
{
	static char text[16384];
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);
	FILE *log = tmpfile();
	int lines = 0;
	const char *at;
	size_t n;

	assert_non_null(log);
	stderr_copy = dup(STDERR_FILENO);
	dup2(fileno(log), STDERR_FILENO);
	fail_everywhere(g, mh);
	restore_stderr(NULL);
	rewind(log);
	n = fread(text, 1, sizeof(text) - 1, log);
	text[n] = '\0';
	fclose(log);
	for (at = strstr(text, "ERR:  "); at; at = strstr(at + 1, "ERR:  "))
		lines++;
	assert_int_equal(lines, 9); /* the last map has two causes */
	assert_non_null(strstr(
		text,
		"gdrdrv pin of 0x100000 bytes at 0x7f4000000000: Invalid argument"));
	assert_non_null(strstr(text, "gdrdrv callback flag query, kernel handle 0x10: "));
	assert_non_null(
		strstr(text, "gdrdrv map of 0x100000 bytes, kernel handle 0x10, "));
	will_unpin(HANDLE, 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	will_close();
	assert_int_equal(gdr_close(g), 0);
	assert_null(driver_trouble_so_far());
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(d21_errors_survive_a_closed_stderr, setup,
						restore_stderr),
		cmocka_unit_test_setup_teardown(each_failure_is_logged_once, setup,
						restore_stderr),
	};

	setenv("GDRCOPY_ENABLE_LOGGING", "1", 1);
	setenv("GDRCOPY_LOG_LEVEL", "4", 1);
	return cmocka_run_group_tests_name("kabi log", tests, NULL, NULL);
}
