/* SPDX-License-Identifier: MIT */
/*
 * Description: GPU memory is freed while it is pinned and mapped.  A persistent
 * pin keeps it; otherwise the driver takes the pages away, and the mapping
 * raises SIGBUS.  Either way unmap, unpin and close still work.
 */
#include <signal.h>

#include "fault.h"
#include "session.h"

static void run(const struct sanity_variant *v)
{
	int number = session_number(), value = 0, sig, flag;
	struct mapped p;
	bool persistent;
	gdr_t g;

	fault_catch();
	session_cuda(v, false);
	g = session_open();
	persistent = session_persistent(g);
	p = session_map(g, v);
	p.m[0] = number;
	CHECK_INT(p.m[0], number);
	GDR(gdr_get_callback_flag(g, p.mh, &flag));
	CHECK_INT(flag, 0);
	session_free(&p.mem);

	sig = fault_load(p.m, &value);
	GDR(gdr_get_callback_flag(g, p.mh, &flag));
	if (persistent) {
		CHECK_INT(sig, 0);
		CHECK_INT(value, number);
		CHECK_INT(flag, 0);
	} else {
		CHECK_INT(sig, SIGBUS);
		CHECK_INT(flag, 1);
	}
	session_unmap(&p);
	GDR(gdr_close(g));
	session_end();
}

static const struct sanity_test free_access[] = {
	{ "invalidation_access_after_free_cumemalloc", run, PLAIN, SANITY_DEFAULT },
	{ "invalidation_access_after_free_vmmalloc", run, VMM, SANITY_DEFAULT },
};
SANITY_TABLE(free_access);
