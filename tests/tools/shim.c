/* SPDX-License-Identifier: MIT */
/*
 * Preloaded before libgdrapi: spoils copies of SHIM_SIZE bytes.  SHIM_MODE is
 *   write      a bit in the middle of the device memory is wrong after a write
 *   last       a bit of the last byte is
 *   read       a bit in the middle of what a read returned is wrong
 *   failwrite  writes fail with EIO, once SHIM_SKIP of them were let through
 *   failread   reads do
 * SHIM_CLOCK: each reading of the clock is so many nanoseconds after the one before.
 * SHIM_NO_NULL: there is no /dev/null.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gdrapi.h"

#define EXPORT __attribute__((visibility("default")))

static bool wanted(const char *mode, size_t size)
{
	const char *m = getenv("SHIM_MODE"), *s = getenv("SHIM_SIZE");

	return m && s && !strcmp(m, mode) && strtoul(s, NULL, 0) == size;
}

static bool skip(void)
{
	static unsigned long calls;
	const char *n = getenv("SHIM_SKIP");

	return n && calls++ < strtoul(n, NULL, 0);
}

EXPORT int gdr_copy_to_mapping(gdr_mh_t mh, void *map, const void *host, size_t size)
{
	int (*real)(gdr_mh_t, void *, const void *, size_t);
	size_t at = wanted("write", size) ? size / 2 : size - 1;
	int err;

	*(void **)&real = dlsym(RTLD_NEXT, "gdr_copy_to_mapping");
	if (wanted("failwrite", size) && !skip())
		return EIO;
	err = real(mh, map, host, size);
	if (!err && (wanted("write", size) || wanted("last", size))) {
		char wrong = (char)(((const char *)host)[at] ^ 1);

		err = real(mh, (char *)map + at, &wrong, 1);
	}
	return err;
}

EXPORT int gdr_copy_from_mapping(gdr_mh_t mh, void *host, const void *map, size_t size)
{
	int (*real)(gdr_mh_t, void *, const void *, size_t);
	int err;

	*(void **)&real = dlsym(RTLD_NEXT, "gdr_copy_from_mapping");
	if (wanted("failread", size) && !skip())
		return EIO;
	err = real(mh, host, map, size);
	if (!err && wanted("read", size))
		((char *)host)[size / 2] ^= 1;
	return err;
}

EXPORT int clock_gettime(clockid_t id, struct timespec *ts)
{
	static atomic_long now = 86400000000000;        /* up for a day */
	int (*real)(clockid_t, struct timespec *);
	const char *step = getenv("SHIM_CLOCK");
	long ns;

	*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	if (!step || id != CLOCK_MONOTONIC)
		return real(id, ts);
	ns = atomic_fetch_add(&now, strtol(step, NULL, 0));
	*ts = (struct timespec){ ns / 1000000000, ns % 1000000000 };
	return 0;
}

/* Under the name by which the programs call it, which may be open64. */
EXPORT int open(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...);
	mode_t mode = 0;
	va_list ap;

	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	}
	if (getenv("SHIM_NO_NULL") && !strcmp(path, "/dev/null")) {
		errno = ENOENT;
		return -1;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "open");
	return real(path, flags, mode);
}
