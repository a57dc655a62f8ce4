/* SPDX-License-Identifier: MIT */
/*
 * The ends of the registry's number space, which no test reaches by counting:
 * the source is included, so that its counters can be set.
 */
#include "fixture.h"

#include <pthread.h>

static bool asked_for_memory;
static void (*meanwhile)(void);

static void *ask(size_t n, size_t size)
{
	void (*now)(void) = meanwhile;

	asked_for_memory = true;
	meanwhile = NULL;
	if (now)
		now();
	return calloc(n, size);
}

#define calloc ask
#include "../../src/handle.c"
#undef calloc

static struct gdr owner;
static struct gdr_memh early, late;    /* which stay: the others' slots are their own */

static void *make_early(void *arg)
{
	return gdr_handle_new(&owner, &early) ? arg : NULL;
}

static void another_thread_makes_one(void)
{
	pthread_t t;
	void *failed;

	assert_int_equal(pthread_create(&t, NULL, make_early, &early), 0);
	assert_int_equal(pthread_join(t, &failed), 0);
	assert_null(failed);
}

/*
 * An allocator may have a lock that it takes before a fork, after which our handler
 * takes the registry's: under that lock it must not be asked.  Hangs if it is.
 * The chunk that the other thread added is the one that stays: must be the first test.
 */
static void no_lock_is_held_while_memory_is_asked_for(void **state)
{
	meanwhile = another_thread_makes_one;
	assert_int_equal(gdr_handle_new(&owner, &late), 0);
	assert_true(asked_for_memory);
	assert_int_equal((uint32_t)early.id, 1);
	assert_int_equal((uint32_t)late.id, 2);
	assert_ptr_equal(gdr_handle_find(&owner, early.id), &early);
	assert_ptr_equal(gdr_handle_find(&owner, late.id), &late);
}

/* A generation more would be 0 again, and old values alive. */
static void a_slot_that_served_its_time_rests_for_good(void **state)
{
	struct gdr_memh m = { 0 };
	unsigned long first, last;

	assert_int_equal(gdr_handle_new(&owner, &m), 0);
	first = m.id;
	gdr_handle_delete(&m);
	slot_at((uint32_t)first - 1)->word = (uint64_t)(GENERATION_MAX - 1) << 32;

	assert_int_equal(gdr_handle_new(&owner, &m), 0);
	last = m.id;
	assert_true((uint32_t)last == (uint32_t)first && last >> 32 == GENERATION_MAX);
	assert_ptr_equal(gdr_handle_find(&owner, last), &m);
	gdr_handle_delete(&m);
	assert_int_equal(free_head, 0);
	assert_null(gdr_handle_find(&owner, last));

	assert_int_equal(gdr_handle_new(&owner, &m), 0);
	assert_true((uint32_t)m.id != (uint32_t)first);
	assert_null(gdr_handle_find(&owner, first));
	gdr_handle_delete(&m);
}

/* One slot more would have no chunk to lie in. */
static void the_last_slot_is_the_end(void **state)
{
	uint64_t all = ((uint64_t)FIRST << CHUNKS) - FIRST;
	uint32_t made = slots_made, head = free_head, tail = free_tail;
	struct gdr_memh m = { 0 };

	free_head = free_tail = 0;
	slots_made = (uint32_t)all;
	assert_true(slots_made == all);
	asked_for_memory = false;
	assert_int_equal(gdr_handle_new(&owner, &m), -ENOMEM);
	assert_error_names("unpin buffers");
	assert_false(asked_for_memory);
	assert_int_equal(m.id, 0);
	assert_null(slot_at((uint32_t)all));
	assert_null(slot_at(UINT32_MAX));
	slots_made = made;
	free_head = head;
	free_tail = tail;
	assert_int_equal(gdr_handle_new(&owner, &m), 0);
	gdr_handle_delete(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_lock_is_held_while_memory_is_asked_for),
		cmocka_unit_test(a_slot_that_served_its_time_rests_for_good),
		cmocka_unit_test(the_last_slot_is_the_end),
	};

	return cmocka_run_group_tests_name("core generation", tests, NULL, NULL);
}
