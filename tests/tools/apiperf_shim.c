/* SPDX-License-Identifier: MIT */
/*
 * Preloaded before libgdrapi: control call NUMBER of FUNCTION fails with EIO and does
 * nothing, as APIPERF_FAIL=FUNCTION:NUMBER says; with child: before it only in processes
 * for first calls, which child:kill:1 ends; with signal: before it, SIGINT comes and the
 * call does its work.  What was taken and not given back is told on
 * stderr at the end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdrapi.h"

#undef gdr_get_info
int gdr_get_info(gdr_t g, gdr_mh_t mh, void *info);

#define EXPORT __attribute__((visibility("default")))

static atomic_int contexts, pins, maps;

/* The part of APIPERF_FAIL that is about this process, or NULL. */
static const char *wanted(void)
{
	const char *spec = getenv("APIPERF_FAIL");
	char line[256] = "";
	FILE *f;

	if (!spec || strncmp(spec, "child:", 6))
		return spec;
	f = fopen("/proc/self/cmdline", "re");
	if (!f)
		return NULL;
	/* The name of the program, and its first argument. */
	if (fread(line, 1, sizeof(line) - 1, f) == 0)
		line[0] = '\0';
	fclose(f);
	return strcmp(line + strlen(line) + 1, "--first-calls-child") ? NULL : spec + 6;
}

static bool fails(const char *function, atomic_uint *calls)
{
	const char *spec = wanted();
	size_t len = strlen(function);
	unsigned n = atomic_fetch_add(calls, 1) + 1;
	bool signal_only = spec && !strncmp(spec, "signal:", 7);

	if (spec && !strcmp(spec, "kill:1"))
		raise(SIGKILL);
	if (signal_only)
		spec += 7;
	if (!spec || strncmp(spec, function, len) || spec[len] != ':' ||
	    strtoul(spec + len + 1, NULL, 10) != n)
		return false;
	if (signal_only)
		kill(getpid(), SIGINT);
	return !signal_only;
}

/* The call behind this one; or EIO now. */
#define BEHIND(function, failure) \
	static atomic_uint calls; \
	__typeof__(&function) real; \
	*(void **)&real = dlsym(RTLD_NEXT, #function); \
	if (fails(#function, &calls)) \
		return failure

EXPORT gdr_t gdr_open(void)
{
	gdr_t g;

	BEHIND(gdr_open, (errno = EIO, (gdr_t)NULL));
	g = real();
	contexts += g != NULL;
	return g;
}

EXPORT int gdr_close(gdr_t g)
{
	BEHIND(gdr_close, EIO);
	contexts--;
	return real(g);
}

EXPORT int gdr_pin_buffer(gdr_t g, unsigned long addr, size_t size, uint64_t token,
			  uint32_t va_space, gdr_mh_t *mh)
{
	int err;

	BEHIND(gdr_pin_buffer, EIO);
	err = real(g, addr, size, token, va_space, mh);
	pins += !err;
	return err;
}

EXPORT int gdr_pin_buffer_v2(gdr_t g, unsigned long addr, size_t size, uint32_t flags,
			     gdr_mh_t *mh)
{
	int err;

	BEHIND(gdr_pin_buffer_v2, EIO);
	err = real(g, addr, size, flags, mh);
	pins += !err;
	return err;
}

EXPORT int gdr_unpin_buffer(gdr_t g, gdr_mh_t mh)
{
	BEHIND(gdr_unpin_buffer, EIO);
	pins--;
	return real(g, mh);
}

EXPORT int gdr_map_v2(gdr_t g, gdr_mh_t mh, void **va, size_t size, int flags)
{
	int err;

	BEHIND(gdr_map_v2, EIO);
	err = real(g, mh, va, size, flags);
	maps += !err;
	return err;
}

EXPORT int gdr_unmap(gdr_t g, gdr_mh_t mh, void *va, size_t size)
{
	BEHIND(gdr_unmap, EIO);
	maps--;
	return real(g, mh, va, size);
}

EXPORT int gdr_get_info(gdr_t g, gdr_mh_t mh, void *info)
{
	BEHIND(gdr_get_info, EIO);
	return real(g, mh, info);
}

EXPORT int gdr_get_info_v2(gdr_t g, gdr_mh_t mh, gdr_info_v2_t *info)
{
	BEHIND(gdr_get_info_v2, EIO);
	return real(g, mh, info);
}

EXPORT int gdr_get_callback_flag(gdr_t g, gdr_mh_t mh, int *flag)
{
	BEHIND(gdr_get_callback_flag, EIO);
	return real(g, mh, flag);
}

EXPORT int gdr_get_attribute(gdr_t g, gdr_attr_t attr, int *v)
{
	BEHIND(gdr_get_attribute, EIO);
	return real(g, attr, v);
}

EXPORT int gdr_driver_get_version(gdr_t g, int *major, int *minor)
{
	BEHIND(gdr_driver_get_version, EIO);
	return real(g, major, minor);
}

__attribute__((destructor)) static void balance(void)
{
	fprintf(stderr, "balance: %d contexts, %d pins, %d maps\n", (int)contexts, (int)pins,
		(int)maps);
}
