/* SPDX-License-Identifier: MIT */
/*
 * Description: the P2P tokens of one process's memory do not let another process
 * pin it.  The other never initialises CUDA by itself.
 */
#include "helper.h"
#include "runner.h"
#include "session.h"

static void in_helper(const struct talk *t)
{
	CUDA_POINTER_ATTRIBUTE_P2P_TOKENS tokens;
	gdr_mh_t mh = { 0 };
	uint64_t address;
	gdr_t g;
	int err;

	CHECK(cu_load(sanity.soft) == 0);
	g = session_open();
	talk_receive(t, &address, sizeof(address));
	talk_receive(t, &tokens, sizeof(tokens));
	err = gdr_pin_buffer(g, address, SMALL, tokens.p2pToken, tokens.vaSpaceToken, &mh);
	if (!err)
		sanity_fail(__FILE__, __LINE__, "another process's memory cannot be pinned",
			    "gdr_pin_buffer returned 0");
	sanity_note("the second process's gdr_pin_buffer returned %s",
		    sanity_errno_name(err) ? sanity_errno_name(err) : "an unusual errno value");
	CHECK_INT(mh.h, 0);
	GDR(gdr_close(g));
	helper_done();
}

static void run(const struct sanity_variant *v)
{
	CUDA_POINTER_ATTRIBUTE_P2P_TOKENS tokens = { 0 };
	struct gpu_mem mem;
	uint64_t address;
	struct talk t;
	pid_t pid;

	talk_make(&t);
	pid = helper_fork(&t);
	if (pid == 0)
		in_helper(&t);
	session_cuda(v, false);
	mem = session_alloc(v, SMALL, SESSION_FILL);
	CU(cu.PointerGetAttribute(&tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, mem.ptr));
	address = mem.ptr;
	talk_send(&t, &address, sizeof(address));
	talk_send(&t, &tokens, sizeof(tokens));
	helper_join(pid);
	session_free(&mem);
	session_end();
}

static const struct sanity_test fork_tokens[] = {
	{ "invalidation_fork_child_gdr_pin_parent_with_tokens", run, PLAIN, SANITY_DEFAULT },
};
SANITY_TABLE(fork_tokens);
