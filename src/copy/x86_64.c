/* SPDX-License-Identifier: MIT */
/*
 * x86-64: which routines the processor runs, and their order.
 *
 * Measured on a write-combining mapping of an H200 by one thread, in GB/s at 64 KiB
 * and 1 MiB (docs/results/copies-h200.txt): stores AVX-512 20.6 and 21.5, AVX2 20.5
 * and 21.5, AVX 20.4 and 21.8, SSE4.1 20.4 and 21.3, SSE2 20.3 and 21.2, MOVDIR64B
 * 19.7 and 19.4.  Loads AVX-512 0.97 and 0.92, AVX2 0.92 and 0.79, SSE4.1 0.71 and
 * 0.66; the others do not stream, 0.03 and less.  So one access a line decides loads,
 * and stores take the same routine.  MOVDIR64B stands below SSE2: it is 1 to 3 % ahead
 * only from 4 MiB up, and behind there too when the mapping's side is not aligned.
 */
#include <cpuid.h>

#include "copy.h"
#include "copy/generic.h"
#include "copy/x86.h"

/* Intel SDM volume 2, CPUID. */
#define L1_ECX_SSE41            (1u << 19)
#define L1_ECX_OSXSAVE          (1u << 27)
#define L1_ECX_AVX              (1u << 28)
#define L7_EBX_AVX2             (1u << 5)
#define L7_EBX_AVX512F          (1u << 16)
#define L7_ECX_MOVDIR64B        (1u << 28)

/* Volume 1 section 13.3: register state that the operating system saves. */
#define XCR0_AVX                0x06u   /* SSE, AVX */
#define XCR0_AVX512             0xe6u   /* and opmask, upper halves, ZMM16-31 */

unsigned gdr_x86_features(const struct gdr_x86_cpuid *id)
{
	int has_l7 = id->max_leaf >= 7;
	unsigned f = 0;

	if (id->max_leaf < 1)
		return 0;
	if (id->l1_ecx & L1_ECX_SSE41)
		f |= GDR_X86_SSE41;
	if (has_l7 && id->l7_ecx & L7_ECX_MOVDIR64B)
		f |= GDR_X86_MOVDIR64B;

	if (!(id->l1_ecx & L1_ECX_OSXSAVE) || !(id->l1_ecx & L1_ECX_AVX))
		return f;
	if ((id->xcr0 & XCR0_AVX) != XCR0_AVX)
		return f;
	f |= GDR_X86_AVX;
	if (has_l7 && id->l7_ebx & L7_EBX_AVX2)
		f |= GDR_X86_AVX2;
	if (has_l7 && id->l7_ebx & L7_EBX_AVX512F && (id->xcr0 & XCR0_AVX512) == XCR0_AVX512)
		f |= GDR_X86_AVX512F;
	return f;
}

static int have(unsigned feature)
{
	struct gdr_x86_cpuid id = { 0 };
	uint32_t a, b, c, d;

	id.max_leaf = __get_cpuid_max(0, NULL);
	if (id.max_leaf >= 1) {
		__cpuid(1, a, b, c, d);
		id.l1_ecx = c;
	}
	if (id.max_leaf >= 7) {
		__cpuid_count(7, 0, a, b, c, d);
		id.l7_ebx = b;
		id.l7_ecx = c;
	}
	if (id.l1_ecx & L1_ECX_OSXSAVE) {
		__asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
		id.xcr0 = (uint64_t)d << 32 | a;
	}
	return (gdr_x86_features(&id) & feature) != 0;
}

static int have_avx512(void)
{
	return have(GDR_X86_AVX512F);
}

static int have_avx2(void)
{
	return have(GDR_X86_AVX2);
}

static int have_avx(void)
{
	return have(GDR_X86_AVX);
}

static int have_sse41(void)
{
	return have(GDR_X86_SSE41);
}

/* Part of x86-64. */
static int have_sse2(void)
{
	return 1;
}

static int have_movdir64b(void)
{
	return have(GDR_X86_MOVDIR64B);
}

/* clang-format off */
const struct gdr_copy_kernel gdr_copy_kernels[] = {
	{ "avx512",     64, have_avx512,    gdr_store_avx512,    gdr_load_avx512 },
	{ "avx2",       32, have_avx2,      gdr_store_avx2,      gdr_load_avx2 },
	{ "avx",        32, have_avx,       gdr_store_avx,       gdr_load_avx },
	{ "sse41",      16, have_sse41,     gdr_store_sse41,     gdr_load_sse41 },
	{ "sse2",       16, have_sse2,      gdr_store_sse2,      gdr_load_sse2 },
	{ "movdir64b",  64, have_movdir64b, gdr_store_movdir64b, NULL },
	GDR_COPY_GENERIC_ROW,
	{ NULL },
};
/* clang-format on */
