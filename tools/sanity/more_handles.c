/* SPDX-License-Identifier: MIT */
/*
 * Description: handles and contexts that are stale, foreign or made up are
 * EINVAL everywhere, and reach nobody else's buffer.
 */
#include <stdlib.h>

#include "fault.h"
#include "inside.h"
#include "session.h"

/* Every call that takes a handle. */
static void refuse_handle(gdr_t g, unsigned long h)
{
	gdr_mh_t mh = { h };
	char device[64] = "device", host[64] = "host";
	void *va = &va;
	gdr_info_t info;
	int flag = 77;

	REFUSED(gdr_map(g, mh, &va, SMALL), EINVAL);
	REFUSED(gdr_unmap(g, mh, device, SMALL), EINVAL);
	REFUSED(gdr_get_info(g, mh, &info), EINVAL);
	REFUSED(gdr_get_callback_flag(g, mh, &flag), EINVAL);
	REFUSED(gdr_unpin_buffer(g, mh), EINVAL);
	REFUSED(gdr_copy_to_mapping(mh, device, host, sizeof(host)), EINVAL);
	REFUSED(gdr_copy_from_mapping(mh, host, device, sizeof(host)), EINVAL);
	REFUSED(gdr_copy_to_mapping(mh, device, host, 0), EINVAL);
	CHECK(va == &va && flag == 77);
	CHECK(strcmp(device, "device") == 0 && strcmp(host, "host") == 0);
}

/* A mapping that nothing of the above may touch. */
static void still_there(const struct mapped *p)
{
	int value;

	CHECK_INT(p->m[0], 4242);
	GDR(gdr_copy_from_mapping(p->mh, &value, (const void *)(uintptr_t)p->m, sizeof(value)));
	CHECK_INT(value, 4242);
}

static void stale(const struct sanity_variant *v)
{
	unsigned long old[64] = { 0 };
	struct mapped p;
	size_t i, j;
	gdr_t g;

	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	p.m[0] = 4242;
	for (i = 0; i < sizeof(old) / sizeof(old[0]); i++) {
		struct gpu_mem mem = p.mem;
		gdr_mh_t mh = session_pin(g, v, mem.ptr, SMALL);

		CHECK(mh.h != p.mh.h);
		for (j = 0; j < i; j++)
			CHECK(mh.h != old[j]);
		GDR(gdr_unpin_buffer(g, mh));
		old[i] = mh.h;
	}
	for (i = 0; i < sizeof(old) / sizeof(old[0]); i++)
		refuse_handle(g, old[i]);
	still_there(&p);
	session_unmap(&p);
	refuse_handle(g, p.mh.h);
	GDR(gdr_close(g));
	session_free(&p.mem);
	session_end();
}

static void forged(const struct sanity_variant *v)
{
	unsigned long h;
	struct mapped p;
	unsigned bit;
	gdr_t g;

	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	p.m[0] = 4242;
	h = p.mh.h;
	refuse_handle(g, 0);
	refuse_handle(g, ~0ul);
	refuse_handle(g, (unsigned long)&p);
	refuse_handle(g, (unsigned long)g);
	for (bit = 0; bit < 64; bit++)
		refuse_handle(g, h ^ 1ul << bit);
	still_there(&p);
	session_unmap(&p);
	GDR(gdr_close(g));
	session_free(&p.mem);
	session_end();
}

/* A handle serves the context it was made with. */
static void other_context(const struct sanity_variant *v)
{
	void *va = &va;
	struct mapped p;
	gdr_info_t info;
	gdr_t g, other;

	session_cuda(v, false);
	g = session_open();
	other = session_open();
	CHECK(g != other);
	p = session_map(g, v);
	p.m[0] = 4242;
	REFUSED(gdr_map(other, p.mh, &va, SMALL), EINVAL);
	REFUSED(gdr_unmap(other, p.mh, p.va, SMALL), EINVAL);
	REFUSED(gdr_get_info(other, p.mh, &info), EINVAL);
	REFUSED(gdr_unpin_buffer(other, p.mh), EINVAL);
	GDR(gdr_close(other));
	still_there(&p);
	session_unmap(&p);
	GDR(gdr_close(g));
	session_free(&p.mem);
	session_end();
}

static void refuse_context(gdr_t g, gdr_mh_t mh, CUdeviceptr ptr)
{
	gdr_mh_t out = { 0 };
	void *va = &va;
	gdr_info_t info;
	int a = 77, b = 77;

	REFUSED(gdr_pin_buffer(g, ptr, SMALL, 0, 0, &out), EINVAL);
	REFUSED(gdr_pin_buffer_v2(g, ptr, SMALL, 0, &out), EINVAL);
	REFUSED(gdr_map(g, mh, &va, SMALL), EINVAL);
	REFUSED(gdr_unmap(g, mh, va, SMALL), EINVAL);
	REFUSED(gdr_get_info(g, mh, &info), EINVAL);
	REFUSED(gdr_get_callback_flag(g, mh, &a), EINVAL);
	REFUSED(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &a), EINVAL);
	REFUSED(gdr_driver_get_version(g, &a, &b), EINVAL);
	REFUSED(gdr_unpin_buffer(g, mh), EINVAL);
	REFUSED(gdr_close(g), EINVAL);
	CHECK(!gdrx_backend_name(g));
	CHECK(!out.h && va == &va && a == 77 && b == 77);
}

static void contexts(const struct sanity_variant *v)
{
	static char nothing[4096];
	struct mapped p;
	gdr_t g, closed;

	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	p.m[0] = 4242;
	closed = session_open();
	GDR(gdr_close(closed));
	refuse_context(NULL, p.mh, p.mem.ptr);
	refuse_context((gdr_t)(void *)nothing, p.mh, p.mem.ptr);
	refuse_context((gdr_t)(uintptr_t)16, p.mh, p.mem.ptr);
	refuse_context(closed, p.mh, p.mem.ptr);
	refuse_context(inside_forge(g, -1), p.mh, p.mem.ptr);
	still_there(&p);
	GDR(gdr_close(g));
	refuse_context(g, p.mh, p.mem.ptr);
	session_free(&p.mem);
	session_end();
}

static const struct sanity_test more_handles[] = {
	{ "handles_stale_cumemalloc", stale, PLAIN, SANITY_MORE },
	{ "handles_stale_vmmalloc", stale, VMM, SANITY_MORE },
	{ "handles_forged", forged, PLAIN, SANITY_MORE },
	{ "handles_of_another_context", other_context, PLAIN, SANITY_MORE },
	{ "contexts_stale_and_forged", contexts, PLAIN, SANITY_MORE },
};
SANITY_TABLE(more_handles);
