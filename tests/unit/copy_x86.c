/* SPDX-License-Identifier: MIT */
/* A vector routine is taken only if the operating system saves all its registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copy/x86.h"

#define ALL (GDR_X86_SSE41 | GDR_X86_AVX | GDR_X86_AVX2 | GDR_X86_AVX512F | GDR_X86_MOVDIR64B)

/* Every feature bit that matters is set. */
static struct gdr_x86_cpuid full(uint64_t xcr0)
{
	struct gdr_x86_cpuid id = {
		.max_leaf = 7,
		.l1_ecx = 1u << 19 | 1u << 27 | 1u << 28,
		.l7_ebx = 1u << 5 | 1u << 16,
		.l7_ecx = 1u << 28,
		.xcr0 = xcr0,
	};

	return id;
}

static void all_bits_give_all_features(void **state)
{
	struct gdr_x86_cpuid id = full(0xe7);

	assert_int_equal(gdr_x86_features(&id), ALL);
}

static void every_xcr0_bit_is_needed(void **state)
{
	struct gdr_x86_cpuid id;

	for (uint64_t xcr0 = 0; xcr0 < 0x100; xcr0++) {
		unsigned f;

		id = full(xcr0);
		f = gdr_x86_features(&id);
		assert_int_equal(!!(f & GDR_X86_AVX), (xcr0 & 6) == 6);
		assert_int_equal(!!(f & GDR_X86_AVX2), (xcr0 & 6) == 6);
		assert_int_equal(!!(f & GDR_X86_AVX512F), (xcr0 & 0xe6) == 0xe6);
		assert_true(f & GDR_X86_SSE41);
		assert_true(f & GDR_X86_MOVDIR64B);
	}
}

static void without_osxsave_there_is_no_avx(void **state)
{
	struct gdr_x86_cpuid id = full(0xe7);

	id.l1_ecx &= ~(1u << 27);
	assert_int_equal(gdr_x86_features(&id), GDR_X86_SSE41 | GDR_X86_MOVDIR64B);
}

static void without_avx_there_is_no_avx2(void **state)
{
	struct gdr_x86_cpuid id = full(0xe7);

	id.l1_ecx &= ~(1u << 28);
	assert_int_equal(gdr_x86_features(&id), GDR_X86_SSE41 | GDR_X86_MOVDIR64B);
}

static void leaves_beyond_the_last_do_not_count(void **state)
{
	struct gdr_x86_cpuid id = full(0xe7);

	id.max_leaf = 6;
	assert_int_equal(gdr_x86_features(&id), GDR_X86_SSE41 | GDR_X86_AVX);
	id.max_leaf = 0;
	assert_int_equal(gdr_x86_features(&id), 0);
}

static void each_feature_has_its_own_bit(void **state)
{
	struct gdr_x86_cpuid id = full(0xe7);

	id.l7_ebx &= ~(1u << 5);
	assert_int_equal(gdr_x86_features(&id), ALL & ~GDR_X86_AVX2);
	id = full(0xe7);
	id.l7_ebx &= ~(1u << 16);
	assert_int_equal(gdr_x86_features(&id), ALL & ~GDR_X86_AVX512F);
	id = full(0xe7);
	id.l7_ecx = 0;
	assert_int_equal(gdr_x86_features(&id), ALL & ~GDR_X86_MOVDIR64B);
	id = full(0xe7);
	id.l1_ecx &= ~(1u << 19);
	assert_int_equal(gdr_x86_features(&id), ALL & ~GDR_X86_SSE41);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_bits_give_all_features),
		cmocka_unit_test(every_xcr0_bit_is_needed),
		cmocka_unit_test(without_osxsave_there_is_no_avx),
		cmocka_unit_test(without_avx_there_is_no_avx2),
		cmocka_unit_test(leaves_beyond_the_last_do_not_count),
		cmocka_unit_test(each_feature_has_its_own_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
