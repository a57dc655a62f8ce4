/* SPDX-License-Identifier: MIT */
/*
 * Description: many pins of one buffer, overlapping pins, no descriptor left to
 * open, and nothing left over: descriptors and GPU memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "session.h"

#define MANY 256

/* All see the same memory, whichever is written; and any order of unpinning does. */
static void many(const struct sanity_variant *v)
{
	static struct mapped p[MANY];
	gdr_t g;
	int i, j;

	session_cuda(v, false);
	p[0].mem = session_alloc(v, SMALL, 0);
	g = session_open();
	for (i = 0; i < MANY; i++) {
		p[i].g = g;
		p[i].mem = p[0].mem;
		p[i].mh = session_pin(g, v, p[i].mem.ptr, SMALL);
		for (j = 0; j < i; j++)
			CHECK(p[j].mh.h != p[i].mh.h);
		session_map_pinned(&p[i]);
		p[i].m[i] = i + 1;
	}
	full_barrier();
	for (i = 0; i < MANY; i++) {
		for (j = 0; j < MANY; j += 37)
			CHECK_INT(p[i].m[j], j + 1);
		GDR(gdr_copy_from_mapping(p[i].mh, &j, (const void *)(uintptr_t)&p[i].m[i],
					  sizeof(j)));
		CHECK_INT(j, i + 1);
	}
	/* Every other one, then the rest in one go. */
	for (i = 0; i < MANY; i += 2)
		session_unmap(&p[i]);
	for (i = 1; i < MANY; i += 2)
		CHECK_INT(p[i].m[i], i + 1);
	GDR(gdr_close(g));
	session_free(&p[0].mem);
	session_end();
}

static void overlap(const struct sanity_variant *v, size_t at)
{
	struct mapped whole, part;
	gdr_mh_t mh = { 0 };
	int err;

	session_cuda(v, false);
	whole.mem = session_alloc(v, MEDIUM, 0);
	whole.g = session_open();
	whole.mh = session_pin(whole.g, v, whole.mem.ptr, MEDIUM);
	session_map_pinned(&whole);
	part = whole;
	part.mem.ptr += at;
	part.mem.size = SMALL;
	err = gdr_pin_buffer(part.g, part.mem.ptr, SMALL, 0, 0, &mh);
	if (err == ENOTSUP && at && sanity.soft)
		sanity_waive("softcuda cannot export one page at two offsets without /dev/udmabuf");
	CHECK_INT(err, 0);
	part.mh = mh;
	session_map_pinned(&part);
	whole.m[at / sizeof(int)] = 123;
	full_barrier();
	CHECK_INT(part.m[0], 123);
	/* The smaller one keeps what it shows. */
	session_unmap(&whole);
	CHECK_INT(part.m[0], 123);
	part.m[1] = 321;
	CHECK_INT(part.m[1], 321);
	session_unmap(&part);
	GDR(gdr_close(part.g));
	session_free(&whole.mem);
	session_end();
}

static void overlap_start(const struct sanity_variant *v)
{
	overlap(v, 0);
}

static void overlap_inside(const struct sanity_variant *v)
{
	overlap(v, 2 * SMALL);
}

/* As far as descriptors go; what was made before the first failure stays good. */
static int fill_up(struct mapped *p, int max)
{
	int n, err;

	for (n = 0; n < max; n++) {
		p[n] = p[0];
		err = gdr_pin_buffer(p[n].g, p[n].mem.ptr, SMALL, 0, 0, &p[n].mh);
		if (err)
			return n;
		err = gdr_map(p[n].g, p[n].mh, &p[n].va, SMALL);
		if (err) {
			GDR(gdr_unpin_buffer(p[n].g, p[n].mh));
			return n;
		}
		p[n].m = p[n].va;
	}
	return n;
}

static void exhaustion(const struct sanity_variant *v)
{
	static struct mapped p[64];
	struct rlimit few, usual;
	int i, n, files;

	session_cuda(v, false);
	p[0].mem = session_alloc(v, SMALL, 0);
	p[0].g = session_open();
	/* What is opened once. */
	GDR(gdr_unpin_buffer(p[0].g, session_pin(p[0].g, v, p[0].mem.ptr, SMALL)));
	files = session_open_files();
	CHECK_SYS(getrlimit(RLIMIT_NOFILE, &usual) == 0);
	few = usual;
	/* Descriptors are the lowest that are free; so this leaves about 16. */
	few.rlim_cur = (rlim_t)files + 3 + 16;
	CHECK_SYS(setrlimit(RLIMIT_NOFILE, &few) == 0);
	n = fill_up(p, 64);
	if (n < 64)
		CHECK(*gdrx_last_error());
	sanity_note("%d pins with mappings, then: %s", n,
		    n < 64 ? gdrx_last_error() : "no limit met");
	CHECK(n > 0);
	for (i = 0; i < n; i++) {
		p[i].m[i] = i + 1;
		CHECK_INT(p[i].m[i], i + 1);
	}
	for (i = 0; i < n; i++)
		session_unmap(&p[i]);
	/* With descriptors to spare it goes on where it stopped. */
	CHECK_SYS(setrlimit(RLIMIT_NOFILE, &usual) == 0);
	CHECK_INT(session_open_files(), files);
	CHECK_INT(fill_up(p, 64), 64);
	GDR(gdr_close(p[0].g));
	session_free(&p[0].mem);
	session_end();
}

static void cycle(const struct sanity_variant *v)
{
	struct mapped p;
	gdr_t g = session_open();

	p = session_map(g, v);
	p.m[0] = 1;
	session_unmap(&p);
	session_free(&p.mem);
	GDR(gdr_close(g));
}

/* Contexts, pins and mappings come and go; descriptors and mappings of the process do not grow. */
static int mappings_of_process(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	int c, n = 0;

	CHECK_SYS(f);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

static void leftovers(const struct sanity_variant *v)
{
	int i, files, maps;

	session_cuda(v, false);
	for (i = 0; i < 3; i++)
		cycle(v);
	files = session_open_files();
	maps = mappings_of_process();
	for (i = 0; i < 20; i++)
		cycle(v);
	CHECK_INT(session_open_files(), files);
	/* CUDA and malloc may keep a few; a mapping a cycle would be 20. */
	CHECK(mappings_of_process() < maps + 10);
	session_end();
}

/* A persistent pin keeps the memory, and gives it back. */
static void memory_back(const struct sanity_variant *v)
{
	const size_t size = (size_t)64 << 20;
	size_t before, after, total;
	struct mapped p;

	session_cuda(v, false);
	p.g = session_open();
	p.mem = session_alloc(v, SMALL, 0);
	GDR(gdr_unpin_buffer(p.g, session_pin(p.g, v, p.mem.ptr, SMALL)));
	session_free(&p.mem);
	CU(cu.MemGetInfo(&before, &total));
	p.mem = session_alloc(v, size, 0);
	p.mh = session_pin(p.g, v, p.mem.ptr, size);
	session_map_pinned(&p);
	session_free(&p.mem);
	session_unmap(&p);
	CU(cu.MemGetInfo(&after, &total));
	/* Others use the GPU, too: by half a buffer, say. */
	CHECK(after + size / 2 >= before);
	GDR(gdr_close(p.g));
	session_end();
}

static const struct sanity_test more_many[] = {
	{ "many_pins_cumemalloc", many, PLAIN, SANITY_MORE },
	{ "many_pins_vmmalloc", many, VMM, SANITY_MORE },
	{ "overlapping_pins_same_start", overlap_start, PLAIN, SANITY_MORE },
	{ "overlapping_pins_cumemalloc", overlap_inside, PLAIN, SANITY_MORE },
	{ "overlapping_pins_vmmalloc", overlap_inside, VMM, SANITY_MORE },
	{ "descriptors_exhausted", exhaustion, PLAIN, SANITY_MORE },
	{ "leftovers_cumemalloc", leftovers, PLAIN, SANITY_MORE },
	{ "leftovers_vmmalloc", leftovers, VMM, SANITY_MORE },
	{ "memory_released_cumemalloc", memory_back, PLAIN, SANITY_MORE },
	{ "memory_released_vmmalloc", memory_back, VMM, SANITY_MORE },
};
SANITY_TABLE(more_many);
