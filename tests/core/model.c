/* SPDX-License-Identifier: MIT */
/* See model.h. */
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "context.h"
#include "log.h"

struct model model[MODEL_BACKENDS];

static atomic_int pins;
static pthread_mutex_t args_lock = PTHREAD_MUTEX_INITIALIZER;

struct model_gdr {
	struct gdr base;
	struct model *m;
};

struct model_memh {
	struct gdr_memh base;
	int fd;
	uint64_t va, size;
};

static struct model *of(struct gdr *g)
{
	return ((struct model_gdr *)g)->m;
}

/* -errno if the op is to fail. */
static int enter(struct model *m, enum model_op op)
{
	atomic_fetch_add(&m->calls[op], 1);
	if (m->hook)
		m->hook(op);
	if (m->err[op])
		return gdr_log_fail(m->err[op], "model: operation %d fails as told", (int)op);
	return 0;
}

static int open_model(struct model *m, struct gdr **out)
{
	struct model_gdr *g;

	atomic_fetch_add(&m->calls[MODEL_OPEN], 1);
	if (m->hook)
		m->hook(MODEL_OPEN);
	if (m->err[MODEL_OPEN])
		return m->why ? gdr_context_skip(m->err[MODEL_OPEN], "%s", m->why) :
				-m->err[MODEL_OPEN];
	g = calloc(1, sizeof(*g));
	if (!g)
		abort();
	g->base.fd = -1;
	g->m = m;
	*out = &g->base;
	return 0;
}

static int open_gdrdrv(struct gdr **out)
{
	return open_model(&model[MODEL_GDRDRV], out);
}

static int open_dmabuf(struct gdr **out)
{
	return open_model(&model[MODEL_DMABUF], out);
}

static int open_rm(struct gdr **out)
{
	return open_model(&model[MODEL_RM], out);
}

static void close_model(struct gdr *g)
{
	enter(of(g), MODEL_CLOSE);
	free(g);
}

static int pin(struct gdr *g, const struct gdr_pin_args *args, struct gdr_memh **out)
{
	struct model_memh *m;
	int ret = enter(of(g), MODEL_PIN);

	if (ret < 0)
		return ret;
	pthread_mutex_lock(&args_lock);
	of(g)->args = *args;
	pthread_mutex_unlock(&args_lock);
	m = calloc(1, sizeof(*m));
	if (!m)
		abort();
	m->va = args->addr;
	m->size = args->size;
	m->fd = memfd_create("gdr-model", MFD_CLOEXEC);
	if (m->fd < 0 || ftruncate(m->fd, (off_t)args->size) != 0)
		abort();
	atomic_fetch_add(&pins, 1);
	*out = &m->base;
	return 0;
}

static void release(struct gdr_memh *base)
{
	struct model_memh *m = (struct model_memh *)base;

	close(m->fd);
	free(m);
	atomic_fetch_sub(&pins, 1);
}

static int unpin(struct gdr *g, struct gdr_memh *m)
{
	int ret = enter(of(g), MODEL_UNPIN);

	release(m);
	return ret;
}

static void forget(struct gdr *g, struct gdr_memh *m)
{
	enter(of(g), MODEL_FORGET);
	release(m);
}

static int map(struct gdr *g, struct gdr_memh *base, size_t len, int flags,
	       struct gdr_mapping *out)
{
	struct model_memh *m = (struct model_memh *)base;
	int ret = enter(of(g), MODEL_MAP);

	if (ret == 0)
		ret = gdr_mapping_create(m->fd, 0, len, NULL, out, NULL);
	if (ret == 0)
		out->type = flags ? (gdr_mapping_type_t)flags : of(g)->type;
	return ret;
}

static int unmap(struct gdr *g, struct gdr_memh *m)
{
	int ret = enter(of(g), MODEL_UNMAP);

	return ret ? ret : gdr_mapping_destroy(&m->mapping);
}

static int info(struct gdr *g, struct gdr_memh *base, gdr_info_v2_t *i)
{
	struct model_memh *m = (struct model_memh *)base;
	int ret = enter(of(g), MODEL_INFO);

	i->va = m->va;
	i->mapped_size = m->size;
	i->page_size = 4096;
	i->tm_cycles = 0x1122334455667788ull;
	i->cycles_per_ms = 0x99aabbccu;
	gdr_mapping_describe(&base->mapping, i);
	return ret;
}

static int flag(struct gdr *g, struct gdr_memh *m, int *f)
{
	int ret = enter(of(g), MODEL_FLAG);

	if (ret == 0)
		*f = 1;
	return ret;
}

static int attribute(struct gdr *g, gdr_attr_t attr, int *value)
{
	int ret = enter(of(g), MODEL_ATTR);

	if (ret == 0)
		*value = 100 + (int)attr;
	return ret;
}

static int version(struct gdr *g, int *major, int *minor)
{
	int ret = enter(of(g), MODEL_VERSION);

	if (ret == 0) {
		*major = 7;
		*minor = 8;
	}
	return ret;
}

#define OPS(opener, called) \
	{ \
		.name = called, .open = opener, .close = close_model, .pin = pin, .unpin = unpin, \
		.forget = forget, .map = map, .unmap = unmap, .info = info, .callback_flag = flag, \
		.attribute = attribute, .driver_version = version, \
	}
const struct gdr_backend_ops gdr_backend_gdrdrv = OPS(open_gdrdrv, "gdrdrv");
const struct gdr_backend_ops gdr_backend_dmabuf = OPS(open_dmabuf, "dmabuf");
const struct gdr_backend_ops gdr_backend_rm = OPS(open_rm, "rm");

void model_reset(void)
{
	memset(model, 0, sizeof(model));
	for (int b = 0; b < MODEL_BACKENDS; b++)
		model[b].type = GDR_MAPPING_TYPE_WC;
}

void model_only(enum model_backend only)
{
	for (int b = 0; b < MODEL_BACKENDS; b++)
		model[b].err[MODEL_OPEN] = b == (int)only ? 0 : ENODEV;
}

int model_pins(void)
{
	return atomic_load(&pins);
}
