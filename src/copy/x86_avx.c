/* SPDX-License-Identifier: MIT */
/* Blocks of 32 bytes: VMOVNTPS stores, VMOVAPS loads. */
#include "copy/x86.h"

#include <immintrin.h>

#define STORE_BLOCKS            gdr_store_avx
#define LOAD_BLOCKS             gdr_load_avx
#define TARGET                  __attribute__((target("avx")))
#define VEC                     __m256i
#define HOST_LOAD(p)            _mm256_loadu_si256((const __m256i *)(p))
#define HOST_STORE(p, v)        _mm256_storeu_si256((__m256i *)(p), v)
#define DEV_LOAD(p)             GDR_X86_LOAD("vmovaps", p)
#define DEV_STORE(p, v)         GDR_X86_STORE("vmovntps", p, v)
#include "copy/wc_loop.h"
