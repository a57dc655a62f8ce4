/* SPDX-License-Identifier: MIT */
/*
 * Description: two processes, each with a mapping.  One frees its memory, then
 * the other allocates: the stale mapping must not show the other's data.
 */
#include <signal.h>

#include "fault.h"
#include "helper.h"
#include "session.h"

static void in_helper(const struct talk *t, const struct sanity_variant *v)
{
	struct mapped p;
	int number;
	gdr_t g;

	/* Before CUDA, so that the other process has freed by then. */
	CHECK_INT(talk_receive_int(t), 1);
	session_cuda(v, true);
	number = session_number();
	g = session_open();
	p = session_map(g, v);
	p.m[0] = number;
	CHECK_INT(p.m[0], number);
	talk_send_int(t, number);

	CHECK_INT(talk_receive_int(t), 1);
	CHECK_INT(p.m[0], number);
	session_free(&p.mem);
	session_unmap(&p);
	GDR(gdr_close(g));
	session_end();
	helper_done();
}

static void run(const struct sanity_variant *v)
{
	int number, others, value = 0, sig;
	struct mapped p;
	bool persistent;
	struct talk t;
	pid_t pid;
	gdr_t g;

	talk_make(&t);
	pid = helper_fork(&t);
	if (pid == 0)
		in_helper(&t, v);

	fault_catch();
	session_cuda(v, true);
	g = session_open();
	persistent = session_persistent(g);
	p = session_map(g, v);
	number = session_number();
	p.m[0] = number;
	CHECK_INT(p.m[0], number);
	session_free(&p.mem);
	talk_send_int(&t, 1);
	others = talk_receive_int(&t);
	CHECK(others != number);

	sig = fault_load(p.m, &value);
	if (persistent) {
		CHECK_INT(sig, 0);
		CHECK(value != others);
		CHECK_INT(value, number);
	} else {
		CHECK_INT(sig, SIGBUS);
	}
	talk_send_int(&t, 1);
	helper_join(pid);
	session_unmap(&p);
	GDR(gdr_close(g));
	session_end();
}

static const struct sanity_test fork_free[] = {
	{ "invalidation_fork_access_after_free_cumemalloc", run, PLAIN, SANITY_DEFAULT },
	{ "invalidation_fork_access_after_free_vmmalloc", run, VMM, SANITY_DEFAULT },
};
SANITY_TABLE(fork_free);
