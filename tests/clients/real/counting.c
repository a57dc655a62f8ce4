/* SPDX-License-Identifier: MIT */
/*
 * A libgdrapi.so.2 that counts.  It hands every call on to the library whose path
 * is in COUNTING_LIBRARY and, when the client ends, appends one line to the file
 * COUNTING_OUTPUT: what was asked and what was refused.  For clients that do not
 * say whether they use the library.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "gdrapi.h"

/* The header renames the v1 function to the v2 one; here they are two. */
#undef gdr_get_info

static struct {
	atomic_ulong open, close, pin, unpin, map, unmap;
	atomic_ulong to, from, to_bytes, from_bytes;
	atomic_ulong refused;           /* calls that failed, whichever */
} count;

static void *real(const char *symbol)
{
	const char *path = getenv("COUNTING_LIBRARY");
	void *lib = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	void *fn = lib ? dlsym(lib, symbol) : NULL;

	if (!fn) {
		fprintf(stderr, "COUNTING_LIBRARY: no %s in %s\n", symbol, path ? path : "(unset)");
		abort();
	}
	return fn;
}

/* The library's function of that name, looked up once. */
#define REAL(name) \
	({ \
		static _Atomic(void *) cached; \
		if (!cached) \
			cached = real(#name); \
		(__typeof__(&(name)))cached; \
	})

static int done(atomic_ulong *n, int ret)
{
	(*(ret ? &count.refused : n))++;
	return ret;
}

gdr_t gdr_open(void)
{
	gdr_t g = REAL(gdr_open)();
	int err = errno;

	done(&count.open, !g);
	errno = err;
	return g;
}

int gdr_close(gdr_t g)
{
	return done(&count.close, REAL(gdr_close)(g));
}

int gdr_pin_buffer(gdr_t g, unsigned long addr, size_t size, uint64_t p2p_token,
		   uint32_t va_space, gdr_mh_t *handle)
{
	return done(&count.pin, REAL(gdr_pin_buffer)(g, addr, size, p2p_token, va_space, handle));
}

int gdr_pin_buffer_v2(gdr_t g, unsigned long addr, size_t size, uint32_t flags, gdr_mh_t *handle)
{
	return done(&count.pin, REAL(gdr_pin_buffer_v2)(g, addr, size, flags, handle));
}

int gdr_unpin_buffer(gdr_t g, gdr_mh_t handle)
{
	return done(&count.unpin, REAL(gdr_unpin_buffer)(g, handle));
}

int gdr_map(gdr_t g, gdr_mh_t handle, void **va, size_t size)
{
	return done(&count.map, REAL(gdr_map)(g, handle, va, size));
}

int gdr_map_v2(gdr_t g, gdr_mh_t handle, void **va, size_t size, int flags)
{
	return done(&count.map, REAL(gdr_map_v2)(g, handle, va, size, flags));
}

int gdr_unmap(gdr_t g, gdr_mh_t handle, void *va, size_t size)
{
	return done(&count.unmap, REAL(gdr_unmap)(g, handle, va, size));
}

int gdr_copy_to_mapping(gdr_mh_t handle, void *map_d_ptr, const void *h_ptr, size_t size)
{
	count.to_bytes += size;
	return done(&count.to, REAL(gdr_copy_to_mapping)(handle, map_d_ptr, h_ptr, size));
}

int gdr_copy_from_mapping(gdr_mh_t handle, void *h_ptr, const void *map_d_ptr, size_t size)
{
	count.from_bytes += size;
	return done(&count.from, REAL(gdr_copy_from_mapping)(handle, h_ptr, map_d_ptr, size));
}

/* Not counted: what has nothing to do with the device. */

int gdr_get_info(gdr_t g, gdr_mh_t handle, void *info);

int gdr_get_info(gdr_t g, gdr_mh_t handle, void *info)
{
	return REAL(gdr_get_info)(g, handle, info);
}

int gdr_get_info_v2(gdr_t g, gdr_mh_t handle, gdr_info_v2_t *info)
{
	return REAL(gdr_get_info_v2)(g, handle, info);
}

int gdr_get_callback_flag(gdr_t g, gdr_mh_t handle, int *flag)
{
	return REAL(gdr_get_callback_flag)(g, handle, flag);
}

void gdr_runtime_get_version(int *major, int *minor)
{
	REAL(gdr_runtime_get_version)(major, minor);
}

int gdr_driver_get_version(gdr_t g, int *major, int *minor)
{
	return REAL(gdr_driver_get_version)(g, major, minor);
}

int gdr_get_attribute(gdr_t g, gdr_attr_t attr, int *v)
{
	return REAL(gdr_get_attribute)(g, attr, v);
}

int gdr_get_mapping_type_string(gdr_mapping_type_t mapping_type, const char **str)
{
	return REAL(gdr_get_mapping_type_string)(mapping_type, str);
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("COUNTING_OUTPUT");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%s: open %lu close %lu pin %lu unpin %lu map %lu unmap %lu to %lu "
		"to_bytes %lu from %lu from_bytes %lu refused %lu\n",
		program_invocation_short_name, count.open, count.close, count.pin, count.unpin,
		count.map, count.unmap, count.to, count.to_bytes, count.from, count.from_bytes,
		count.refused);
	fclose(f);
}
