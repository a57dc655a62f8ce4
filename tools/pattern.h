/* SPDX-License-Identifier: MIT */
/* Test data and its comparison. */
#ifndef TOOLS_PATTERN_H
#define TOOLS_PATTERN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Fill with the walking-bit pattern, each 32-bit word XORed with invert: 0 and
 * ~0 give two patterns that differ in every bit.  buf is aligned to 4.
 */
void pattern_fill(void *buf, size_t size, uint32_t invert);

/*
 * Number of 32-bit words that differ, a partial last word included.  To out
 * (NULL: nowhere) go a header and the first ten of them: index, content, expected.
 */
size_t pattern_compare(const void *expected, const void *buf, size_t size, FILE *out);

#endif
