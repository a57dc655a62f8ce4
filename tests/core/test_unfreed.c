/* SPDX-License-Identifier: MIT */
/*
 * The rule of the rm backend that the driver does not enforce: memory whose
 * mapping could not be removed is not freed.  munmap of a whole mapping does not
 * fail, so the source is included, and a pin made up that is in that state.
 */
#include "fixture.h"

#include "../../src/backend_rm.c"

static int releases, release_result;

int __wrap_gdr_rm_range_release(struct gdr_rm_range *r);
int __wrap_gdr_rm_range_release(struct gdr_rm_range *r)
{
	releases++;
	return release_result;
}

static int unpin_with(void *mapping)
{
	struct rm_memh *m = calloc(1, sizeof(*m));
	struct rm_gdr g = { .base.fd = -1 };

	assert_non_null(m);
	m->base.mapping.addr = mapping;
	m->base.mapping.len = page_size();
	releases = 0;
	return gdr_backend_rm.unpin(&g.base, &m->base);
}

static void what_is_still_mapped_is_not_freed(void **state)
{
	static char mapping[4096];

	assert_int_equal(unpin_with(mapping), 0);
	assert_int_equal(releases, 0);
	assert_int_equal(unpin_with(NULL), 0);
	assert_int_equal(releases, 1);
	release_result = -EIO;
	assert_int_equal(unpin_with(NULL), -EIO);
	assert_int_equal(releases, 1);
	assert_int_equal(unpin_with(mapping), 0);
	assert_int_equal(releases, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_still_mapped_is_not_freed),
	};

	return cmocka_run_group_tests_name("core unfreed", tests, NULL, NULL);
}
