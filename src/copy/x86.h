/* SPDX-License-Identifier: MIT */
/* x86-64: what the processor can do, and a pair of block routines for each. */
#ifndef GDR_COPY_X86_H
#define GDR_COPY_X86_H

#include <stddef.h>
#include <stdint.h>

/* What CPUID and XGETBV said; leaves beyond max_leaf are zero. */
struct gdr_x86_cpuid {
	uint32_t max_leaf;
	uint32_t l1_ecx;                /* leaf 1 */
	uint32_t l7_ebx, l7_ecx;        /* leaf 7, subleaf 0 */
	uint64_t xcr0;                  /* 0 unless leaf 1 has OSXSAVE */
};

enum gdr_x86_feature {
	GDR_X86_SSE41 = 1 << 0,
	GDR_X86_AVX = 1 << 1,
	GDR_X86_AVX2 = 1 << 2,
	GDR_X86_AVX512F = 1 << 3,
	GDR_X86_MOVDIR64B = 1 << 4,
};

/*
 * One access of the device side by the named instruction.  Spelled out, because
 * a compiler is free to turn an intrinsic into another instruction: clang 14 at
 * -O3 makes MOVDQA of a streaming load.  VEC is a file's register type.
 */
#define GDR_X86_LOAD(insn, p) __extension__({                                   \
		VEC value_;                                                     \
		__asm__ volatile(insn " %1, %0"                                 \
				 : "=v"(value_) : "m"(*(const VEC *)(p)));      \
		value_;                                                         \
	})
#define GDR_X86_STORE(insn, p, v) \
	__asm__ volatile(insn " %1, %0" : "=m"(*(VEC *)(p)) : "v"(v))

/* Features that both the processor and the operating system support. */
unsigned gdr_x86_features(const struct gdr_x86_cpuid *id);

void gdr_store_sse2(void *dev, const void *host, size_t n);
void gdr_load_sse2(void *host, const void *dev, size_t n);
void gdr_store_sse41(void *dev, const void *host, size_t n);
void gdr_load_sse41(void *host, const void *dev, size_t n);
void gdr_store_avx(void *dev, const void *host, size_t n);
void gdr_load_avx(void *host, const void *dev, size_t n);
void gdr_store_avx2(void *dev, const void *host, size_t n);
void gdr_load_avx2(void *host, const void *dev, size_t n);
void gdr_store_avx512(void *dev, const void *host, size_t n);
void gdr_load_avx512(void *host, const void *dev, size_t n);
void gdr_store_movdir64b(void *dev, const void *host, size_t n);

#endif
