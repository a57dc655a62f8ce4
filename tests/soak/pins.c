/* SPDX-License-Identifier: MIT */
/* Contexts, pins and mappings: made, asked about, refused, and undone in every legal order. */
#include <errno.h>
#include <string.h>

#include "soak.h"

#define UNTOUCHED 0x5e5e5e5e

/* A context that may be used: one that all threads share, or an open one of its own. */
static gdr_t some_context(struct soak_worker *w)
{
	size_t i = soak_below(w, 2 + SOAK_CONTEXTS);

	if (i >= 2 && w->own[i - 2])
		return w->own[i - 2];
	return soak.shared[i % 2];
}

bool soak_op_open(struct soak_worker *w)
{
	size_t i = soak_below(w, SOAK_CONTEXTS);

	if (w->own[i])
		return false;
	w->own[i] = gdr_open();
	if (!w->own[i])
		FAIL("gdr_open: %s", gdrx_last_error());
	return true;
}

/* A buffer that CUDA has freed goes with its last pin. */
static void pin_is_gone(struct soak_pin *p)
{
	struct soak_buffer *b = p->buffer;
	unsigned i;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < SOAK_PINS; i++)
		if (b->pins[i].buffer)
			return;
	if (b->freed)
		soak_forget(b);
}

/* With what is left in it. */
bool soak_op_close(struct soak_worker *w)
{
	gdr_t *g = w->own[0] ? &w->own[0] : &w->own[1];
	unsigned i, p;

	if (!*g)
		return false;
	/* Once: the address may be that of another thread's context right away. */
	GDR(gdr_close(*g));
	for (i = 0; i < SOAK_BUFFERS_MAX; i++)
		for (p = 0; p < SOAK_PINS; p++)
			if (w->buffers[i].pins[p].buffer && w->buffers[i].pins[p].g == *g)
				pin_is_gone(&w->buffers[i].pins[p]);
	*g = NULL;
	return true;
}

bool soak_op_attributes(struct soak_worker *w)
{
	gdr_t g = some_context(w);
	int v, major, minor;

	GDR(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &v));
	CHECK(v == soak.persistent);
	GDR(gdr_get_attribute(g, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &v));
	GDR(gdr_get_attribute(g, GDR_ATTR_USING_DMA_BUF_MMAP, &v));
	CHECK(v == !strcmp(gdrx_backend_name(g), "dmabuf"));
	v = UNTOUCHED;
	GDR_IS(EINVAL, gdr_get_attribute(g, GDR_ATTR_MAX, &v));
	CHECK(v == UNTOUCHED);
	GDR(gdr_driver_get_version(g, &major, &minor));
	CHECK(major == 2 && minor >= 0);
	return true;
}

struct soak_pin *soak_pick_pin(struct soak_worker *w, int mapped)
{
	size_t n = soak.plan.buffers * SOAK_PINS, from = soak_below(w, n), i;

	for (i = 0; i < n; i++) {
		size_t at = (from + i) % n;
		struct soak_pin *p = &w->buffers[at / SOAK_PINS].pins[at % SOAK_PINS];

		if (p->buffer && (mapped < 0 || mapped == (p->map != NULL)))
			return p;
	}
	return NULL;
}

bool soak_is_good(const struct soak_pin *p)
{
	const struct soak_buffer *b = p->buffer;

	/* A part of a block that was freed is CUDA's to give to others. */
	return !b->freed || (soak.persistent && b->own);
}

/* A free pin of b, and where in b it is to begin. */
static struct soak_pin *new_pin(struct soak_worker *w, struct soak_buffer *b, size_t *at)
{
	struct soak_pin *p = NULL;
	unsigned i;

	for (i = 0; i < SOAK_PINS; i++)
		if (!b->pins[i].buffer)
			p = &b->pins[i];
	*at = b->start;
	if (p && !soak.one_start && soak_below(w, 2))
		*at = GPU_PAGE_SIZE * soak_below(w, b->size / GPU_PAGE_SIZE + 1);
	return p;
}

static bool pin(struct soak_worker *w, bool v2)
{
	struct soak_buffer *b = soak_live_buffer(w);
	gdr_mh_t mh = { 0 };
	gdr_info_t info;
	struct soak_pin *p;
	CUdeviceptr from;
	size_t at, size;
	gdr_t g;

	p = b ? new_pin(w, b, &at) : NULL;
	if (!p || at >= b->size)
		return false;
	g = some_context(w);
	from = b->kind == KIND_WITHIN ? b->ptr & GPU_PAGE_MASK : b->ptr + at;
	size = b->kind == KIND_WITHIN ? GPU_PAGE_SIZE : b->size - at;
	if (b->kind != KIND_WITHIN && soak_below(w, 2))
		size = 1 + soak_below(w, size);
	if (v2)
		GDR(gdr_pin_buffer_v2(g, from, size, GDR_PIN_FLAG_DEFAULT, &mh));
	else
		GDR(gdr_pin_buffer(g, from, size, 0, 0, &mh));
	CHECK(mh.h);
	GDR(gdr_get_info(g, mh, &info));
	CHECK(info.va == from && info.mapped_size >= size && !info.mapped);
	*p = (struct soak_pin){ .buffer = b, .g = g, .mh = mh, .va = from, .size = size };
	return true;
}

bool soak_op_pin(struct soak_worker *w)
{
	return pin(w, false);
}

bool soak_op_pin_v2(struct soak_worker *w)
{
	return pin(w, true);
}

void soak_unpin(struct soak_pin *p)
{
	char byte;

	GDR(gdr_unpin_buffer(p->g, p->mh));
	GDR_IS(EINVAL, gdr_unpin_buffer(p->g, p->mh));
	GDR_IS(EINVAL, gdr_copy_from_mapping(p->mh, &byte, &byte, 1));
	pin_is_gone(p);
}

/* Mapped or not. */
bool soak_op_unpin(struct soak_worker *w)
{
	struct soak_pin *p = soak_pick_pin(w, -1);

	if (!p)
		return false;
	soak_unpin(p);
	return true;
}

/* Pins that must not be: nothing is written, nothing is left. */
bool soak_op_refuse(struct soak_worker *w)
{
	gdr_t g = some_context(w);
	gdr_mh_t mh = { UNTOUCHED };
	struct soak_buffer *b = soak_live_buffer(w);

	GDR_IS(EINVAL, gdr_pin_buffer(g, 0, GPU_PAGE_SIZE, 0, 0, &mh));
	GDR_IS(EINVAL, gdr_pin_buffer(g, 0x1000, GPU_PAGE_SIZE, 0, 0, &mh));
	if (b) {
		GDR_IS(EINVAL, gdr_pin_buffer(g, b->ptr, 0, 0, 0, &mh));
		GDR_IS(EINVAL, gdr_pin_buffer(g, b->ptr, SIZE_MAX, 0, 0, &mh));
		GDR_IS(EINVAL, gdr_pin_buffer_v2(g, b->ptr, GPU_PAGE_SIZE, 0x80, &mh));
	}
	CHECK(mh.h == UNTOUCHED);
	GDR_IS(EINVAL, gdr_unpin_buffer(g, mh));
	return true;
}

static bool map(struct soak_worker *w, int flags)
{
	struct soak_pin *p = soak_pick_pin(w, 0);
	void *va = p;
	size_t len;

	if (!p || p->buffer->freed)
		return false;
	len = p->buffer->kind == KIND_WITHIN || soak_below(w, 2) ? p->size :
		1 + soak_below(w, p->size);
	if (soak_below(w, 4) == 0) {
		GDR_IS(EINVAL, gdr_map_v2(p->g, p->mh, &va, len, 4));
		GDR_IS(EINVAL, gdr_map_v2(p->g, p->mh, &va, 0, 0));
		GDR_IS(EINVAL, gdr_map(p->g, p->mh, &va, p->size + 2 * GPU_PAGE_SIZE));
		CHECK(va == p);
	}
	if (flags)
		GDR(gdr_map_v2(p->g, p->mh, &va, len, flags));
	else
		GDR(gdr_map(p->g, p->mh, &va, len));
	p->map = va;
	p->len = len;
	GDR_IS(EAGAIN, gdr_map(p->g, p->mh, &va, len));
	CHECK(va == p->map);
	return true;
}

bool soak_op_map(struct soak_worker *w)
{
	return map(w, 0);
}

bool soak_op_map_v2(struct soak_worker *w)
{
	/* A type that is asked for must be had, or refused: the one that is always there. */
	return map(w, soak_below(w, 2) ? (int)soak.type : GDR_MAP_FLAG_DEFAULT);
}

bool soak_op_unmap(struct soak_worker *w)
{
	struct soak_pin *p = soak_pick_pin(w, 1);
	char byte;

	if (!p)
		return false;
	GDR_IS(EINVAL, gdr_unmap(p->g, p->mh, p->map + 4096, p->len));
	GDR(gdr_unmap(p->g, p->mh, p->map, p->len));
	GDR_IS(EINVAL, gdr_unmap(p->g, p->mh, p->map, p->len));
	GDR_IS(EINVAL, gdr_copy_to_mapping(p->mh, p->map, &byte, 1));
	p->map = NULL;
	return true;
}

bool soak_op_info(struct soak_worker *w)
{
	struct soak_pin *p = soak_pick_pin(w, -1);
	gdr_info_t info;

	if (!p || !soak_is_good(p))
		return false;
	GDR(gdr_get_info(p->g, p->mh, &info));
	CHECK(info.va == p->va && info.mapped_size >= p->size);
	CHECK(info.mapped == (p->map != NULL));
	CHECK(info.mapping_type == (p->map ? soak.type : GDR_MAPPING_TYPE_NONE));
	return true;
}

bool soak_op_flag(struct soak_worker *w)
{
	struct soak_pin *p = soak_pick_pin(w, -1);
	int flag = UNTOUCHED;

	if (!p)
		return false;
	GDR(gdr_get_callback_flag(p->g, p->mh, &flag));
	if (soak_is_good(p))
		CHECK(flag == 0);
	return true;
}
