/* SPDX-License-Identifier: MIT */
/* Blocks of 16 bytes: MOVNTDQ stores, MOVDQA loads. */
#include "copy/x86.h"

#include <immintrin.h>

#define STORE_BLOCKS            gdr_store_sse2
#define LOAD_BLOCKS             gdr_load_sse2
#define TARGET                  __attribute__((target("sse2")))
#define VEC                     __m128i
#define HOST_LOAD(p)            _mm_loadu_si128((const __m128i *)(p))
#define HOST_STORE(p, v)        _mm_storeu_si128((__m128i *)(p), v)
#define DEV_LOAD(p)             GDR_X86_LOAD("movdqa", p)
#define DEV_STORE(p, v)         GDR_X86_STORE("movntdq", p, v)
#include "copy/wc_loop.h"
