/* SPDX-License-Identifier: MIT */
/*
 * The public functions: check arguments, take the context's lock, find the
 * handle, call the backend, turn -errno into errno.  Nothing else.
 */
#include <errno.h>
#include <string.h>

#include "backend.h"
#include "context.h"
#include "copy.h"
#include "export.h"
#include "gdrapi.h"
#include "handle.h"
#include "log.h"

/* The header renames the v1 function to the v2 one; here they are two. */
#undef gdr_get_info

/* What gdr_get_info fills: gdr_info_v2_t up to mapping_type. */
struct info_v1 {
	uint64_t va;
	uint64_t mapped_size;
	uint32_t page_size;
	uint64_t tm_cycles;
	uint32_t cycles_per_ms;
	unsigned mapped : 1;
	unsigned wc_mapping : 1;
};
_Static_assert(sizeof(struct info_v1) == 40, "the v1 struct is 40 bytes");
_Static_assert(sizeof(gdr_info_v2_t) == 48, "the v2 struct is 48 bytes");
_Static_assert(sizeof(gdr_mh_t) == 8, "a handle is 8 bytes");

int gdr_get_info(gdr_t g, gdr_mh_t handle, struct info_v1 *info);

static int null_argument(const char *call, const char *name)
{
	return -gdr_log_fail(EINVAL, "%s: %s is NULL", call, name);
}

/* Enter g and find handle.  On success the caller leaves g. */
static int enter(gdr_t g, gdr_mh_t handle, const char *call, struct gdr_memh **m)
{
	int ret = gdr_context_enter(g);

	if (ret < 0)
		return ret;
	*m = gdr_handle_find(g, handle.h);
	if (*m)
		return 0;
	gdr_context_leave(g);
	return gdr_log_fail(EINVAL, "%s: handle 0x%lx is not pinned on this gdr_t: never was, "
			    "or was unpinned", call, handle.h);
}

GDR_API gdr_t gdr_open(void)
{
	struct gdr *g;
	int err;

	gdr_copy_init();
	g = gdr_context_open(&err);
	if (!g)
		errno = err;
	return g;
}

GDR_API int gdr_close(gdr_t g)
{
	return -gdr_context_close(g);
}

static int check_pin(const struct gdr_pin_args *args, const gdr_mh_t *handle)
{
	if (!handle)
		return -null_argument("gdr_pin_buffer", "handle");
	if (args->addr == 0)
		return gdr_log_fail(EINVAL, "gdr_pin_buffer: address 0 is no device memory");
	/* Room for rounding both ends to GPU pages. */
	if (args->size == 0 || args->addr > UINT64_MAX - 2 * GPU_PAGE_SIZE ||
	    args->size > UINT64_MAX - 2 * GPU_PAGE_SIZE - args->addr)
		return gdr_log_fail(EINVAL, "gdr_pin_buffer: size 0x%llx at 0x%llx is empty or "
				    "wraps around", (unsigned long long)args->size,
				    (unsigned long long)args->addr);
	if (args->flags & ~(uint32_t)GDR_PIN_FLAG_FORCE_PCIE)
		return gdr_log_fail(EINVAL, "gdr_pin_buffer_v2: flags 0x%x: only bit 0 "
				    "(GDR_PIN_FLAG_FORCE_PCIE) is defined", args->flags);
	return 0;
}

static int pin(gdr_t g, const struct gdr_pin_args *args, gdr_mh_t *handle)
{
	struct gdr_memh *m;
	int ret = check_pin(args, handle);

	if (ret < 0)
		return ret;
	ret = gdr_context_enter(g);
	if (ret < 0)
		return ret;
	ret = g->ops->pin(g, args, &m);
	if (ret == 0) {
		ret = gdr_handle_new(g, m);
		if (ret < 0)
			g->ops->unpin(g, m);
		else
			handle->h = m->id;
	}
	gdr_context_leave(g);
	return ret;
}

GDR_API int gdr_pin_buffer(gdr_t g, unsigned long addr, size_t size, uint64_t p2p_token,
			   uint32_t va_space, gdr_mh_t *handle)
{
	struct gdr_pin_args args = {
		.addr = addr,
		.size = size,
		.p2p_token = p2p_token,
		.va_space = va_space,
	};

	return -pin(g, &args, handle);
}

GDR_API int gdr_pin_buffer_v2(gdr_t g, unsigned long addr, size_t size, uint32_t flags,
			      gdr_mh_t *handle)
{
	struct gdr_pin_args args = {
		.addr = addr,
		.size = size,
		.flags = flags,
	};

	return -pin(g, &args, handle);
}

GDR_API int gdr_unpin_buffer(gdr_t g, gdr_mh_t handle)
{
	struct gdr_memh *m;
	int ret = enter(g, handle, "gdr_unpin_buffer", &m);

	if (ret < 0)
		return -ret;
	ret = gdr_context_unpin(g, m);
	gdr_context_leave(g);
	return -ret;
}

GDR_API int gdr_get_callback_flag(gdr_t g, gdr_mh_t handle, int *flag)
{
	struct gdr_memh *m;
	int ret;

	if (!flag)
		return null_argument("gdr_get_callback_flag", "flag");
	ret = enter(g, handle, "gdr_get_callback_flag", &m);
	if (ret < 0)
		return -ret;
	ret = g->ops->callback_flag(g, m, flag);
	gdr_context_leave(g);
	return -ret;
}

static int get_info(gdr_t g, gdr_mh_t handle, gdr_info_v2_t *info)
{
	struct gdr_memh *m;
	int ret = enter(g, handle, "gdr_get_info", &m);

	if (ret < 0)
		return ret;
	memset(info, 0, sizeof(*info));
	ret = g->ops->info(g, m, info);
	gdr_context_leave(g);
	return ret;
}

GDR_API int gdr_get_info_v2(gdr_t g, gdr_mh_t handle, gdr_info_v2_t *info)
{
	gdr_info_v2_t full;
	int ret;

	if (!info)
		return null_argument("gdr_get_info", "info");
	ret = get_info(g, handle, &full);
	if (ret == 0)
		*info = full;
	return -ret;
}

GDR_API int gdr_get_info(gdr_t g, gdr_mh_t handle, struct info_v1 *info)
{
	gdr_info_v2_t full;
	int ret;

	if (!info)
		return null_argument("gdr_get_info", "info");
	ret = get_info(g, handle, &full);
	if (ret < 0)
		return -ret;
	*info = (struct info_v1){
		.va = full.va,
		.mapped_size = full.mapped_size,
		.page_size = full.page_size,
		.tm_cycles = full.tm_cycles,
		.cycles_per_ms = full.cycles_per_ms,
		.mapped = full.mapped,
		.wc_mapping = full.wc_mapping,
	};
	return 0;
}

/* size rounded up to host pages, or 0 if it is 0 or wraps around. */
static size_t whole_pages(size_t size)
{
	size_t page = gdr_page_size();

	return (size + page - 1) & ~(page - 1);
}

static int map(gdr_t g, struct gdr_memh *m, void **va, size_t size, int flags)
{
	struct gdr_mapping mapping;
	int ret;

	if (m->mapping.addr)
		return gdr_log_fail(EAGAIN, "gdr_map: handle 0x%lx is mapped already at %p; "
				    "a handle has one mapping", m->id, m->mapping.addr);
	if (flags < GDR_MAP_FLAG_DEFAULT || flags > GDR_MAP_FLAG_REQ_DEVICE_MAPPING)
		return gdr_log_fail(EINVAL, "gdr_map_v2: flags %d: choose one of "
				    "GDR_MAP_FLAG_*, 0 to 3", flags);
	if (whole_pages(size) == 0)
		return gdr_log_fail(EINVAL, "gdr_map: size 0x%zx is empty or wraps around", size);
	ret = g->ops->map(g, m, whole_pages(size), flags, &mapping);
	if (ret < 0)
		return ret;
	m->mapping = mapping;
	gdr_handle_publish(m, mapping.type);
	*va = mapping.addr;
	return 0;
}

GDR_API int gdr_map_v2(gdr_t g, gdr_mh_t handle, void **va, size_t size, int flags)
{
	struct gdr_memh *m;
	int ret;

	if (!va)
		return null_argument("gdr_map", "va");
	ret = enter(g, handle, "gdr_map", &m);
	if (ret < 0)
		return -ret;
	ret = map(g, m, va, size, flags);
	gdr_context_leave(g);
	return -ret;
}

GDR_API int gdr_map(gdr_t g, gdr_mh_t handle, void **va, size_t size)
{
	return gdr_map_v2(g, handle, va, size, GDR_MAP_FLAG_DEFAULT);
}

static int unmap(gdr_t g, struct gdr_memh *m, const void *va, size_t size)
{
	int ret;

	if (!m->mapping.addr)
		return gdr_log_fail(EINVAL, "gdr_unmap: handle 0x%lx is not mapped", m->id);
	if (va != m->mapping.addr || whole_pages(size) != m->mapping.len)
		return gdr_log_fail(EINVAL, "gdr_unmap: handle 0x%lx is mapped at %p, 0x%zx bytes; "
				    "%p, 0x%zx bytes is not that", m->id, m->mapping.addr,
				    m->mapping.len, va, size);
	gdr_handle_publish(m, GDR_MAPPING_TYPE_NONE);
	ret = g->ops->unmap(g, m);
	if (ret < 0)
		gdr_handle_publish(m, m->mapping.type);
	else
		memset(&m->mapping, 0, sizeof(m->mapping));
	return ret;
}

GDR_API int gdr_unmap(gdr_t g, gdr_mh_t handle, void *va, size_t size)
{
	struct gdr_memh *m;
	int ret = enter(g, handle, "gdr_unmap", &m);

	if (ret < 0)
		return -ret;
	ret = unmap(g, m, va, size);
	gdr_context_leave(g);
	return -ret;
}

GDR_API void gdr_runtime_get_version(int *major, int *minor)
{
	if (major)
		*major = GDR_API_MAJOR_VERSION;
	if (minor)
		*minor = GDR_API_MINOR_VERSION;
}

GDR_API int gdr_driver_get_version(gdr_t g, int *major, int *minor)
{
	int ret;

	if (!major || !minor)
		return null_argument("gdr_driver_get_version", "major or minor");
	ret = gdr_context_enter(g);
	if (ret < 0)
		return -ret;
	ret = g->ops->driver_version(g, major, minor);
	gdr_context_leave(g);
	return -ret;
}

static int attribute(gdr_t g, gdr_attr_t attr, int *v)
{
	switch (attr) {
	case GDR_ATTR_USING_DMA_BUF_MMAP:
		*v = g->ops == &gdr_backend_dmabuf;
		return 0;
	case GDR_ATTR_USE_PERSISTENT_MAPPING:
	case GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE:
		return g->ops->attribute(g, attr, v);
	default:
		return gdr_log_fail(EINVAL, "gdr_get_attribute: %d is no attribute", (int)attr);
	}
}

GDR_API int gdr_get_attribute(gdr_t g, gdr_attr_t attr, int *v)
{
	int ret;

	if (!v)
		return null_argument("gdr_get_attribute", "v");
	ret = gdr_context_enter(g);
	if (ret < 0)
		return -ret;
	ret = attribute(g, attr, v);
	gdr_context_leave(g);
	return -ret;
}

GDR_API int gdr_get_mapping_type_string(gdr_mapping_type_t mapping_type, const char **str)
{
	static const char *const names[] = {
		[GDR_MAPPING_TYPE_NONE] = "None",
		[GDR_MAPPING_TYPE_WC] = "Write Combining",
		[GDR_MAPPING_TYPE_CACHING] = "Caching",
		[GDR_MAPPING_TYPE_DEVICE] = "Device",
	};

	if (!str)
		return null_argument("gdr_get_mapping_type_string", "str");
	if ((unsigned)mapping_type >= GDR_MAPPING_TYPE_MAX)
		return -gdr_log_fail(EINVAL, "gdr_get_mapping_type_string: %d is no mapping type",
				     (int)mapping_type);
	*str = names[mapping_type];
	return 0;
}
