/* SPDX-License-Identifier: MIT */
/*
 * Blocks of 64 bytes by MOVDIR64B, a direct store that is one 64-byte write on
 * the bus.  Its source has any alignment.  There is no load of this kind.
 */
#include "copy/x86.h"

#include <immintrin.h>

#include "copy/access.h"

#define LINE 64

__attribute__((target("movdir64b")))
static inline void store_line(char *dev, const char *host)
{
	gdr_copy_trace(GDR_COPY_TO_MAPPING, dev, LINE);
	_movdir64b(dev, host);
}

__attribute__((target("movdir64b")))
void gdr_store_movdir64b(void *dev, const void *host, size_t n)
{
	const char *h = host;
	char *d = dev;

	for (; n >= 4 * LINE; n -= 4 * LINE, d += 4 * LINE, h += 4 * LINE) {
		store_line(d, h);
		store_line(d + LINE, h + LINE);
		store_line(d + 2 * LINE, h + 2 * LINE);
		store_line(d + 3 * LINE, h + 3 * LINE);
	}
	for (; n; n -= LINE, d += LINE, h += LINE)
		store_line(d, h);
}
