/* SPDX-License-Identifier: MIT */
/*
 * Description: two tiny buffers in one GPU page.  Both can be pinned; only the
 * one at the start of the page can be mapped.
 */
#include "session.h"

static void run(const struct sanity_variant *v)
{
	void *first, *second = &second;
	struct gpu_mem mem;
	gdr_mh_t a, b;
	uint64_t word;
	gdr_t g;

	session_cuda(v, false);
	mem = session_alloc(v, SMALL, 0x5a);
	g = session_open();
	a = session_pin(g, v, mem.ptr, 8);
	b = session_pin(g, v, mem.ptr + 8, 8);
	CHECK(a.h != b.h);
	GDR(gdr_map(g, a, &first, 8));
	REFUSED(gdr_map(g, b, &second, 8), EINVAL);
	CHECK(second == &second);
	GDR(gdr_copy_from_mapping(a, &word, first, sizeof(word)));
	CHECK(word == 0x5a5a5a5a5a5a5a5a);
	GDR(gdr_unmap(g, a, first, 8));
	GDR(gdr_unpin_buffer(g, a));
	GDR(gdr_unpin_buffer(g, b));
	GDR(gdr_close(g));
	session_free(&mem);
	session_end();
}

static const struct sanity_test small_buffers[] = {
	{ "basic_small_buffers_mapping", run, PLAIN, SANITY_DEFAULT },
};
SANITY_TABLE(small_buffers);
