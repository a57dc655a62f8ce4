/* SPDX-License-Identifier: MIT */
/*
 * Description: gdr_close without unmap and unpin.  The mapping is gone: touching
 * it faults, and the memory can still be freed.
 */
#include "fault.h"
#include "session.h"

static void run(const struct sanity_variant *v)
{
	struct mapped p;
	gdr_t g;

	fault_catch();
	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	p.m[0] = session_number();
	GDR(gdr_close(g));
	fault_expect(p.m, 0);
	session_free(&p.mem);
	session_end();
}

static const struct sanity_test close_access[] = {
	{ "invalidation_access_after_gdr_close_cumemalloc", run, PLAIN, SANITY_DEFAULT },
	{ "invalidation_access_after_gdr_close_vmmalloc", run, VMM, SANITY_DEFAULT },
};
SANITY_TABLE(close_access);
