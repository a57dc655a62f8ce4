/* SPDX-License-Identifier: MIT */
/* The ioctls of /dev/gdrdrv; see kabi.h. */
#include "kabi.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "backend.h"
#include "log.h"
#include "uapi/gdrdrv.h"

/* The first driver with GET_INFO_V2; the first with PIN_BUFFER_V2, GET_ATTR, REQ_MAPPING_TYPE. */
#define HAS_INFO_V2 GDRDRV_VERSION_OF(2, 4)
#define HAS_PIN_V2  GDRDRV_VERSION_OF(2, 5)

/* linux/errno.h ENOTSUPP: user space has no name for it, but drivers return it. */
#define KERNEL_ENOTSUPP 524

_Static_assert((int)GDRDRV_MAPPING_NONE == (int)GDR_MAPPING_TYPE_NONE,
	       "types are passed on as is");
_Static_assert((int)GDRDRV_MAPPING_WC == (int)GDR_MAPPING_TYPE_WC, "");
_Static_assert((int)GDRDRV_MAPPING_CACHING == (int)GDR_MAPPING_TYPE_CACHING, "");
_Static_assert((int)GDRDRV_MAPPING_DEVICE == (int)GDR_MAPPING_TYPE_DEVICE, "");
_Static_assert((int)GDRDRV_PIN_FLAG_FORCE_PCIE == (int)GDR_PIN_FLAG_FORCE_PCIE, "");
_Static_assert((int)GDRDRV_ATTR_USE_PERSISTENT_MAPPING ==
		       (int)GDR_ATTR_USE_PERSISTENT_MAPPING,
	       "");
_Static_assert((int)GDRDRV_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE ==
		       (int)GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE,
	       "");

struct remedy {
	int err;
	const char *text;
};

static const struct remedy pin_remedies[] = {
	{ EINVAL,
	  "the whole range must lie in one CUDA allocation that this process owns; "
	  "P2P tokens and flags must be ones that the gdrdrv module's mode allows" },
	{ ENOMEM, "no GPU BAR1 space or kernel memory is left: unpin buffers, "
		  "or pin less (nvidia-smi -q -d MEMORY shows BAR1)" },
	{ EOPNOTSUPP,
	  "this GPU, or this kind of memory, cannot be pinned: "
	  "allocate with cuMemAlloc, and drop GDR_PIN_FLAG_FORCE_PCIE if given" },
	{ ENODEV, "the GPU is gone: see dmesg" },
	{ EIO, "the NVIDIA driver failed: see dmesg" },
	{ EFAULT, "gdrdrv was built for another NVIDIA driver: rebuild the module" },
	{ 0, NULL },
};

static const struct remedy handle_remedies[] = {
	{ EINVAL, "the driver does not know this handle" },
	{ EOPNOTSUPP, "this pin cannot be mapped with that type on this machine: "
		      "use GDR_MAP_FLAG_DEFAULT" },
	{ EBUSY, "the pin is mapped already: unmap it first" },
	{ 0, NULL },
};

static const struct remedy any_remedies[] = {
	{ EACCES, "only the process that opened gdrdrv may use it: "
		  "call gdr_open after fork, in the process that pins" },
	{ ENOTTY,
	  "the loaded gdrdrv module lacks a command that its version promises: reload it" },
	{ 0, NULL },
};

static const char *remedy(const struct remedy *list, int err)
{
	const struct remedy *r;

	for (r = list; r->text; r++)
		if (r->err == err)
			return r->text;
	for (r = any_remedies; r->text; r++)
		if (r->err == err)
			return r->text;
	return "see dmesg";
}

static int call(int fd, unsigned long cmd, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, cmd, arg);
	} while (ret < 0 && errno == EINTR);
	if (ret >= 0)
		return 0;
	return errno == KERNEL_ENOTSUPP ? -EOPNOTSUPP : -errno;
}

/* As call, for a command about one pin. */
static int call_handle(const struct gdr_kabi *k, unsigned long cmd, void *arg,
		       const char *step, uint64_t handle)
{
	int ret = call(k->fd, cmd, arg);

	if (ret == 0)
		return 0;
	return gdr_log_fail(-ret, "gdrdrv %s, kernel handle 0x%llx: %s; %s", step,
			    (unsigned long long)handle, gdr_log_errstr(-ret),
			    remedy(handle_remedies, -ret));
}

int gdr_kabi_get_version(int fd, uint32_t *driver, uint32_t *min_api)
{
	struct gdrdrv_get_version arg = { 0 };
	int ret = call(fd, GDRDRV_IOC_GET_VERSION, &arg);

	if (ret < 0)
		return ret;
	*driver = arg.gdrdrv_version;
	*min_api = arg.minimum_gdr_api_version;
	return 0;
}

static int pin_v1(int fd, const struct gdr_pin_args *args, uint64_t *handle)
{
	struct gdrdrv_pin_buffer arg = {
		.addr = args->addr,
		.size = args->size,
		.p2p_token = args->p2p_token,
		.va_space = args->va_space,
	};
	int ret = call(fd, GDRDRV_IOC_PIN_BUFFER, &arg);

	if (ret == 0)
		*handle = arg.handle;
	return ret;
}

static int pin_v2(int fd, const struct gdr_pin_args *args, uint64_t *handle)
{
	struct gdrdrv_pin_buffer_v2 arg = {
		.addr = args->addr,
		.size = args->size,
		.flags = args->flags,
	};
	int ret = call(fd, GDRDRV_IOC_PIN_BUFFER_V2, &arg);

	if (ret == 0)
		*handle = arg.handle;
	return ret;
}

int gdr_kabi_pin(const struct gdr_kabi *k, const struct gdr_pin_args *args,
		 uint64_t *handle)
{
	int ret;

	if (k->version >= HAS_PIN_V2)
		ret = pin_v2(k->fd, args, handle);
	else if (args->flags == 0)
		ret = pin_v1(k->fd, args, handle);
	else
		return gdr_log_fail(
			EINVAL,
			"pin of 0x%llx bytes at 0x%llx with flags 0x%x: gdrdrv "
			"%u.%u knows no flags; load gdrdrv 2.5 or later, or pass 0",
			(unsigned long long)args->size, (unsigned long long)args->addr,
			args->flags, GDRDRV_VERSION_MAJOR(k->version),
			GDRDRV_VERSION_MINOR(k->version));
	if (ret == 0)
		return 0;
	return gdr_log_fail(-ret, "gdrdrv pin of 0x%llx bytes at 0x%llx: %s; %s",
			    (unsigned long long)args->size,
			    (unsigned long long)args->addr, gdr_log_errstr(-ret),
			    remedy(pin_remedies, -ret));
}

int gdr_kabi_unpin(const struct gdr_kabi *k, uint64_t handle)
{
	struct gdrdrv_unpin_buffer arg = { .handle = handle };

	return call_handle(k, GDRDRV_IOC_UNPIN_BUFFER, &arg, "unpin", handle);
}

int gdr_kabi_callback_flag(const struct gdr_kabi *k, uint64_t handle, int *flag)
{
	struct gdrdrv_get_cb_flag arg = { .handle = handle };
	int ret = call_handle(k, GDRDRV_IOC_GET_CB_FLAG, &arg, "callback flag query",
			      handle);

	if (ret == 0)
		*flag = arg.flag != 0;
	return ret;
}

static int info_v1(const struct gdr_kabi *k, struct gdrdrv_get_info_v2 *out)
{
	struct gdrdrv_get_info arg = { .handle = out->handle };
	int ret = call_handle(k, GDRDRV_IOC_GET_INFO, &arg, "info query", arg.handle);

	if (ret < 0)
		return ret;
	out->va = arg.va;
	out->mapped_size = arg.mapped_size;
	out->page_size = arg.page_size;
	out->tsc_khz = arg.tsc_khz;
	out->tm_cycles = arg.tm_cycles;
	if (!arg.mapped)
		out->mapping_type = GDRDRV_MAPPING_NONE;
	else
		out->mapping_type = arg.wc_mapping ? GDRDRV_MAPPING_WC :
						     GDRDRV_MAPPING_CACHING;
	return 0;
}

int gdr_kabi_info(const struct gdr_kabi *k, uint64_t handle, gdr_info_v2_t *info)
{
	struct gdrdrv_get_info_v2 arg = { .handle = handle };
	int ret;

	if (k->version >= HAS_INFO_V2)
		ret = call_handle(k, GDRDRV_IOC_GET_INFO_V2, &arg, "info query", handle);
	else
		ret = info_v1(k, &arg);
	if (ret < 0)
		return ret;
	if (arg.mapping_type >= GDR_MAPPING_TYPE_MAX)
		return gdr_log_fail(
			EPROTO,
			"gdrdrv info query, kernel handle 0x%llx: mapping type "
			"%u is unknown; the driver is newer than this library, update it",
			(unsigned long long)handle, arg.mapping_type);
	*info = (gdr_info_v2_t){
		.va = arg.va,
		.mapped_size = arg.mapped_size,
		.page_size = arg.page_size,
		.tm_cycles = arg.tm_cycles,
		.cycles_per_ms = arg.tsc_khz,
		.mapped = arg.mapping_type != GDRDRV_MAPPING_NONE,
		.wc_mapping = arg.mapping_type == GDRDRV_MAPPING_WC,
		.mapping_type = (gdr_mapping_type_t)arg.mapping_type,
	};
	return 0;
}

int gdr_kabi_attribute(const struct gdr_kabi *k, gdr_attr_t attr, int *value)
{
	struct gdrdrv_get_attr arg = { .attr = (__u32)attr };
	int ret = 0;

	if (k->version >= HAS_PIN_V2)
		ret = call(k->fd, GDRDRV_IOC_GET_ATTR, &arg);
	if (ret == -EINVAL)
		arg.val = 0;
	else if (ret < 0)
		return gdr_log_fail(-ret, "gdrdrv query of attribute %d: %s; %s",
				    (int)attr, gdr_log_errstr(-ret),
				    remedy(any_remedies, -ret));
	*value = (int)arg.val;
	return 0;
}

int gdr_kabi_request_type(const struct gdr_kabi *k, uint64_t handle,
			  gdr_mapping_type_t type)
{
	struct gdrdrv_req_mapping_type arg = { .handle = handle,
					       .mapping_type = (__u32)type };
	char step[64];

	if (k->version < HAS_PIN_V2)
		return 0;
	snprintf(step, sizeof(step), "request of %s", gdr_mapping_flag_name((int)type));
	return call_handle(k, GDRDRV_IOC_REQ_MAPPING_TYPE, &arg, step, handle);
}
