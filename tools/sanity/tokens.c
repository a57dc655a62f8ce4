/* SPDX-License-Identifier: MIT */
/*
 * Description: pinning with CUDA's P2P tokens.  They mean something to old
 * drivers only; everywhere else they are accepted and ignored.
 */
#include "session.h"

static void run(const struct sanity_variant *v)
{
	CUDA_POINTER_ATTRIBUTE_P2P_TOKENS tokens = { 0 };
	struct mapped p;

	session_cuda(v, false);
	p.mem = session_alloc(v, MEDIUM, 0);
	CU(cu.PointerGetAttribute(&tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, p.mem.ptr));
	sanity_say("p2pToken 0x%llx, vaSpaceToken 0x%x", tokens.p2pToken, tokens.vaSpaceToken);
	p.g = session_open();
	p.mh.h = 0;
	GDR(gdr_pin_buffer(p.g, p.mem.ptr, MEDIUM, tokens.p2pToken, tokens.vaSpaceToken, &p.mh));
	CHECK(p.mh.h != 0);
	session_map_pinned(&p);
	p.m[0] = 7;
	CHECK_INT(p.m[0], 7);
	session_unmap(&p);
	GDR(gdr_close(p.g));
	session_free(&p.mem);
	session_end();
}

static const struct sanity_test tokens[] = {
	{ "basic_with_tokens", run, PLAIN, SANITY_DEFAULT },
};
SANITY_TABLE(tokens);
