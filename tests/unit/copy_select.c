/* SPDX-License-Identifier: MIT */
/*
 * GDRCOPY_COPY restricts the choice.  It is read once a process, so each case is
 * a child with the variable set; the child reports the names, and its log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "copy.h"

struct choice {
	char to[32], from[32];
	char log[1000];
};

static _Noreturn void child(const char *list, int out)
{
	if (list ? setenv("GDRCOPY_COPY", list, 1) : unsetenv("GDRCOPY_COPY"))
		_exit(2);
	if (setenv("GDRCOPY_ENABLE_LOGGING", "1", 1) || setenv("GDRCOPY_LOG_LEVEL", "3", 1))
		_exit(2);
	if (dup2(out, STDERR_FILENO) < 0)
		_exit(2);
	gdr_copy_init();
	dprintf(out, "\nCHOICE %s %s\n", gdr_copy_name(GDR_COPY_TO_MAPPING),
		gdr_copy_name(GDR_COPY_FROM_MAPPING));
	_exit(0);
}

static void choose(const char *list, struct choice *c)
{
	size_t used = 0;
	int fd[2], status;
	ssize_t got;
	char *line;
	pid_t pid;

	memset(c, 0, sizeof(*c));
	assert_int_equal(pipe(fd), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		child(list, fd[1]);
	close(fd[1]);
	while (used < sizeof(c->log) - 1 &&
	       (got = read(fd[0], c->log + used, sizeof(c->log) - 1 - used)) > 0)
		used += (size_t)got;
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);

	line = strstr(c->log, "\nCHOICE ");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "\nCHOICE %31s %31s", c->to, c->from), 2);
	*line = '\0';
}

static void expect(const char *list, const char *to, const char *from)
{
	struct choice c;

	choose(list, &c);
	assert_string_equal(c.to, to);
	assert_string_equal(c.from, from);
}

static int can_run(const char *name)
{
	for (const struct gdr_copy_kernel *k = gdr_copy_kernels; k->name; k++)
		if (!strcmp(k->name, name))
			return k->supported();
	return 0;
}

static void without_list_the_best_is_taken(void **state)
{
	const struct gdr_copy_kernel *to = gdr_copy_kernels, *from = gdr_copy_kernels;
	struct choice c;

	while (!to->store || !to->supported())
		to++;
	while (!from->load || !from->supported())
		from++;
	choose(NULL, &c);
	assert_string_equal(c.to, to->name);
	assert_string_equal(c.from, from->name);
	assert_string_equal(c.log, "");
	expect("", to->name, from->name);
	expect(" , ", to->name, from->name);
}

static void movdir64b_is_not_the_default(void **state)
{
	struct choice c;

	choose(NULL, &c);
	assert_string_not_equal(c.to, "movdir64b");
}

static void each_routine_can_be_singled_out(void **state)
{
	struct choice c;

	for (const struct gdr_copy_kernel *k = gdr_copy_kernels; k->name; k++) {
		if (!k->supported())
			continue;
		choose(k->name, &c);
		assert_string_equal(c.to, k->store ? k->name : "generic");
		assert_string_equal(c.from, k->load ? k->name : "generic");
		assert_string_equal(c.log, "");
	}
}

static void order_is_that_of_the_table(void **state)
{
	if (!can_run("avx2") || !can_run("sse41"))
		skip();
	expect("sse41,avx2", "avx2", "avx2");
	expect("avx2,sse41", "avx2", "avx2");
	expect(" sse41 , avx2,", "avx2", "avx2");
}

static void unknown_name_is_reported_with_the_valid_ones(void **state)
{
	struct choice c;

	choose("nonsense", &c);
	assert_string_equal(c.to, "generic");
	assert_string_equal(c.from, "generic");
	assert_non_null(strstr(c.log, "\"nonsense\""));
	for (const struct gdr_copy_kernel *k = gdr_copy_kernels; k->name; k++)
		assert_non_null(strstr(c.log, k->name));
}

static void unknown_name_does_not_hide_a_known_one(void **state)
{
	const struct gdr_copy_kernel *k = gdr_copy_kernels;
	char list[100];
	struct choice c;

	while (!k->load || !k->supported())
		k++;
	snprintf(list, sizeof(list), "nonsense,%s", k->name);
	choose(list, &c);
	assert_string_equal(c.from, k->name);
	assert_non_null(strstr(c.log, "\"nonsense\""));
}

static void part_of_a_name_is_unknown(void **state)
{
	struct choice c;

	choose("gener,generic2", &c);
	assert_non_null(strstr(c.log, "\"gener\""));
	assert_non_null(strstr(c.log, "\"generic2\""));
}

static void routine_that_the_processor_lacks_is_reported(void **state)
{
	const struct gdr_copy_kernel *k = gdr_copy_kernels;
	struct choice c;

	while (k->name && k->supported())
		k++;
	if (!k->name)
		skip();
	choose(k->name, &c);
	assert_string_equal(c.to, "generic");
	assert_string_equal(c.from, "generic");
	assert_non_null(strstr(c.log, k->name));
	assert_non_null(strstr(c.log, "cannot run"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_list_the_best_is_taken),
		cmocka_unit_test(movdir64b_is_not_the_default),
		cmocka_unit_test(each_routine_can_be_singled_out),
		cmocka_unit_test(order_is_that_of_the_table),
		cmocka_unit_test(unknown_name_is_reported_with_the_valid_ones),
		cmocka_unit_test(unknown_name_does_not_hide_a_known_one),
		cmocka_unit_test(part_of_a_name_is_unknown),
		cmocka_unit_test(routine_that_the_processor_lacks_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
