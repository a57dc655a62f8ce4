/* SPDX-License-Identifier: MIT */
/*
 * Every way a request fails becomes the right errno and a sentence with the
 * step, the status and a remedy, and writes no output.
 */
#include "fixture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "rm_status.h"

static const struct {
	uint32_t status;
	int err;
} rows[] = {
	{ 0x0f, ENODEV },
	{ 0x1a, ENOMEM },
	{ 0x1b, EPERM },
	{ 0x1f, EINVAL },
	{ 0x20, EINVAL },
	{ 0x22, ENOTSUP },
	{ 0x23, EPERM },
	{ 0x2e, EINVAL },
	{ 0x31, EINVAL },
	{ 0x33, EINVAL },
	{ 0x36, EINVAL },
	{ 0x3b, EINVAL },
	{ 0x40, EIO },
	{ 0x51, ENOMEM },
	{ 0x56, ENOTSUP },
	{ 0x57, EINVAL },
	{ 0x59, EIO },
	{ 0x5f, EFAULT },
	{ 0x63, EBUSY },
	{ 0x6e, ENODEV },
	{ 0x7777, EIO },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* A request of rm.h with arguments that work; nonzero outputs on success. */
static struct fixture *fx;
static struct fake_rm_memory_info memory;
static uint32_t object;
static uint64_t linear;
static int export_fd, gpu_file;

static int try_client(uint64_t *out)
{
	struct gdr_rm_client new = { 0 };
	int err = gdr_rm_client_new(fx->ctl, &new);

	*out = new.handle;
	return err;
}

static int try_device(uint64_t *out)
{
	return gdr_rm_device_new(&fx->client, fixture_gpus[1].instance, (uint32_t *)out);
}

static int try_subdevice(uint64_t *out)
{
	return gdr_rm_subdevice_new(&fx->client, fx->device, (uint32_t *)out);
}

static int try_instance(uint64_t *out)
{
	return gdr_rm_device_instance(&fx->client, fixture_gpus[0].gpu_id, (uint32_t *)out);
}

static int try_surface(uint64_t *out)
{
	struct gdr_rm_surface s = { 0 };
	int err = gdr_rm_surface(&fx->client, object, &s);

	*out = s.size | s.space | s.class;
	return err;
}

static int try_export_info(uint64_t *out)
{
	return gdr_rm_export_info(&fx->client, export_fd, (uint32_t *)out, (uint32_t *)out + 1);
}

static int try_import(uint64_t *out)
{
	return gdr_rm_import(&fx->client, fx->device, export_fd, (uint32_t *)out);
}

static int try_dup(uint64_t *out)
{
	return gdr_rm_dup(&fx->client, fx->device, memory.client, memory.object, (uint32_t *)out);
}

static int try_map(uint64_t *out)
{
	return gdr_rm_map(&fx->client, fx->device, object, 0, 0x10000, gpu_file, out);
}

static int try_unmap(uint64_t *out)
{
	return gdr_rm_unmap(&fx->client, fx->device, object, linear);
}

static int try_free(uint64_t *out)
{
	return gdr_rm_free(&fx->client, fx->device, object);
}

static int try_card(uint64_t *out)
{
	struct gdr_rm_card card = { 0 };
	int err = gdr_rm_find_card(fx->ctl, 0, 6, 0, &card);

	*out = card.bar1_base;
	return err;
}

static int try_register(uint64_t *out)
{
	int file = gdr_rm_open_gpu(fixture_gpus[0].minor);
	int err = gdr_rm_register(file, fx->ctl);

	close(file);
	return err;
}

/* In an order in which each works after those before it. */
static const struct {
	const char *name;
	enum fake_rm_step step;
	int (*call)(uint64_t *out);
	bool exdev;                     /* 0x36 is for the caller to try another parent */
	bool no_status;                 /* fails by ioctl alone */
} requests[] = {
	{ "client", FAKE_RM_CLIENT, try_client },
	{ "device", FAKE_RM_DEVICE, try_device },
	{ "subdevice", FAKE_RM_SUBDEVICE, try_subdevice },
	{ "instance", FAKE_RM_ID_INFO, try_instance },
	{ "class", FAKE_RM_HANDLE_INFO, try_surface },
	{ "surface", FAKE_RM_SURFACE_INFO, try_surface },
	{ "export info", FAKE_RM_EXPORT_INFO, try_export_info },
	{ "import", FAKE_RM_IMPORT, try_import, .exdev = true },
	{ "dup", FAKE_RM_DUP, try_dup, .exdev = true },
	{ "card", FAKE_RM_CARD_INFO, try_card, .no_status = true },
	{ "register", FAKE_RM_REGISTER, try_register, .no_status = true },
	{ "map", FAKE_RM_MAP, try_map },
	{ "unmap", FAKE_RM_UNMAP, try_unmap },
	{ "free", FAKE_RM_FREE, try_free },
};
#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

static int setup(void **state)
{
	fixture_open(state);
	fx = *state;
	object = fixture_object(fx, MIB, &memory);
	export_fd = fake_rm_memory_export(memory.object);
	gpu_file = fixture_gpu_file(fx);
	linear = 0;
	return 0;
}

static int teardown(void **state)
{
	close(gpu_file);
	close(export_fd);
	return fixture_close(state);
}

static void expect_failure(size_t r, int err, const char *needle)
{
	uint64_t out = 0;
	int got = requests[r].call(&out);

	if (got != -err || out || !fake_rm_failed())
		fail_msg("%s with %s: %d, wanted %d; output 0x%llx", requests[r].name, needle, got,
			 -err, (unsigned long long)out);
	if (!strstr(gdr_log_last(), needle))
		fail_msg("%s: no %s in: %s", requests[r].name, needle, gdr_log_last());
}

static void every_status_of_every_request(void **state)
{
	for (size_t r = 0; r < REQUESTS; r++) {
		uint64_t out = 0;

		for (size_t i = 0; !requests[r].no_status && i < ROWS; i++) {
			char hex[16];

			if (rows[i].status == 0x36 && requests[r].exdev) {
				fake_rm_fail(requests[r].step, 1, 1, 0x36, 0);
				assert_int_equal(requests[r].call(&out), -EXDEV);
				continue;
			}
			snprintf(hex, sizeof(hex), "0x%02x", rows[i].status);
			/* 0x1f makes export info try its other layout. */
			fake_rm_fail(requests[r].step, 1, 2, rows[i].status, 0);
			expect_failure(r, rows[i].err, hex);
		}
		fake_rm_fail_none();
		assert_int_equal(requests[r].call(&out), 0);
		if (requests[r].step == FAKE_RM_MAP)
			linear = out;
	}
}

static void statuses_have_names_and_remedies(void **state)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct gdr_rm_status *s = gdr_rm_status_find(rows[i].status);

		assert_int_equal(s->err, rows[i].err);
		assert_true(strlen(s->name) > 3);
		assert_true(strlen(s->remedy) > 10);
	}
}

/* This driver has taken each request before, so EINVAL now means that the GPU went. */
static void ioctl_errno_after_success(void **state)
{
	static const struct {
		int err, want;
		const char *needle;
	} ioctls[] = {
		{ EINVAL, ENODEV, "no longer" },
		{ ENODEV, ENODEV, "no longer" },
		{ ENOTTY, ENOTSUP, "driver ABI unknown" },
		{ EIO, EIO, "Input/output error" },
		{ EPERM, EPERM, "not permitted" },
	};

	for (size_t r = 0; r < REQUESTS; r++) {
		uint64_t out = 0;

		assert_int_equal(requests[r].call(&out), 0);
		if (requests[r].step == FAKE_RM_MAP)
			linear = out;
		for (size_t i = 0; i < sizeof(ioctls) / sizeof(ioctls[0]); i++) {
			fake_rm_fail(requests[r].step, 1, 2, 0, ioctls[i].err);
			if (ioctls[i].err == EINVAL && requests[r].step == FAKE_RM_REGISTER)
				expect_failure(r, EINVAL, "tied to one already");
			else
				expect_failure(r, ioctls[i].want, ioctls[i].needle);
		}
		fake_rm_fail_none();
	}
}

/* In a process that never had an answer from a driver. */
static void ioctl_einval_at_first_use_is_an_unknown_abi(void **state)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execl("/proc/self/exe", "rm_failures", "first", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int first_use(void)
{
	struct gdr_rm_client client = { 0 };
	struct gdr_rm_card card;
	int ctl, gpu, err;

	fixture_gpus_only(NULL);
	ctl = gdr_rm_open_ctl();
	gpu = gdr_rm_open_gpu(fixture_gpus[0].minor);
	fake_rm_fail(FAKE_RM_ANY, 1, 100, 0, EINVAL);
	err = gdr_rm_client_new(ctl, &client);
	if (err != -ENOTSUP || client.handle || !strstr(gdr_log_last(), "driver ABI unknown"))
		return 10;
	err = gdr_rm_find_card(ctl, 0, 6, 0, &card);
	if (err != -ENOTSUP || !strstr(gdr_log_last(), "driver ABI unknown"))
		return 11;
	if (fake_rm_calls(FAKE_RM_CARD_INFO) != 2)
		return 12;
	err = gdr_rm_register(gpu, ctl);
	if (err != -ENOTSUP || !strstr(gdr_log_last(), "driver ABI unknown"))
		return 13;
	close(gpu);
	close(ctl);
	return 0;
}

static void signals_and_a_sleeping_gpu_are_waited_out(void **state)
{
	for (size_t r = 0; r < REQUESTS; r++) {
		uint64_t out = 0;

		fake_rm_fail(requests[r].step, 1, 3, 0, r % 2 ? EINTR : EAGAIN);
		assert_int_equal(requests[r].call(&out), 0);
		assert_true(fake_rm_failed());
		if (requests[r].step == FAKE_RM_MAP)
			linear = out;
	}
}

static void gpu_that_never_wakes_is_eagain(void **state)
{
	uint64_t out = 0;

	fake_rm_fail(FAKE_RM_DUP, 1, 1000000, 0, EAGAIN);
	assert_int_equal(try_dup(&out), -EAGAIN);
	assert_int_equal(out, 0);
}

static void open_says_what_to_do(void **state)
{
	static const struct {
		int err;
		const char *needle;
	} opens[] = {
		{ ENOENT, "load the NVIDIA driver" },
		{ ENXIO, "load the NVIDIA driver" },
		{ EACCES, "mode" },
		{ EPERM, "mode" },
		{ EIO, "dmesg" },
	};

	for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
		fake_rm_fail(FAKE_RM_OPEN_CTL, 1, 1, 0, opens[i].err);
		assert_int_equal(gdr_rm_open_ctl(), -opens[i].err);
		assert_non_null(strstr(gdr_log_last(), "/dev/nvidiactl"));
		assert_non_null(strstr(gdr_log_last(), opens[i].needle));
		fake_rm_fail(FAKE_RM_OPEN_GPU, 1, 1, 0, opens[i].err);
		assert_int_equal(gdr_rm_open_gpu(2), -opens[i].err);
		assert_non_null(strstr(gdr_log_last(), "/dev/nvidia2"));
		assert_non_null(strstr(gdr_log_last(), opens[i].needle));
	}
	assert_int_equal(gdr_rm_open_gpu(57), -ENOENT);
}

static void open_is_retried_after_a_signal(void **state)
{
	int fd;

	fake_rm_fail(FAKE_RM_OPEN_CTL, 1, 2, 0, EINTR);
	fd = gdr_rm_open_ctl();
	assert_true(fd >= 0);
	assert_true(fake_rm_failed());
	close(fd);
}

static void file_is_tied_once(void **state)
{
	int file = gdr_rm_open_gpu(fixture_gpus[0].minor);

	assert_int_equal(gdr_rm_register(file, fx->ctl), 0);
	assert_int_equal(gdr_rm_register(file, fx->ctl), -EINVAL);
	assert_non_null(strstr(gdr_log_last(), "tied to one already"));
	close(file);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(every_status_of_every_request),
		cmocka_unit_test(statuses_have_names_and_remedies),
		TEST(ioctl_errno_after_success),
		cmocka_unit_test(ioctl_einval_at_first_use_is_an_unknown_abi),
		TEST(signals_and_a_sleeping_gpu_are_waited_out),
		TEST(gpu_that_never_wakes_is_eagain),
		cmocka_unit_test_setup_teardown(open_says_what_to_do, fixture_gpus_only,
						fixture_check_clean),
		cmocka_unit_test_setup_teardown(open_is_retried_after_a_signal, fixture_gpus_only,
						fixture_check_clean),
		TEST(file_is_tied_once),
	};

	if (argc > 1 && !strcmp(argv[1], "first"))
		return first_use();
	return cmocka_run_group_tests_name("rm_failures", tests, NULL, NULL);
}
