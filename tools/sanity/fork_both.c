/* SPDX-License-Identifier: MIT */
/* Description: a free in one process does not revoke another process's mapping. */
#include "helper.h"
#include "session.h"

static struct mapped map_number(const struct sanity_variant *v, int number)
{
	struct mapped p;
	gdr_t g;

	session_cuda(v, true);
	g = session_open();
	p = session_map(g, v);
	p.m[0] = number;
	CHECK_INT(p.m[0], number);
	return p;
}

static void run(const struct sanity_variant *v)
{
	int number = session_number();
	struct mapped p;
	struct talk t;
	pid_t pid;

	talk_make(&t);
	pid = helper_fork(&t);
	p = map_number(v, pid ? number : number + 10);
	if (pid == 0) {
		/* The parent has mapped as well. */
		CHECK_INT(talk_receive_int(&t), 1);
		session_free(&p.mem);
		talk_send_int(&t, 1);
		session_unmap(&p);
		GDR(gdr_close(p.g));
		session_end();
		helper_done();
	}
	talk_send_int(&t, 1);
	CHECK_INT(talk_receive_int(&t), 1);
	CHECK_INT(p.m[0], number);
	helper_join(pid);
	CHECK_INT(p.m[0], number);
	session_unmap(&p);
	session_free(&p.mem);
	GDR(gdr_close(p.g));
	session_end();
}

static const struct sanity_test fork_both[] = {
	{ "invalidation_fork_map_and_free_cumemalloc", run, PLAIN, SANITY_DEFAULT },
	{ "invalidation_fork_map_and_free_vmmalloc", run, VMM, SANITY_DEFAULT },
};
SANITY_TABLE(fork_both);
