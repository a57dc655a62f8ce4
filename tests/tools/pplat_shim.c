/* SPDX-License-Identifier: MIT */
/*
 * Preloaded before libgdrapi: what gdrcopy_pplat's flags and data can suffer.
 * PPLAT_SHIM is
 *   lose N     copies to the mapping of 4 bytes, flags, go nowhere from number N on
 *   stale N    copy N of more than 4 bytes to the mapping, data, goes nowhere
 *   sleep N    flag N is written ten seconds late
 *   blind N    copies from the mapping whose first word is N or more bring zeros
 *   late N     the same, until the CPU has asked whether the kernel still runs
 *   spoil N    copy N from the mapping of more than 4 bytes has a wrong bit in the last
 *   fail N     copy N to the mapping fails with EIO
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdrapi.h"

#define EXPORT __attribute__((visibility("default")))

static bool mode(const char *name, unsigned long *number)
{
	const char *v = getenv("PPLAT_SHIM");
	char word[16];

	return v && sscanf(v, "%15s %lu", word, number) == 2 && !strcmp(word, name);
}

EXPORT int gdr_copy_to_mapping(gdr_mh_t mh, void *map, const void *host, size_t size)
{
	static unsigned long flags, data, all;
	int (*real)(gdr_mh_t, void *, const void *, size_t);
	unsigned long n, *mine = size == 4 ? &flags : &data;

	*(void **)&real = dlsym(RTLD_NEXT, "gdr_copy_to_mapping");
	++*mine;
	if (mode("fail", &n) && ++all == n)
		return EIO;
	if (size == 4 && mode("lose", &n) && flags >= n)
		return 0;
	if (size == 4 && mode("sleep", &n) && flags == n)
		sleep(10);
	if (size > 4 && mode("stale", &n) && data == n)
		return 0;
	return real(mh, map, host, size);
}

/*
 * With one block: is this one of the first 32 looks for flag n that fail?  The CPU
 * asks after the 32nd whether the kernel runs, if the last 16 took 50 ms.
 */
static bool early(unsigned first, unsigned long n)
{
	static unsigned looks;

	if (first + 1 < n)
		return false;
	/* the first one saw the flag before */
	if (++looks == 22)
		usleep(100000);
	return first >= n && looks <= 33;
}

EXPORT int gdr_copy_from_mapping(gdr_mh_t mh, void *host, const void *map, size_t size)
{
	static unsigned long data;
	int (*real)(gdr_mh_t, void *, const void *, size_t);
	unsigned long n;
	unsigned first;
	int err;

	*(void **)&real = dlsym(RTLD_NEXT, "gdr_copy_from_mapping");
	err = real(mh, host, map, size);
	data += size > 4;
	memcpy(&first, host, 4);
	if ((mode("blind", &n) && first >= n) || (mode("late", &n) && size == 4 && early(first, n)))
		memset(host, 0, size);
	if (size > 4 && mode("spoil", &n) && data == n)
		((char *)host)[size - 1] ^= 1;
	return err;
}
