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
 *	LOADS_16                        if there are registers for 16 loads at a time
 *
 * The loads of a batch all come before its stores: they are in flight together,
 * and the stores, of which each may miss the cache, wait in the store buffer
 * together.  Sixteen matter where the host side is not aligned, so that each
 * store touches two lines.
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

#ifdef LOADS_16
#define EACH_OF_16(m)   m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7) \
			m(8) m(9) m(10) m(11) m(12) m(13) m(14) m(15)
#define VEC_NTH(i)      VEC v##i;
#define LOAD_NTH(i)     TRACED_LOAD(v##i, d + (i) * w);
#define STORE_NTH(i)    HOST_STORE(h + (i) * w, v##i);

TARGET static inline void load_16(char *h, const char *d)
{
	const size_t w = sizeof(VEC);
	EACH_OF_16(VEC_NTH)

	EACH_OF_16(LOAD_NTH)
	EACH_OF_16(STORE_NTH)
}
#endif

TARGET void LOAD_BLOCKS(void *host, const void *dev, size_t n)
{
	const size_t w = sizeof(VEC);
	const char *d = dev;
	char *h = host;
	VEC v0, v1, v2, v3;

#ifdef LOADS_16
	for (; n >= 16 * w; n -= 16 * w, d += 16 * w, h += 16 * w)
		load_16(h, d);
#endif
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
