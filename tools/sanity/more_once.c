/* SPDX-License-Identifier: MIT */
/*
 * Description: an aligned copy of 1, 2, 4, 8 or 16 bytes to the mapping is one
 * store, so that a word which the GPU answers is not overwritten by a second;
 * and each copy orders what comes before and after with fences.
 */
#include <stdlib.h>

#include "session.h"
#include "step.h"

struct copy {
	gdr_mh_t mh;
	char *map;
	unsigned char host[64];
	size_t size;
	int result;
};

static void to(void *arg)
{
	struct copy *c = arg;

	c->result = gdr_copy_to_mapping(c->mh, c->map, c->host, c->size);
}

static void from(void *arg)
{
	struct copy *c = arg;

	c->result = gdr_copy_from_mapping(c->mh, c->host, c->map, c->size);
}

static void needs_stepping(void)
{
	if (!step_available())
		sanity_waive("single instructions can be watched on x86-64, and not "
			     "under ThreadSanitizer");
}

static void check_store(struct copy *c, volatile uint64_t *words, size_t at)
{
	const unsigned char *seen;
	struct step s = { .at = words, .words = 2 };
	size_t i;

	words[0] = words[1] = 0xcccccccccccccccc;
	full_barrier();
	memcpy(s.seen, (const void *)(uintptr_t)words, sizeof(s.seen));
	for (i = 0; i < c->size; i++)
		c->host[i] = (unsigned char)(0x10 + i);
	c->map = (char *)(uintptr_t)words + at;
	step_call(&s, to, c);
	CHECK_INT(c->result, 0);
	CHECK(s.instructions > 3);
	if (s.stores != 1)
		sanity_fail(__FILE__, __LINE__, "an aligned copy is one store",
			    "%zu bytes at offset %zu: %u stores", c->size, at, s.stores);
	/* And that one was of all bytes. */
	seen = (const unsigned char *)s.seen;
	CHECK(memcmp(seen + at, c->host, c->size) == 0);
}

static void once(const struct sanity_variant *v)
{
	struct copy c = { .size = 1 };
	struct mapped p;
	size_t at;
	gdr_t g;

	needs_stepping();
	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	c.mh = p.mh;
	/* The first copy chooses routines, resolves symbols. */
	c.map = (char *)(uintptr_t)p.m;
	to(&c);
	for (c.size = 1; c.size <= 16; c.size *= 2)
		for (at = 0; at < 16; at += c.size)
			check_store(&c, (volatile uint64_t *)(uintptr_t)p.m, at);
	session_unmap(&p);
	GDR(gdr_close(g));
	session_free(&p.mem);
	session_end();
}

/* A cached mapping needs no fence instruction on x86, whose order is enough. */
static void fences(const struct sanity_variant *v)
{
	static const size_t sizes[] = { 1, 4, 8, 16, 24, 64 };
	struct copy c = { .size = 1 };
	struct mapped p;
	struct step s;
	gdr_info_t info;
	size_t i;
	gdr_t g;

	needs_stepping();
	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	GDR(gdr_get_info(g, p.mh, &info));
	if (info.mapping_type == GDR_MAPPING_TYPE_CACHING)
		sanity_waive("a cached mapping needs no fence on this processor");
	c.mh = p.mh;
	c.map = (char *)(uintptr_t)p.m;
	to(&c);
	from(&c);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		c.size = sizes[i];
		/* The last word that is written decides. */
		s = (struct step){ .at = (volatile uint64_t *)(uintptr_t)p.m + (c.size - 1) / 8,
				   .words = 1 };
		memset(c.host, 0x40 + (int)i, sizeof(c.host));
		step_call(&s, to, &c);
		CHECK_INT(c.result, 0);
		CHECK(s.stores > 0);
		CHECK(s.fence_after);

		s = (struct step){ .at = (volatile uint64_t *)(uintptr_t)p.m };
		step_call(&s, from, &c);
		CHECK_INT(c.result, 0);
		/* One before the loads, one after. */
		CHECK(s.load_fences >= 2);
	}
	session_unmap(&p);
	GDR(gdr_close(g));
	session_free(&p.mem);
	session_end();
}

static const struct sanity_test more_once[] = {
	{ "copy_stores_once", once, PLAIN, SANITY_MORE },
	{ "copy_fences", fences, PLAIN, SANITY_MORE },
};
SANITY_TABLE(more_once);
