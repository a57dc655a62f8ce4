/* SPDX-License-Identifier: MIT */
/* Description: what exports and moves of pages cost in files, pages and mappings. */
#include <stdio.h>
#include <sys/stat.h>

#include "soft.h"

/* Moving untouched pages does not fill them. */
static void holes_stay_holes(void **state)
{
	CUdeviceptr p = alloc(64 * MIB);
	struct stat st;
	int fd;

	poke(p + 40 * MIB, 1);
	ok(export_range(p + 2 * MIB, 60 * MIB, &fd));
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 60 * MIB);
	assert_true((uint64_t)st.st_blocks * 512 <= MIB);
	close(fd);
	assert_int_equal(peek(p + 40 * MIB), 1);
	ok(cuMemFree_v2(p));
}

static uint64_t file_pages(int fd, uint64_t *size)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	*size = (uint64_t)st.st_size;
	close(fd);
	return (uint64_t)st.st_blocks * 512 / PAGE;
}

/* A descriptor is as long as its range if no longer one is held. */
static void length_of_the_file(void **state)
{
	CUdeviceptr p = alloc(2 * MIB);
	uint64_t size;
	int fd;

	ok(export_range(p + MIB, 128 * KIB, &fd));
	file_pages(fd, &size);
	assert_int_equal(size, 128 * KIB);
	ok(export_range(p + MIB, 64 * KIB, &fd));
	file_pages(fd, &size);
	assert_int_equal(size, 64 * KIB);
	ok(cuMemFree_v2(p));
}

/* Pages that move take no memory where they were. */
static void no_page_twice(void **state)
{
	CUdeviceptr p = alloc(2 * MIB);
	uint64_t before, size;
	uint32_t *w;
	int fd;

	ok(cuMemsetD8_v2(p, 1, 2 * MIB));
	ok(export_range(p, 2 * MIB, &fd));
	before = file_pages(fd, &size);
	w = window(p + MIB, 256 * KIB);
	ok(export_range(p, PAGE, &fd));
	assert_int_equal(file_pages(fd, &size), before - 256 * KIB / PAGE);
	munmap(w, 256 * KIB);
	ok(cuMemFree_v2(p));
}

static int maps_device_memory(void *arg)
{
	char line[512];
	int found = 0;
	FILE *f = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), f))
		found |= strstr(line, "memfd:softcuda") != NULL;
	fclose(f);
	return found;
}

static void children_inherit_no_mapping(void **state)
{
	CUdeviceptr p = alloc(2 * MIB);
	uint32_t *w = window(p + MIB, PAGE);

	munmap(w, PAGE);
	assert_int_equal(maps_device_memory(NULL), 1);
	assert_int_equal(in_child(maps_device_memory, NULL), 0);
	ok(cuMemFree_v2(p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holes_stay_holes),
		cmocka_unit_test(length_of_the_file),
		cmocka_unit_test(no_page_twice),
		cmocka_unit_test(children_inherit_no_mapping),
	};

	return cmocka_run_group_tests(tests, with_context, without_context);
}
