/* SPDX-License-Identifier: MIT */
/* Windows through rm.h: they show the right bytes, for as long as they should, or are refused. */
#include "fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log.h"

#define LEN 0x10000ul

static void *map_file(int file, size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(madvise(p, len, MADV_DONTFORK), 0);
	return p;
}

static void dup_shows_the_bytes_of_the_source(void **state)
{
	struct fake_rm_memory_info info;
	struct fixture *fx = *state;
	uint32_t object = fixture_object(fx, 2 * MIB, &info);
	int file = fixture_gpu_file(fx);
	uint64_t linear = 0;
	char *p, back[4];

	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, LEN, 2 * LEN, file, &linear),
			 0);
	assert_int_not_equal(linear, 0);
	p = map_file(file, 2 * LEN);
	assert_int_equal(pwrite(info.memfd, "abc", 4, (off_t)LEN), 4);
	assert_string_equal(p, "abc");
	memcpy(p + 2 * LEN - 4, "xyz", 4);
	assert_int_equal(pread(info.memfd, back, 4, (off_t)(3 * LEN - 4)), 4);
	assert_string_equal(back, "xyz");

	munmap(p, 2 * LEN);
	assert_int_equal(gdr_rm_unmap(&fx->client, fx->device, object, linear), 0);
	close(file);
	assert_int_equal(gdr_rm_free(&fx->client, fx->device, object), 0);
}

static void import_shows_the_bytes_behind_the_descriptor(void **state)
{
	struct fake_rm_memory_info info;
	struct fixture *fx = *state;
	int file = fixture_gpu_file(fx), fd;
	uint32_t object;
	uint64_t linear;
	char *p;

	fake_rm_memory_new(2 * MIB, fixture_gpus[0].instance, &info);
	fd = fake_rm_memory_export(info.object);
	assert_int_equal(gdr_rm_import(&fx->client, fx->device, fd, &object), 0);
	close(fd);
	fake_rm_memory_free(info.object);
	assert_int_equal(fake_rm_memory_live(), 1);

	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, LEN, file, &linear), 0);
	p = map_file(file, LEN);
	p[0] = 1;
	munmap(p, LEN);
	assert_int_equal(gdr_rm_unmap(&fx->client, fx->device, object, linear), 0);
	close(file);
	assert_int_equal(gdr_rm_free(&fx->client, fx->device, object), 0);
	assert_int_equal(fake_rm_memory_live(), 0);
}

static void map_refuses_what_the_driver_refuses(void **state)
{
	struct fake_rm_memory_info info;
	struct fixture *fx = *state;
	uint32_t object = fixture_object(fx, MIB, &info);
	int file = fixture_gpu_file(fx), wrong = gdr_rm_open_gpu(fixture_gpus[1].minor);
	const struct {
		uint64_t offset, len;
		int file, err;
		const char *status;
	} rows[] = {
		{ MIB, LEN, file, -EINVAL, "0x20" },
		{ 0, 0, file, -EINVAL, "0x2e" },
		{ MIB - LEN, 2 * LEN, file, -EINVAL, "0x2e" },
		{ LEN, UINT64_MAX - LEN + 1, file, -EINVAL, "0x2e" },
		{ 0, LEN, wrong, -EINVAL, "0x1f" },
		{ 0, LEN, fx->ctl, -EINVAL, "0x1f" },
	};
	uint64_t linear = 77;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int ret = gdr_rm_map(&fx->client, fx->device, object, rows[i].offset, rows[i].len,
				     rows[i].file, &linear);

		assert_int_equal(ret, rows[i].err);
		assert_non_null(strstr(gdr_log_last(), rows[i].status));
	}
	assert_int_equal(linear, 77);

	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, LEN, file, &linear), 0);
	assert_int_equal(gdr_rm_unmap(&fx->client, fx->device, object, linear), 0);
	/* A file has one window for life. */
	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, LEN, file, &linear),
			 -EBUSY);
	assert_non_null(strstr(gdr_log_last(), "0x63"));
	assert_int_equal(gdr_rm_unmap(&fx->client, fx->device, object, linear), -EINVAL);
	close(file);
	close(wrong);
}

/* Device of one GPU, memory of another: taken by DUP, refused by MAP. */
static void memory_of_the_other_gpu_cannot_be_mapped(void **state)
{
	struct fake_rm_memory_info info;
	struct fixture *fx = *state;
	int file = fixture_gpu_file(fx);
	uint64_t linear;
	uint32_t object;

	fake_rm_memory_new(MIB, fixture_gpus[1].instance, &info);
	assert_int_equal(gdr_rm_dup(&fx->client, fx->device, info.client, info.object, &object), 0);
	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, LEN, file, &linear),
			 -EINVAL);
	assert_non_null(strstr(gdr_log_last(), "0x1f"));
	close(file);
}

static void full_bar1_is_enomem_and_comes_back(void **state)
{
	struct fake_rm_memory_info info;
	struct fixture *fx = *state;
	uint32_t object = fixture_object(fx, MIB, &info);
	int first = fixture_gpu_file(fx), second = fixture_gpu_file(fx);
	uint64_t linear, other;

	fake_rm_set_bar1_free(MIB);
	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, MIB, first, &linear), 0);
	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, LEN, second, &other),
			 -ENOMEM);
	assert_non_null(strstr(gdr_log_last(), "nvidia-smi -q -d MEMORY"));
	assert_int_equal(gdr_rm_unmap(&fx->client, fx->device, object, linear), 0);
	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, LEN, second, &other), 0);
	close(first);
	close(second);
}

/* Client, memory and window live on behind a mapping of a file that is tied to ctl. */
static void mapping_keeps_everything_alive(void **state)
{
	struct fake_rm_memory_info info;
	struct fixture *fx = *state;
	struct fake_rm_counts c;
	uint64_t linear;
	uint32_t object;
	int file;
	char *p;

	object = fixture_object(fx, MIB, &info);
	file = fixture_gpu_file(fx);
	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, LEN, file, &linear), 0);
	p = map_file(file, LEN);
	close(file);
	close(fx->ctl);
	fake_rm_memory_free(info.object);
	p[LEN - 1] = 1;
	fake_rm_counts(&c);
	assert_int_equal(c.ctl_files, 1);
	assert_int_equal(c.windows, 1);
	munmap(p, LEN);
	fake_rm_counts(&c);
	assert_int_equal(c.ctl_files + c.gpu_files + c.clients + c.memories + c.windows, 0);
	assert_int_equal(fake_rm_memory_live(), 0);
	fx->ctl = -1;
}

static void mmap_takes_exactly_the_window(void **state)
{
	struct fake_rm_memory_info info;
	struct fixture *fx = *state;
	uint32_t object = fixture_object(fx, MIB, &info);
	int file = fixture_gpu_file(fx), prot = PROT_READ | PROT_WRITE;
	uint64_t linear;
	void *a, *b;

	assert_ptr_equal(mmap(NULL, LEN, prot, MAP_SHARED, file, 0), MAP_FAILED);
	assert_int_equal(gdr_rm_map(&fx->client, fx->device, object, 0, 2 * LEN, file, &linear), 0);
	assert_ptr_equal(mmap(NULL, LEN, prot, MAP_SHARED, file, 0), MAP_FAILED);
	assert_int_equal(errno, ENXIO);
	a = map_file(file, 2 * LEN);
	b = map_file(file, 2 * LEN);
	memset(a, 5, 2 * LEN);
	assert_memory_equal(a, b, 2 * LEN);
	munmap(a, 2 * LEN);
	munmap(b, 2 * LEN);
	close(file);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_open, fixture_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(dup_shows_the_bytes_of_the_source),
		TEST(import_shows_the_bytes_behind_the_descriptor),
		TEST(map_refuses_what_the_driver_refuses),
		TEST(memory_of_the_other_gpu_cannot_be_mapped),
		TEST(full_bar1_is_enomem_and_comes_back),
		TEST(mapping_keeps_everything_alive),
		TEST(mmap_takes_exactly_the_window),
	};

	return cmocka_run_group_tests_name("rm_windows", tests, NULL, NULL);
}
