/* SPDX-License-Identifier: MIT */
/* Blocks of 16 bytes, one Q register each (LDR and STR). */
#include "copy/arm.h"

#include <arm_neon.h>

static inline uint8x16_t dev_load(const void *p)
{
	uint8x16_t v;

	__asm__ volatile("ldr %q0, %1" : "=w"(v) : "Q"(*(const uint8x16_t *)p));
	return v;
}

static inline void dev_store(void *p, uint8x16_t v)
{
	__asm__ volatile("str %q1, %0" : "=Q"(*(uint8x16_t *)p) : "w"(v));
}

#define STORE_BLOCKS            gdr_store_neon
#define LOAD_BLOCKS             gdr_load_neon
#define TARGET
#define VEC                     uint8x16_t
#define HOST_LOAD(p)            vld1q_u8((const uint8_t *)(p))
#define HOST_STORE(p, v)        vst1q_u8((uint8_t *)(p), v)
#define DEV_LOAD(p)             dev_load(p)
#define DEV_STORE(p, v)         dev_store(p, v)
#include "copy/wc_loop.h"
