/* SPDX-License-Identifier: MIT */
/* Bytes behind the fake's memory objects: memfds of its own, or softcuda's objects. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_priv.h"
#include "rm_abi.h"

/* Looks like what CUDA puts in its IPC handle. */
#define CUDA_CLIENT     0xc1d0001cu
#define CUDA_OBJECT     0x5c000090u

static struct fake_memory *memories;
static uint32_t next_object = CUDA_OBJECT;
static uint32_t soft_class, soft_space;
static uint64_t soft_size;
unsigned (*fake_rm_soft_objects)(uint64_t size);

static void *or_abort(void *p)
{
	if (!p)
		abort();
	return p;
}

static struct fake_memory *add(const struct fake_memory *like)
{
	struct fake_memory *m = or_abort(malloc(sizeof(*m)));

	*m = *like;
	m->refs = 1;
	m->next = memories;
	memories = m;
	return m;
}

struct fake_memory *fake_memory_get(struct fake_memory *m)
{
	m->refs++;
	return m;
}

void fake_memory_put(struct fake_memory *m)
{
	struct fake_memory **p;

	if (--m->refs)
		return;
	for (p = &memories; *p != m; p = &(*p)->next)
		;
	*p = m->next;
	if (m->soft)
		fake_soft_put(m->soft);
	else
		__real_close(m->memfd);
	free(m);
}

static struct fake_memory *own(uint32_t object)
{
	struct fake_memory *m;

	for (m = memories; m; m = m->next) {
		if (object && m->handle == object)
			return m;
	}
	return NULL;
}

struct fake_memory *fake_memory_find(uint32_t client, uint32_t object)
{
	struct fake_memory like = { .memfd = -1 };
	struct fake_memory *m = own(object);

	if (m && client == CUDA_CLIENT)
		return fake_memory_get(m);
	like.soft = fake_soft_find(client, object, &like);
	return like.soft ? add(&like) : NULL;
}

struct fake_memory *fake_memory_find_fd(int fd)
{
	struct fake_memory like = { .memfd = -1 };
	struct stat want, have;
	struct fake_memory *m;

	if (fstat(fd, &want))
		return NULL;
	for (m = memories; m; m = m->next) {
		if (!m->soft && !fstat(m->memfd, &have) && have.st_ino == want.st_ino &&
		    have.st_dev == want.st_dev)
			return fake_memory_get(m);
	}
	like.soft = fake_soft_find_fd(fd, &like);
	return like.soft ? add(&like) : NULL;
}

void *fake_memory_map(struct fake_memory *m, void *addr, size_t len, int prot, int flags,
		      uint64_t offset)
{
	if (m->soft)
		return fake_soft_map(m->soft, addr, len, prot, flags, offset);
	return __real_mmap(addr, len, prot, flags, m->memfd, (off_t)offset);
}

void fake_rm_memory_new(uint64_t size, uint32_t instance, struct fake_rm_memory_info *out)
{
	struct fake_memory like = {
		.size = size,
		.instance = instance,
		.class = GDR_NV_CLASS_VIDMEM,
		.space = GDR_NV_SPACE_VIDMEM,
		.max_objects = 1,
	};

	like.memfd = memfd_create("fake video memory", MFD_CLOEXEC);
	if (like.memfd < 0 || ftruncate(like.memfd, (off_t)size))
		abort();
	pthread_mutex_lock(&fake_lock);
	like.handle = next_object++;
	add(&like);
	pthread_mutex_unlock(&fake_lock);
	*out = (struct fake_rm_memory_info){ CUDA_CLIENT, like.handle, like.memfd };
}

void fake_rm_memory_free(uint32_t object)
{
	struct fake_memory *m;

	pthread_mutex_lock(&fake_lock);
	m = or_abort(own(object));
	m->handle = 0;
	fake_memory_put(m);
	pthread_mutex_unlock(&fake_lock);
}

int fake_rm_memory_export(uint32_t object)
{
	struct fake_memory *m;
	int fd;

	pthread_mutex_lock(&fake_lock);
	m = or_abort(own(object));
	fd = dup(m->memfd);
	pthread_mutex_unlock(&fake_lock);
	return fd;
}

void fake_rm_memory_describe(uint32_t object, uint32_t class, uint32_t space, uint32_t max_objects)
{
	struct fake_memory *m;

	pthread_mutex_lock(&fake_lock);
	m = or_abort(own(object));
	m->class = class;
	m->space = space;
	m->max_objects = max_objects;
	pthread_mutex_unlock(&fake_lock);
}

void fake_rm_describe_soft(uint32_t class, uint32_t space, uint64_t size)
{
	soft_class = class;
	soft_space = space;
	soft_size = size;
}

void fake_memory_soft_kind(struct fake_memory *out)
{
	out->class = soft_class;
	out->space = soft_space;
	out->max_objects = fake_rm_soft_objects ? fake_rm_soft_objects(out->size) : 1;
	if (soft_size)
		out->size = soft_size;
}

unsigned fake_rm_memory_live(void)
{
	struct fake_memory *m;
	unsigned n = 0;

	pthread_mutex_lock(&fake_lock);
	for (m = memories; m; m = m->next)
		n++;
	pthread_mutex_unlock(&fake_lock);
	return n;
}

/* CUDA's own references; whatever else still holds bytes is a leak of the code under test. */
void fake_memory_reset(void)
{
	struct fake_memory *m, *next;

	fake_rm_describe_soft(GDR_NV_CLASS_VIDMEM, GDR_NV_SPACE_VIDMEM, 0);
	fake_rm_soft_objects = NULL;
	for (m = memories; m; m = next) {
		next = m->next;
		if (m->handle) {
			m->handle = 0;
			fake_memory_put(m);
		}
	}
}
