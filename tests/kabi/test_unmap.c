/* SPDX-License-Identifier: MIT */
/* Unmap on the gdrdrv backend, by name and by unpin and close. */
#include "fixture.h"

static const uint32_t served[] = { V(2, 0), V(2, 3), V(2, 4), V(2, 5), V(2, 6) };

#define HANDLE 0x10ull

static void done(gdr_t g, gdr_mh_t mh, uint64_t handle)
{
	will_unpin(handle, 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	finish(g);
	driver_reset();
}

/* D11: only the mapping itself can be unmapped, never a part of it or something else. */
static void d11_unmap_takes_the_mapping_or_nothing(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);
	char *va = map(g, mh, V(2, 6), HANDLE);
	char *other = malloc(SIZE);
	size_t page = page_size();

	assert_non_null(other);
	assert_int_equal(gdr_unmap(g, mh, other, SIZE), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, NULL, SIZE), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, va + page, SIZE - page), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, va, page), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE + 1), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE - page), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, va, 0), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE_MAX), EINVAL);
	assert_null(driver_trouble_so_far());
	memset(other, 1, SIZE);
	assert_int_equal(gdr_copy_to_mapping(mh, va, other, SIZE), 0);
	free(other);

	will_munmap(SIZE, 0);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE - page + 1),
			 0); /* rounds to the same */
	assert_int_equal(gdr_unmap(g, mh, va, SIZE), EINVAL);
	done(g, mh, HANDLE);
}

static void a_failing_munmap_leaves_it_mapped(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);
	void *va = map(g, mh, V(2, 6), HANDLE);
	char buf[8] = "1234567";

	will_munmap(SIZE, ENOMEM);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE), ENOMEM);
	assert_int_equal(gdr_copy_to_mapping(mh, va, buf, sizeof(buf)), 0);
	will_munmap(SIZE, 0);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE), 0);
	done(g, mh, HANDLE);
}

/* D20: unpinning what is mapped removes the mapping first; nothing is left of it. */
static void d20_unpin_unmaps_first(void **state)
{
	size_t i;

	for (i = 0; i < COUNT(served); i++) {
		gdr_t g = open_driver(served[i]);
		gdr_mh_t mh = pin(g, served[i], HANDLE);

		map(g, mh, served[i], HANDLE);
		will_munmap(SIZE, 0);
		done(g, mh, HANDLE);
	}
}

static void d20_close_unmaps_first(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE), bare = pin(g, V(2, 6), HANDLE + 1);
	char buf[8] = { 0 };
	void *va = map(g, mh, V(2, 6), HANDLE);

	will_unpin(HANDLE + 1, 0);
	will_munmap(SIZE, 0);
	will_unpin(HANDLE, 0);
	finish(g);
	assert_int_equal(gdr_copy_to_mapping(mh, va, buf, sizeof(buf)), EINVAL);
	assert_int_equal(gdr_unpin_buffer(g, bare), EINVAL);
}

static void a_failing_munmap_does_not_stop_unpin(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE);

	map(g, mh, V(2, 6), HANDLE);
	will_munmap(SIZE, ENOMEM);
	will_unpin(HANDLE, EIO);
	assert_int_equal(gdr_unpin_buffer(g, mh), ENOMEM); /* the first error */
	will_close();
	assert_int_equal(gdr_close(g), 0);
	assert_null(
		driver_trouble_so_far()); /* the mapping did stay: see driver_trouble */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(d11_unmap_takes_the_mapping_or_nothing, setup),
		cmocka_unit_test_setup(a_failing_munmap_leaves_it_mapped, setup),
		cmocka_unit_test_setup(d20_unpin_unmaps_first, setup),
		cmocka_unit_test_setup(d20_close_unmaps_first, setup),
		cmocka_unit_test_setup(a_failing_munmap_does_not_stop_unpin, setup),
	};

	return cmocka_run_group_tests_name("kabi unmap", tests, NULL, NULL);
}
