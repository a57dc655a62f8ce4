/* SPDX-License-Identifier: MIT */
/* arm64: block routines. */
#ifndef GDR_COPY_ARM_H
#define GDR_COPY_ARM_H

#include <stddef.h>

void gdr_store_neon(void *dev, const void *host, size_t n);
void gdr_load_neon(void *host, const void *dev, size_t n);
void gdr_store_pair(void *dev, const void *host, size_t n);
void gdr_load_pair(void *host, const void *dev, size_t n);

#endif
