/* SPDX-License-Identifier: MIT */
/* Description: a child does not inherit the mapping, and the parent keeps it. */
#include "fault.h"
#include "helper.h"
#include "session.h"

static void run(const struct sanity_variant *v)
{
	int number = session_number();
	struct mapped p;
	struct talk t;
	pid_t pid;
	gdr_t g;

	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	talk_make(&t);
	pid = helper_fork(&t);
	if (pid == 0) {
		CHECK_INT(talk_receive_int(&t), 1);
		fault_catch();
		fault_expect(p.m, 1);
		helper_done();
	}
	p.m[0] = number;
	CHECK_INT(p.m[0], number);
	talk_send_int(&t, 1);
	helper_join(pid);
	CHECK_INT(p.m[0], number);
	session_unmap(&p);
	session_free(&p.mem);
	GDR(gdr_close(g));
	session_end();
}

static const struct sanity_test fork_map[] = {
	{ "invalidation_fork_after_gdr_map_cumemalloc", run, PLAIN, SANITY_DEFAULT },
	{ "invalidation_fork_after_gdr_map_vmmalloc", run, VMM, SANITY_DEFAULT },
};
SANITY_TABLE(fork_map);
