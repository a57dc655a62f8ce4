/* SPDX-License-Identifier: MIT */
/* The table of copy routines keeps what copy.h promises, and so does the choice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "copy.h"

static const struct gdr_copy_kernel *find(const char *name)
{
	const struct gdr_copy_kernel *k = gdr_copy_kernels;

	while (k->name && strcmp(k->name, name))
		k++;
	return k->name ? k : NULL;
}

static void rows_are_complete(void **state)
{
	for (const struct gdr_copy_kernel *k = gdr_copy_kernels; k->name; k++) {
		assert_true(k->name[0]);
		assert_null(strpbrk(k->name, ", "));
		assert_true(k->width >= 8 && k->width <= 64);
		assert_int_equal(k->width & (k->width - 1), 0);
		assert_non_null(k->supported);
		assert_true(k->store || k->load);
	}
}

static void names_are_unique(void **state)
{
	for (const struct gdr_copy_kernel *k = gdr_copy_kernels; k->name; k++)
		assert_ptr_equal(find(k->name), k);
}

static void last_row_is_generic(void **state)
{
	const struct gdr_copy_kernel *k = find("generic");

	assert_non_null(k);
	assert_null(k[1].name);
	assert_non_null(k->store);
	assert_non_null(k->load);
	assert_true(k->supported());
}

static void choice_can_do_its_direction(void **state)
{
	const struct gdr_copy_kernel *to, *from;

	gdr_copy_init();
	gdr_copy_init();
	to = find(gdr_copy_name(GDR_COPY_TO_MAPPING));
	from = find(gdr_copy_name(GDR_COPY_FROM_MAPPING));
	assert_non_null(to);
	assert_non_null(to->store);
	assert_true(to->supported());
	assert_non_null(from);
	assert_non_null(from->load);
	assert_true(from->supported());
}

static void chosen_routines_copy(void **state)
{
	static _Alignas(64) unsigned char mapping[256];
	unsigned char in[200], out[200];

	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (unsigned char)(i * 7 + 1);
	gdr_copy_init();
	for (int type = GDR_MAPPING_TYPE_WC; type <= GDR_MAPPING_TYPE_DEVICE; type++) {
		memset(mapping, 0, sizeof(mapping));
		memset(out, 0, sizeof(out));
		gdr_copy_to((gdr_mapping_type_t)type, mapping + 3, in, sizeof(in));
		assert_memory_equal(mapping + 3, in, sizeof(in));
		gdr_copy_from((gdr_mapping_type_t)type, out, mapping + 3, sizeof(out));
		assert_memory_equal(out, in, sizeof(in));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(last_row_is_generic),
		cmocka_unit_test(choice_can_do_its_direction),
		cmocka_unit_test(chosen_routines_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
