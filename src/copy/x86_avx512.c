/* SPDX-License-Identifier: MIT */
/* Blocks of 64 bytes, a whole line each: VMOVNTDQ stores, VMOVNTDQA loads. */
#include "copy/x86.h"

#include <immintrin.h>

#define STORE_BLOCKS            gdr_store_avx512
#define LOAD_BLOCKS             gdr_load_avx512
#define LOADS_16
#define TARGET                  __attribute__((target("avx512f")))
#define VEC                     __m512i
#define HOST_LOAD(p)            _mm512_loadu_si512(p)
#define HOST_STORE(p, v)        _mm512_storeu_si512(p, v)
#define DEV_LOAD(p)             GDR_X86_LOAD("vmovntdqa", p)
#define DEV_STORE(p, v)         GDR_X86_STORE("vmovntdq", p, v)
#include "copy/wc_loop.h"
