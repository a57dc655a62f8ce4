/* SPDX-License-Identifier: MIT */
/* Blocks of 32 bytes: VMOVNTDQ stores, VMOVNTDQA loads. */
#include "copy/x86.h"

#include <immintrin.h>

#define STORE_BLOCKS            gdr_store_avx2
#define LOAD_BLOCKS             gdr_load_avx2
#define TARGET                  __attribute__((target("avx2")))
#define VEC                     __m256i
#define HOST_LOAD(p)            _mm256_loadu_si256((const __m256i *)(p))
#define HOST_STORE(p, v)        _mm256_storeu_si256((__m256i *)(p), v)
#define DEV_LOAD(p)             GDR_X86_LOAD("vmovntdqa", p)
#define DEV_STORE(p, v)         GDR_X86_STORE("vmovntdq", p, v)
#include "copy/wc_loop.h"
