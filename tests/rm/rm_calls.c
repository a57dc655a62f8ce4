/* SPDX-License-Identifier: MIT */
/* Each function of rm.h does its request, on drivers of every structure history. */
#include "fixture.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "rm_abi.h"

#define LEN 0x10000ul

static void card_is_found_by_pci_address(void **state)
{
	struct fixture *fx = *state;
	struct gdr_rm_card card;

	for (int i = 0; i < 2; i++) {
		const struct fake_rm_gpu *gpu = &fixture_gpus[i];

		assert_int_equal(gdr_rm_find_card(fx->ctl, gpu->domain, gpu->bus, gpu->slot, &card),
				 0);
		assert_int_equal(card.minor, gpu->minor);
		assert_int_equal(card.gpu_id, gpu->gpu_id);
		assert_int_equal(card.bar1_base, gpu->bar1_base);
		assert_int_equal(card.bar1_size, gpu->bar1_size);
	}
}

/* One part of the address after the other is wrong. */
static void card_that_is_not_listed_is_enodev(void **state)
{
	static const uint32_t address[][3] = { { 0, 7, 3 }, { 1, 6, 3 }, { 1, 7, 0 }, { 0, 0, 0 } };
	struct fixture *fx = *state;
	struct gdr_rm_card card = { .minor = 77 };

	for (size_t i = 0; i < 4; i++) {
		const uint32_t *a = address[i];

		assert_int_equal(gdr_rm_find_card(fx->ctl, a[0], a[1], a[2], &card), -ENODEV);
	}
	assert_int_equal(card.minor, 77);
	assert_non_null(strstr(gdr_log_last(), "0000:00:00"));
}

static void card_list_grows_past_32_gpus(void **state)
{
	struct fake_rm_gpu gpu = { .domain = 9, .bar1_size = 1 };
	struct fixture *fx = *state;
	struct gdr_rm_card card;

	for (unsigned i = 0; i < 40; i++) {
		gpu.bus = i;
		gpu.gpu_id = 0x90000 + i;
		gpu.minor = 50 + i;
		gpu.instance = 100 + i;
		gpu.ordinal = 200 + i;
		fake_rm_add_gpu(&gpu);
	}
	assert_int_equal(gdr_rm_find_card(fx->ctl, 9, 39, 0, &card), 0);
	assert_int_equal(card.minor, 89);
	assert_int_equal(fake_rm_calls(FAKE_RM_CARD_INFO), 2);
}

static void device_instance_is_of_the_gpu_id(void **state)
{
	struct fixture *fx = *state;
	uint32_t instance = 99;

	assert_int_equal(gdr_rm_device_instance(&fx->client, fixture_gpus[1].gpu_id, &instance), 0);
	assert_int_equal(instance, fixture_gpus[1].instance);
	instance = 99;
	assert_int_equal(gdr_rm_device_instance(&fx->client, 0xbad, &instance), -EINVAL);
	assert_int_equal(instance, 99);
}

/* The status word of NVOS21 moved: success and failure are told apart on both sides. */
static void alloc_reads_the_status_of_every_release(void **state)
{
	static const unsigned releases[] = { 515, 525, 530, 535, 545, 580, 595 };
	struct fixture *fx = *state;
	uint32_t device;

	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		fake_rm_set_release(releases[i]);
		device = 0;
		assert_int_equal(gdr_rm_device_new(&fx->client, fixture_gpus[1].instance, &device),
				 0);
		assert_int_not_equal(device, 0);
		assert_int_equal(gdr_rm_free(&fx->client, fx->client.handle, device), 0);
		device = 5;
		assert_int_equal(gdr_rm_device_new(&fx->client, 31, &device), -EINVAL);
		assert_int_equal(device, 5);
		assert_non_null(strstr(gdr_log_last(), "instance 31"));
		assert_non_null(strstr(gdr_log_last(), "0x1f"));
	}
}

static void export_info_speaks_both_layouts(void **state)
{
	static const unsigned releases[] = { 515, 535, 545, 580, 595 };
	struct fixture *fx = *state;
	struct fake_rm_memory_info info;
	uint32_t max, instance;
	int fd;

	fake_rm_memory_new(2 * MIB, fixture_gpus[1].instance, &info);
	fake_rm_memory_describe(info.object, GDR_NV_CLASS_VIDMEM, GDR_NV_SPACE_VIDMEM, 3);
	fd = fake_rm_memory_export(info.object);
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		unsigned before = fake_rm_calls(FAKE_RM_EXPORT_INFO);

		fake_rm_set_release(releases[i]);
		max = instance = 99;
		assert_int_equal(gdr_rm_export_info(&fx->client, fd, &max, &instance), 0);
		assert_int_equal(max, 3);
		assert_int_equal(instance, fixture_gpus[1].instance);
		assert_int_equal(fake_rm_calls(FAKE_RM_EXPORT_INFO) - before,
				 releases[i] < 545 ? 2 : 1);
	}
	close(fd);
}

static void export_info_of_another_descriptor_is_einval(void **state)
{
	struct fixture *fx = *state;
	uint32_t max = 99, instance = 98;

	assert_int_equal(gdr_rm_export_info(&fx->client, STDERR_FILENO, &max, &instance), -EINVAL);
	assert_int_equal(max, 99);
	assert_int_equal(instance, 98);
	assert_non_null(strstr(gdr_log_last(), "0x3b"));
}

static void surface_tells_size_place_and_class(void **state)
{
	struct gdr_rm_surface s = { .size = 1 };
	struct fake_rm_memory_info info, other;
	struct fixture *fx = *state;
	uint32_t object = fixture_object(fx, 6 * MIB, &info), sys;

	assert_int_equal(gdr_rm_surface(&fx->client, object, &s), 0);
	assert_int_equal(s.size, 6 * MIB);
	assert_int_equal(s.space, 2);
	assert_int_equal(s.class, 0x40);

	fake_rm_memory_new(MIB, fixture_gpus[0].instance, &other);
	fake_rm_memory_describe(other.object, GDR_NV_CLASS_SYSMEM, 1, 1);
	assert_int_equal(gdr_rm_dup(&fx->client, fx->device, other.client, other.object, &sys), 0);
	assert_int_equal(gdr_rm_surface(&fx->client, sys, &s), 0);
	assert_int_equal(s.space, 1);
	assert_int_equal(s.class, 0x3e);

	assert_int_equal(gdr_rm_surface(&fx->client, 0x1234, &s), -EINVAL);
	assert_int_equal(gdr_rm_surface(&fx->client, fx->device, &s), -EINVAL);
	assert_int_equal(s.size, MIB);
}

static void source_that_does_not_exist_is_einval(void **state)
{
	struct fake_rm_memory_info info;
	struct fixture *fx = *state;
	uint32_t object = 7;

	fake_rm_memory_new(MIB, fixture_gpus[0].instance, &info);
	assert_int_equal(gdr_rm_dup(&fx->client, fx->device, info.client, info.object + 9, &object),
			 -EINVAL);
	assert_non_null(strstr(gdr_log_last(), "0x57"));
	assert_int_equal(gdr_rm_dup(&fx->client, fx->device, info.client + 1, info.object, &object),
			 -EINVAL);
	assert_int_equal(gdr_rm_import(&fx->client, fx->device, STDERR_FILENO, &object), -EINVAL);
	assert_non_null(strstr(gdr_log_last(), "0x3b"));
	assert_int_equal(object, 7);
}

/* 0x36 asks for the other parent; it is not yet an error, so no sentence replaces the last. */
static void wrong_parent_is_exdev_and_a_subdevice_helps(void **state)
{
	struct fake_rm_memory_info info;
	struct fixture *fx = *state;
	uint32_t subdevice, object = 0, imported = 0;
	uint64_t linear;
	char last[256];
	int fd, file;

	fake_rm_set_subdevice_parents(true);
	fake_rm_memory_new(MIB, fixture_gpus[0].instance, &info);
	fd = fake_rm_memory_export(info.object);
	strncpy(last, gdr_log_last(), sizeof(last) - 1);
	assert_int_equal(gdr_rm_dup(&fx->client, fx->device, info.client, info.object, &object),
			 -EXDEV);
	assert_int_equal(gdr_rm_import(&fx->client, fx->device, fd, &imported), -EXDEV);
	assert_memory_equal(last, gdr_log_last(), strlen(last));
	assert_int_equal(object | imported, 0);

	assert_int_equal(gdr_rm_subdevice_new(&fx->client, fx->device, &subdevice), 0);
	assert_int_equal(gdr_rm_dup(&fx->client, subdevice, info.client, info.object, &object), 0);
	assert_int_equal(gdr_rm_import(&fx->client, subdevice, fd, &imported), 0);
	assert_int_not_equal(object, imported);
	close(fd);

	file = fixture_gpu_file(fx);
	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, LEN, file, &linear),
			 -EINVAL);
	assert_non_null(strstr(gdr_log_last(), "0x36"));
	assert_int_equal(gdr_rm_map(&fx->client, subdevice, object, 0, LEN, file, &linear), 0);
	assert_int_equal(gdr_rm_unmap(&fx->client, subdevice, object, linear), 0);
	close(file);
	/* What is below the subdevice goes with it. */
	assert_int_equal(gdr_rm_free(&fx->client, fx->device, subdevice), 0);
	fake_rm_memory_free(info.object);
	assert_int_equal(fake_rm_memory_live(), 0);
}

static void client_serves_its_own_file_only(void **state)
{
	struct fixture *fx = *state;
	struct gdr_rm_client stolen = fx->client;
	uint32_t device = 3;

	stolen.ctl = gdr_rm_open_ctl();
	assert_int_equal(gdr_rm_device_new(&stolen, fixture_gpus[0].instance, &device), -EPERM);
	assert_non_null(strstr(gdr_log_last(), "0x23"));
	assert_int_equal(gdr_rm_free(&stolen, fx->client.handle, fx->device), -EPERM);
	assert_int_equal(device, 3);
	close(stolen.ctl);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_open, fixture_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(card_is_found_by_pci_address),
		TEST(card_that_is_not_listed_is_enodev),
		TEST(card_list_grows_past_32_gpus),
		TEST(device_instance_is_of_the_gpu_id),
		TEST(alloc_reads_the_status_of_every_release),
		TEST(export_info_speaks_both_layouts),
		TEST(export_info_of_another_descriptor_is_einval),
		TEST(surface_tells_size_place_and_class),
		TEST(source_that_does_not_exist_is_einval),
		TEST(wrong_parent_is_exdev_and_a_subdevice_helps),
		TEST(client_serves_its_own_file_only),
	};

	return cmocka_run_group_tests_name("rm_calls", tests, NULL, NULL);
}
