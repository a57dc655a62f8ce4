/* SPDX-License-Identifier: MIT */
/* Description: freeing one of two mapped buffers leaves the other's mapping alone. */
#include "session.h"

static void run(const struct sanity_variant *v)
{
	int number = session_number();
	struct mapped a, b;
	gdr_t g;

	session_cuda(v, false);
	g = session_open();
	a = session_map(g, v);
	b = session_map(g, v);
	a.m[0] = number;
	b.m[0] = number + 1;
	CHECK_INT(a.m[0], number);
	CHECK_INT(b.m[0], number + 1);
	session_free(&a.mem);
	CHECK_INT(b.m[0], number + 1);
	b.m[0] = number + 2;
	CHECK_INT(b.m[0], number + 2);
	session_free(&b.mem);
	session_unmap(&a);
	session_unmap(&b);
	GDR(gdr_close(g));
	session_end();
}

static const struct sanity_test two_mappings[] = {
	{ "invalidation_two_mappings_cumemalloc", run, PLAIN, SANITY_DEFAULT },
	{ "invalidation_two_mappings_vmmalloc", run, VMM, SANITY_DEFAULT },
};
SANITY_TABLE(two_mappings);
