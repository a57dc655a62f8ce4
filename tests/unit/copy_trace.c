/* SPDX-License-Identifier: MIT */
/*
 * What the device side sees: built with GDR_COPY_TRACE, so that the copy code
 * reports each access.  Accesses are naturally aligned; stores cover the range
 * exactly, each byte once, in as few accesses as the routine's widths allow; loads
 * stay within the 64-byte lines that the range touches and read each block that
 * has a byte of it once; 1, 2, 4, 8 and 16 aligned bytes are one access.  One
 * fence is before the accesses and one after them, and none between, also if they
 * are those of several pieces.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "barrier.h"
#include "copy/access.h"

#define TO GDR_COPY_TO_MAPPING
#define FROM GDR_COPY_FROM_MAPPING

#define LINE 64
#define OFFSETS 128
#define SIZES 2240                      /* two turns of a loop of 16 blocks, and a bit */
#define EVERY_SIZE 576                  /* up to here each, beyond at some offsets every 13th */
#define SMALL 256                       /* up to here the number of stores is checked */
#define MARGIN 128
#define ROOM (MARGIN + OFFSETS + SIZES + MARGIN)

struct access {
	enum gdr_copy_dir dir;
	uintptr_t addr;
	size_t width;
};

/* A copy and what the device side saw of it. */
struct seen {
	enum gdr_copy_dir dir;
	uintptr_t dev;
	size_t n;
	size_t block;                   /* width of the routine */
	size_t max;                     /* widest access that is allowed */
	const struct access *accesses;
	size_t count;
};

static _Alignas(128) unsigned char device[ROOM];
static unsigned char host[ROOM];
static struct access trace[ROOM];
static size_t traced;

/* A fence, and how many accesses came before it. */
struct fence {
	const char *insn;
	size_t at;
};

#define FENCES 8

static struct fence fences[FENCES];
static size_t fenced;

void gdr_fence_trace(const char *insn)
{
	if (fenced < FENCES)
		fences[fenced] = (struct fence){ insn, traced };
	fenced++;
}

void gdr_copy_trace(enum gdr_copy_dir dir, const volatile void *dev, size_t width)
{
	if (traced < ROOM)
		trace[traced] = (struct access){ dir, (uintptr_t)dev, width };
	traced++;
}

static int is_single(const struct seen *s)
{
	return (s->n == 1 || s->n == 2 || s->n == 4 || s->n == 8 || s->n == 16) &&
	       s->dev % s->n == 0;
}

static const char *check_each(const struct seen *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct access *a = &s->accesses[i];

		if (a->dir != s->dir)
			return "wrong direction";
		if (!a->width || a->width & (a->width - 1) || a->width > s->max)
			return "odd width";
		if (a->addr % a->width)
			return "not naturally aligned";
	}
	return NULL;
}

/* counts[0] belongs to the byte MARGIN before the range. */
static const char *check_coverage(const struct seen *s)
{
	static unsigned char counts[MARGIN + SIZES + MARGIN];
	uintptr_t first = s->dev - MARGIN;
	size_t len = MARGIN + s->n + MARGIN;

	memset(counts, 0, len);
	for (size_t i = 0; i < s->count; i++) {
		const struct access *a = &s->accesses[i];

		if (a->addr < first || a->addr + a->width > first + len)
			return "far outside the range";
		for (size_t j = 0; j < a->width; j++)
			counts[a->addr - first + j]++;
	}
	for (size_t i = 0; i < len; i++) {
		uintptr_t addr = first + i;
		int inside = addr >= s->dev && addr < s->dev + s->n;
		int near = s->n && addr / LINE >= s->dev / LINE &&
			   addr / LINE <= (s->dev + s->n - 1) / LINE;

		if (inside && !counts[i])
			return "a byte was left out";
		if (counts[i] > 1)
			return "a byte was accessed twice";
		if (counts[i] && !inside && s->dir == GDR_COPY_TO_MAPPING)
			return "a store outside the range";
		if (counts[i] && !near)
			return "a load outside the lines of the range";
	}
	return NULL;
}

/*
 * The fewest naturally aligned accesses that cover [dev, dev + n) exactly, of 1,
 * 2, 4, 8 or 16 bytes, if block allows, or whole blocks.
 */
static size_t fewest(uintptr_t dev, size_t n, size_t block)
{
	static size_t best[SIZES + 1];  /* from byte i of the range to its end */

	best[n] = 0;
	for (size_t i = n; i-- > 0;) {
		best[i] = SIZE_MAX;
		for (size_t w = 1; w <= block; w *= 2) {
			if ((w > 16 && w != block) || (dev + i) % w || i + w > n)
				continue;
			if (best[i + w] + 1 < best[i])
				best[i] = best[i + w] + 1;
		}
	}
	return best[0];
}

/* NULL, or the rule that was broken. */
static const char *check(const struct seen *s)
{
	const char *wrong = check_each(s);
	size_t blocks = s->n ? (s->dev + s->n - 1) / s->block - s->dev / s->block + 1 : 0;

	if (!wrong)
		wrong = check_coverage(s);
	if (wrong)
		return wrong;
	if (is_single(s))
		return s->count == 1 && s->accesses[0].width == s->n ? NULL :
		       "more than one access";
	if (s->dir == GDR_COPY_FROM_MAPPING && s->count != blocks)
		return "more loads than blocks";
	if (s->dir == GDR_COPY_TO_MAPPING && s->n <= SMALL &&
	    s->count != fewest(s->dev, s->n, s->block))
		return "more stores than needed";
	return NULL;
}

/* The fences around s, all of whose accesses were traced. */
static const char *check_fences(const struct seen *s, gdr_mapping_type_t type, int streaming)
{
	const char *before = GDR_FENCE_COHERENT, *after = GDR_FENCE_COHERENT;

	if (type != GDR_MAPPING_TYPE_CACHING && s->dir == GDR_COPY_TO_MAPPING) {
		before = GDR_FENCE_RELEASE;
		after = GDR_FENCE_STORES;
	} else if (type != GDR_MAPPING_TYPE_CACHING) {
		before = streaming && type == GDR_MAPPING_TYPE_WC ? GDR_FENCE_STREAMING :
			 GDR_FENCE_LOADS;
		after = GDR_FENCE_LOADS;
	}
	if (fenced != 2 || fences[0].at != 0 || fences[1].at != s->count)
		return "not one fence before and one after";
	if (strcmp(fences[0].insn, before) != 0 || strcmp(fences[1].insn, after) != 0)
		return "another fence than the copy needs";
	return NULL;
}

/* Three pieces are the accesses of three copies, with the fences of one. */
static int trace_pieces(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
			enum gdr_copy_dir dir)
{
	struct gdrx_iov iov[] = {
		{ device + MARGIN + 3, host, 100 },
		{ device + MARGIN + 192, host + 128, 8 },
		{ device + MARGIN + 256, host + 256, 128 },
	};
	struct seen s = { .dir = dir };
	const char *wrong;

	traced = fenced = 0;
	for (size_t i = 0; i < 3; i++) {
		if (dir == GDR_COPY_TO_MAPPING)
			gdr_copy_to_by(k, type, iov[i].map_d_ptr, iov[i].h_ptr, iov[i].size);
		else
			gdr_copy_from_by(k, type, iov[i].h_ptr, iov[i].map_d_ptr, iov[i].size);
	}
	s.count = traced;
	gdr_copy_picked[dir] = k;
	traced = fenced = 0;
	gdr_copy_iov(dir, type, iov, 3);
	wrong = traced == s.count ? check_fences(&s, type, 1) : "not the accesses of its pieces";
	if (wrong)
		printf("FAILED: %s, type %d, %s the mapping: three pieces: %s\n", k->name,
		       (int)type, dir == GDR_COPY_TO_MAPPING ? "to" : "from", wrong);
	return wrong != NULL;
}

static const char *trace_one(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
			     enum gdr_copy_dir dir, size_t offset, size_t n)
{
	unsigned char *dev = device + MARGIN + offset;
	int narrow = type == GDR_MAPPING_TYPE_DEVICE;
	size_t width = narrow ? 8 : k->width;
	struct seen s = {
		.dir = dir, .dev = (uintptr_t)dev, .n = n,
		.block = width,
		.accesses = trace,
	};
	const char *wrong;

	s.max = is_single(&s) && n > width ? n : width;
	traced = fenced = 0;
	if (dir == GDR_COPY_TO_MAPPING)
		gdr_copy_to_by(k, type, dev, host, n);
	else
		gdr_copy_from_by(k, type, host, dev, n);
	s.count = traced;
	wrong = check_fences(&s, type, !is_single(&s));
	if (wrong)
		return wrong;
	if (type == GDR_MAPPING_TYPE_CACHING && !is_single(&s))
		return s.count ? "traced, but should be the C library's copy" : NULL;
	return check(&s);
}

static int trace_all(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
		     enum gdr_copy_dir dir)
{
	for (size_t offset = 0; offset < OFFSETS; offset++)
		for (size_t n = 0; n <= (offset % 31 ? EVERY_SIZE : SIZES);
		     n += n < EVERY_SIZE ? 1 : 13) {
			const char *wrong = trace_one(k, type, dir, offset, n);

			if (!wrong)
				continue;
			printf("FAILED: %s, type %d, %s the mapping: %s: %zu bytes at "
			       "offset %zu\n", k->name, (int)type,
			       dir == GDR_COPY_TO_MAPPING ? "to" : "from", wrong, n, offset);
			for (size_t i = 0; i < traced && i < 20; i++)
				printf("  %zu bytes at offset %td\n", trace[i].width,
				       (ptrdiff_t)(trace[i].addr - (uintptr_t)device) - MARGIN);
			return 1;
		}
	return 0;
}

static int trace_both(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
		      enum gdr_copy_dir dir)
{
	return trace_all(k, type, dir) + trace_pieces(k, type, dir);
}

/* The rules are able to say no. */
static int check_the_check(void)
{
	const uintptr_t d = 0x10000;
	static const struct {
		enum gdr_copy_dir dir;
		size_t offset, n, count;
		struct access a[3];     /* addr is an offset */
		int fine;
	} cases[] = {
		{ TO, 0, 24, 2, { { TO, 0, 16 }, { TO, 16, 8 } }, 1 },
		{ TO, 0, 24, 2, { { FROM, 0, 16 }, { TO, 16, 8 } }, 0 },
		{ TO, 4, 16, 1, { { TO, 4, 16 } }, 0 },
		{ TO, 0, 24, 2, { { TO, 0, 16 }, { TO, 16, 16 } }, 0 },
		{ TO, 0, 24, 3, { { TO, 0, 16 }, { TO, 8, 8 }, { TO, 16, 8 } }, 0 },
		{ TO, 0, 24, 1, { { TO, 0, 16 } }, 0 },
		{ TO, 0, 3, 1, { { TO, 0, 3 } }, 0 },
		{ TO, 0, 3, 2, { { TO, 0, 2 }, { TO, 2, 1 } }, 1 },
		{ TO, 0, 3, 3, { { TO, 0, 1 }, { TO, 1, 1 }, { TO, 2, 1 } }, 0 },
		{ TO, 1, 3, 2, { { TO, 1, 1 }, { TO, 2, 2 } }, 1 },
		{ TO, 0, 8, 2, { { TO, 0, 4 }, { TO, 4, 4 } }, 0 },
		{ FROM, 3, 12, 1, { { FROM, 0, 16 } }, 1 },
		{ FROM, 3, 12, 2, { { FROM, 0, 8 }, { FROM, 8, 8 } }, 0 },
		{ FROM, 3, 12, 2, { { FROM, 0, 16 }, { FROM, 64, 16 } }, 0 },
		{ FROM, 3, 12, 2, { { FROM, 0, 16 }, { FROM, 4096, 16 } }, 0 },
		{ FROM, 3, 17, 1, { { FROM, 0, 16 } }, 0 },
	};
	int failures = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct access a[3];
		struct seen s = {
			.dir = cases[i].dir, .dev = d + cases[i].offset,
			.n = cases[i].n, .block = 16, .max = 16,
			.accesses = a, .count = cases[i].count,
		};
		const char *wrong;

		memcpy(a, cases[i].a, sizeof(a));
		for (size_t j = 0; j < s.count; j++)
			a[j].addr += d;
		wrong = check(&s);
		if ((wrong == NULL) != cases[i].fine) {
			printf("FAILED: rule check %zu: %s\n", i, wrong ? wrong : "passed");
			failures++;
		}
	}
	return failures;
}

int main(void)
{
	static const gdr_mapping_type_t types[] = {
		GDR_MAPPING_TYPE_WC, GDR_MAPPING_TYPE_CACHING, GDR_MAPPING_TYPE_DEVICE,
	};
	int failures = check_the_check();
	unsigned tested = 0;

	for (const struct gdr_copy_kernel *k = gdr_copy_kernels; k->name; k++) {
		if (!k->supported()) {
			printf("%s: NOT RUN: this processor lacks it\n", k->name);
			continue;
		}
		for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
			if (k->store)
				failures += trace_both(k, types[t], GDR_COPY_TO_MAPPING);
			if (k->load)
				failures += trace_both(k, types[t], GDR_COPY_FROM_MAPPING);
		}
		tested++;
	}
	printf("%u routines, %d failures\n", tested, failures);
	return failures ? 1 : 0;
}
