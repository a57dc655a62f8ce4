/* SPDX-License-Identifier: MIT */
/* What the tests of this directory share: cmocka, versions, a context to test on. */
#ifndef KABI_FIXTURE_H
#define KABI_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver.h"
#include "gdrapi.h"
#include "gdrapi_ext.h"

#define V(major, minor) ((uint32_t)(major) << 16 | (minor))
#define HAS_INFO_V2	V(2, 4)
#define HAS_PIN_V2	V(2, 5)

/* An address that can be mapped, and a size of many pages of any kind. */
#define ADDR 0x7f4000000000ul
#define SIZE 0x100000ul

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define assert_no_trouble() assert_true(!driver_trouble())

static inline int setup(void **state)
{
	driver_reset();
	return setenv("GDRCOPY_BACKEND", "gdrdrv", 1);
}

static inline uint64_t page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static inline gdr_t open_driver(uint32_t version)
{
	gdr_t g;

	will_open(0);
	will_get_version(version, V(2, 0), 0);
	g = gdr_open();
	assert_non_null(g);
	return g;
}

/* Close a context with nothing in it, and look back at the whole test. */
static inline void finish(gdr_t g)
{
	will_close();
	assert_int_equal(gdr_close(g), 0);
	assert_no_trouble();
}

/* The pin command of that version, with nothing special in it. */
static inline void will_pin(uint32_t version, uint64_t kernel_handle, int err)
{
	if (version >= HAS_PIN_V2)
		will_pin_v2(ADDR, SIZE, 0, kernel_handle, err);
	else
		will_pin_v1(ADDR, SIZE, 0, 0, kernel_handle, err);
}

static inline gdr_mh_t pin(gdr_t g, uint32_t version, uint64_t kernel_handle)
{
	gdr_mh_t mh = { 0 };

	will_pin(version, kernel_handle, 0);
	assert_int_equal(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh), 0);
	assert_int_not_equal(mh.h, 0);
	return mh;
}

/* Type 1 is WC, 2 is CACHING. */
static inline void will_get_info(uint32_t version, uint64_t kernel_handle, uint32_t type,
				 int err)
{
	if (version >= HAS_INFO_V2)
		will_get_info_v2(kernel_handle, type, err);
	else
		will_get_info_v1(kernel_handle, type != 0, type == 1, err);
}

/* A whole map of len bytes with default flags, up to the info query. */
static inline void will_map(uint32_t version, uint64_t kernel_handle, size_t len,
			    uint32_t type)
{
	if (version >= HAS_PIN_V2)
		will_request_type(kernel_handle, 0, 0);
	will_mmap(len, kernel_handle * page_size(), 0);
	will_dontfork(len, 0);
	will_get_info(version, kernel_handle, type, 0);
}

static inline void *map(gdr_t g, gdr_mh_t mh, uint32_t version, uint64_t kernel_handle)
{
	void *va = NULL;

	will_map(version, kernel_handle, SIZE, 1);
	assert_int_equal(gdr_map(g, mh, &va, SIZE), 0);
	assert_non_null(va);
	return va;
}

#endif
