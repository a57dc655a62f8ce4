/* SPDX-License-Identifier: MIT */
/* Open contexts: backend order, the list of what is open, closing. */
#include "context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "handle.h"
#include "log.h"

static const struct gdr_backend_ops *const backends[] = {
	&gdr_backend_gdrdrv,
	&gdr_backend_dmabuf,
	&gdr_backend_rm,
};
#define BACKENDS (sizeof(backends) / sizeof(backends[0]))

static struct gdr *open_contexts;       /* registry lock */

static __thread char report[2048];

static void report_line(const char *name, const char *text)
{
	size_t used = strlen(report);

	snprintf(report + used, sizeof(report) - used, "%s: %s\n", name, text);
}

/* The reason of the backend now being opened. */
static __thread char skip_reason[640];

int gdr_context_skip(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(skip_reason, sizeof(skip_reason), fmt, ap);
	va_end(ap);
	return -err;
}

const char *gdr_context_report(void)
{
	return report;
}

/* The name of the one backend the environment allows, or NULL for all. */
static const char *forced_backend(void)
{
	const char *dmabuf = secure_getenv("GDRCOPY_USE_DMABUF_MMAP");
	const char *name = secure_getenv("GDRCOPY_BACKEND");

	if (name && *name)
		return name;
	if (dmabuf && strcmp(dmabuf, "1") == 0)
		return gdr_backend_dmabuf.name;
	return NULL;
}

static int try_backend(const struct gdr_backend_ops *ops, struct gdr **out)
{
	int ret;

	snprintf(skip_reason, sizeof(skip_reason), "no reason given");
	ret = ops->open(out);
	if (ret < 0) {
		report_line(ops->name, skip_reason);
		gdr_log(GDR_LOG_INFO, "backend %s skipped: %s", ops->name, skip_reason);
		return ret;
	}
	(*out)->ops = ops;
	report_line(ops->name, "in use");
	gdr_log(GDR_LOG_INFO, "backend %s in use", ops->name);
	return 0;
}

static int open_backend(const char *forced, struct gdr **out)
{
	int ret = 0;
	size_t i;

	for (i = 0; i < BACKENDS; i++) {
		int err;

		if (forced && strcmp(forced, backends[i]->name) != 0)
			continue;
		err = try_backend(backends[i], out);
		if (err == 0)
			return 0;
		if (ret == 0)
			ret = err; /* of the preferred one */
	}
	if (ret == 0) {
		report_line(forced, "no backend of this name");
		return gdr_log_fail(EINVAL, "gdr_open: GDRCOPY_BACKEND=%s names no backend; "
				    "choose gdrdrv, dmabuf or rm, or unset it", forced);
	}
	return gdr_log_fail(-ret, "gdr_open: no backend works here%s%s.\n%s",
			    forced ? "; the environment asks for " : "",
			    forced ? forced : "", report);
}

struct gdr *gdr_context_open(int *err)
{
	struct gdr *g;
	int ret;

	report[0] = '\0';
	ret = open_backend(forced_backend(), &g);
	if (ret < 0) {
		*err = -ret;
		return NULL;
	}
	g->owner = gdr_owner_self();
	g->refs = 1;
	pthread_mutex_init(&g->lock, NULL);
	gdr_registry_lock();
	g->next = open_contexts;
	open_contexts = g;
	gdr_registry_unlock();
	return g;
}

/* Registry lock held. */
static struct gdr **find_link(const struct gdr *g)
{
	struct gdr **link;

	for (link = &open_contexts; *link; link = &(*link)->next)
		if (*link == g)
			return link;
	return NULL;
}

static int not_open(const struct gdr *g)
{
	return gdr_log_fail(EINVAL, "gdr_t %p is not open: never opened, or closed already",
			    (const void *)g);
}

static void put(struct gdr *g)
{
	const struct gdr_backend_ops *ops = g->ops;
	bool last;

	gdr_registry_lock();
	last = --g->refs == 0;
	gdr_registry_unlock();
	if (last) {
		if (gdr_owner_is_self(&g->owner)) /* a child's may be held for ever */
			pthread_mutex_destroy(&g->lock);
		ops->close(g);
	}
}

const struct gdr_backend_ops *gdr_context_ops(struct gdr *g)
{
	const struct gdr_backend_ops *ops = NULL;
	struct gdr **link;

	gdr_registry_lock();
	link = find_link(g);
	if (link)
		ops = (*link)->ops;
	gdr_registry_unlock();
	return ops;
}

int gdr_context_enter(struct gdr *g)
{
	struct gdr **link;
	struct gdr_owner owner = { 0 };
	bool mine = false;

	gdr_registry_lock();
	link = find_link(g);
	if (link) {
		owner = g->owner;
		mine = gdr_owner_is_self(&owner);
		if (mine)
			g->refs++;
	}
	gdr_registry_unlock();
	if (!link)
		return not_open(g);
	if (!mine)
		return gdr_log_fail(EACCES, "gdr_t %p belongs to process %d: a child process "
				    "must open its own", (void *)g, (int)owner.pid);
	pthread_mutex_lock(&g->lock);
	if (g->closed) { /* while this thread waited */
		pthread_mutex_unlock(&g->lock);
		put(g);
		return not_open(g);
	}
	return 0;
}

void gdr_context_leave(struct gdr *g)
{
	pthread_mutex_unlock(&g->lock);
	put(g);
}

int gdr_context_unpin(struct gdr *g, struct gdr_memh *m)
{
	int ret = 0, err;

	/* First, so that a copy that starts now is refused. */
	gdr_handle_delete(m);
	if (m->mapping.addr) {
		ret = g->ops->unmap(g, m);
		if (ret == 0)
			m->mapping.addr = NULL;
	}
	err = g->ops->unpin(g, m);
	return ret ? ret : err;
}

/* In a child: the parent's kernel objects are not ours to release. */
static void forget_all(struct gdr *g)
{
	struct gdr_memh *m;

	while ((m = g->memhs)) {
		gdr_handle_delete(m);
		g->ops->forget(g, m);
	}
}

static int unpin_all(struct gdr *g)
{
	int ret = 0, err;

	while (g->memhs) {
		err = gdr_context_unpin(g, g->memhs);
		if (ret == 0)
			ret = err;
	}
	return ret;
}

int gdr_context_close(struct gdr *g)
{
	struct gdr **link;
	bool foreign = false;
	int ret = 0;

	gdr_registry_lock();
	link = find_link(g);
	if (link) {
		*link = g->next;
		foreign = !gdr_owner_is_self(&g->owner);
		if (foreign)
			g->refs = 1; /* threads that held the others are in the parent */
	}
	gdr_registry_unlock();
	if (!link)
		return not_open(g);
	if (foreign) {
		forget_all(g);
	} else {
		pthread_mutex_lock(&g->lock);
		g->closed = true;
		ret = unpin_all(g);
		pthread_mutex_unlock(&g->lock);
	}
	put(g);
	return ret;
}
