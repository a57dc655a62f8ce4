/* SPDX-License-Identifier: MIT */
/* Reader of glibc's ld.so.cache, layout of glibc 2.2 and later ("glibc-ld.so.cache1.1"). */
#include "ldcache.h"

#include <stdint.h>
#include <string.h>

#define MAGIC      "glibc-ld.so.cache1.1"
#define HEADER     48           /* magic, then u32 count, and what is not needed here */
#define ENTRY      24           /* i32 flags, u32 name, u32 path, u32 os, u64 hwcap */
#define TYPE_MASK  0x00ff       /* of flags */
#define TYPE_LIBC6 0x0003

/* What 64-bit libraries of this architecture have in the flags beside the type. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define ARCH 0x0300
#elif defined(__aarch64__)
#define ARCH 0x0a00
#elif defined(__powerpc64__)
#define ARCH 0x0500
#endif

static uint32_t word(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The string at an offset, if it ends within the cache. */
static const char *string(const unsigned char *p, size_t len, uint32_t offset)
{
	if (offset >= len || !memchr(p + offset, '\0', len - offset))
		return NULL;
	return (const char *)p + offset;
}

static bool is_ours(uint32_t flags)
{
#ifdef ARCH
	return (flags & TYPE_MASK) == TYPE_LIBC6 && (flags & 0xff00) == ARCH;
#else
	return (flags & TYPE_MASK) == TYPE_LIBC6;
#endif
}

/* Older ldconfigs put the new layout behind one of the old layout. */
static const unsigned char *find_magic(const unsigned char *p, size_t *len)
{
	const unsigned char *at = memmem(p, *len, MAGIC, sizeof(MAGIC) - 1);

	if (!at)
		return NULL;
	*len -= (size_t)(at - p);
	return *len < HEADER ? NULL : at;
}

bool ldcache_each(const void *cache, size_t len,
		  bool (*each)(void *arg, const char *name, const char *path), void *arg)
{
	const unsigned char *p = find_magic(cache, &len), *e;
	const char *name, *path;
	uint32_t n, i;

	if (!p)
		return false;
	n = word(p + sizeof(MAGIC) - 1);
	if (n > (len - HEADER) / ENTRY)
		return false;
	for (i = 0; i < n; i++) {
		e = p + HEADER + (size_t)i * ENTRY;
		name = string(p, len, word(e + 4));
		path = string(p, len, word(e + 8));
		if (!is_ours(word(e)) || !name || !path)
			continue;
		if (!each(arg, name, path))
			break;
	}
	return true;
}
