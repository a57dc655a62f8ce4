/* SPDX-License-Identifier: MIT */
/*
 * The block loops, once.  Included by a file per instruction set, which defines
 *
 *	STORE_BLOCKS, LOAD_BLOCKS       names of the two functions
 *	TARGET                          function attribute, or empty
 *	VEC                             type of one register
 *	HOST_LOAD(p), HOST_STORE(p, v)  any alignment
 *	DEV_LOAD(p), DEV_STORE(p, v)    aligned, one access of sizeof(VEC) bytes
 *
 * Four loads come before the four stores, so that four loads of a mapping are in
 * flight at least.
 */
#include "copy/access.h"

#define TRACED_STORE(p, v) do {                                                 \
		gdr_copy_trace(GDR_COPY_TO_MAPPING, p, sizeof(VEC));            \
		DEV_STORE(p, v);                                                \
	} while (0)

#define TRACED_LOAD(v, p) do {                                                  \
		gdr_copy_trace(GDR_COPY_FROM_MAPPING, p, sizeof(VEC));          \
		v = DEV_LOAD(p);                                                \
	} while (0)

TARGET void STORE_BLOCKS(void *dev, const void *host, size_t n)
{
	const size_t w = sizeof(VEC);
	const char *h = host;
	char *d = dev;
	VEC v0, v1, v2, v3;

	for (; n >= 4 * w; n -= 4 * w, d += 4 * w, h += 4 * w) {
		v0 = HOST_LOAD(h);
		v1 = HOST_LOAD(h + w);
		v2 = HOST_LOAD(h + 2 * w);
		v3 = HOST_LOAD(h + 3 * w);
		TRACED_STORE(d, v0);
		TRACED_STORE(d + w, v1);
		TRACED_STORE(d + 2 * w, v2);
		TRACED_STORE(d + 3 * w, v3);
	}
	for (; n; n -= w, d += w, h += w) {
		v0 = HOST_LOAD(h);
		TRACED_STORE(d, v0);
	}
}

TARGET void LOAD_BLOCKS(void *host, const void *dev, size_t n)
{
	const size_t w = sizeof(VEC);
	const char *d = dev;
	char *h = host;
	VEC v0, v1, v2, v3;

	for (; n >= 4 * w; n -= 4 * w, d += 4 * w, h += 4 * w) {
		TRACED_LOAD(v0, d);
		TRACED_LOAD(v1, d + w);
		TRACED_LOAD(v2, d + 2 * w);
		TRACED_LOAD(v3, d + 3 * w);
		HOST_STORE(h, v0);
		HOST_STORE(h + w, v1);
		HOST_STORE(h + 2 * w, v2);
		HOST_STORE(h + 3 * w, v3);
	}
	for (; n; n -= w, d += w, h += w) {
		TRACED_LOAD(v0, d);
		HOST_STORE(h, v0);
	}
}
