/* SPDX-License-Identifier: MIT */
/*
 * The rm backend: device memory mapped through the stock NVIDIA driver, with no
 * module of our own and no privilege.  VMM memory is imported by its export
 * descriptor, cuMemAlloc memory duplicated by the names in its IPC handle;
 * either way the pin holds the memory until it is unpinned.
 *
 * The driver leaves user mappings in place when the object behind them is
 * freed.  So the order is always unmap, then free; and what could not be
 * unmapped is never freed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend_rm.h"
#include "context.h"
#include "cuda.h"
#include "log.h"

static struct rm_gdr *to_gdr(struct gdr *g)
{
	return (struct rm_gdr *)g;
}

static struct rm_memh *to_memh(struct gdr_memh *m)
{
	return (struct rm_memh *)m;
}

static int rm_open(struct gdr **out)
{
	const char *why;
	const struct gdr_cuda *cu = gdr_cuda_get(&why);
	struct gdr_rm_client client;
	struct rm_gdr *g;
	int ctl, ret;

	if (!cu)
		return gdr_context_skip(ENODEV, "%s", why);
	ctl = gdr_rm_open_ctl();
	if (ctl < 0)
		return gdr_context_skip(-ctl, "%s", gdr_log_last());
	/* A driver whose requests are others refuses the first one. */
	ret = gdr_rm_client_new(ctl, &client);
	close(ctl); /* and the client with it */
	if (ret < 0)
		return gdr_context_skip(-ret, "%s", gdr_log_last());
	g = calloc(1, sizeof(*g));
	if (!g)
		return gdr_context_skip(ENOMEM, "out of memory");
	g->base.fd = -1;
	g->cu = cu;
	*out = &g->base;
	return 0;
}

static void rm_close(struct gdr *base)
{
	struct rm_gdr *g = to_gdr(base);
	unsigned i;

	for (i = 0; i < g->ngpus; i++)
		gdr_rm_gpu_put(g->gpus[i]);
	free(g->gpus);
	free(g);
}

/* The GPU of a CUDA device; this context keeps it until it is closed. */
static int context_gpu(struct rm_gdr *g, CUdevice dev, struct gdr_rm_gpu **out)
{
	struct gdr_rm_gpu **grown, **old;
	unsigned i;
	int ret;

	for (i = 0; i < g->ngpus; i++) {
		if (g->gpus[i]->dev == dev) {
			*out = g->gpus[i];
			return 0;
		}
	}
	grown = malloc((g->ngpus + 1) * sizeof(*grown));
	if (!grown)
		return gdr_log_fail(ENOMEM, "gdr_pin_buffer: out of memory");
	ret = gdr_rm_gpu_get(g->cu, dev, out);
	if (ret < 0) {
		free(grown);
		return ret;
	}
	for (i = 0; i < g->ngpus; i++)
		grown[i] = g->gpus[i];
	grown[i] = *out;
	/* A child of another thread's fork closes this context: it finds all or nothing. */
	gdr_registry_lock();
	old = g->gpus;
	g->gpus = grown;
	g->ngpus++;
	gdr_registry_unlock();
	free(old);
	return 0;
}

static int rm_pin(struct gdr *base, const struct gdr_pin_args *args, struct gdr_memh **out)
{
	struct rm_gdr *g = to_gdr(base);
	struct gdr_rm_memory mem = { .dev = -1 };
	struct rm_memh *m;
	int ret;

	if (args->flags & GDR_PIN_FLAG_FORCE_PCIE)
		return gdr_log_fail(ENOTSUP, "gdr_pin_buffer_v2: the rm backend cannot choose "
				    "PCIe; pin without GDR_PIN_FLAG_FORCE_PCIE");
	ret = gdr_rm_find_memory(g->cu, args->addr, args->size, &mem);
	if (ret < 0)
		return ret;
	m = calloc(1, sizeof(*m));
	if (!m)
		return gdr_log_fail(ENOMEM, "gdr_pin_buffer: out of memory");
	m->misaligned = args->addr & GPU_PAGE_OFFSET;
	m->range.va = args->addr - m->misaligned;
	m->range.size = (m->misaligned + args->size + GPU_PAGE_OFFSET) & GPU_PAGE_MASK;
	ret = context_gpu(g, mem.dev, &m->range.gpu);
	if (ret == 0)
		ret = gdr_rm_range_pin(&m->range, &mem);
	if (ret < 0) {
		free(m);
		return ret;
	}
	*out = &m->base;
	return 0;
}

static void rm_forget(struct gdr *g, struct gdr_memh *base)
{
	struct rm_memh *m = to_memh(base);

	gdr_rm_range_forget(&m->range);
	free(m);
}

static int rm_unpin(struct gdr *g, struct gdr_memh *base)
{
	struct rm_memh *m = to_memh(base);
	int ret = 0;

	if (base->mapping.addr) {
		gdr_log(GDR_LOG_ERROR, "gdr_unpin_buffer: the mapping at %p could not be removed; "
			"its memory stays allocated until the process ends", base->mapping.addr);
		free(m->range.parts);
	} else {
		ret = gdr_rm_range_release(&m->range);
	}
	free(m);
	return ret;
}

/* Map all of a part's window, len bytes, at a reserved address or anywhere. */
static int map_window(struct rm_memh *m, struct gdr_rm_part *part, size_t len, void *at,
		    struct gdr_mapping *out)
{
	int ret = gdr_mapping_create(part->file, 0, len, at, out, &part->stuck);

	if (ret < 0)
		return gdr_log_fail(-ret, "gdr_map: mmap of /dev/nvidia%u, 0x%zx bytes: %s",
				    m->range.gpu->card.minor, len, gdr_log_errstr(-ret));
	return 0;
}

static int map_one(struct rm_memh *m, size_t len, struct gdr_mapping *out)
{
	struct gdr_rm_part *part = &m->range.parts[0];
	int ret = gdr_rm_part_window(m->range.gpu, part, len);

	return ret < 0 ? ret : map_window(m, part, len, NULL, out);
}

/* The windows of the first len bytes.  *nparts is how many parts those lie in. */
static int make_windows(struct rm_memh *m, size_t len, unsigned *nparts)
{
	size_t n;
	unsigned i;
	int ret;

	for (i = 0; len; i++, len -= n) {
		n = len < m->range.parts[i].len ? len : m->range.parts[i].len;
		ret = gdr_rm_part_window(m->range.gpu, &m->range.parts[i], n);
		if (ret < 0)
			return ret;
	}
	*nparts = i;
	return 0;
}

/* Several parts, side by side in one reserved range. */
static int map_parts(struct rm_memh *m, size_t len, struct gdr_mapping *out)
{
	struct gdr_rm_part *parts = m->range.parts;
	struct gdr_mapping piece;
	size_t done = 0, n = 0;
	unsigned i, nparts;
	char *at;
	int ret = make_windows(m, len, &nparts);

	if (ret < 0)
		return ret;
	at = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED) {
		ret = errno;
		return gdr_log_fail(ret, "gdr_map: cannot reserve 0x%zx bytes of addresses: %s",
				    len, gdr_log_errstr(ret));
	}
	for (i = 0; i < nparts; i++, done += n) {
		n = parts[i].window_len;
		ret = map_window(m, &parts[i], n, at + done, &piece);
		if (ret < 0)
			goto unmap;
	}
	out->addr = at;
	out->len = len;
	return 0;

unmap: /* all but the piece that failed, see gdr_mapping_create */
	if (done && munmap(at, done) != 0) {
		while (i)
			parts[--i].stuck = true;
	}
	if (done + n < len)
		munmap(at + done + n, len - done - n);
	return ret;
}

static int rm_map(struct gdr *g, struct gdr_memh *base, size_t len, int flags,
		  struct gdr_mapping *out)
{
	struct rm_memh *m = to_memh(base);
	int ret;

	if (m->misaligned)
		return gdr_log_fail(EINVAL, "gdr_map: the pin starts 0x%llx bytes into a GPU "
				    "page; only pins aligned to 64 KiB can be mapped",
				    (unsigned long long)m->misaligned);
	if (len > m->range.size)
		return gdr_log_fail(EINVAL, "gdr_map: 0x%zx bytes are more than the 0x%llx that "
				    "are pinned", len, (unsigned long long)m->range.size);
	ret = gdr_mapping_check_flags(flags, m->range.gpu->type);
	if (ret < 0)
		return ret;
	ret = len <= m->range.parts[0].len ? map_one(m, len, out) : map_parts(m, len, out);
	if (ret == 0)
		out->type = m->range.gpu->type;
	return ret;
}

static int rm_unmap(struct gdr *g, struct gdr_memh *m)
{
	return gdr_mapping_destroy(&m->mapping);
}

static int rm_info(struct gdr *g, struct gdr_memh *base, gdr_info_v2_t *info)
{
	struct rm_memh *m = to_memh(base);

	info->va = m->range.va;
	info->mapped_size = m->range.size;
	info->page_size = GPU_PAGE_SIZE;
	gdr_mapping_describe(&base->mapping, info);
	return 0;
}

static int rm_callback_flag(struct gdr *g, struct gdr_memh *m, int *flag)
{
	*flag = 0; /* the pin keeps the memory, so nothing is ever revoked */
	return 0;
}

static int rm_attribute(struct gdr *g, gdr_attr_t attr, int *value)
{
	*value = attr == GDR_ATTR_USE_PERSISTENT_MAPPING;
	return 0;
}

static int rm_driver_version(struct gdr *g, int *major, int *minor)
{
	/* No gdrdrv here; clients gate features on the version that has them all. */
	*major = GDR_API_MAJOR_VERSION;
	*minor = GDR_API_MINOR_VERSION;
	return 0;
}

const struct gdr_backend_ops gdr_backend_rm = {
	.name = "rm",
	.open = rm_open,
	.close = rm_close,
	.pin = rm_pin,
	.unpin = rm_unpin,
	.forget = rm_forget,
	.map = rm_map,
	.unmap = rm_unmap,
	.info = rm_info,
	.callback_flag = rm_callback_flag,
	.attribute = rm_attribute,
	.driver_version = rm_driver_version,
};
