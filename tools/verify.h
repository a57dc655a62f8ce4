/* SPDX-License-Identifier: MIT */
/*
 * Checks that the copies which are measured also arrive: what was written
 * through the mapping is read back by CUDA and by the CPU, and what CUDA wrote
 * is what reads through the mapping give.
 */
#ifndef TOOLS_VERIFY_H
#define TOOLS_VERIFY_H

#include <stddef.h>

#include "buffers.h"
#include "report.h"
#include "window.h"

struct verify {
	const struct window *window;
	const struct report *report;    /* for the table of differences */
	const struct buffers *buffers;  /* src is filled, dst is overwritten */
	size_t offset;                  /* of the bytes in the mapping, a multiple of 4 */
	unsigned mismatches;            /* failed checks so far */
};

/* The ints are 0, or -errno with the reason on stderr if a call failed. */

/* Before writes of n bytes from src: src gets the pattern, the device something else. */
int verify_prepare_write(struct verify *v, size_t n);

/* After them: compare.  A difference is printed and counted. */
int verify_write(struct verify *v, size_t n);

/* Before reads of n bytes into dst: the device gets a pattern, dst something else. */
int verify_prepare_read(struct verify *v, size_t n);

/* After them: compare; _at: where they went elsewhere, and src may hold something else now. */
void verify_read(struct verify *v, size_t n);
void verify_read_at(struct verify *v, size_t n, const char *dst);

#endif
