/* SPDX-License-Identifier: MIT */
/*
 * The walk over head, body and tail, and the fences around it.  What an access
 * looks like is in copy/, what a fence means in barrier.h, and which routine is
 * taken in copy_choice.c.
 */
#include "copy.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "barrier.h"
#include "copy/access.h"
#include "copy/generic.h"

/* For what a copy of a few bytes is made of: a call costs as much as the access. */
#define FAST static inline __attribute__((always_inline))

/* No block is wider: a line of the write-combining buffer. */
#define LINE 64

/* DEVICE mappings: accesses of at most 8 bytes. */
static const struct gdr_copy_kernel narrow = GDR_COPY_GENERIC_ROW;

/* The widest access that starts at dev, in bytes: aligned, within n and max. */
static inline size_t widest(uintptr_t dev, size_t n, size_t max)
{
	size_t w = max;

	while (w > n || dev & (w - 1))
		w >>= 1;
	return w;
}

/* Part of a block, byte-exact, in the fewest aligned pieces. */
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

static inline void blocks(const struct gdr_copy_kernel *k, enum gdr_copy_dir dir,
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
 * are integers because the direction decides which side is const.  Not inline:
 * copies of a few bytes would save registers for it.
 */
static __attribute__((noinline)) void walk_parts(const struct gdr_copy_kernel *k,
						 enum gdr_copy_dir dir, uintptr_t dev,
						 uintptr_t host, size_t n)
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

static inline void walk(const struct gdr_copy_kernel *k, enum gdr_copy_dir dir,
			uintptr_t dev, uintptr_t host, size_t n)
{
	if ((dev | n) & (k->width - 1))
		walk_parts(k, dir, dev, host, n);
	else
		blocks(k, dir, dev, host, n);
}

/* One access does it: 1, 2, 4, 8 or 16 bytes at their natural alignment. */
FAST bool is_single(const void *dev, size_t n)
{
	return n && n <= 16 && !((n | (uintptr_t)dev) & (n - 1));
}

/* Stores of one copy, or of one piece of several, without fences. */
FAST void put(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
	      void *dev, const void *host, size_t n)
{
	if (is_single(dev, n))
		gdr_access_store(dev, host, n);
	else if (type == GDR_MAPPING_TYPE_CACHING)
		memcpy(dev, host, n);
	else
		walk(type == GDR_MAPPING_TYPE_DEVICE ? &narrow : k, GDR_COPY_TO_MAPPING,
		     (uintptr_t)dev, (uintptr_t)host, n);
}

FAST void fence_before_put(gdr_mapping_type_t type)
{
	if (type == GDR_MAPPING_TYPE_CACHING)
		gdr_fence_coherent();
	else
		gdr_fence_before_device_stores();
}

FAST void fence_after_put(gdr_mapping_type_t type)
{
	if (type == GDR_MAPPING_TYPE_CACHING)
		gdr_fence_coherent();
	else
		gdr_fence_flush_device_stores();
}

/* Loads, likewise. */
FAST void get(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
	      void *host, const void *dev, size_t n)
{
	if (is_single(dev, n))
		gdr_access_load(host, dev, n);
	else if (type == GDR_MAPPING_TYPE_CACHING)
		memcpy(host, dev, n);
	else
		walk(type == GDR_MAPPING_TYPE_DEVICE ? &narrow : k, GDR_COPY_FROM_MAPPING,
		     (uintptr_t)dev, (uintptr_t)host, n);
}

/* plain: no load of a block routine follows. */
FAST void fence_before_get(gdr_mapping_type_t type, bool plain)
{
	if (type == GDR_MAPPING_TYPE_CACHING)
		gdr_fence_coherent();
	else if (plain || type == GDR_MAPPING_TYPE_DEVICE)
		gdr_fence_before_device_loads();
	else
		gdr_fence_before_streaming_loads();
}

FAST void fence_after_get(gdr_mapping_type_t type)
{
	if (type == GDR_MAPPING_TYPE_CACHING)
		gdr_fence_coherent();
	else
		gdr_fence_after_device_loads();
}

FAST void copy_to(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
		  void *dev, const void *host, size_t n)
{
	fence_before_put(type);
	put(k, type, dev, host, n);
	fence_after_put(type);
}

FAST void copy_from(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
		    void *host, const void *dev, size_t n)
{
	fence_before_get(type, is_single(dev, n));
	get(k, type, host, dev, n);
	fence_after_get(type);
}

void gdr_copy_to_by(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
		    void *dev, const void *host, size_t n)
{
	copy_to(k, type, dev, host, n);
}

void gdr_copy_from_by(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
		      void *host, const void *dev, size_t n)
{
	copy_from(k, type, host, dev, n);
}

void gdr_copy_to(gdr_mapping_type_t type, void *dev, const void *host, size_t n)
{
	copy_to(gdr_copy_picked[GDR_COPY_TO_MAPPING], type, dev, host, n);
}

void gdr_copy_from(gdr_mapping_type_t type, void *host, const void *dev, size_t n)
{
	copy_from(gdr_copy_picked[GDR_COPY_FROM_MAPPING], type, host, dev, n);
}

void gdr_copy_iov(enum gdr_copy_dir dir, gdr_mapping_type_t type, const struct gdrx_iov *iov,
		  size_t n)
{
	const struct gdr_copy_kernel *k = gdr_copy_picked[dir];
	size_t i;

	if (dir == GDR_COPY_TO_MAPPING) {
		fence_before_put(type);
		for (i = 0; i < n; i++)
			put(k, type, iov[i].map_d_ptr, iov[i].h_ptr, iov[i].size);
		fence_after_put(type);
	} else {
		fence_before_get(type, false);
		for (i = 0; i < n; i++)
			get(k, type, iov[i].h_ptr, iov[i].map_d_ptr, iov[i].size);
		fence_after_get(type);
	}
}
