/* SPDX-License-Identifier: MIT */
/* Map on the gdrdrv backend: type requests, late failures. */
#include "fixture.h"

static const uint32_t served[] = { V(2, 0), V(2, 3), V(2, 4), V(2, 5), V(2, 6) };

#define HANDLE 0x10ull

static void *const untouched = (void *)0x5a5a;

/* The map fails with err, says word, writes nothing, and leaves the handle unmapped. */
static void map_fails(gdr_t g, gdr_mh_t mh, size_t size, int flags, int err,
		      const char *word)
{
	void *va = untouched;
	char buf[8] = { 0 };

	assert_int_equal(gdr_map_v2(g, mh, &va, size, flags), err);
	assert_true(va == untouched);
	if (!strstr(gdrx_last_error(), word))
		fail_msg("no \"%s\" in \"%s\"", word, gdrx_last_error());
	assert_int_equal(gdr_copy_to_mapping(mh, buf, buf, sizeof(buf)), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, va, size), EINVAL);
	assert_null(driver_trouble_so_far());
}

/* Map, use, unmap: proves that a failure before left nothing behind. */
static void round_trip(gdr_t g, gdr_mh_t mh, uint32_t version, uint64_t handle)
{
	uint8_t out[256], in[256];
	void *va = map(g, mh, version, handle);
	size_t i;

	for (i = 0; i < sizeof(out); i++)
		out[i] = (uint8_t)(i * 7 + 1);
	assert_int_equal(gdr_copy_to_mapping(mh, (char *)va + 4096, out, sizeof(out)), 0);
	assert_memory_equal((char *)va + 4096, out, sizeof(out));
	memset(in, 0, sizeof(in));
	assert_int_equal(gdr_copy_from_mapping(mh, in, (char *)va + 4096, sizeof(in)), 0);
	assert_memory_equal(in, out, sizeof(in));
	will_munmap(SIZE, 0);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE), 0);
}

static void done(gdr_t g, gdr_mh_t mh, uint64_t handle)
{
	will_unpin(handle, 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	finish(g);
	driver_reset();
}

static void maps_copies_unmaps_and_maps_again(void **state)
{
	size_t i;

	for (i = 0; i < COUNT(served); i++) {
		gdr_t g = open_driver(served[i]);
		gdr_mh_t mh = pin(g, served[i], HANDLE);

		round_trip(g, mh, served[i], HANDLE);
		round_trip(g, mh, served[i], HANDLE);
		done(g, mh, HANDLE);
	}
}

static void the_length_is_rounded_up_to_host_pages(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);
	size_t page = page_size();
	void *va;

	will_map(V(2, 6), HANDLE, page, 1);
	assert_int_equal(gdr_map(g, mh, &va, 1), 0);
	will_munmap(page, 0);
	assert_int_equal(gdr_unmap(g, mh, va, page), 0);
	will_map(V(2, 6), HANDLE, 2 * page, 1);
	assert_int_equal(gdr_map(g, mh, &va, page + 1), 0);
	will_munmap(2 * page, 0);
	assert_int_equal(gdr_unmap(g, mh, va, page + 1), 0);
	done(g, mh, HANDLE);
}

/* From 2.5 on each type is asked for by its number and must come back. */
static void explicit_types_are_requested(void **state)
{
	int flags;

	for (flags = 1; flags <= 3; flags++) {
		gdr_t g = open_driver(V(2, 5));
		gdr_mh_t mh = pin(g, V(2, 5), HANDLE);
		gdr_info_v2_t info;
		void *va;

		will_request_type(HANDLE, (uint32_t)flags, 0);
		will_mmap(SIZE, HANDLE * page_size(), 0);
		will_dontfork(SIZE, 0);
		will_get_info_v2(HANDLE, (uint32_t)flags, 0);
		assert_int_equal(gdr_map_v2(g, mh, &va, SIZE, flags), 0);
		will_get_info_v2(HANDLE, (uint32_t)flags, 0);
		assert_int_equal(gdr_get_info_v2(g, mh, &info), 0);
		assert_int_equal(info.mapping_type, flags);
		will_munmap(SIZE, 0);
		assert_int_equal(gdr_unmap(g, mh, va, SIZE), 0);
		done(g, mh, HANDLE);
	}
}

/* Before 2.5 there is no asking: what was made is compared with what was wanted. */
static void older_drivers_are_compared_with(void **state)
{
	size_t i;

	for (i = 0; i < COUNT(served) && served[i] < HAS_PIN_V2; i++) {
		gdr_t g = open_driver(served[i]);
		gdr_mh_t mh = pin(g, served[i], HANDLE);
		void *va;

		will_map(served[i], HANDLE, SIZE, 2);
		assert_int_equal(
			gdr_map_v2(g, mh, &va, SIZE, GDR_MAP_FLAG_REQ_CACHE_MAPPING), 0);
		will_munmap(SIZE, 0);
		assert_int_equal(gdr_unmap(g, mh, va, SIZE), 0);

		will_map(served[i], HANDLE, SIZE, 1);
		will_munmap(SIZE, 0);
		map_fails(g, mh, SIZE, GDR_MAP_FLAG_REQ_DEVICE_MAPPING, EINVAL,
			  "GDR_MAP_FLAG_REQ_DEVICE_MAPPING was asked for, the driver made "
			  "GDR_MAPPING_TYPE_WC; use GDR_MAP_FLAG_DEFAULT");
		done(g, mh, HANDLE);
	}
}

static void request_errors_come_out(void **state)
{
	static const struct {
		int err;
		const char *word;
	} cases[] = {
		{ EOPNOTSUPP, "GDR_MAP_FLAG_DEFAULT" },
		{ EBUSY, "mapped already" },
		{ EINVAL, "does not know this handle" },
		{ EACCES, "after fork" },
		{ EFAULT, "request of GDR_MAP_FLAG_REQ_CACHE_MAPPING, kernel handle 0x10" },
	};
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		will_request_type(HANDLE, 2, cases[i].err);
		map_fails(g, mh, SIZE, GDR_MAP_FLAG_REQ_CACHE_MAPPING, cases[i].err,
			  cases[i].word);
	}
	round_trip(g, mh, V(2, 6), HANDLE);
	done(g, mh, HANDLE);
}

static void mmap_errors_come_out(void **state)
{
	static const struct {
		int err;
		const char *word;
	} cases[] = {
		{ EINVAL, "multiple of 64 KiB" },
		{ EAGAIN, "enter the pages" },
		{ EACCES, "only the process" },
		{ ENOMEM, "ulimit -v" },
		{ EIO, "0x100000 bytes, kernel handle 0x10" },
	};
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		will_request_type(HANDLE, 0, 0);
		will_mmap(SIZE, HANDLE * page_size(), cases[i].err);
		map_fails(g, mh, SIZE, 0, cases[i].err, cases[i].word);
	}
	round_trip(g, mh, V(2, 6), HANDLE);
	done(g, mh, HANDLE);
}

static void a_mapping_that_fork_would_inherit_is_not_made(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);

	will_request_type(HANDLE, 0, 0);
	will_mmap(SIZE, HANDLE * page_size(), 0);
	will_dontfork(SIZE, ENOMEM);
	will_munmap(SIZE, 0);
	map_fails(g, mh, SIZE, 0, ENOMEM, "kernel handle 0x10");
	done(g, mh, HANDLE);
}

/* D12: a failure after mmap leaves no mapping, and *va as it was. */
static void d12_late_failures_are_undone(void **state)
{
	static const int info_errors[] = { EINVAL, EACCES, EFAULT };
	size_t v, i;

	for (v = 0; v < COUNT(served); v++) {
		gdr_t g = open_driver(served[v]);
		gdr_mh_t mh = pin(g, served[v], HANDLE);

		for (i = 0; i < COUNT(info_errors); i++) {
			if (served[v] >= HAS_PIN_V2)
				will_request_type(HANDLE, 0, 0);
			will_mmap(SIZE, HANDLE * page_size(), 0);
			will_dontfork(SIZE, 0);
			will_get_info(served[v], HANDLE, 1, info_errors[i]);
			will_munmap(SIZE, 0);
			map_fails(g, mh, SIZE, 0, info_errors[i], "info query");
		}

		will_map(served[v], HANDLE, SIZE, 0); /* the driver: not mapped */
		will_munmap(SIZE, 0);
		map_fails(g, mh, SIZE, 0, EAGAIN, "not mapped");
		round_trip(g, mh, served[v], HANDLE);
		done(g, mh, HANDLE);
	}
}

static void d12_another_type_than_requested_is_undone(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);

	will_request_type(HANDLE, 2, 0);
	will_mmap(SIZE, HANDLE * page_size(), 0);
	will_dontfork(SIZE, 0);
	will_get_info_v2(HANDLE, 1, 0);
	will_munmap(SIZE, 0);
	map_fails(g, mh, SIZE, GDR_MAP_FLAG_REQ_CACHE_MAPPING, EINVAL,
		  "GDR_MAP_FLAG_REQ_CACHE_MAPPING was asked for, the driver made "
		  "GDR_MAPPING_TYPE_WC; use GDR_MAP_FLAG_DEFAULT");
	round_trip(g, mh, V(2, 6), HANDLE);
	done(g, mh, HANDLE);
}

static void a_type_of_the_future_is_undone(void **state)
{
	gdr_t g = open_driver(V(2, 9));
	gdr_mh_t mh = pin(g, V(2, 9), HANDLE);

	will_map(V(2, 9), HANDLE, SIZE, 4);
	will_munmap(SIZE, 0);
	map_fails(g, mh, SIZE, 0, EPROTO, "newer than this library");
	done(g, mh, HANDLE);
}

static void a_second_map_is_refused(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);
	void *va = map(g, mh, V(2, 6), HANDLE), *second = untouched;

	assert_int_equal(gdr_map(g, mh, &second, SIZE), EAGAIN);
	assert_true(second == untouched);
	will_munmap(SIZE, 0);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE), 0);
	done(g, mh, HANDLE);
}

static void unknown_map_flags_are_refused(void **state)
{
	static const int flags[] = { -1, 4, 5, 0x10, 0x7fffffff };
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);
	size_t i;

	for (i = 0; i < COUNT(flags); i++)
		map_fails(g, mh, SIZE, flags[i], EINVAL, "flags");
	done(g, mh, HANDLE);
}

/* D23: sizes that are 0 or wrap around never reach mmap. */
static void d23_impossible_map_sizes_are_refused(void **state)
{
	static const size_t sizes[] = { 0, SIZE_MAX, SIZE_MAX - 1 };
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);
	size_t i;

	for (i = 0; i < COUNT(sizes); i++)
		map_fails(g, mh, sizes[i], 0, EINVAL, "size");
	done(g, mh, HANDLE);
}

static void a_handle_beyond_what_mmap_addresses_is_refused(void **state)
{
	const uint64_t handle = UINT64_MAX / page_size() + 1;
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), handle);

	will_request_type(handle, 0, 0);
	map_fails(g, mh, SIZE, 0, EOVERFLOW, "beyond what mmap can address");
	done(g, mh, handle);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(maps_copies_unmaps_and_maps_again, setup),
		cmocka_unit_test_setup(the_length_is_rounded_up_to_host_pages, setup),
		cmocka_unit_test_setup(explicit_types_are_requested, setup),
		cmocka_unit_test_setup(older_drivers_are_compared_with, setup),
		cmocka_unit_test_setup(request_errors_come_out, setup),
		cmocka_unit_test_setup(mmap_errors_come_out, setup),
		cmocka_unit_test_setup(a_mapping_that_fork_would_inherit_is_not_made,
				       setup),
		cmocka_unit_test_setup(d12_late_failures_are_undone, setup),
		cmocka_unit_test_setup(d12_another_type_than_requested_is_undone, setup),
		cmocka_unit_test_setup(a_type_of_the_future_is_undone, setup),
		cmocka_unit_test_setup(a_second_map_is_refused, setup),
		cmocka_unit_test_setup(unknown_map_flags_are_refused, setup),
		cmocka_unit_test_setup(d23_impossible_map_sizes_are_refused, setup),
		cmocka_unit_test_setup(a_handle_beyond_what_mmap_addresses_is_refused,
				       setup),
	};

	return cmocka_run_group_tests_name("kabi map", tests, NULL, NULL);
}
