/* SPDX-License-Identifier: MIT */
/*
 * Memory objects: what device memory is made of, and this process's mapping of
 * each.  An object is charged to its device until the last reference goes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softcuda.h"

static struct sc_object *objects;
static uint32_t last_number = 0x5c000000;
static uint64_t charged[SC_MAX_DEVICES];

/* A number like those of the real driver's clients; differs between processes. */
uint32_t sc_object_client(void)
{
	return 0xc1d00000u | ((uint32_t)getpid() & 0xffff);
}

uint64_t sc_object_charged(int dev)
{
	return charged[dev];
}

static int map_extent(unsigned char *at, const struct sc_extent *e)
{
	void *p = mmap(at, e->len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, e->file->fd,
		       (off_t)e->off);

	if (p == MAP_FAILED)
		return -errno;
	/* A child cannot use the device, and must not keep its memory. */
	madvise(at, e->len, MADV_DONTFORK);
	return 0;
}

const struct sc_extent *sc_object_extent(const struct sc_object *o, uint64_t off)
{
	unsigned int lo = 0, hi = o->next_ext;

	while (hi - lo > 1) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (o->ext[mid].start <= off)
			lo = mid;
		else
			hi = mid;
	}
	return &o->ext[lo];
}

/* Append to a list of extents, joining with the last where they continue. */
static void append(struct sc_extent *ext, unsigned int *n, struct sc_extent e)
{
	struct sc_extent *last = *n ? &ext[*n - 1] : NULL;

	if (!e.len)
		return;
	if (last && last->file == e.file && last->off + last->len == e.off) {
		last->len += e.len;
		return;
	}
	e.file->refs++;
	ext[(*n)++] = e;
}

/* From now on, bytes [start, start + len) of o are those of file at off. */
int sc_object_set(struct sc_object *o, uint64_t start, uint64_t len, struct sc_file *file,
		  uint64_t off)
{
	struct sc_extent fresh = { start, len, file, off }, *ext;
	unsigned int n = 0;
	int err;

	ext = malloc((o->next_ext + 2) * sizeof(*ext));
	if (!ext)
		return -ENOMEM;
	err = map_extent(o->host + start, &fresh);
	if (err) {
		free(ext);
		return err;
	}
	for (unsigned int i = 0; i < o->next_ext; i++) {
		struct sc_extent e = o->ext[i];
		uint64_t end = e.start + e.len, stop = start + len;

		if (e.start < start) {
			e.len = (end < start ? end : start) - e.start;
			append(ext, &n, e);
		}
		if (end >= stop && o->ext[i].start < stop)
			append(ext, &n, fresh);
		if (end > stop) {
			e = o->ext[i];
			if (e.start < stop) {
				e.off += stop - e.start;
				e.start = stop;
				e.len = end - stop;
			}
			append(ext, &n, e);
		}
	}
	for (unsigned int i = 0; i < o->next_ext; i++)
		sc_file_put(o->ext[i].file);
	free(o->ext);
	o->ext = ext;
	o->next_ext = n;
	return 0;
}

/* An object of these extents, one after the other, which it takes over. */
static struct sc_object *build(int dev, const struct sc_extent *ext, unsigned int n)
{
	struct sc_object *o = calloc(1, sizeof(*o));
	const struct sc_extent *last = &ext[n - 1];
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *host;

	if (!o)
		return NULL;
	o->dev = dev;
	o->refs = 1;
	o->size = last->start + last->len;
	o->ext = malloc(n * sizeof(*ext));
	if (!o->ext)
		goto free_object;
	host = mmap(NULL, o->size, PROT_NONE, flags, -1, 0);
	if (host == MAP_FAILED)
		goto free_object;
	o->host = host;
	memcpy(o->ext, ext, n * sizeof(*ext));
	o->next_ext = n;
	for (unsigned int i = 0; i < n; i++)
		if (map_extent(o->host + ext[i].start, &ext[i]))
			goto unmap;
	o->base = ext[0].file;
	o->base->refs++;
	o->number = ++last_number;
	o->next = objects;
	objects = o;
	return o;

unmap:
	munmap(o->host, o->size);
free_object:
	free(o->ext);
	free(o);
	return NULL;
}

/* One reference; NULL: out of memory.  VMM objects say in their file's label what they are. */
struct sc_object *sc_object_new(int dev, uint64_t size, bool vmm, const CUmemAllocationProp *prop)
{
	struct sc_extent e = { 0, size, NULL, 0 };
	char name[128];
	struct sc_object *o;

	if (size > sc_config()->memory[dev] - charged[dev])
		return NULL;
	if (vmm)
		snprintf(name, sizeof(name), "softcuda-vmm:%d:%llx:%u:%u", dev,
			 (unsigned long long)size, (unsigned int)prop->requestedHandleTypes,
			 prop->allocFlags.gpuDirectRDMACapable);
	else
		snprintf(name, sizeof(name), "softcuda");
	e.file = sc_file_new(dev, name, size);
	if (!e.file)
		return NULL;
	e.file->base = true;
	o = build(dev, &e, 1);
	if (!o) {
		sc_file_put(e.file);
		return NULL;
	}
	o->vmm = vmm;
	if (vmm)
		o->prop = *prop;
	charged[dev] += size;
	return o;
}

/* Memory of another process; takes over the files, also on failure. */
struct sc_object *sc_object_foreign(int dev, const struct sc_extent *ext, unsigned int n)
{
	struct sc_object *o = build(dev, ext, n);

	if (o)
		o->foreign = true;
	for (unsigned int i = 0; !o && i < n; i++)
		sc_file_put(ext[i].file);
	return o;
}

struct sc_object *sc_object_find(uint32_t number)
{
	struct sc_object *o = objects;

	while (o && o->number != number)
		o = o->next;
	return o;
}

/* A number that is no address, no small integer, and not the object's number alone. */
CUmemGenericAllocationHandle sc_object_handle(const struct sc_object *o)
{
	return 0x5cULL << 32 | o->number;
}

struct sc_object *sc_object_by_handle(CUmemGenericAllocationHandle handle)
{
	struct sc_object *o = NULL;

	if (handle >> 32 == 0x5c)
		o = sc_object_find((uint32_t)handle);
	return o && o->handles ? o : NULL;
}

struct sc_object *sc_object_by_fd(int fd)
{
	const struct sc_source *source = sc_config()->source;
	uint64_t want, have;

	if (source->number(fd, &want))
		return NULL;
	for (struct sc_object *o = objects; o; o = o->next)
		if (o->vmm && !source->number(o->base->fd, &have) && have == want)
			return o;
	return NULL;
}

/* Memory that has addresses lies in one file, unless the source does not care for them. */
int sc_object_enter(struct sc_object *o, CUdeviceptr va, uint64_t len)
{
	return sc_config()->source->enter(o->ext->file->fd, o->ext->off, len, va);
}

void sc_object_leave(struct sc_object *o, CUdeviceptr va)
{
	sc_config()->source->leave(o->ext->file->fd, va);
}

void sc_object_get(struct sc_object *o)
{
	o->refs++;
}

/* The last put unmaps the memory and closes its files: what exports hold stays. */
void sc_object_put(struct sc_object *o)
{
	struct sc_object **p = &objects;

	if (--o->refs)
		return;
	while (*p != o)
		p = &(*p)->next;
	*p = o->next;
	if (!o->foreign)
		charged[o->dev] -= o->size;
	munmap(o->host, o->size);
	for (unsigned int i = 0; i < o->next_ext; i++)
		sc_file_put(o->ext[i].file);
	sc_file_put(o->base);
	free(o->ext);
	free(o);
}
