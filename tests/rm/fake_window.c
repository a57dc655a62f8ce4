/* SPDX-License-Identifier: MIT */
/*
 * BAR1 windows of the fake, as the resource manager sees them, and the requests
 * that make and give them back.  Ending one that a user mapping still shows is
 * what the driver lets happen and the library must not.
 */
#include <stdlib.h>
#include <unistd.h>

#include "fake_priv.h"
#include "rm_abi.h"

static struct fake_window *windows;
static uint64_t next_linear = 0x100042000000;
static uint64_t bar1_free;

void fake_rm_set_bar1_free(uint64_t bytes)
{
	bar1_free = bytes;
}

void fake_window_put(struct fake_window *w)
{
	struct fake_window **p;

	if (--w->refs)
		return;
	for (p = &windows; *p != w; p = &(*p)->next)
		;
	*p = w->next;
	fake_memory_put(w->memory);
	free(w);
}

static void window_end(struct fake_window *w, const char *how)
{
	if (w->mappings)
		fake_violation("%s of memory 0x%x while %u user mappings show it", how, w->object,
			       w->mappings);
	if (bar1_free != UINT64_MAX)
		bar1_free += w->len;
	w->live = false;
	fake_window_put(w);
}

void fake_windows_end(uint32_t client, uint32_t object, const char *how)
{
	struct fake_window *w, *next;

	for (w = windows; w; w = next) {
		next = w->next;
		if (w->live && w->client == client && w->object == object)
			window_end(w, how);
	}
}

unsigned fake_windows_live(void)
{
	unsigned n = 0;

	for (struct fake_window *w = windows; w; w = w->next)
		n += w->live;
	return n;
}

/* The checks of a MAP request, in the driver's order. */
static uint32_t map_status(const struct fake_client *c, const struct gdr_nv_map *p,
			   struct fake_file *file)
{
	const struct fake_object *parent, *o;
	uint64_t size;

	if (!c || c->pid != getpid())
		return GDR_NV_INVALID_CLIENT;
	parent = fake_object_find(c, p->device);
	o = fake_object_find(c, p->memory);
	if (!parent || !o || !o->memory)
		return GDR_NV_INVALID_OBJECT_HANDLE;
	if (o->parent != p->device)
		return GDR_NV_INVALID_OBJECT_PARENT;
	size = o->memory->size;
	if (p->offset >= size)
		return GDR_NV_INVALID_BASE;
	if (!p->length || p->length > size - p->offset)
		return GDR_NV_INVALID_LIMIT;
	if (!file || !file->gpu || file->gpu != parent->gpu ||
	    o->memory->instance != parent->gpu->instance)
		return GDR_NV_INVALID_ARGUMENT;
	if (file->window)
		return GDR_NV_STATE_IN_USE;
	if (p->length > bar1_free)
		return GDR_NV_NO_MEMORY;
	return GDR_NV_OK;
}

int fake_map(struct fake_file *f, struct gdr_nv_map *p)
{
	const struct fake_client *c = fake_client_of(f, p->client);
	struct fake_file *file = fake_file_find(p->fd);
	int err = fake_script(FAKE_RM_MAP, &p->status);
	struct fake_window *w;

	if (err || p->status)
		return -err;
	if (p->flags || (p->offset | p->length) % (uint64_t)sysconf(_SC_PAGESIZE))
		fake_violation("window of 0x%llx at 0x%llx with flags 0x%x",
			       (unsigned long long)p->length, (unsigned long long)p->offset,
			       p->flags);
	p->status = map_status(c, p, file);
	if (p->status)
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		abort();
	w->refs = 2;
	w->live = true;
	w->client = p->client;
	w->object = p->memory;
	w->parent = p->device;
	w->linear = next_linear;
	w->offset = p->offset;
	w->len = p->length;
	w->memory = fake_memory_get(fake_object_find(c, p->memory)->memory);
	w->next = windows;
	windows = w;
	file->window = w;
	next_linear += p->length;
	if (bar1_free != UINT64_MAX)
		bar1_free -= p->length;
	p->linear = w->linear;
	return 0;
}

int fake_unmap(struct fake_file *f, struct gdr_nv_unmap *p)
{
	const struct fake_client *c = fake_client_of(f, p->client);
	int err = fake_script(FAKE_RM_UNMAP, &p->status);
	struct fake_window *w;

	if (err || p->status)
		return -err;
	if (!c || c->pid != getpid() || p->flags) {
		p->status = GDR_NV_INVALID_CLIENT;
		return 0;
	}
	for (w = windows; w; w = w->next) {
		if (w->live && w->client == p->client && w->object == p->memory &&
		    w->parent == p->device && w->linear == p->linear)
			break;
	}
	if (w)
		window_end(w, "unmap");
	else
		p->status = GDR_NV_OBJECT_NOT_FOUND;
	return 0;
}
