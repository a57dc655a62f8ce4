/* SPDX-License-Identifier: MIT */
/* The table of resource manager statuses that the requests of rm.c can meet. */
#include "rm_status.h"

#include <errno.h>
#include <stddef.h>

#include "rm_abi.h"

static const char full[] =
	"BAR1 (the GPU's CPU window) or the driver's memory is used up: see BAR1 in "
	"`nvidia-smi -q -d MEMORY`, unpin what is not needed";
static const char not_ours[] =
	"the file, object or process is not the one that made this RM client; "
	"after fork, open a context in the child";
static const char other_abi[] =
	"the driver does not take this request as it is made here; "
	"check the device instance, minor and driver release";
static const char lost[] =
	"the GPU no longer answers: see `dmesg | grep -i xid`, reset it or reboot";
static const char gone[] =
	"the object no longer exists: was the memory freed meanwhile?";
static const char dmesg[] =
	"see `dmesg` for the driver's reason";

static const struct gdr_rm_status table[] = {
	{ GDR_NV_GPU_IS_LOST, ENODEV, "GPU is lost", lost },
	{ GDR_NV_INSUFFICIENT_RESOURCES, ENOMEM, "insufficient resources", full },
	{ GDR_NV_INSUFFICIENT_PERMISSIONS, EPERM, "insufficient permissions",
	  "the memory must be of this process, which must have a CUDA context on its GPU" },
	{ GDR_NV_INVALID_ARGUMENT, EINVAL, "invalid argument", other_abi },
	{ GDR_NV_INVALID_BASE, EINVAL, "invalid base", "the offset is past the end of the object" },
	{ GDR_NV_INVALID_CLASS, ENOTSUP, "invalid class", other_abi },
	{ GDR_NV_INVALID_CLIENT, EPERM, "invalid client", not_ours },
	{ GDR_NV_INVALID_LIMIT, EINVAL, "invalid limit",
	  "the range is empty or ends past the object" },
	{ GDR_NV_INVALID_OBJECT, EINVAL, "invalid object", gone },
	{ GDR_NV_INVALID_OBJECT_HANDLE, EINVAL, "invalid object handle", gone },
	{ GDR_NV_INVALID_OBJECT_PARENT, EINVAL, "invalid object parent",
	  "the object belongs below the other of device and subdevice" },
	{ GDR_NV_INVALID_PARAMETER, EINVAL, "invalid parameter",
	  "the descriptor is no export of GPU memory by this driver" },
	{ GDR_NV_INVALID_STATE, EIO, "invalid state",
	  "MIG instances are not supported: see `nvidia-smi -q -d MIG` or `dmesg`" },
	{ GDR_NV_NO_MEMORY, ENOMEM, "no memory", full },
	{ GDR_NV_NOT_SUPPORTED, ENOTSUP, "not supported",
	  "this memory cannot be mapped here (confidential computing, MIG, compression): "
	  "use plain cuMemAlloc memory with these off, or the gdrdrv driver" },
	{ GDR_NV_OBJECT_NOT_FOUND, EINVAL, "object not found", gone },
	{ GDR_NV_OPERATING_SYSTEM, EIO, "operating system error", dmesg },
	{ GDR_NV_PROTECTION_FAULT, EFAULT, "protection fault", dmesg },
	{ GDR_NV_STATE_IN_USE, EBUSY, "state in use",
	  "each open GPU file carries one window for life" },
	{ GDR_NV_RESOURCE_LOST, ENODEV, "resource lost", lost },
};

static const struct gdr_rm_status unknown = {
	.err = EIO,
	.name = "not a known status",
	.remedy = dmesg,
};

const struct gdr_rm_status *gdr_rm_status_find(uint32_t code)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].code == code)
			return &table[i];
	}
	return &unknown;
}
