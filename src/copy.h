/* SPDX-License-Identifier: MIT */
/*
 * Copies between host memory and a mapping: one walk over head, body and tail,
 * and a table of routines per architecture from which one per direction is
 * picked once.
 */
#ifndef GDR_COPY_H
#define GDR_COPY_H

#include <stddef.h>

#include "gdrapi.h"
#include "gdrapi_ext.h"

enum gdr_copy_dir {
	GDR_COPY_TO_MAPPING = 0,
	GDR_COPY_FROM_MAPPING = 1,
};

/*
 * A routine for whole blocks.  The device side is aligned to width and n is a
 * non-zero multiple of width; the host side may have any alignment.  Accesses
 * of the device are naturally aligned and at most width bytes each.
 */
struct gdr_copy_kernel {
	const char *name;
	unsigned width;                         /* bytes, a power of two, 8 to 64 */
	int (*supported)(void);                 /* can this CPU run it? */
	void (*store)(void *dev, const void *host, size_t n);   /* NULL: cannot */
	void (*load)(void *host, const void *dev, size_t n);    /* NULL: cannot */
};

/*
 * What is compiled in, best first; copy/<arch>.c has it.  The last routine is
 * "generic", which every CPU runs in both directions; a row without a name ends
 * the table.
 */
extern const struct gdr_copy_kernel gdr_copy_kernels[];

/* By direction: the routine in use.  Written by gdr_copy_init alone. */
extern const struct gdr_copy_kernel *gdr_copy_picked[2];

/* Pick routines, once a process; GDRCOPY_COPY restricts the choice.  Idempotent, thread-safe. */
void gdr_copy_init(void);

/*
 * Copy n bytes.  type is not NONE.  gdr_copy_init was called.
 *
 * 1, 2, 4, 8 or 16 bytes at their natural alignment in the mapping are exactly
 * one access.  Anything else is the C library's memcpy on a CACHING mapping.  On
 * the others accesses of the mapping are naturally aligned, of at most 8 bytes on
 * DEVICE; a store writes each byte once and none outside the range; a load may
 * read what surrounds the range, within the aligned 64-byte lines that the range
 * touches.
 *
 * Ordering, per thread, for every mapping type:
 *  - gdr_copy_to: whatever the thread did before is visible to the device before
 *    the copied bytes, and the copied bytes before any store that follows.  On
 *    return they have left the core's write-combining buffers on x86.
 *  - gdr_copy_from: the bytes are no older than what earlier loads saw, also when
 *    the same place is polled; later loads and stores come after it.
 *  - Within one copy there is no order.  Data and the flag that announces it are
 *    two copies.
 *  - Bytes copied to a place are read back from there.  A copy from another place
 *    may be performed before an earlier copy to the mapping has arrived.
 */
void gdr_copy_to(gdr_mapping_type_t type, void *dev, const void *host, size_t n);
void gdr_copy_from(gdr_mapping_type_t type, void *host, const void *dev, size_t n);

/* n pieces as if they were one copy: the fences once, no order between the pieces. */
void gdr_copy_iov(enum gdr_copy_dir dir, gdr_mapping_type_t type, const struct gdrx_iov *iov,
		  size_t n);

/* One copy with a routine of the caller's choice, for tests of all of them. */
void gdr_copy_to_by(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
		    void *dev, const void *host, size_t n);
void gdr_copy_from_by(const struct gdr_copy_kernel *k, gdr_mapping_type_t type,
		      void *host, const void *dev, size_t n);

/* Name of the routine in use, a static string. */
const char *gdr_copy_name(enum gdr_copy_dir dir);

#endif
