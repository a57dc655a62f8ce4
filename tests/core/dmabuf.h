/* SPDX-License-Identifier: MIT */
/* A context on the dmabuf backend for each test, and what it says of its platform. */
#ifndef CORE_DMABUF_H
#define CORE_DMABUF_H

#include "soft.h"

#define MIB (1ul << 20)

static gdr_t g;
static bool coherent;

static inline int setup(void **state)
{
	const char *env = getenv("SOFTCUDA_COHERENT");

	coherent = env && !strcmp(env, "1");
	g = gdr_open();
	if (!g)
		fprintf(stderr, "%s\n", gdrx_last_error());
	return !g;
}

static inline int teardown(void **state)
{
	return gdr_close(g);
}

static inline gdr_mapping_type_t own_type(void)
{
	return coherent ? GDR_MAPPING_TYPE_CACHING : GDR_MAPPING_TYPE_WC;
}

static inline gdr_mh_t pin(CUdeviceptr ptr, size_t size)
{
	gdr_mh_t mh = { 0 };
	int ret = gdr_pin_buffer(g, ptr, size, 0, 0, &mh);

	if (ret)
		fail_msg("pin of 0x%zx bytes at 0x%llx: %d, %s", size, ptr, ret, gdrx_last_error());
	assert_int_not_equal(mh.h, 0);
	return mh;
}

static inline void *map(gdr_mh_t mh, size_t size)
{
	void *va = NULL;

	assert_int_equal(gdr_map(g, mh, &va, size), 0);
	assert_non_null(va);
	return va;
}

#endif
