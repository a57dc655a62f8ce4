/* SPDX-License-Identifier: MIT */
/*
 * The backend on the gdrdrv kernel module: one open file of /dev/gdrdrv a
 * context, one kernel handle a pin.  kabi.c talks to the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "context.h"
#include "kabi.h"
#include "log.h"
#include "uapi/gdrdrv.h"

struct gdrdrv_context {
	struct gdr g;
	struct gdr_kabi k;
};

struct gdrdrv_pin {
	struct gdr_memh m;
	uint64_t handle;     /* the kernel's */
	uint64_t addr, size; /* as asked for */
};

_Static_assert((int)GDR_MAP_FLAG_REQ_WC_MAPPING == (int)GDR_MAPPING_TYPE_WC,
	       "a flag is its type");
_Static_assert((int)GDR_MAP_FLAG_REQ_CACHE_MAPPING == (int)GDR_MAPPING_TYPE_CACHING, "");
_Static_assert((int)GDR_MAP_FLAG_REQ_DEVICE_MAPPING == (int)GDR_MAPPING_TYPE_DEVICE, "");

static const struct gdr_kabi *kabi(struct gdr *g)
{
	return &((struct gdrdrv_context *)g)->k;
}

static struct gdrdrv_pin *pin_of(struct gdr_memh *m)
{
	return (struct gdrdrv_pin *)m;
}

static int open_device(void)
{
	int fd, err;

	do {
		fd = open(GDRDRV_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	if (fd >= 0)
		return fd;
	err = errno;
	switch (err) {
	case ENOENT:
		return gdr_context_skip(
			err, "no " GDRDRV_DEVICE_PATH ": the gdrdrv module is not "
			     "loaded (modprobe gdrdrv), or its device node was not made, "
			     "or is not passed into this container");
	case EACCES:
	case EPERM:
		return gdr_context_skip(err,
					GDRDRV_DEVICE_PATH
					": %s; this user may not open it "
					"(chmod 0666 " GDRDRV_DEVICE_PATH
					"), or the container's "
					"device rules forbid it",
					gdr_log_errstr(err));
	case ENXIO:
	case ENODEV:
		return gdr_context_skip(
			err, GDRDRV_DEVICE_PATH
			" is stale: no driver is behind it; "
			"load the module (modprobe gdrdrv) and make the node anew "
			"with the major number that /proc/devices shows");
	default:
		return gdr_context_skip(err, "open " GDRDRV_DEVICE_PATH ": %s",
					gdr_log_errstr(err));
	}
}

/* The driver's version, if this library and that driver serve each other. */
static int check_version(int fd, uint32_t *version)
{
	uint32_t driver, min_api;
	int ret = gdr_kabi_get_version(fd, &driver, &min_api);

	if (ret < 0)
		return gdr_context_skip(-ret,
					GDRDRV_DEVICE_PATH
					" does not tell its version: %s; "
					"it is not gdrdrv, or one older than %d.%d: "
					"update the module and reload it",
					gdr_log_errstr(-ret),
					MINIMUM_GDRDRV_MAJOR_VERSION,
					MINIMUM_GDRDRV_MINOR_VERSION);
	if (driver < MINIMUM_GDRDRV_VERSION)
		return gdr_context_skip(
			ENOTSUP,
			"gdrdrv %u.%u is too old, %d.%d or later is needed: "
			"update the module and reload it",
			GDRDRV_VERSION_MAJOR(driver), GDRDRV_VERSION_MINOR(driver),
			MINIMUM_GDRDRV_MAJOR_VERSION, MINIMUM_GDRDRV_MINOR_VERSION);
	if (min_api > GDR_API_VERSION)
		return gdr_context_skip(
			ENOTSUP,
			"gdrdrv %u.%u serves libgdrapi %u.%u or later, this "
			"is %d.%d: update the library, or load an older module",
			GDRDRV_VERSION_MAJOR(driver), GDRDRV_VERSION_MINOR(driver),
			GDRDRV_VERSION_MAJOR(min_api), GDRDRV_VERSION_MINOR(min_api),
			GDR_API_MAJOR_VERSION, GDR_API_MINOR_VERSION);
	*version = driver;
	return 0;
}

static int gdrdrv_open(struct gdr **out)
{
	struct gdrdrv_context *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return gdr_context_skip(ENOMEM, "no memory for a context");
	ret = open_device();
	if (ret < 0)
		goto free_context;
	c->k.fd = ret;
	c->g.fd = ret;
	ret = check_version(c->k.fd, &c->k.version);
	if (ret < 0)
		goto close_device;
	*out = &c->g;
	return 0;

close_device:
	close(c->k.fd);
free_context:
	free(c);
	return ret;
}

/* What close of this device returns says nothing: the file is gone either way. */
static void gdrdrv_close(struct gdr *g)
{
	close(kabi(g)->fd);
	free(g);
}

static int gdrdrv_pin(struct gdr *g, const struct gdr_pin_args *args,
		      struct gdr_memh **out)
{
	struct gdrdrv_pin *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return gdr_log_fail(ENOMEM, "no memory for one more pin: unpin buffers");
	p->addr = args->addr;
	p->size = args->size;
	ret = gdr_kabi_pin(kabi(g), args, &p->handle);
	if (ret < 0) {
		free(p);
		return ret;
	}
	*out = &p->m;
	return 0;
}

static int gdrdrv_unpin(struct gdr *g, struct gdr_memh *m)
{
	int ret = gdr_kabi_unpin(kabi(g), pin_of(m)->handle);

	free(m);
	return ret;
}

static void gdrdrv_forget(struct gdr *g, struct gdr_memh *m)
{
	free(m);
}

static const char *map_remedy(int err)
{
	switch (err) {
	case EINVAL:
		return "the address must be a multiple of 64 KiB, the size within the pin, "
		       "and the memory not freed since";
	case EAGAIN:
		return "the driver could not enter the pages: see dmesg";
	case EACCES:
		return "only the process that opened gdrdrv may map";
	case ENOMEM:
		return "no address space or memory is left, or a limit (ulimit -v) is reached";
	default:
		return "see dmesg";
	}
}

static int map_pages(struct gdr *g, const struct gdrdrv_pin *p, size_t len,
		     struct gdr_mapping *out)
{
	uint64_t offset;
	int ret;

	if (__builtin_mul_overflow(p->handle, (uint64_t)gdr_page_size(), &offset))
		return gdr_log_fail(EOVERFLOW,
				    "map: kernel handle 0x%llx is beyond what mmap can "
				    "address; close the context and open another",
				    (unsigned long long)p->handle);
	ret = gdr_mapping_create(kabi(g)->fd, offset, len, NULL, out, NULL);
	if (ret == 0)
		return 0;
	return gdr_log_fail(
		-ret,
		"gdrdrv map of 0x%zx bytes, kernel handle 0x%llx, a pin of 0x%llx "
		"bytes at 0x%llx: %s; %s",
		len, (unsigned long long)p->handle, (unsigned long long)p->size,
		(unsigned long long)p->addr, gdr_log_errstr(-ret), map_remedy(-ret));
}

/* What the mapping became; older drivers honour no request, so compare. */
static int mapped_type(struct gdr *g, const struct gdrdrv_pin *p, int flags,
		       gdr_mapping_type_t *type)
{
	gdr_info_v2_t info;
	int ret = gdr_kabi_info(kabi(g), p->handle, &info);

	if (ret < 0)
		return ret;
	if (info.mapping_type == GDR_MAPPING_TYPE_NONE)
		return gdr_log_fail(
			EAGAIN,
			"map, kernel handle 0x%llx: the driver says it is not "
			"mapped; the memory at 0x%llx was freed meanwhile, or try again",
			(unsigned long long)p->handle, (unsigned long long)p->addr);
	if (flags != GDR_MAP_FLAG_DEFAULT && (int)info.mapping_type != flags)
		return gdr_log_fail(
			EINVAL,
			"map, kernel handle 0x%llx: %s was asked for, the driver "
			"made %s; use GDR_MAP_FLAG_DEFAULT",
			(unsigned long long)p->handle, gdr_mapping_flag_name(flags),
			gdr_mapping_type_name(info.mapping_type));
	*type = info.mapping_type;
	return 0;
}

static int gdrdrv_map(struct gdr *g, struct gdr_memh *m, size_t len, int flags,
		      struct gdr_mapping *out)
{
	const struct gdrdrv_pin *p = pin_of(m);
	struct gdr_mapping map = { .type = GDR_MAPPING_TYPE_NONE };
	int ret;

	ret = gdr_kabi_request_type(kabi(g), p->handle, (gdr_mapping_type_t)flags);
	if (ret < 0)
		return ret;
	ret = map_pages(g, p, len, &map);
	if (ret < 0)
		return ret;
	ret = mapped_type(g, p, flags, &map.type);
	if (ret < 0)
		goto unmap;
	*out = map;
	return 0;

unmap:
	gdr_mapping_destroy(&map);
	return ret;
}

static int gdrdrv_unmap(struct gdr *g, struct gdr_memh *m)
{
	return gdr_mapping_destroy(&m->mapping);
}

static int gdrdrv_info(struct gdr *g, struct gdr_memh *m, gdr_info_v2_t *info)
{
	return gdr_kabi_info(kabi(g), pin_of(m)->handle, info);
}

static int gdrdrv_callback_flag(struct gdr *g, struct gdr_memh *m, int *flag)
{
	return gdr_kabi_callback_flag(kabi(g), pin_of(m)->handle, flag);
}

static int gdrdrv_attribute(struct gdr *g, gdr_attr_t attr, int *value)
{
	return gdr_kabi_attribute(kabi(g), attr, value);
}

static int gdrdrv_driver_version(struct gdr *g, int *major, int *minor)
{
	uint32_t version = kabi(g)->version;

	*major = (int)GDRDRV_VERSION_MAJOR(version);
	*minor = (int)GDRDRV_VERSION_MINOR(version);
	return 0;
}

const struct gdr_backend_ops gdr_backend_gdrdrv = {
	.name = "gdrdrv",
	.open = gdrdrv_open,
	.close = gdrdrv_close,
	.pin = gdrdrv_pin,
	.unpin = gdrdrv_unpin,
	.forget = gdrdrv_forget,
	.map = gdrdrv_map,
	.unmap = gdrdrv_unmap,
	.info = gdrdrv_info,
	.callback_flag = gdrdrv_callback_flag,
	.attribute = gdrdrv_attribute,
	.driver_version = gdrdrv_driver_version,
};
