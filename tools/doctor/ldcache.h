/* SPDX-License-Identifier: MIT */
/* The dynamic linker's cache, /etc/ld.so.cache of glibc: which file a library name stands for. */
#ifndef DOCTOR_LDCACHE_H
#define DOCTOR_LDCACHE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Call each with every name and path of the cache, in its order, which is that
 * of preference; stops when each returns false.  The cache may hold any bytes.
 * False if it is not one.
 */
bool ldcache_each(const void *cache, size_t len,
		  bool (*each)(void *arg, const char *name, const char *path), void *arg);

#endif
