/* SPDX-License-Identifier: MIT */
/*
 * The walk over head, body and tail, and the choice of the block routines.
 * What an access looks like is in copy/, what a fence means in barrier.h.
 */
#include "copy.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "copy/access.h"
#include "copy/generic.h"
#include "log.h"

/* No block is wider: a line of the write-combining buffer. */
#define LINE 64

/* By direction. */
static const struct gdr_copy_kernel *picked[2];

/* DEVICE mappings: accesses of at most 8 bytes. */
static const struct gdr_copy_kernel narrow = GDR_COPY_GENERIC_ROW;

static void load_vec16(void *host, const void *dev, size_t n)
{
	char *h = host;
	const char *d = dev;

	for (; n; n -= 16, d += 16, h += 16)
		gdr_access_load(h, d, 16);
}

/* Loads of less than a block of this: plain ones, which need no MFENCE. */
static const struct gdr_copy_kernel small = {
	"vec16", 16, gdr_generic_supported, NULL, load_vec16
};

/* The widest access that starts at dev, in bytes: aligned, within n and max. */
static inline size_t widest(uintptr_t dev, size_t n, size_t max)
{
	size_t w = max;

	while (w > n || dev & (w - 1))
		w >>= 1;
	return w;
}

/* Part of a block, byte-exact. */
static void store_part(const struct gdr_copy_kernel *k, uintptr_t dev, uintptr_t host, size_t n)
{
	size_t max = k->width < 16 ? k->width : 16;

	while (n) {
		size_t w = widest(dev, n, max);

		gdr_access_store((void *)dev, (const void *)host, w);
		dev += w;
		host += w;
		n -= w;
	}
}

/* Part of a block, by reading all of it: one round trip, whatever the part. */
static void load_part(const struct gdr_copy_kernel *k, uintptr_t dev, uintptr_t host, size_t n)
{
	uintptr_t block = dev & ~(uintptr_t)(k->width - 1);
	char buf[LINE];

	k->load(buf, (const void *)block, k->width);
	memcpy((void *)host, buf + (dev - block), n);
}

static void part(const struct gdr_copy_kernel *k, enum gdr_copy_dir dir,
		 uintptr_t dev, uintptr_t host, size_t n)
{
	if (!n)
		return;
	if (dir == GDR_COPY_TO_MAPPING)
		store_part(k, dev, host, n);
	else
		load_part(k, dev, host, n);
}

static void blocks(const struct gdr_copy_kernel *k, enum gdr_copy_dir dir,
		   uintptr_t dev, uintptr_t host, size_t n)
{
	if (!n)
		return;
	if (dir == GDR_COPY_TO_MAPPING)
		k->store((void *)dev, (const void *)host, n);
	else
		k->load((void *)host, (const void *)dev, n);
}

/*
 * Head up to a block boundary of the device side, whole blocks, tail.  Addresses
 * are integers because the direction decides which side is const.
 */
static void walk(const struct gdr_copy_kernel *k, enum gdr_copy_dir dir,
		 uintptr_t dev, uintptr_t host, size_t n)
{
	size_t mask = k->width - 1;
	size_t head = -dev & mask;
	size_t body;

	if (head > n)
		head = n;
	body = (n - head) & ~mask;

	part(k, dir, dev, host, head);
	blocks(k, dir, dev + head, host + head, body);
	part(k, dir, dev + head + body, host + head + body, n - head - body);
}

/* One access does it: 1, 2, 4, 8 or 16 bytes at their natural alignment. */
static inline bool is_single(const void *dev, size_t n)
{
	return n && n <= 16 && !(n & (n - 1)) && !((uintptr_t)dev & (n - 1));
}

void gdr_copy_to_by(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
		    void *dev, const void *host, size_t n)
{
	bool coherent = type == GDR_MAPPING_TYPE_CACHING;

	if (coherent)
		gdr_fence_coherent();
	else
		gdr_fence_before_device_stores();

	if (is_single(dev, n))
		gdr_access_store(dev, host, n);
	else if (coherent)
		memcpy(dev, host, n);
	else
		walk(type == GDR_MAPPING_TYPE_DEVICE ? &narrow : k, GDR_COPY_TO_MAPPING,
		     (uintptr_t)dev, (uintptr_t)host, n);

	if (coherent)
		gdr_fence_coherent();
	else
		gdr_fence_flush_device_stores();
}

/* Loads of a WC mapping that are more than one access. */
static void load_wc(const struct gdr_copy_kernel *k, void *host, const void *dev, size_t n)
{
	if (n < small.width) {
		if (k->width >= small.width)
			k = &small;
		gdr_fence_before_device_loads();
	} else {
		gdr_fence_before_streaming_loads();
	}
	walk(k, GDR_COPY_FROM_MAPPING, (uintptr_t)dev, (uintptr_t)host, n);
}

void gdr_copy_from_by(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
		      void *host, const void *dev, size_t n)
{
	if (type == GDR_MAPPING_TYPE_CACHING) {
		gdr_fence_coherent();
		if (is_single(dev, n))
			gdr_access_load(host, dev, n);
		else
			memcpy(host, dev, n);
		gdr_fence_coherent();
		return;
	}

	if (is_single(dev, n)) {
		gdr_fence_before_device_loads();
		gdr_access_load(host, dev, n);
	} else if (type == GDR_MAPPING_TYPE_DEVICE) {
		gdr_fence_before_device_loads();
		walk(&narrow, GDR_COPY_FROM_MAPPING, (uintptr_t)dev, (uintptr_t)host, n);
	} else {
		load_wc(k, host, dev, n);
	}
	gdr_fence_after_device_loads();
}

void gdr_copy_to(gdr_mapping_type_t type, void *dev, const void *host, size_t n)
{
	gdr_copy_to_by(picked[GDR_COPY_TO_MAPPING], type, dev, host, n);
}

void gdr_copy_from(gdr_mapping_type_t type, void *host, const void *dev, size_t n)
{
	gdr_copy_from_by(picked[GDR_COPY_FROM_MAPPING], type, host, dev, n);
}

const char *gdr_copy_name(enum gdr_copy_dir dir)
{
	return picked[dir]->name;
}

/* The next item of a list separated by commas or spaces; false at its end. */
static bool next_item(const char **list, const char **item, size_t *len)
{
	*item = *list + strspn(*list, ", ");
	*len = strcspn(*item, ", ");
	*list = *item + *len;
	return *len > 0;
}

static bool is_named(const struct gdr_copy_kernel *k, const char *item, size_t len)
{
	return strlen(k->name) == len && !memcmp(k->name, item, len);
}

static bool is_listed(const char *list, const struct gdr_copy_kernel *k)
{
	const char *item;
	size_t len;

	while (next_item(&list, &item, &len))
		if (is_named(k, item, len))
			return true;
	return false;
}

static void warn_unknown(const char *item, size_t len)
{
	char valid[128] = "";
	size_t used = 0;

	for (const struct gdr_copy_kernel *k = gdr_copy_kernels; k->name; k++)
		if (used < sizeof(valid))
			used += (size_t)snprintf(valid + used, sizeof(valid) - used, "%s%s",
						 used ? ", " : "", k->name);
	gdr_log(GDR_LOG_WARN, "GDRCOPY_COPY: there is no copy routine \"%.*s\"; valid are: %s",
		(int)len, item, valid);
}

static void check_list(const char *list)
{
	const char *item;
	size_t len;

	while (next_item(&list, &item, &len)) {
		const struct gdr_copy_kernel *k = gdr_copy_kernels;

		while (k->name && !is_named(k, item, len))
			k++;
		if (!k->name)
			warn_unknown(item, len);
		else if (!k->supported())
			gdr_log(GDR_LOG_WARN, "GDRCOPY_COPY: this processor cannot run \"%s\"; "
				"ignored", k->name);
	}
}

/* The best that may be used; list NULL allows all.  The last row always may. */
static const struct gdr_copy_kernel *pick(enum gdr_copy_dir dir, const char *list)
{
	const struct gdr_copy_kernel *k;

	for (k = gdr_copy_kernels; k[1].name; k++) {
		bool able = dir == GDR_COPY_TO_MAPPING ? k->store != NULL : k->load != NULL;

		if (able && (!list || is_listed(list, k)) && k->supported())
			break;
	}
	return k;
}

static void init_once(void)
{
	const char *list = getenv("GDRCOPY_COPY");

	if (list && !list[strspn(list, ", ")])
		list = NULL;
	if (list)
		check_list(list);
	picked[GDR_COPY_TO_MAPPING] = pick(GDR_COPY_TO_MAPPING, list);
	picked[GDR_COPY_FROM_MAPPING] = pick(GDR_COPY_FROM_MAPPING, list);
	gdr_log(GDR_LOG_DEBUG, "copy routines: %s to a mapping, %s from it",
		picked[GDR_COPY_TO_MAPPING]->name, picked[GDR_COPY_FROM_MAPPING]->name);
}

void gdr_copy_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_once);
}
