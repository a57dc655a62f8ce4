/* SPDX-License-Identifier: MIT */
/*
 * Device addresses: reserving them where the CPU cannot touch them, and the
 * table of everything that lives there, sorted by address.  The memory lock is
 * here too.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softcuda.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct sc_alloc **table;
static unsigned int count, room;
static atomic_uint_fast64_t last_id;

void sc_mem_rdlock(void)
{
	pthread_rwlock_rdlock(&lock);
}

void sc_mem_wrlock(void)
{
	pthread_rwlock_wrlock(&lock);
}

void sc_mem_unlock(void)
{
	pthread_rwlock_unlock(&lock);
}

uint64_t sc_range_new_id(void)
{
	return atomic_fetch_add(&last_id, 1) + 1;
}

unsigned int sc_range_after(CUdeviceptr ptr)
{
	unsigned int lo = 0, hi = count;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (table[mid]->start + table[mid]->size > ptr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

struct sc_alloc *sc_range_at(unsigned int i)
{
	return i < count ? table[i] : NULL;
}

struct sc_alloc *sc_range_find(CUdeviceptr ptr)
{
	struct sc_alloc *a = sc_range_at(sc_range_after(ptr));

	return a && a->start <= ptr ? a : NULL;
}

int sc_range_add(struct sc_alloc *a)
{
	unsigned int i = sc_range_after(a->start);

	if (count == room) {
		unsigned int more = room ? 2 * room : 64;
		struct sc_alloc **t = realloc(table, more * sizeof(*t));

		if (!t)
			return -ENOMEM;
		table = t;
		room = more;
	}
	memmove(&table[i + 1], &table[i], (count - i) * sizeof(*table));
	table[i] = a;
	count++;
	return 0;
}

void sc_range_remove(struct sc_alloc *a)
{
	unsigned int i = sc_range_after(a->start);

	count--;
	memmove(&table[i], &table[i + 1], (count - i) * sizeof(*table));
	if (!count) {
		free(table);
		table = NULL;
		room = 0;
	}
}

struct sc_map *sc_range_map(const struct sc_alloc *a, CUdeviceptr ptr)
{
	for (unsigned int i = 0; i < a->nmaps; i++)
		if (ptr >= a->maps[i].start && ptr - a->maps[i].start < a->maps[i].size)
			return &a->maps[i];
	return NULL;
}

/* -ENOENT: nothing there; -EACCES: mapped, but dev may not do that. */
int sc_range_resolve(CUdeviceptr ptr, int dev, bool write, unsigned char **host, size_t *len)
{
	struct sc_alloc *a = sc_range_find(ptr);
	struct sc_map *m;

	if (!a)
		return -ENOENT;
	switch (a->kind) {
	case SC_HOST:
	case SC_MANAGED:
		*host = (unsigned char *)(uintptr_t)ptr;
		break;
	case SC_RESERVE:
		m = sc_range_map(a, ptr);
		if (!m)
			return -ENOENT;
		if (!(m->access[dev] & (write ? 2 : 1)))
			return -EACCES;
		*host = m->obj->host + (ptr - m->start);
		*len = m->start + m->size - ptr;
		return 0;
	default:
		*host = a->obj->host + a->off + (ptr - a->start);
	}
	*len = a->start + a->size - ptr;
	return 0;
}

/* 0 where there is no room.  The hint is taken if it is free and aligned. */
CUdeviceptr sc_va_reserve(size_t size, size_t align, CUdeviceptr hint)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	uintptr_t at, start;
	void *p;

	if (hint && !(hint & (align - 1))) {
		p = mmap((void *)(uintptr_t)hint, size, PROT_NONE, flags, -1, 0);
		if (p == (void *)(uintptr_t)hint)
			return hint;
		if (p != MAP_FAILED)
			munmap(p, size);
	}
	if (size + align < size)
		return 0;
	p = mmap(NULL, size + align, PROT_NONE, flags, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	at = (uintptr_t)p;
	start = (at + align - 1) & ~(uintptr_t)(align - 1);
	if (start > at)
		munmap(p, start - at);
	munmap((void *)(start + size), at + align - start);
	return start;
}

void sc_va_release(CUdeviceptr va, size_t size)
{
	munmap((void *)(uintptr_t)va, size);
}
