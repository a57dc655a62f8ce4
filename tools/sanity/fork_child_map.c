/* SPDX-License-Identifier: MIT */
/* Description: a child cannot map what its parent pinned; the parent still can. */
#include "helper.h"
#include "session.h"

static void run(const struct sanity_variant *v)
{
	struct mapped p;
	void *va = &va;
	pid_t pid;

	session_cuda(v, false);
	p.mem = session_alloc(v, SMALL, SESSION_FILL);
	p.g = session_open();
	p.mh = session_pin(p.g, v, p.mem.ptr, SMALL);
	pid = helper_fork(NULL);
	if (pid == 0) {
		REFUSED(gdr_map(p.g, p.mh, &va, SMALL), EACCES);
		CHECK(va == &va);
		helper_done();
	}
	helper_join(pid);
	session_map_pinned(&p);
	p.m[0] = 11;
	CHECK_INT(p.m[0], 11);
	session_unmap(&p);
	session_free(&p.mem);
	GDR(gdr_close(p.g));
	session_end();
}

static const struct sanity_test fork_child_map[] = {
	{ "invalidation_fork_child_gdr_map_parent_cumemalloc", run, PLAIN, SANITY_DEFAULT },
	{ "invalidation_fork_child_gdr_map_parent_vmmalloc", run, VMM, SANITY_DEFAULT },
};
SANITY_TABLE(fork_child_map);
