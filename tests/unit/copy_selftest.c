/* SPDX-License-Identifier: MIT */
/*
 * The harness finds each kind of error in a routine that has exactly this error.
 * Single blocks are copied right: the walk may have one loaded into a buffer of
 * its own, which is not the harness's to watch.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "copy_harness.h"

#define WIDTH 64

static volatile unsigned char sink;

static int yes(void)
{
	return 1;
}

static void right(void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
}

static void one_byte_over(void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
	if (n > WIDTH)
		((volatile unsigned char *)dst)[n] = 0;
}

static void one_byte_under(void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
	if (n > WIDTH)
		((volatile unsigned char *)dst)[-1] = 0;
}

static void over_read(void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
	if (n > WIDTH)
		sink = ((const volatile unsigned char *)src)[n];
}

static void under_read(void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
	if (n > WIDTH)
		sink = ((const volatile unsigned char *)src)[-1];
}

static void one_byte_short(void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n > WIDTH ? n - 1 : n);
}

static void wrong_block(void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
	if (n >= 4 * WIDTH)
		memcpy((char *)dst + 2 * WIDTH, src, WIDTH);
}

static void writes_source(void *dst, const void *src, size_t n)
{
	volatile unsigned char *s = (volatile unsigned char *)(uintptr_t)src;

	memcpy(dst, src, n);
	if (n > WIDTH)
		s[0] ^= 0;
}

static const struct {
	const char *name;
	void (*copy)(void *dst, const void *src, size_t n);
	const char *finding;            /* part of what is reported; NULL: nothing */
} routines[] = {
	{ "right", right, NULL },
	{ "one byte over", one_byte_over, "outside the destination" },
	{ "one byte under", one_byte_under, "outside the" },
	{ "over-read", over_read, "outside the buffers" },
	{ "under-read", under_read, "outside the buffers" },
	{ "one byte short", one_byte_short, "wrong bytes" },
	{ "wrong block", wrong_block, "wrong bytes" },
	{ "writes the source", writes_source, "store to the source" },
};

int main(void)
{
	int failures = 0;

	if (harness_init()) {
		perror("cannot set up the buffers");
		return 1;
	}
	for (size_t i = 0; i < sizeof(routines) / sizeof(routines[0]); i++) {
		struct gdr_copy_kernel k = {
			routines[i].name, WIDTH, yes, routines[i].copy, routines[i].copy
		};
		for (int dir = 0; dir < 2; dir++) {
			struct copy_run run = {
				.kernel = &k, .type = GDR_MAPPING_TYPE_WC,
				.dir = (enum gdr_copy_dir)dir, .max_size = 8 * WIDTH,
			};
			struct copy_result result;
			int ok;

			harness_run(&run, &result);
			ok = routines[i].finding ?
				strstr(result.failure, routines[i].finding) != NULL :
				!result.failure[0];
			printf("%s: %s: %s\n", ok ? "ok" : "FAILED", k.name,
			       result.failure[0] ? result.failure : "nothing found");
			failures += !ok;
		}
	}
	return failures ? 1 : 0;
}
