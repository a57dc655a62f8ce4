/* SPDX-License-Identifier: MIT */
/* Blocks of 16 bytes, two general registers each (LDP and STP). */
#include "copy/arm.h"

#include <stdint.h>
#include <string.h>

struct pair {
	uint64_t lo, hi;
};

static inline struct pair host_load(const void *p)
{
	struct pair v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void host_store(void *p, struct pair v)
{
	memcpy(p, &v, sizeof(v));
}

static inline struct pair dev_load(const void *p)
{
	struct pair v;

	__asm__ volatile("ldp %0, %1, [%2]" : "=&r"(v.lo), "=r"(v.hi) : "r"(p) : "memory");
	return v;
}

static inline void dev_store(void *p, struct pair v)
{
	__asm__ volatile("stp %0, %1, [%2]" :: "r"(v.lo), "r"(v.hi), "r"(p) : "memory");
}

#define STORE_BLOCKS            gdr_store_pair
#define LOAD_BLOCKS             gdr_load_pair
#define TARGET
#define VEC                     struct pair
#define HOST_LOAD(p)            host_load(p)
#define HOST_STORE(p, v)        host_store(p, v)
#define DEV_LOAD(p)             dev_load(p)
#define DEV_STORE(p, v)         dev_store(p, v)
#include "copy/wc_loop.h"
