/* SPDX-License-Identifier: MIT */
/*
 * The fake notices each breach of the order rule, so that tests which find no
 * violation say something.  Each test here breaks the rule on purpose.
 */
#include "fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rm_abi.h"

#define PAGE 0x10000ul          /* the largest host page */
#define LEN (4 * PAGE)

static struct fixture *fx;
static struct fake_rm_memory_info memory;
static uint32_t object;
static uint64_t linear;
static int file;
static char *window;

static int setup(void **state)
{
	fixture_open(state);
	fx = *state;
	object = fixture_object(fx, MIB, &memory);
	file = fixture_gpu_file(fx);
	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, LEN, file, &linear), 0);
	window = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	assert_ptr_not_equal(window, MAP_FAILED);
	assert_int_equal(madvise(window, LEN, MADV_DONTFORK), 0);
	assert_int_equal(fake_rm_violations(), 0);
	return 0;
}

static int teardown(void **state)
{
	munmap(window, LEN);
	close(file);
	close(fx->ctl);
	free(fx);
	fake_rm_reset();        /* fails if anything is left */
	return 0;
}

static void expect_violation(const char *needle)
{
	assert_int_equal(fake_rm_violations(), 1);
	assert_non_null(strstr(fake_rm_violation(), needle));
}

static void free_under_a_mapping(void **state)
{
	assert_int_equal(gdr_rm_free(&fx->client, fx->device, object), 0);
	expect_violation("free of memory");
}

static void free_of_the_device_under_a_mapping(void **state)
{
	assert_int_equal(gdr_rm_free(&fx->client, fx->client.handle, fx->device), 0);
	expect_violation("free of memory");
}

static void unmap_under_a_mapping(void **state)
{
	assert_int_equal(gdr_rm_unmap(&fx->client, fx->device, object, linear), 0);
	expect_violation("unmap of memory");
}

static void partly_unmapped_window_still_counts(void **state)
{
	munmap(window + PAGE, PAGE);
	munmap(window, PAGE);
	assert_int_equal(gdr_rm_free(&fx->client, fx->device, object), 0);
	expect_violation("1 user mappings");
}

static void window_covered_by_another_mapping_is_gone(void **state)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	assert_ptr_equal(mmap(window, LEN, PROT_NONE, flags, -1, 0), window);
	assert_int_equal(gdr_rm_free(&fx->client, fx->device, object), 0);
	assert_int_equal(fake_rm_violations(), 0);
}

static void mapping_through_an_untied_file(void **state)
{
	int untied = gdr_rm_open_gpu(fixture_gpus[0].minor);
	uint64_t other;
	void *p;

	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, LEN, untied, &other), 0);
	p = mmap(NULL, LEN, PROT_READ, MAP_SHARED, untied, 0);
	expect_violation("tied to no control file");
	munmap(p, LEN);
	close(untied);
}

static void control_file_closed_under_an_untied_mapping(void **state)
{
	int untied = gdr_rm_open_gpu(fixture_gpus[0].minor);
	uint64_t other;
	void *p;

	munmap(window, LEN);
	close(file);
	file = -1;
	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, LEN, untied, &other), 0);
	p = mmap(NULL, LEN, PROT_READ, MAP_SHARED, untied, 0);
	close(fx->ctl);
	fx->ctl = -1;
	assert_int_equal(fake_rm_violations(), 2);
	assert_non_null(strstr(fake_rm_violation(), "close of the control file"));
	munmap(p, LEN);
	close(untied);
}

static void mapping_of_a_window_given_back(void **state)
{
	void *p;

	munmap(window, LEN);
	assert_int_equal(gdr_rm_unmap(&fx->client, fx->device, object, linear), 0);
	p = mmap(NULL, LEN, PROT_READ, MAP_SHARED, file, 0);
	expect_violation("stale window");
	munmap(p, LEN);
}

static void fork_with_an_inheritable_window(void **state)
{
	void *p = mmap(NULL, LEN, PROT_READ, MAP_SHARED, file, 0);
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	expect_violation("child inherits");
	munmap(p, LEN);
}

static void child_that_frees_is_seen_by_the_parent(void **state)
{
	pid_t pid = fork();

	if (!pid) {
		gdr_rm_free(&fx->client, fx->device, object);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	expect_violation("forked child frees");
	assert_int_equal(fake_rm_child_requests(), 1);
}

static void child_that_only_closes_is_fine(void **state)
{
	pid_t pid = fork();

	if (!pid) {
		uint64_t other;
		int second = gdr_rm_open_gpu(fixture_gpus[0].minor);

		/* The driver refuses windows to any process but the client's. */
		if (gdr_rm_map(&fx->client, fx->device, object, 0, LEN, second, &other) != -EPERM)
			_exit(1);
		close(file);
		close(fx->ctl);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	assert_int_equal(fake_rm_violations(), 0);
	window[0] = 1;
}

static void update_of_the_device_mapping(void **state)
{
	char params[40] = { 0 };

	assert_int_equal(ioctl(fx->ctl, _IOC(_IOC_READ | _IOC_WRITE, 'F', 0x5e, 40), params), -1);
	expect_violation("has no use for");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(free_under_a_mapping),
		TEST(free_of_the_device_under_a_mapping),
		TEST(unmap_under_a_mapping),
		TEST(partly_unmapped_window_still_counts),
		TEST(window_covered_by_another_mapping_is_gone),
		TEST(mapping_through_an_untied_file),
		TEST(control_file_closed_under_an_untied_mapping),
		TEST(mapping_of_a_window_given_back),
		TEST(fork_with_an_inheritable_window),
		TEST(child_that_frees_is_seen_by_the_parent),
		TEST(child_that_only_closes_is_fine),
		TEST(update_of_the_device_mapping),
	};

	return cmocka_run_group_tests_name("rm_order", tests, NULL, NULL);
}
