/* SPDX-License-Identifier: MIT */
/*
 * Description: what gdr_map and gdr_unmap refuse, without harm to what is
 * mapped; mapping types; mapping anew; a part of a pin; unpinning what is mapped.
 */
#include <stdint.h>

#include "fault.h"
#include "session.h"

static void twice(const struct sanity_variant *v)
{
	void *va = &va;
	struct mapped p;
	gdr_t g;

	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	p.m[0] = 3;
	REFUSED(gdr_map(g, p.mh, &va, SMALL), EAGAIN);
	REFUSED(gdr_map_v2(g, p.mh, &va, SMALL, GDR_MAP_FLAG_REQ_WC_MAPPING), EAGAIN);
	CHECK(va == &va);
	CHECK_INT(p.m[0], 3);
	session_unmap(&p);
	GDR(gdr_close(g));
	session_free(&p.mem);
	session_end();
}

static void refused(const struct sanity_variant *v)
{
	static const int bad_flags[] = { -1, 4, 5, 0x100, INT32_MIN, INT32_MAX };
	void *va = &va;
	struct mapped p;
	size_t i;

	session_cuda(v, false);
	p.mem = session_alloc(v, SMALL, 0);
	p.g = session_open();
	p.mh = session_pin(p.g, v, p.mem.ptr, SMALL);
	REFUSED(gdr_unmap(p.g, p.mh, &p, SMALL), EINVAL);
	REFUSED(gdr_map(p.g, p.mh, &va, 0), EINVAL);
	REFUSED(gdr_map(p.g, p.mh, &va, SIZE_MAX), EINVAL);
	/* More than there are addresses: the kernel says so before it asks gdrdrv. */
	REFUSED(gdr_map(p.g, p.mh, &va, SIZE_MAX / 2), session_is("gdrdrv") ? ENOMEM : EINVAL);
	REFUSED(gdr_map(p.g, p.mh, &va, SMALL + 1), EINVAL);
	REFUSED(gdr_map(p.g, p.mh, &va, 2 * SMALL), EINVAL);
	for (i = 0; i < sizeof(bad_flags) / sizeof(bad_flags[0]); i++)
		REFUSED(gdr_map_v2(p.g, p.mh, &va, SMALL, bad_flags[i]), EINVAL);
	CHECK(va == &va);

	session_map_pinned(&p);
	p.m[0] = 4;
	REFUSED(gdr_unmap(p.g, p.mh, (char *)p.va + 4096, SMALL), EINVAL);
	REFUSED(gdr_unmap(p.g, p.mh, (char *)p.va - 4096, SMALL), EINVAL);
	REFUSED(gdr_unmap(p.g, p.mh, p.va, 4096), EINVAL);
	REFUSED(gdr_unmap(p.g, p.mh, p.va, 2 * SMALL), EINVAL);
	REFUSED(gdr_unmap(p.g, p.mh, p.va, 0), EINVAL);
	CHECK_INT(p.m[0], 4);
	session_unmap(&p);
	GDR(gdr_close(p.g));
	session_free(&p.mem);
	session_end();
}

/* Each type that can be asked for is given exactly, or refused and the pin stays as it was. */
static void types(const struct sanity_variant *v)
{
	static const gdr_mapping_type_t want[] = { GDR_MAPPING_TYPE_NONE, GDR_MAPPING_TYPE_WC,
						   GDR_MAPPING_TYPE_CACHING,
						   GDR_MAPPING_TYPE_DEVICE };
	int flags, err, given = 0;
	gdr_mapping_type_t usual = GDR_MAPPING_TYPE_NONE;
	struct gpu_mem mem;
	gdr_info_t info;
	gdr_mh_t mh;
	void *va;
	gdr_t g;

	session_cuda(v, false);
	mem = session_alloc(v, SMALL, 0);
	g = session_open();
	mh = session_pin(g, v, mem.ptr, SMALL);
	for (flags = 0; flags < 4; flags++) {
		va = &va;
		err = gdr_map_v2(g, mh, &va, SMALL, flags);
		GDR(gdr_get_info(g, mh, &info));
		if (err) {
			CHECK(flags && (err == EINVAL || err == EOPNOTSUPP));
			CHECK(va == &va && !info.mapped);
			continue;
		}
		CHECK(info.mapped && info.mapping_type != GDR_MAPPING_TYPE_NONE);
		if (!flags)
			usual = info.mapping_type;
		else
			CHECK_INT(info.mapping_type, want[flags]);
		given += flags && info.mapping_type == usual;
		GDR(gdr_unmap(g, mh, va, SMALL));
	}
	/* The usual one can also be asked for by name. */
	CHECK_INT(given, 1);
	GDR(gdr_unpin_buffer(g, mh));
	GDR(gdr_close(g));
	session_free(&mem);
	session_end();
}

static void again(const struct sanity_variant *v)
{
	struct mapped p;
	int i;

	session_cuda(v, false);
	p.mem = session_alloc(v, MEDIUM, 0);
	p.g = session_open();
	p.mh = session_pin(p.g, v, p.mem.ptr, MEDIUM);
	for (i = 0; i < 50; i++) {
		session_map_pinned(&p);
		CHECK_INT(p.m[0], i);
		CHECK_INT(p.m[MEDIUM / sizeof(int) - 1], i);
		p.m[0] = p.m[MEDIUM / sizeof(int) - 1] = i + 1;
		GDR(gdr_unmap(p.g, p.mh, p.va, MEDIUM));
		REFUSED(gdr_unmap(p.g, p.mh, p.va, MEDIUM), EINVAL);
	}
	GDR(gdr_unpin_buffer(p.g, p.mh));
	GDR(gdr_close(p.g));
	session_free(&p.mem);
	session_end();
}

/* Parts of a pin, from its start, of any length. */
static void part(const struct sanity_variant *v)
{
	static const size_t sizes[] = { 1, 4, 4096, 4097, SMALL - 1, SMALL, SMALL + 1, MEDIUM };
	unsigned char byte;
	struct gpu_mem mem;
	gdr_mh_t mh;
	void *va;
	size_t i;
	gdr_t g;

	session_cuda(v, false);
	mem = session_alloc(v, MEDIUM, 0);
	g = session_open();
	mh = session_pin(g, v, mem.ptr, MEDIUM);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		byte = (unsigned char)(i + 1);
		GDR(gdr_map(g, mh, &va, sizes[i]));
		GDR(gdr_copy_to_mapping(mh, (char *)va + sizes[i] - 1, &byte, 1));
		byte = 0;
		CU(cu.MemcpyDtoH(&byte, mem.ptr + sizes[i] - 1, 1));
		CHECK_INT(byte, (int)i + 1);
		GDR(gdr_unmap(g, mh, va, sizes[i]));
	}
	GDR(gdr_unpin_buffer(g, mh));
	GDR(gdr_close(g));
	session_free(&mem);
	session_end();
}

static void unpin_mapped(const struct sanity_variant *v)
{
	struct mapped p;
	gdr_t g;

	fault_catch();
	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	p.m[0] = 1;
	GDR(gdr_unpin_buffer(g, p.mh));
	fault_expect(p.m, 0);
	GDR(gdr_close(g));
	session_free(&p.mem);
	session_end();
}

static const struct sanity_test more_map[] = {
	{ "map_twice", twice, PLAIN, SANITY_MORE },
	{ "map_refused_cumemalloc", refused, PLAIN, SANITY_MORE },
	{ "map_refused_vmmalloc", refused, VMM, SANITY_MORE },
	{ "map_types_cumemalloc", types, PLAIN, SANITY_MORE },
	{ "map_types_vmmalloc", types, VMM, SANITY_MORE },
	{ "map_again_cumemalloc", again, PLAIN, SANITY_MORE },
	{ "map_again_vmmalloc", again, VMM, SANITY_MORE },
	{ "map_part_of_pin", part, PLAIN, SANITY_MORE },
	{ "map_then_unpin_cumemalloc", unpin_mapped, PLAIN, SANITY_MORE },
	{ "map_then_unpin_vmmalloc", unpin_mapped, VMM, SANITY_MORE },
};
SANITY_TABLE(more_map);
