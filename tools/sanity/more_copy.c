/* SPDX-License-Identifier: MIT */
/*
 * Description: copies of every small size at every alignment are exact, and
 * touch nothing beside; copies on what is not mapped are refused.
 */
#include "session.h"

#define ROOM    512
#define GUARD   128

struct range {
	unsigned char byte[ROOM];
};

static void number(struct range *r, unsigned seed)
{
	unsigned i;

	for (i = 0; i < ROOM; i++)
		r->byte[i] = (unsigned char)(i * 7 + seed);
}

static void check_range(const struct range *got, const struct range *before, const struct range *in,
			size_t to, size_t from, size_t n, const char *what)
{
	size_t i;
	int want;

	for (i = 0; i < ROOM; i++) {
		want = i >= to && i < to + n ? in->byte[from + i - to] : before->byte[i];
		if (got->byte[i] != want)
			sanity_fail(__FILE__, __LINE__, what,
				    "%zu bytes from offset %zu to offset %zu: byte %zu is 0x%02x, "
				    "not 0x%02x", n, from, to, i, got->byte[i], want);
	}
}

/*
 * The device side is read and reset through the mapping with plain loads and
 * stores, which the tests of the default run compare with what CUDA sees.
 */
static void one(const struct mapped *p, size_t map_at, size_t host_at, size_t n, unsigned seed)
{
	volatile uint64_t *m = (volatile uint64_t *)(uintptr_t)p->m;
	char *map = (char *)(uintptr_t)p->m;
	struct range src, device, host, before;
	size_t i;

	number(&src, seed);
	memset(&before, 0xdb, sizeof(before));
	for (i = 0; i < ROOM / 8; i++)
		m[i] = 0xdbdbdbdbdbdbdbdb;
	full_barrier();
	GDR(gdr_copy_to_mapping(p->mh, map + map_at, src.byte + host_at, n));
	full_barrier();
	for (i = 0; i < ROOM / 8; i++)
		((uint64_t *)(void *)device.byte)[i] = m[i];
	check_range(&device, &before, &src, map_at, host_at, n, "gdr_copy_to_mapping");

	host = before;
	GDR(gdr_copy_from_mapping(p->mh, host.byte + host_at, map + map_at, n));
	check_range(&host, &before, &device, host_at, map_at, n, "gdr_copy_from_mapping");
}

static void exact(const struct sanity_variant *v)
{
	size_t n, at;
	unsigned seed = 0;
	struct mapped p;
	gdr_t g;

	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	/* Loads from a GPU take a microsecond each: not the whole product. */
	for (n = 0; n <= 80; n++)
		for (at = 0; at < 64; at += n <= 17 ? 1 : 5)
			one(&p, GUARD + at, GUARD + (at * 3 + n) % 16, n, seed++);
	for (n = 81; n <= 200; n += 7)
		for (at = 0; at < 64; at += 9)
			one(&p, GUARD + at, GUARD + at % 16, n, seed++);
	session_unmap(&p);
	GDR(gdr_close(g));
	session_free(&p.mem);
	session_end();
}

/* The last bytes of the mapping, where no byte beyond may be touched. */
static void at_the_end(const struct sanity_variant *v)
{
	unsigned char in[130], out[130];
	struct mapped p;
	char *end;
	size_t n, i;
	gdr_t g;

	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	end = (char *)(uintptr_t)p.m + SMALL;
	for (n = 1; n <= sizeof(in); n++) {
		for (i = 0; i < n; i++)
			in[i] = (unsigned char)(n + i);
		GDR(gdr_copy_to_mapping(p.mh, end - n, in, n));
		memset(out, 0, sizeof(out));
		CU(cu.MemcpyDtoH(out, p.mem.ptr + SMALL - n, n));
		CHECK(memcmp(in, out, n) == 0);
		memset(out, 0, sizeof(out));
		GDR(gdr_copy_from_mapping(p.mh, out, end - n, n));
		CHECK(memcmp(in, out, n) == 0);
	}
	session_unmap(&p);
	GDR(gdr_close(g));
	session_free(&p.mem);
	session_end();
}

static void refuse_copies(gdr_mh_t mh, void *map)
{
	char host[10] = "as it was";

	REFUSED(gdr_copy_to_mapping(mh, map, host, sizeof(host)), EINVAL);
	REFUSED(gdr_copy_from_mapping(mh, host, map, sizeof(host)), EINVAL);
	REFUSED(gdr_copy_to_mapping(mh, map, host, 0), EINVAL);
	REFUSED(gdr_copy_from_mapping(mh, host, map, 0), EINVAL);
	CHECK(memcmp(host, "as it was", sizeof(host)) == 0);
}

static void not_mapped(const struct sanity_variant *v)
{
	struct mapped p;
	char here[8];

	session_cuda(v, false);
	p.mem = session_alloc(v, SMALL, 0);
	p.g = session_open();
	p.mh = session_pin(p.g, v, p.mem.ptr, SMALL);
	refuse_copies(p.mh, here);
	session_map_pinned(&p);
	GDR(gdr_copy_to_mapping(p.mh, p.va, here, 0));
	GDR(gdr_copy_from_mapping(p.mh, here, p.va, 0));
	GDR(gdr_unmap(p.g, p.mh, p.va, SMALL));
	refuse_copies(p.mh, p.va);
	GDR(gdr_unpin_buffer(p.g, p.mh));
	refuse_copies(p.mh, p.va);
	GDR(gdr_close(p.g));
	refuse_copies(p.mh, p.va);
	session_free(&p.mem);
	session_end();
}

static const struct sanity_test more_copy[] = {
	{ "copy_exact", exact, PLAIN, SANITY_MORE },
	{ "copy_at_the_end", at_the_end, PLAIN, SANITY_MORE },
	{ "copy_not_mapped", not_mapped, PLAIN, SANITY_MORE },
};
SANITY_TABLE(more_copy);
