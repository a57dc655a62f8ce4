/* SPDX-License-Identifier: MIT */
/*
 * VMM memory that the driver exports as several objects, the first of which is all
 * of it: mapped once scratch memory that is exported likewise has been compared.
 */
#include "soft_fixture.h"

#include <errno.h>

#define SCRATCH (512 * MIB)     /* of the first try */

static uint64_t many_from;      /* bytes of the smallest memory that is several objects */
static unsigned asked;

static unsigned by_size(uint64_t size)
{
	return size < many_from ? 1 : 2;
}

/* What is asked about first is of one kind, all after it of the other. */
static unsigned first_alone_is_many(uint64_t size)
{
	(void)size;
	return asked++ ? 1 : 2;
}

static unsigned first_alone_is_one(uint64_t size)
{
	(void)size;
	return asked++ ? 2 : 1;
}

static void both_kinds_side_by_side(void **state)
{
	struct vmm small, large;

	many_from = SCRATCH;
	fake_rm_soft_objects = by_size;
	vmm_new(0, 2 * MIB, 2, POSIX_FD, &small);
	vmm_new(0, SCRATCH + 2 * MIB, 1, POSIX_FD, &large);
	round_trip(*state, large.ptr + SCRATCH - MIB, 3 * MIB);
	round_trip(*state, small.ptr, 4 * MIB);
	round_trip(*state, large.ptr + 64 * KIB, 64 * KIB);
	round_trip(*state, small.ptr, 2 * MIB);
	vmm_free(&large);
	vmm_free(&small);
}

/* SCRATCH bytes are one object, or a granule is several. */
static void scratch_memory_of_the_same_size(void **state)
{
	struct vmm v;

	many_from = SCRATCH + 2 * MIB;
	fake_rm_soft_objects = by_size;
	vmm_new(0, SCRATCH + 2 * MIB, 1, POSIX_FD, &v);
	round_trip(*state, v.ptr, 2 * MIB);
	vmm_free(&v);
}

static void no_scratch_memory_of_the_kind(void **state)
{
	static const struct {
		unsigned (*objects)(uint64_t size);
		const char *reason;
	} rows[] = {
		{ first_alone_is_many, "as several objects, and scratch memory" },
		{ first_alone_is_one, "as one object, and scratch memory" },
	};
	struct vmm v;

	vmm_new(0, 4 * MIB, 1, POSIX_FD, &v);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		asked = 0;
		fake_rm_soft_objects = rows[i].objects;
		refuse_pin(*state, v.ptr, 4 * MIB, ENOTSUP, rows[i].reason);
	}
	/* Which says nothing about the next one. */
	many_from = 0;
	fake_rm_soft_objects = by_size;
	round_trip(*state, v.ptr, 4 * MIB);
	many_from = UINT64_MAX;
	round_trip(*state, v.ptr, 4 * MIB);
	vmm_free(&v);
}

static void no_room_for_scratch_memory(void **state)
{
	CUdeviceptr filler;
	struct vmm v;

	many_from = 0;
	fake_rm_soft_objects = by_size;
	vmm_new(0, 2 * MIB, 1, POSIX_FD, &v);
	filler = cuda_alloc(4096 * MIB - SCRATCH);
	refuse_pin(*state, v.ptr, 2 * MIB, ENOMEM, "needs 512 MiB free");
	cuda_free(filler);
	round_trip(*state, v.ptr, 2 * MIB);
	vmm_free(&v);
}

static void first_object_is_not_all(void **state)
{
	struct vmm v;

	many_from = 0;
	fake_rm_soft_objects = by_size;
	fake_rm_describe_soft(0x40, 2, SCRATCH / 2);
	vmm_new(0, 2 * MIB, 1, POSIX_FD, &v);
	refuse_pin(*state, v.ptr, 2 * MIB, ENOTSUP, "past the end of the memory object");
	vmm_free(&v);
}

static void check_takes_little_of_bar1(void **state)
{
	struct vmm v;

	many_from = 0;
	fake_rm_soft_objects = by_size;
	fake_rm_set_bar1_free(64 * KIB);
	vmm_new(0, 2 * MIB, 1, POSIX_FD, &v);
	round_trip(*state, v.ptr + MIB, 64 * KIB);
	vmm_free(&v);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, soft_open, soft_close)
	static const struct CMUnitTest tests[] = {
		T(both_kinds_side_by_side),
		T(scratch_memory_of_the_same_size),
		T(no_scratch_memory_of_the_kind),
		T(no_room_for_scratch_memory),
		T(first_object_is_not_all),
		T(check_takes_little_of_bar1),
	};
#undef T

	return cmocka_run_group_tests_name("rm objects", tests, soft_start, NULL);
}
