/* SPDX-License-Identifier: MIT */
/*
 * The public copies: look the handle up, without a lock, check what else there is
 * to check, copy.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "copy.h"
#include "export.h"
#include "gdrapi.h"
#include "gdrapi_ext.h"
#include "handle.h"
#include "log.h"
#include "parallel.h"

/* Of a handle that is not among the first, or has no mapping. */
static __attribute__((cold, noinline)) int copy_to(gdr_mh_t handle, void *dev, const void *host,
						   size_t size)
{
	int type = gdr_handle_type(handle.h);

	if (type <= GDR_MAPPING_TYPE_NONE)
		return -gdr_handle_no_mapping(handle.h, "gdr_copy_to_mapping");
	gdr_copy_to((gdr_mapping_type_t)type, dev, host, size);
	return 0;
}

static __attribute__((cold, noinline)) int copy_from(gdr_mh_t handle, void *host, const void *dev,
						     size_t size)
{
	int type = gdr_handle_type(handle.h);

	if (type <= GDR_MAPPING_TYPE_NONE)
		return -gdr_handle_no_mapping(handle.h, "gdr_copy_from_mapping");
	gdr_copy_from((gdr_mapping_type_t)type, host, dev, size);
	return 0;
}

GDR_API int gdr_copy_to_mapping(gdr_mh_t handle, void *map_d_ptr, const void *h_ptr, size_t size)
{
	gdr_mapping_type_t type = gdr_handle_quick_type(handle.h);

	if (type == GDR_MAPPING_TYPE_NONE)
		return copy_to(handle, map_d_ptr, h_ptr, size);
	gdr_copy_to(type, map_d_ptr, h_ptr, size);
	return 0;
}

GDR_API int gdr_copy_from_mapping(gdr_mh_t handle, void *h_ptr, const void *map_d_ptr, size_t size)
{
	gdr_mapping_type_t type = gdr_handle_quick_type(handle.h);

	if (type == GDR_MAPPING_TYPE_NONE)
		return copy_from(handle, h_ptr, map_d_ptr, size);
	gdr_copy_from(type, h_ptr, map_d_ptr, size);
	return 0;
}

/* What gdrx_copy_options was when it was first published. */
#define OPTIONS_SIZE_MIN sizeof(struct gdrx_copy_options)
_Static_assert(OPTIONS_SIZE_MIN == 40, "a field may be added, not moved");

/* Is a byte of [p, p + n) not 0? */
static bool any_set(const unsigned char *p, size_t n)
{
	while (n--)
		if (*p++)
			return true;
	return false;
}

/* A caller's structure may be longer than ours if what we do not know is 0. */
static int read_options(const struct gdrx_copy_options *o, const char *call,
			struct gdr_parallel *how)
{
	memset(how, 0, sizeof(*how));
	if (!o)
		return 0;
	if (o->size < OPTIONS_SIZE_MIN)
		return gdr_log_fail(EINVAL, "%s: options of %zu bytes: set size to "
				    "sizeof(struct gdrx_copy_options)", call, o->size);
	if (any_set((const unsigned char *)o + sizeof(*o), o->size - sizeof(*o)))
		return gdr_log_fail(E2BIG, "%s: options of %zu bytes with fields set that this "
				    "library does not know; it knows %zu bytes", call, o->size,
				    sizeof(*o));
	if (!o->cpus != !o->cpus_size ||
	    (o->cpus && !any_set(o->cpus, o->cpus_size)))
		return gdr_log_fail(EINVAL, "%s: cpus is no set of %zu bytes with a CPU in it",
				    call, o->cpus_size);
	how->threads = o->threads;
	how->min_bytes = o->min_bytes;
	how->cpus = o->cpus;
	how->cpus_size = o->cpus_size;
	return 0;
}

static int parallel_copy(gdr_mh_t handle, struct gdr_parallel_copy *c,
			 const struct gdrx_copy_options *options, const char *call)
{
	int type = (int)gdr_handle_quick_type(handle.h);
	struct gdr_parallel how;
	int ret;

	if (type == GDR_MAPPING_TYPE_NONE)
		type = gdr_handle_type(handle.h);
	if (type <= GDR_MAPPING_TYPE_NONE)
		return gdr_handle_no_mapping(handle.h, call);
	ret = read_options(options, call, &how);
	if (ret < 0)
		return ret;
	c->type = (gdr_mapping_type_t)type;
	if (c->n)
		gdr_parallel_copy(c, &how);
	return 0;
}

GDR_API int gdrx_copy_to_mapping(gdr_mh_t handle, void *map_d_ptr, const void *h_ptr, size_t size,
				 const struct gdrx_copy_options *options)
{
	struct gdr_parallel_copy c = {
		.dir = GDR_COPY_TO_MAPPING,
		.dev = (uintptr_t)map_d_ptr,
		.host = (uintptr_t)h_ptr,
		.n = size,
	};

	return -parallel_copy(handle, &c, options, "gdrx_copy_to_mapping");
}

GDR_API int gdrx_copy_from_mapping(gdr_mh_t handle, void *h_ptr, const void *map_d_ptr, size_t size,
				   const struct gdrx_copy_options *options)
{
	struct gdr_parallel_copy c = {
		.dir = GDR_COPY_FROM_MAPPING,
		.dev = (uintptr_t)map_d_ptr,
		.host = (uintptr_t)h_ptr,
		.n = size,
	};

	return -parallel_copy(handle, &c, options, "gdrx_copy_from_mapping");
}

GDR_API int gdrx_copy_iov(gdr_mh_t handle, int direction, const struct gdrx_iov *iov, size_t n)
{
	int type = gdr_handle_type(handle.h);

	if (type <= GDR_MAPPING_TYPE_NONE)
		return -gdr_handle_no_mapping(handle.h, "gdrx_copy_iov");
	if (direction != GDR_COPY_TO_MAPPING && direction != GDR_COPY_FROM_MAPPING)
		return -gdr_log_fail(EINVAL, "gdrx_copy_iov: direction %d: 0 is to the mapping, "
				     "1 from it", direction);
	if (!n)
		return 0;
	if (!iov)
		return -gdr_log_fail(EINVAL, "gdrx_copy_iov: iov is NULL");
	gdr_copy_iov((enum gdr_copy_dir)direction, (gdr_mapping_type_t)type, iov, n);
	return 0;
}
