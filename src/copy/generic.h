/* SPDX-License-Identifier: MIT */
/* Block routines in plain C; the last row of every table. */
#ifndef GDR_COPY_GENERIC_H
#define GDR_COPY_GENERIC_H

#include <stddef.h>

int gdr_generic_supported(void);
void gdr_store_generic(void *dev, const void *host, size_t n);
void gdr_load_generic(void *host, const void *dev, size_t n);

#define GDR_COPY_GENERIC_ROW \
	{ "generic", 8, gdr_generic_supported, gdr_store_generic, gdr_load_generic }

#endif
