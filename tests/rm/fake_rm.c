/* SPDX-License-Identifier: MIT */
/*
 * The resource manager of the fake: clients and objects, and the requests that
 * make and free them, with the driver's checks.
 */
#include "fake_rm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_priv.h"
#include "rm_abi.h"

#define FIRST_CLIENT    0xc1d08000u
#define FIRST_OBJECT    0xcaf00001u

unsigned fake_release;
static bool subdevice_parents;
static struct fake_client *clients;
static uint32_t next_client = FIRST_CLIENT;
static uint32_t next_object = FIRST_OBJECT;

void fake_rm_set_release(unsigned major)
{
	fake_release = major;
}

void fake_rm_set_subdevice_parents(bool on)
{
	subdevice_parents = on;
}

struct fake_client *fake_client_of(const struct fake_file *f, uint32_t handle)
{
	struct fake_client *c;

	for (c = clients; c && c->handle != handle; c = c->next)
		;
	return c && c->ctl == f ? c : NULL;
}

struct fake_object *fake_object_find(const struct fake_client *c, uint32_t handle)
{
	struct fake_object *o;

	for (o = c->objects; o && o->handle != handle; o = o->next)
		;
	return o;
}

static struct fake_object *object_new(struct fake_client *c, uint32_t handle, uint32_t parent,
				      uint32_t class)
{
	struct fake_object *o = calloc(1, sizeof(*o));

	if (!o)
		abort();
	o->handle = handle ? handle : next_object++;
	o->parent = parent;
	o->class = class;
	o->next = c->objects;
	c->objects = o;
	return o;
}

static void object_free(struct fake_client *c, struct fake_object *o, const char *how)
{
	struct fake_object **p, *child;

	for (child = c->objects; child;) {
		if (child->parent == o->handle) {
			object_free(c, child, how);
			child = c->objects;
		} else {
			child = child->next;
		}
	}
	fake_windows_end(c->handle, o->handle, how);
	for (p = &c->objects; *p != o; p = &(*p)->next)
		;
	*p = o->next;
	if (o->memory)
		fake_memory_put(o->memory);
	free(o);
}

static void client_free(struct fake_client *c, const char *how)
{
	struct fake_client **p;

	while (c->objects)
		object_free(c, c->objects, how);
	for (p = &clients; *p != c; p = &(*p)->next)
		;
	*p = c->next;
	free(c);
}

void fake_rm_ctl_closed(struct fake_file *f)
{
	struct fake_client *c, *next;

	for (c = clients; c; c = next) {
		next = c->next;
		if (c->ctl == f)
			client_free(c, "close of the control file");
	}
}

static uint32_t alloc_device(struct fake_client *c, struct gdr_nv_alloc *p,
			     struct fake_object **out)
{
	const struct gdr_nv_device_params *params = (void *)(uintptr_t)p->params;
	const struct fake_rm_gpu *gpu;

	if (p->parent != c->handle)
		return GDR_NV_INVALID_OBJECT_PARENT;
	if (!params || (params->client_share && params->client_share != c->handle))
		return GDR_NV_INVALID_ARGUMENT;
	gpu = fake_gpu_by_instance(params->device_id);
	if (!gpu)
		return GDR_NV_INVALID_ARGUMENT;
	*out = object_new(c, p->object, p->parent, p->class);
	(*out)->gpu = gpu;
	return GDR_NV_OK;
}

static uint32_t alloc_subdevice(struct fake_client *c, struct gdr_nv_alloc *p,
				struct fake_object **out)
{
	const struct gdr_nv_subdevice_params *params = (void *)(uintptr_t)p->params;
	const struct fake_object *device = fake_object_find(c, p->parent);

	if (!device)
		return GDR_NV_INVALID_OBJECT_HANDLE;
	if (device->class != GDR_NV_CLASS_DEVICE)
		return GDR_NV_INVALID_OBJECT_PARENT;
	if (!params || params->subdevice_id)
		return GDR_NV_INVALID_ARGUMENT;
	*out = object_new(c, p->object, p->parent, p->class);
	(*out)->gpu = device->gpu;
	return GDR_NV_OK;
}

static uint32_t alloc_client(struct fake_file *f, struct gdr_nv_alloc *p)
{
	struct fake_client *c;

	if (p->root || p->parent || p->object || p->params)
		return GDR_NV_INVALID_ARGUMENT;
	c = calloc(1, sizeof(*c));
	if (!c)
		abort();
	c->handle = next_client++;
	c->ctl = f;
	c->pid = f->pid;
	c->next = clients;
	clients = c;
	p->object = c->handle;
	return GDR_NV_OK;
}

static uint32_t alloc_class(struct fake_file *f, struct gdr_nv_alloc *p)
{
	struct fake_client *c;
	struct fake_object *o;
	uint32_t status;

	if (p->class == GDR_NV_CLASS_ROOT)
		return alloc_client(f, p);
	c = fake_client_of(f, p->root);
	if (!c)
		return GDR_NV_INVALID_CLIENT;
	if (p->class == GDR_NV_CLASS_DEVICE)
		status = alloc_device(c, p, &o);
	else if (p->class == GDR_NV_CLASS_SUBDEVICE)
		status = alloc_subdevice(c, p, &o);
	else
		status = GDR_NV_INVALID_CLASS;
	if (!status)
		p->object = o->handle;
	return status;
}

static int do_alloc(struct fake_file *f, struct gdr_nv_alloc *p)
{
	uint32_t status = GDR_NV_OK;
	enum fake_rm_step step = FAKE_RM_CLIENT;
	int err;

	if (p->class == GDR_NV_CLASS_DEVICE)
		step = FAKE_RM_DEVICE;
	else if (p->class == GDR_NV_CLASS_SUBDEVICE)
		step = FAKE_RM_SUBDEVICE;
	err = fake_script(step, &status);
	if (err)
		return -err;
	if (!status)
		status = alloc_class(f, p);
	/* The status word moved when 535 put the size of the parameters before it. */
	if (fake_release < 535)
		p->word6 = status;
	else
		p->word7 = status;
	return 0;
}

uint32_t fake_adopt(struct fake_client *c, uint32_t parent, struct fake_memory *memory,
		    uint32_t *handle)
{
	const struct fake_object *above = fake_object_find(c, parent);
	uint32_t want = subdevice_parents ? GDR_NV_CLASS_SUBDEVICE : GDR_NV_CLASS_DEVICE;
	uint32_t status = GDR_NV_OK;
	struct fake_object *o;

	if (!above)
		status = GDR_NV_INVALID_OBJECT_HANDLE;
	else if (above->class != want)
		status = GDR_NV_INVALID_OBJECT_PARENT;
	if (status) {
		fake_memory_put(memory);
		return status;
	}
	o = object_new(c, *handle, parent, memory->class);
	o->memory = memory;
	*handle = o->handle;
	return GDR_NV_OK;
}

static int do_dup(struct fake_file *f, struct gdr_nv_dup *p)
{
	struct fake_client *c = fake_client_of(f, p->client);
	int err = fake_script(FAKE_RM_DUP, &p->status);
	struct fake_memory *memory;

	if (err || p->status)
		return -err;
	if (p->flags)
		p->status = GDR_NV_INVALID_ARGUMENT;
	else if (!c)
		p->status = GDR_NV_INVALID_CLIENT;
	else if (!(memory = fake_memory_find(p->client_src, p->object_src)))
		p->status = GDR_NV_OBJECT_NOT_FOUND;
	else
		p->status = fake_adopt(c, p->parent, memory, &p->object);
	return 0;
}

static int do_free(struct fake_file *f, struct gdr_nv_free *p)
{
	struct fake_client *c = fake_client_of(f, p->root);
	int err = fake_script(FAKE_RM_FREE, &p->status);
	struct fake_object *o;

	if (err || p->status)
		return -err;
	if (f->pid != getpid())
		fake_violation("a forked child frees object 0x%x of its parent", p->object);
	if (!c) {
		p->status = GDR_NV_INVALID_CLIENT;
		return 0;
	}
	if (p->object == c->handle) {
		client_free(c, "free of the client");
		return 0;
	}
	o = fake_object_find(c, p->object);
	if (!o)
		p->status = GDR_NV_OBJECT_NOT_FOUND;
	else if (o->parent != p->parent)
		p->status = GDR_NV_INVALID_OBJECT_PARENT;
	else
		object_free(c, o, "free");
	return 0;
}

static int do_register(struct fake_file *f, struct gdr_nv_register *p)
{
	struct fake_file *ctl = fake_file_find(p->ctl_fd);
	int err = fake_script(FAKE_RM_REGISTER, NULL);

	if (err)
		return -err;
	if (!f->gpu || f->ctl || !ctl || ctl->gpu)
		return -EINVAL;
	ctl->refs++;
	f->ctl = ctl;
	return 0;
}

int fake_rm_ioctl(struct fake_file *f, unsigned long req, void *arg)
{
	if (req == GDR_NV_REGISTER)
		return do_register(f, arg);
	if (f->gpu)
		return -EINVAL;
	if (_IOC_TYPE(req) == 'F' && _IOC_NR(req) == GDR_NV_CARD_INFO_NR)
		return fake_card_info(arg, _IOC_SIZE(req));
	switch (req) {
	case GDR_NV_ALLOC:
		return do_alloc(f, arg);
	case GDR_NV_FREE:
		return do_free(f, arg);
	case GDR_NV_DUP:
		return do_dup(f, arg);
	case GDR_NV_CONTROL:
		return fake_control(f, arg);
	case GDR_NV_MAP:
		return fake_map(f, arg);
	case GDR_NV_UNMAP:
		return fake_unmap(f, arg);
	default:
		fake_violation("request 0x%lx, which the library has no use for", req);
		return -EINVAL;
	}
}

void fake_rm_count(struct fake_rm_counts *out)
{
	for (struct fake_client *c = clients; c; c = c->next) {
		out->clients++;
		for (struct fake_object *o = c->objects; o; o = o->next) {
			out->devices += o->gpu != NULL;
			out->memories += o->memory != NULL;
		}
	}
	out->windows = fake_windows_live();
}
