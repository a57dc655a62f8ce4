/* SPDX-License-Identifier: MIT */
/* What the tests of this directory share: cmocka, and the interface under test. */
#ifndef CORE_FIXTURE_H
#define CORE_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"
#include "gdrapi.h"
#include "gdrapi_ext.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The struct of releases before 2.4, and the function that fills it. */
struct info_v1 {
	uint64_t va;
	uint64_t mapped_size;
	uint32_t page_size;
	uint64_t tm_cycles;
	uint32_t cycles_per_ms;
	unsigned mapped : 1;
	unsigned wc_mapping : 1;
};
int info_v1(gdr_t g, gdr_mh_t handle, struct info_v1 *info) __asm__("gdr_get_info");

#define assert_error_names(text) \
	do { \
		if (!strstr(gdrx_last_error(), text)) \
			fail_msg("last error: \"%s\" lacks \"%s\"", gdrx_last_error(), text); \
	} while (0)

#define assert_error_lacks(text) \
	do { \
		if (strstr(gdrx_last_error(), text)) \
			fail_msg("last error: \"%s\" names \"%s\"", gdrx_last_error(), text); \
	} while (0)

static inline size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

#endif
