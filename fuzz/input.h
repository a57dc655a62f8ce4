/* SPDX-License-Identifier: MIT */
/* A fuzzer's input, taken from its front; zeros follow its end. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *p, *end;
};

static inline bool input_left(const struct input *in)
{
	return in->p < in->end;
}

/* size bytes, 8 at most, as a little-endian number. */
static inline uint64_t input_number(struct input *in, size_t size)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < size && in->p < in->end; i++)
		v |= (uint64_t)*in->p++ << 8 * i;
	return v;
}

static inline uint8_t input_byte(struct input *in)
{
	return (uint8_t)input_number(in, 1);
}

/* 0 to n - 1. */
static inline unsigned input_pick(struct input *in, unsigned n)
{
	return input_byte(in) % n;
}

/* A number of the kind that breaks things, or any. */
static inline uint64_t input_wild(struct input *in)
{
	static const uint64_t edges[] = {
		0, 1, 2, 0xfff, 0x1000, 0x1001, 0xffff, 0x10000, 0x10001, 0x1fffff, 0x200000,
		0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, INT64_MAX, 1ull << 63,
		UINT64_MAX - 0xffff, UINT64_MAX - 0xfff, UINT64_MAX,
	};
	unsigned which = input_byte(in);

	if (which < sizeof(edges) / sizeof(edges[0]))
		return edges[which];
	return input_number(in, which % 8 + 1);
}

/* What must hold whatever the input is. */
#define MUST(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s line %d: broken: %s\n", __FILE__, __LINE__, #cond); \
			abort(); \
		} \
	} while (0)

#endif
