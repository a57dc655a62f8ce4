/* SPDX-License-Identifier: MIT */
/* What the log prints where, and the text of the last error. */
#include "fixture.h"

#include <pthread.h>
#include <sys/wait.h>

#include "log.h"

#define LINE_THREADS 8
#define LINES	     200

/* CHILDREN: the environment is read once a process. */

static void log_each_level(void)
{
	gdr_log(GDR_LOG_DEBUG, "at %s", "debug");
	gdr_log(GDR_LOG_INFO, "at %s", "info");
	gdr_log(GDR_LOG_WARN, "at %s", "warn");
	gdr_log(GDR_LOG_ERROR, "at %s", "error");
	errno = 77;
	CHECK(gdr_log_fail(EPERM, "failed %d", 5) == -EPERM);
	CHECK(errno == 77);
	CHECK(!strcmp(gdrx_last_error(), "failed 5"));
}

static void log_then_change(void)
{
	gdr_log(GDR_LOG_ERROR, "first");
	setenv("GDRCOPY_ENABLE_LOGGING", "1", 1);
	setenv("GDRCOPY_LOG_LEVEL", "1", 1);
	gdr_log(GDR_LOG_ERROR, "second");
}

static void log_with_no_stderr(void)
{
	close(STDERR_FILENO);
	errno = 77;
	gdr_log(GDR_LOG_ERROR, "nobody reads this");
	if (errno != 77 || gdr_log_fail(EPERM, "nor this") != -EPERM || errno != 77)
		child_exit(2);
	puts(gdrx_last_error());
	fflush(stdout);
}

static void *log_lines(void *arg)
{
	char text[64];

	memset(text, (int)(uintptr_t)arg, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < LINES; i++)
		gdr_log(GDR_LOG_ERROR, "%s", text);
	return NULL;
}

static void log_from_threads(void)
{
	pthread_t threads[LINE_THREADS];

	for (uintptr_t i = 0; i < LINE_THREADS; i++)
		pthread_create(&threads[i], NULL, log_lines, (void *)('a' + i));
	for (int i = 0; i < LINE_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void log_long(void)
{
	char *text = malloc(6000);

	CHECK(text);
	memset(text, 'x', 5999);
	text[5999] = '\0';
	gdr_log_fail(EPERM, "%s", text);
	free(text);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{ "levels", log_each_level },
	{ "change", log_then_change },
	{ "closed", log_with_no_stderr },
	{ "threads", log_from_threads },
	{ "long", log_long },
};

/* TESTS */

static struct output out;

static void run_mode(const char *mode, const char *enable, const char *level)
{
	const char *env[] = { enable, level, NULL };

	run_self(&out, env, mode);
	assert_true(WIFEXITED(out.status));
	assert_int_equal(WEXITSTATUS(out.status), 0);
}

static void levels_are_those_of_the_environment(void **state)
{
	static const char *const lines[] = {
		"DBG:  at debug\n",
		"INFO: at info\n",
		"WARN: at warn\n",
		"ERR:  at error\nERR:  failed 5\n",
	};
	static const struct {
		const char *enable, *level;
		int from; /* first of lines that is printed */
	} rows[] = {
		{ "GDRCOPY_ENABLE_LOGGING", "GDRCOPY_LOG_LEVEL", 4 },
		{ "GDRCOPY_ENABLE_LOGGING", "GDRCOPY_LOG_LEVEL=1", 4 },
		{ "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL", 3 },
		{ "GDRCOPY_ENABLE_LOGGING=0", "GDRCOPY_LOG_LEVEL", 3 },
		{ "GDRCOPY_ENABLE_LOGGING=", "GDRCOPY_LOG_LEVEL", 3 },
		{ "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=1", 0 },
		{ "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=2", 1 },
		{ "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=3", 2 },
		{ "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=4", 3 },
		{ "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=5", 4 },
		{ "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=", 0 },
		{ "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=loud", 0 },
		{ "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=-3", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char want[256] = "";

		for (size_t l = (size_t)rows[i].from; l < COUNT(lines); l++)
			strcat(want, lines[l]);
		run_mode("levels", rows[i].enable, rows[i].level);
		assert_string_equal(out.err, want);
	}
}

static void the_environment_is_read_once(void **state)
{
	run_mode("change", "GDRCOPY_ENABLE_LOGGING", "GDRCOPY_LOG_LEVEL");
	assert_string_equal(out.err, "");
	run_mode("change", "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=4");
	assert_string_equal(out.err, "ERR:  first\nERR:  second\n");
}

static void d21_a_closed_stderr_changes_nothing(void **state)
{
	run_mode("closed", "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=1");
	assert_string_equal(out.out, "nor this\n");
}

static void lines_of_threads_do_not_mix(void **state)
{
	int n = 0;

	run_mode("threads", "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=4");
	for (const char *p = out.err; *p; n++) {
		assert_memory_equal(p, "ERR:  ", 6);
		for (int i = 1; i < 63; i++)
			assert_int_equal(p[6 + i], p[6]);
		assert_int_equal(p[6 + 63], '\n');
		p += 6 + 64;
	}
	assert_int_equal(n, LINE_THREADS * LINES);
}

static void long_messages_are_cut_and_still_lines(void **state)
{
	size_t n;

	run_mode("long", "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=4");
	n = strlen(out.err);
	assert_in_range(n, 1000, 2000);
	assert_int_equal(strspn(out.err, "ER: "), 6);
	assert_int_equal(strspn(out.err + 6, "x"), n - 7);
	assert_int_equal(out.err[n - 1], '\n');
}

static void *look_at_last_error(void *arg)
{
	char *text = arg;

	strcpy(text, gdrx_last_error());
	gdr_log_fail(EPERM, "of another thread");
	return NULL;
}

static void the_last_error_is_the_threads_own(void **state)
{
	pthread_t thread;
	char text[1024] = "untouched";

	gdr_log_fail(EINVAL, "of this thread");
	pthread_create(&thread, NULL, look_at_last_error, text);
	pthread_join(thread, NULL);
	assert_string_equal(text, "");
	assert_string_equal(gdrx_last_error(), "of this thread");
}

static void the_last_error_may_be_quoted_in_the_next(void **state)
{
	gdr_log_fail(EINVAL, "cause");
	gdr_log_fail(EINVAL, "effect of %s", gdrx_last_error());
	assert_string_equal(gdrx_last_error(), "effect of cause");
}

static void error_numbers_have_names(void **state)
{
	assert_string_equal(gdr_log_errstr(EINVAL), "Invalid argument");
	assert_non_null(strstr(gdr_log_errstr(524), "not supported"));
	assert_non_null(strstr(gdr_log_errstr(99999), "99999"));
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_are_those_of_the_environment),
		cmocka_unit_test(the_environment_is_read_once),
		cmocka_unit_test(d21_a_closed_stderr_changes_nothing),
		cmocka_unit_test(lines_of_threads_do_not_mix),
		cmocka_unit_test(long_messages_are_cut_and_still_lines),
		cmocka_unit_test(the_last_error_is_the_threads_own),
		cmocka_unit_test(the_last_error_may_be_quoted_in_the_next),
		cmocka_unit_test(error_numbers_have_names),
	};

	for (size_t i = 0; argc > 1 && i < COUNT(modes); i++) {
		if (!strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			return 0;
		}
	}
	return argc > 1 ? 2 : cmocka_run_group_tests_name("core log", tests, NULL, NULL);
}
