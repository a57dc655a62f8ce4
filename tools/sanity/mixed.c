/* SPDX-License-Identifier: MIT */
/*
 * Description: one buffer pinned twice and mapped write-combining and cached;
 * what is copied to one mapping is read through the other.
 */
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "session.h"

static void map(struct mapped *p, int flags, gdr_mapping_type_t want)
{
	const char *name;
	gdr_info_t info;

	GDR(gdr_map_v2(p->g, p->mh, &p->va, MEDIUM, flags));
	GDR(gdr_get_info(p->g, p->mh, &info));
	CHECK(info.mapped);
	CHECK_INT(info.mapping_type, want);
	GDR(gdr_get_mapping_type_string(info.mapping_type, &name));
}

static void across(const struct mapped *to, const struct mapped *from, const char *init, char *copy)
{
	session_fill(&to->mem, 0x7d);
	memset(copy, 0x1f, MEDIUM);
	GDR(gdr_copy_to_mapping(to->mh, to->va, init, MEDIUM));
	GDR(gdr_copy_from_mapping(from->mh, copy, from->va, MEDIUM));
	CHECK_INT(pattern_compare(init, copy, MEDIUM, stdout), 0);
}

static void run(const struct sanity_variant *v)
{
	/* A dma-buf has one type, which is chosen when it is made. */
	struct sanity_variant wc_pin = *v;
	char *init = malloc(MEDIUM), *copy = malloc(MEDIUM);
	struct mapped wc = { 0 }, cached;

	session_cuda(v, false);
	session_needs_coherent();
	CHECK(init && copy);
	pattern_fill(init, MEDIUM, 0);
	wc.mem = session_alloc(v, MEDIUM, 0x7d);
	wc.g = session_open();
	if (session_is("rm"))
		sanity_waive("the rm backend maps coherent memory cached, and no other way");
	if (session_is("dmabuf")) {
		session_needs_force_pcie(wc.g);
		wc_pin.pin = PIN_FORCE_PCIE;
	}
	cached = wc;
	wc.mh = session_pin(wc.g, &wc_pin, wc.mem.ptr, MEDIUM);
	cached.mh = session_pin(cached.g, v, wc.mem.ptr, MEDIUM);
	map(&wc, GDR_MAP_FLAG_REQ_WC_MAPPING, GDR_MAPPING_TYPE_WC);
	map(&cached, GDR_MAP_FLAG_REQ_CACHE_MAPPING, GDR_MAPPING_TYPE_CACHING);
	across(&wc, &cached, init, copy);
	across(&cached, &wc, init, copy);
	session_unmap(&wc);
	session_unmap(&cached);
	GDR(gdr_close(wc.g));
	session_free(&wc.mem);
	free(init);
	free(copy);
	session_end();
}

static const struct sanity_test mixed[] = {
	{ "data_validation_mix_mappings_cumemalloc", run, PLAIN, SANITY_DEFAULT },
};
SANITY_TABLE(mixed);
