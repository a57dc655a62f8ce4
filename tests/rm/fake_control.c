/* SPDX-License-Identifier: MIT */
/* The fake's GPUs, and the requests that only ask: the card list and the controls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_priv.h"
#include "rm_abi.h"

#define GPUS 64

static struct fake_rm_gpu gpus[GPUS];
static unsigned n_gpus;

static const struct fake_rm_gpu *gpu_where(size_t field, uint32_t value)
{
	for (unsigned i = 0; i < n_gpus; i++) {
		uint32_t have;

		memcpy(&have, (const char *)&gpus[i] + field, sizeof(have));
		if (have == value)
			return &gpus[i];
	}
	return NULL;
}

const struct fake_rm_gpu *fake_gpu_by_minor(uint32_t minor)
{
	return gpu_where(offsetof(struct fake_rm_gpu, minor), minor);
}

const struct fake_rm_gpu *fake_gpu_by_ordinal(uint32_t ordinal)
{
	return gpu_where(offsetof(struct fake_rm_gpu, ordinal), ordinal);
}

void fake_rm_add_gpu(const struct fake_rm_gpu *gpu)
{
	if (n_gpus == GPUS)
		abort();
	gpus[n_gpus++] = *gpu;
}

const struct fake_rm_gpu *fake_gpu_by_instance(uint32_t instance)
{
	return gpu_where(offsetof(struct fake_rm_gpu, instance), instance);
}

void fake_gpu_reset(void)
{
	n_gpus = 0;
}

int fake_card_info(struct gdr_nv_card *list, size_t size)
{
	int err = fake_script(FAKE_RM_CARD_INFO, NULL);

	if (err)
		return -err;
	if (size % sizeof(*list) || size / sizeof(*list) < n_gpus)
		return -EINVAL;
	for (unsigned i = 0; i < n_gpus; i++) {
		list[i] = (struct gdr_nv_card){
			.valid = 1,
			.domain = gpus[i].domain,
			.bus = (uint8_t)gpus[i].bus,
			.slot = (uint8_t)gpus[i].slot,
			.vendor = 0x10de,
			.device = 0x2335,
			.gpu_id = gpus[i].gpu_id,
			.fb_addr = gpus[i].bar1_base,
			.fb_size = gpus[i].bar1_size,
			.minor = gpus[i].minor,
		};
	}
	return 0;
}

static uint32_t id_info(struct gdr_nv_id_info *p)
{
	const struct fake_rm_gpu *gpu = gpu_where(offsetof(struct fake_rm_gpu, gpu_id), p->gpu_id);

	if (!gpu)
		return GDR_NV_INVALID_ARGUMENT;
	p->device_instance = gpu->instance;
	p->numa_id = -1;
	return GDR_NV_OK;
}

static uint32_t handle_info(const struct fake_client *c, struct gdr_nv_handle_info *p)
{
	const struct fake_object *o = fake_object_find(c, p->object);

	if (!o)
		return GDR_NV_OBJECT_NOT_FOUND;
	if (p->index == GDR_NV_HANDLE_INFO_CLASS)
		p->result = o->class;
	else if (p->index == GDR_NV_HANDLE_INFO_PARENT)
		p->result = o->parent;
	else
		return GDR_NV_INVALID_ARGUMENT;
	return GDR_NV_OK;
}

static uint32_t surface_info(const struct fake_object *o, const struct gdr_nv_surface_info *p)
{
	struct gdr_nv_surface_entry *list = (void *)(uintptr_t)p->list;

	if (!o->memory)
		return GDR_NV_INVALID_OBJECT;
	for (uint32_t i = 0; i < p->count; i++) {
		if (list[i].index == GDR_NV_SURFACE_SIZE)
			list[i].data = (uint32_t)(o->memory->size / GDR_NV_SURFACE_UNIT);
		else if (list[i].index == GDR_NV_SURFACE_SPACE)
			list[i].data = o->memory->space;
		else
			return GDR_NV_INVALID_ARGUMENT;
	}
	return GDR_NV_OK;
}

static uint32_t import(struct fake_client *c, struct gdr_nv_import *p)
{
	struct fake_memory *m;

	if (p->type != GDR_NV_EXPORT_TYPE_RM)
		return GDR_NV_INVALID_PARAMETER;
	m = fake_memory_find_fd(p->fd);
	if (!m)
		return GDR_NV_INVALID_PARAMETER;
	return fake_adopt(c, p->parent, m, &p->object);
}

static uint32_t export_info(void *params)
{
	struct gdr_nv_export_info_535 *old = params;
	struct gdr_nv_export_info *p = params;
	struct fake_memory *m = fake_memory_find_fd(p->fd);

	if (!m)
		return GDR_NV_INVALID_PARAMETER;
	p->device_instance = m->instance;
	if (fake_release < 545)
		old->max_objects = (uint16_t)m->max_objects;
	else
		p->max_objects = (uint16_t)m->max_objects;
	fake_memory_put(m);
	return GDR_NV_OK;
}

static const struct {
	uint32_t cmd;
	enum fake_rm_step step;
	size_t size;
} controls[] = {
	{ GDR_NV_CTRL_ID_INFO, FAKE_RM_ID_INFO, sizeof(struct gdr_nv_id_info) },
	{ GDR_NV_CTRL_HANDLE_INFO, FAKE_RM_HANDLE_INFO, sizeof(struct gdr_nv_handle_info) },
	{ GDR_NV_CTRL_SURFACE_INFO, FAKE_RM_SURFACE_INFO, sizeof(struct gdr_nv_surface_info) },
	{ GDR_NV_CTRL_IMPORT, FAKE_RM_IMPORT, sizeof(struct gdr_nv_import) },
	{ GDR_NV_CTRL_EXPORT_INFO, FAKE_RM_EXPORT_INFO, sizeof(struct gdr_nv_export_info) },
};

static uint32_t run(struct fake_client *c, const struct gdr_nv_control *p)
{
	const struct fake_object *o = fake_object_find(c, p->object);
	void *params = (void *)(uintptr_t)p->params;

	if (p->cmd == GDR_NV_CTRL_SURFACE_INFO)
		return o ? surface_info(o, params) : GDR_NV_OBJECT_NOT_FOUND;
	if (p->object != c->handle)
		return GDR_NV_INVALID_OBJECT;
	switch (p->cmd) {
	case GDR_NV_CTRL_ID_INFO:
		return id_info(params);
	case GDR_NV_CTRL_HANDLE_INFO:
		return handle_info(c, params);
	case GDR_NV_CTRL_IMPORT:
		return import(c, params);
	default:
		return export_info(params);
	}
}

int fake_control(struct fake_file *f, struct gdr_nv_control *p)
{
	struct fake_client *c = fake_client_of(f, p->client);
	size_t i, size, n = sizeof(controls) / sizeof(controls[0]);
	int err;

	for (i = 0; i < n && controls[i].cmd != p->cmd; i++)
		;
	if (i == n) {
		fake_violation("control 0x%x, which the library has no use for", p->cmd);
		p->status = GDR_NV_NOT_SUPPORTED;
		return 0;
	}
	err = fake_script(controls[i].step, &p->status);
	if (err || p->status)
		return -err;
	size = controls[i].size;
	if (p->cmd == GDR_NV_CTRL_EXPORT_INFO && fake_release < 545)
		size = sizeof(struct gdr_nv_export_info_535);
	if (!c)
		p->status = GDR_NV_INVALID_CLIENT;
	else if (p->params_size != size || p->flags)
		p->status = GDR_NV_INVALID_ARGUMENT;
	else
		p->status = run(c, p);
	return 0;
}
