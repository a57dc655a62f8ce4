/* SPDX-License-Identifier: MIT */
/* The registry of handles: which values live, and which never do. */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include "handle.h"

#define MANY 100000

static struct gdr owner, other;
static struct gdr_memh *memhs; /* MANY of them */
static unsigned long *values;  /* MANY of them */

static bool fail_calloc;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return fail_calloc ? NULL : __real_calloc(n, size);
}

/* The type by both ways to it, which must agree as far as the quick one goes. */
static int type_of(unsigned long h)
{
	int type = gdr_handle_type(h);
	gdr_mapping_type_t quick = gdr_handle_quick_type(h);

	if ((uint32_t)h - 1 < GDR_HANDLE_FIRST && type > GDR_MAPPING_TYPE_NONE)
		assert_int_equal(quick, type);
	else
		assert_int_equal(quick, GDR_MAPPING_TYPE_NONE);
	return type;
}

static int by_value(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

static void add(size_t i)
{
	assert_int_equal(gdr_handle_new(&owner, &memhs[i]), 0);
	assert_int_not_equal(memhs[i].id, 0);
	values[i] = memhs[i].id;
}

/* The first chunk is made by the first handle: must be the first test. */
static void no_memory_for_the_first_handle(void **state)
{
	fail_calloc = true;
	assert_int_equal(gdr_handle_new(&owner, &memhs[0]), -ENOMEM);
	fail_calloc = false;
	assert_error_names("no memory for one more handle");
	assert_int_equal(memhs[0].id, 0);
	assert_null(owner.memhs);
	assert_int_equal(type_of(1ul << 32 | 1), -EINVAL);
	add(0);
	gdr_handle_delete(&memhs[0]);
	assert_null(owner.memhs);
}

static void a_live_handle_is_found_by_its_owner_alone(void **state)
{
	add(0);
	add(1);
	assert_ptr_equal(gdr_handle_find(&owner, values[0]), &memhs[0]);
	assert_ptr_equal(gdr_handle_find(&owner, values[1]), &memhs[1]);
	assert_null(gdr_handle_find(&other, values[0]));
	assert_null(gdr_handle_find(NULL, values[0]));
	assert_int_equal(type_of(values[0]), GDR_MAPPING_TYPE_NONE);
	gdr_handle_publish(&memhs[0], GDR_MAPPING_TYPE_DEVICE);
	assert_int_equal(type_of(values[0]), GDR_MAPPING_TYPE_DEVICE);
	assert_int_equal(type_of(values[1]), GDR_MAPPING_TYPE_NONE);
	gdr_handle_forget_mappings();
	assert_int_equal(type_of(values[0]), GDR_MAPPING_TYPE_NONE);
	assert_ptr_equal(gdr_handle_find(&owner, values[0]), &memhs[0]);
	gdr_handle_delete(&memhs[0]);
	assert_null(gdr_handle_find(&owner, values[0]));
	assert_int_equal(type_of(values[0]), -EINVAL);
	assert_ptr_equal(gdr_handle_find(&owner, values[1]), &memhs[1]);
	gdr_handle_delete(&memhs[1]);
}

/* D10: no value but a live one names anything, whatever its bits. */
static void d10_made_up_values_name_nothing(void **state)
{
	static const unsigned long edges[] = {
		0,
		1,
		2,
		0xffffffff,
		1ul << 32,
		~0ul,
		~0ul << 32,
		1ul << 32 | 0xffffffff,
		1ul << 63,
		1ul << 63 | 1,
		0x7fffffffffffffff,
	};
	unsigned long rnd = 0x9e3779b97f4a7c15;

	add(0);
	for (size_t i = 0; i < COUNT(edges); i++) {
		assert_null(gdr_handle_find(&owner, edges[i]));
		assert_int_equal(type_of(edges[i]), -EINVAL);
	}
	for (int bit = 0; bit < 64; bit++) {
		assert_null(gdr_handle_find(&owner, values[0] ^ 1ul << bit));
		assert_int_equal(type_of(values[0] ^ 1ul << bit), -EINVAL);
	}
	for (int i = 0; i < 2000000; i++) {
		rnd ^= rnd << 13;
		rnd ^= rnd >> 7;
		rnd ^= rnd << 17;
		if (rnd == values[0])
			continue;
		if (type_of(rnd) != -EINVAL || gdr_handle_find(&owner, rnd))
			fail_msg("0x%lx names something", rnd);
	}
	/* the address of the record, which other libraries hand out */
	assert_null(gdr_handle_find(&owner, (unsigned long)(uintptr_t)&memhs[0]));
	gdr_handle_delete(&memhs[0]);
}

static void count_list(const struct gdr *g, int want)
{
	int n = 0;

	for (const struct gdr_memh *m = g->memhs; m; m = m->next) {
		assert_ptr_equal(m->g, g);
		assert_true(!m->next || m->next->prev == m);
		n++;
	}
	assert_int_equal(n, want);
}

static bool was_used(const unsigned long *sorted, unsigned long value)
{
	return bsearch(&value, sorted, MANY, sizeof(value), by_value) != NULL;
}

/* Several chunks; all distinct; none of the values comes back after its end. */
static void many_live_at_once(void **state)
{
	unsigned long *old = test_malloc(MANY * sizeof(*old));

	for (size_t i = 0; i < MANY; i++)
		add(i);
	count_list(&owner, MANY);
	memcpy(old, values, MANY * sizeof(*old));
	qsort(old, MANY, sizeof(*old), by_value);
	for (size_t i = 1; i < MANY; i++)
		assert_true(old[i - 1] < old[i]);
	for (size_t i = 0; i < MANY; i++)
		gdr_handle_publish(&memhs[i], (gdr_mapping_type_t)(i % GDR_MAPPING_TYPE_MAX));
	for (size_t i = 0; i < MANY; i++) {
		assert_ptr_equal(gdr_handle_find(&owner, values[i]), &memhs[i]);
		assert_int_equal(type_of(values[i]), i % GDR_MAPPING_TYPE_MAX);
	}
	for (size_t i = 0; i < MANY; i += 2)
		gdr_handle_delete(&memhs[i]);
	count_list(&owner, MANY / 2);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(type_of(values[i]),
				 i % 2 ? (int)(i % GDR_MAPPING_TYPE_MAX) : -EINVAL);
	for (size_t i = 0; i < MANY; i += 2) {
		add(i);
		assert_false(was_used(old, values[i]));
		assert_int_equal(type_of(values[i]), GDR_MAPPING_TYPE_NONE);
	}
	for (size_t i = 0; i < MANY; i++)
		gdr_handle_delete(&memhs[i]);
	count_list(&owner, 0);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(type_of(values[i]), -EINVAL);
	test_free(old);
}

/* First in, first out: a slot rests as long as possible before its next use. */
static void d10_recycling_never_resurrects(void **state)
{
	unsigned long last = 0;

	for (size_t i = 0; i < 3; i++)
		add(i);
	for (size_t i = 0; i < 3; i++)
		gdr_handle_delete(&memhs[i]);
	/* All slots of the tests before are free; one at a time goes round them. */
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(gdr_handle_new(&owner, &memhs[0]), 0);
		values[i] = memhs[0].id;
		assert_true((uint32_t)values[i] != (uint32_t)last);
		last = values[i];
		gdr_handle_delete(&memhs[0]);
		assert_null(gdr_handle_find(&owner, last));
		assert_int_equal(type_of(last), -EINVAL);
	}
	qsort(values, MANY, sizeof(*values), by_value);
	for (size_t i = 1; i < MANY; i++)
		assert_true(values[i - 1] < values[i]);
}

static _Atomic unsigned long shared[2]; /* values that come and go */
static atomic_bool stop;
static atomic_int looked, wrong;

/* Each writer's handles only ever have the type 1 + its number. */
static void *write_handles(void *arg)
{
	uintptr_t self = (uintptr_t)arg;
	struct gdr g = { 0 };
	struct gdr_memh m;
	unsigned long id;

	for (int i = 0; i < 20000; i++) {
		memset(&m, 0, sizeof(m));
		if (gdr_handle_new(&g, &m) != 0)
			atomic_fetch_add(&wrong, 1);
		id = m.id;
		atomic_store(&shared[self], id);
		gdr_handle_publish(&m, (gdr_mapping_type_t)(1 + self));
		if (gdr_handle_find(&g, id) != &m || gdr_handle_type(id) != (int)(1 + self))
			atomic_fetch_add(&wrong, 1);
		gdr_handle_delete(&m);
		if (gdr_handle_find(&g, id) || gdr_handle_type(id) != -EINVAL)
			atomic_fetch_add(&wrong, 1);
	}
	return NULL;
}

static void *read_handles(void *arg)
{
	while (!atomic_load(&stop)) {
		for (int i = 0; i < 2; i++) {
			int type = gdr_handle_type(atomic_load(&shared[i]));

			if (type != -EINVAL && type != GDR_MAPPING_TYPE_NONE && type != 1 + i)
				atomic_fetch_add(&wrong, 1);
			type = (int)gdr_handle_quick_type(atomic_load(&shared[i]));
			if (type != GDR_MAPPING_TYPE_NONE && type != 1 + i)
				atomic_fetch_add(&wrong, 1);
			if (gdr_handle_find(&other, atomic_load(&shared[i])))
				atomic_fetch_add(&wrong, 1);
			atomic_fetch_add(&looked, 1);
		}
	}
	return NULL;
}

static void lookups_while_others_register(void **state)
{
	pthread_t writers[2], readers[2];

	for (uintptr_t i = 0; i < 2; i++) {
		pthread_create(&readers[i], NULL, read_handles, NULL);
		pthread_create(&writers[i], NULL, write_handles, (void *)i);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(writers[i], NULL);
	while (atomic_load(&looked) < 1000)
		;
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	assert_int_equal(atomic_load(&wrong), 0);
}

static int make_room(void **state)
{
	memhs = malloc(MANY * sizeof(*memhs));
	values = malloc(MANY * sizeof(*values));
	if (!memhs || !values)
		return -1;
	memset(memhs, 0, MANY * sizeof(*memhs));
	return 0;
}

static int give_back(void **state)
{
	free(memhs);
	free(values);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_memory_for_the_first_handle),
		cmocka_unit_test(a_live_handle_is_found_by_its_owner_alone),
		cmocka_unit_test(d10_made_up_values_name_nothing),
		cmocka_unit_test(many_live_at_once),
		cmocka_unit_test(d10_recycling_never_resurrects),
		cmocka_unit_test(lookups_while_others_register),
	};

	return cmocka_run_group_tests_name("core handle", tests, make_room, give_back);
}
