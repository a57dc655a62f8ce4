/* SPDX-License-Identifier: MIT */
/*
 * What the device side sees: built with GDR_COPY_TRACE, so that the copy code
 * reports each access.  Accesses are naturally aligned; stores cover the range
 * exactly, each byte once; loads stay within the 64-byte lines that the range
 * touches and never read a block twice; 1, 2, 4, 8 and 16 aligned bytes are one
 * access.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "copy/access.h"

#define TO GDR_COPY_TO_MAPPING
#define FROM GDR_COPY_FROM_MAPPING

#define LINE 64
#define OFFSETS 128
#define SIZES 576                      /* two turns of an unrolled loop and a bit */
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
	size_t block;                   /* width of the loads that are expected */
	size_t max;                     /* widest access that is allowed */
	const struct access *accesses;
	size_t count;
};

static _Alignas(128) unsigned char device[ROOM];
static unsigned char host[ROOM];
static struct access trace[ROOM];
static size_t traced;

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
	return NULL;
}

static const char *trace_one(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
			     enum gdr_copy_dir dir, size_t offset, size_t n)
{
	unsigned char *dev = device + MARGIN + offset;
	int narrow = type == GDR_MAPPING_TYPE_DEVICE;
	size_t width = narrow ? 8 : k->width;
	struct seen s = {
		.dir = dir, .dev = (uintptr_t)dev, .n = n,
		.block = n < 16 && width > 16 ? 16 : width,
		.accesses = trace,
	};

	s.max = is_single(&s) && n > width ? n : width;
	traced = 0;
	if (dir == GDR_COPY_TO_MAPPING)
		gdr_copy_to_by(k, type, dev, host, n);
	else
		gdr_copy_from_by(k, type, host, dev, n);
	s.count = traced;
	if (type == GDR_MAPPING_TYPE_CACHING && !is_single(&s))
		return s.count ? "traced, but should be the C library's copy" : NULL;
	return check(&s);
}

static int trace_all(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
		     enum gdr_copy_dir dir)
{
	for (size_t offset = 0; offset < OFFSETS; offset++)
		for (size_t n = 0; n <= SIZES; n++) {
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
				failures += trace_all(k, types[t], GDR_COPY_TO_MAPPING);
			if (k->load)
				failures += trace_all(k, types[t], GDR_COPY_FROM_MAPPING);
		}
		tested++;
	}
	printf("%u routines, %d failures\n", tested, failures);
	return failures ? 1 : 0;
}
