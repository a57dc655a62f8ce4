/* SPDX-License-Identifier: MIT */
/* gdrx_copy_*: the option structure, the checks of arguments, and lists of pieces. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "copy.h"
#include "gdrapi_ext.h"
#include "handle.h"

#define ROOM 300000

static _Alignas(4096) unsigned char mapping[ROOM];
static unsigned char in[ROOM], out[ROOM];
static struct gdr g;
static struct gdr_memh m;
static gdr_mh_t mh;

static int set_up(void **state)
{
	gdr_copy_init();
	if (gdr_handle_new(&g, &m))
		return -1;
	mh.h = m.id;
	gdr_handle_publish(&m, GDR_MAPPING_TYPE_WC);
	for (size_t i = 0; i < ROOM; i++)
		in[i] = (unsigned char)(i * 31 + i / 251);
	return 0;
}

static void round_trip(const struct gdrx_copy_options *options)
{
	memset(mapping, 0, ROOM);
	memset(out, 0, ROOM);
	assert_int_equal(gdrx_copy_to_mapping(mh, mapping + 5, in, ROOM - 9, options), 0);
	assert_memory_equal(mapping + 5, in, ROOM - 9);
	assert_int_equal(gdrx_copy_from_mapping(mh, out, mapping + 5, ROOM - 9, options), 0);
	assert_memory_equal(out, in, ROOM - 9);
}

static void all_options_have_defaults(void **state)
{
	struct gdrx_copy_options o = { .size = sizeof(o) };

	round_trip(NULL);
	round_trip(&o);
	o.threads = 3;
	round_trip(&o);
	o.min_bytes = 1000;
	round_trip(&o);
	o.threads = 1;
	round_trip(&o);
}

static void cpus_are_a_set_with_a_size(void **state)
{
	struct gdrx_copy_options o = { .size = sizeof(o), .threads = 2, .min_bytes = 1 };
	cpu_set_t cpus;

	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	o.cpus = &cpus;
	o.cpus_size = sizeof(cpus);
	round_trip(&o);
	o.cpus_size = 0;
	assert_int_equal(gdrx_copy_to_mapping(mh, mapping, in, 1, &o), EINVAL);
	assert_non_null(strstr(gdrx_last_error(), "cpus"));
	o.cpus_size = sizeof(cpus);
	CPU_ZERO(&cpus);
	assert_int_equal(gdrx_copy_from_mapping(mh, out, mapping, 1, &o), EINVAL);
	o.cpus = NULL;
	assert_int_equal(gdrx_copy_to_mapping(mh, mapping, in, 1, &o), EINVAL);
}

static void options_carry_their_size(void **state)
{
	struct {
		struct gdrx_copy_options o;
		uint64_t later;
	} longer = { .o = { .size = sizeof(longer), .threads = 2 } };
	struct gdrx_copy_options o = { .size = 0 };

	assert_int_equal(gdrx_copy_to_mapping(mh, mapping, in, 1, &o), EINVAL);
	assert_non_null(strstr(gdrx_last_error(), "set size"));
	o.size = sizeof(o) - 1;
	assert_int_equal(gdrx_copy_from_mapping(mh, out, mapping, 1, &o), EINVAL);
	round_trip(&longer.o);
	longer.later = 1;
	memset(mapping, 0, 8);
	assert_int_equal(gdrx_copy_to_mapping(mh, mapping, in + 1, 8, &longer.o), E2BIG);
	assert_int_equal(mapping[0], 0);
}

static void a_handle_without_mapping_is_refused(void **state)
{
	struct gdrx_iov iov = { mapping, in, 8 };
	gdr_mh_t stale = { mh.h + (1ul << 32) };

	assert_int_equal(gdrx_copy_to_mapping(stale, mapping, in, 8, NULL), EINVAL);
	assert_non_null(strstr(gdrx_last_error(), "gdrx_copy_to_mapping"));
	assert_int_equal(gdrx_copy_from_mapping(stale, out, mapping, 8, NULL), EINVAL);
	assert_int_equal(gdrx_copy_iov(stale, 0, &iov, 1), EINVAL);
	gdr_handle_publish(&m, GDR_MAPPING_TYPE_NONE);
	assert_int_equal(gdrx_copy_to_mapping(mh, mapping, in, 8, NULL), EINVAL);
	assert_non_null(strstr(gdrx_last_error(), "not mapped"));
	assert_int_equal(gdrx_copy_iov(mh, 0, &iov, 1), EINVAL);
	gdr_handle_publish(&m, GDR_MAPPING_TYPE_WC);
}

static void nothing_to_copy_is_fine(void **state)
{
	struct gdrx_iov empty = { NULL, NULL, 0 };

	assert_int_equal(gdrx_copy_to_mapping(mh, NULL, NULL, 0, NULL), 0);
	assert_int_equal(gdrx_copy_from_mapping(mh, NULL, NULL, 0, NULL), 0);
	assert_int_equal(gdrx_copy_iov(mh, 1, NULL, 0), 0);
	assert_int_equal(gdrx_copy_iov(mh, 0, &empty, 1), 0);
}

static void pieces_go_where_they_belong(void **state)
{
	struct gdrx_iov to[] = {
		{ mapping + 3, in + 10, 1000 },
		{ mapping + 4096, in + 2000, 8 },
		{ mapping + 5000, in + 3000, 0 },
		{ mapping + 8191, in + 4000, 4099 },
	};
	struct gdrx_iov from[4];

	for (int type = GDR_MAPPING_TYPE_WC; type <= GDR_MAPPING_TYPE_DEVICE; type++) {
		gdr_handle_publish(&m, (gdr_mapping_type_t)type);
		memset(mapping, 0xa5, ROOM);
		memset(out, 0, ROOM);
		assert_int_equal(gdrx_copy_iov(mh, GDR_COPY_TO_MAPPING, to, 4), 0);
		for (size_t i = 0; i < 4; i++) {
			assert_memory_equal(to[i].map_d_ptr, to[i].h_ptr, to[i].size);
			from[i] = to[i];
			from[i].h_ptr = out + i * 10000;
		}
		assert_int_equal(mapping[2], 0xa5);
		assert_int_equal(mapping[1003], 0xa5);
		assert_int_equal(mapping[4095], 0xa5);
		assert_int_equal(mapping[4104], 0xa5);
		assert_int_equal(mapping[8190], 0xa5);
		assert_int_equal(mapping[8191 + 4099], 0xa5);
		assert_int_equal(gdrx_copy_iov(mh, GDR_COPY_FROM_MAPPING, from, 4), 0);
		for (size_t i = 0; i < 4; i++)
			assert_memory_equal(from[i].h_ptr, to[i].h_ptr, to[i].size);
	}
	gdr_handle_publish(&m, GDR_MAPPING_TYPE_WC);
}

static void a_list_is_checked(void **state)
{
	struct gdrx_iov iov = { mapping, in, 8 };

	assert_int_equal(gdrx_copy_iov(mh, 2, &iov, 1), EINVAL);
	assert_non_null(strstr(gdrx_last_error(), "direction 2"));
	assert_int_equal(gdrx_copy_iov(mh, -1, &iov, 1), EINVAL);
	assert_int_equal(gdrx_copy_iov(mh, 0, NULL, 1), EINVAL);
	assert_non_null(strstr(gdrx_last_error(), "iov is NULL"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_options_have_defaults),
		cmocka_unit_test(cpus_are_a_set_with_a_size),
		cmocka_unit_test(options_carry_their_size),
		cmocka_unit_test(a_handle_without_mapping_is_refused),
		cmocka_unit_test(nothing_to_copy_is_fine),
		cmocka_unit_test(pieces_go_where_they_belong),
		cmocka_unit_test(a_list_is_checked),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
