/* SPDX-License-Identifier: MIT */
/*
 * Blocks by 8-byte accesses: for processors without a routine of their own, and
 * for DEVICE mappings, where wider accesses are not to be counted on.
 */
#include "copy/generic.h"

#include <stdint.h>
#include <string.h>

int gdr_generic_supported(void)
{
	return 1;
}

static inline uint64_t host_load(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void host_store(void *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

#define STORE_BLOCKS            gdr_store_generic
#define LOAD_BLOCKS             gdr_load_generic
#define TARGET
#define VEC                     uint64_t
#define HOST_LOAD(p)            host_load(p)
#define HOST_STORE(p, v)        host_store(p, v)
#define DEV_LOAD(p)             (*(const volatile uint64_t *)(p))
#define DEV_STORE(p, v)         (*(volatile uint64_t *)(p) = (v))
#include "copy/wc_loop.h"
