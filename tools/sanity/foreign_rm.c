/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's resource manager and a second process; see foreign.h.
 *
 * A client obeys whoever has its control file, except for what leads to a window:
 * a map request must come from the process that made the client.  Through any
 * other control file the client does not exist.  (open-gpu-kernel-modules:
 * rmclientValidate, rm_create_mmap_context; the same from 515 to 595.)
 *
 * A window that were made all the same is never mmapped, so nothing is seen
 * through it, and ends with the descriptor.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "foreign.h"
#include "rm_abi.h"
#include "session.h"

/* And the errno that the library makes of it (rm_status.c). */
static const char *meaning(uint32_t status)
{
	switch (status) {
	case GDR_NV_OK:
		return "done";
	case GDR_NV_INVALID_CLIENT:
		return "invalid client, EPERM";
	case GDR_NV_INSUFFICIENT_PERMISSIONS:
		return "insufficient permissions, EPERM";
	default:
		return "not done";
	}
}

static void refused(const char *what, uint32_t status)
{
	if (status != GDR_NV_INVALID_CLIENT && status != GDR_NV_INSUFFICIENT_PERMISSIONS)
		sanity_fail(__FILE__, __LINE__, "the driver refuses a second process",
			    "%s: RM status 0x%x, not 0x23 or 0x1b", what, status);
	sanity_note("%s: RM status 0x%x (%s)", what, status, meaning(status));
}

static uint32_t request(int ctl, unsigned long number, void *arg, const uint32_t *status)
{
	if (ioctl(ctl, number, arg) == 0)
		return *status;
	CHECK_SYS(errno == EPERM || errno == EACCES);
	return GDR_NV_INSUFFICIENT_PERMISSIONS;
}

static int open_ctl(void)
{
	int fd = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);

	CHECK_SYS(fd >= 0);
	return fd;
}

/* Ask for a window on an object of the owner's client. */
static uint32_t ask_window(int ctl, const struct inside *owner, uint32_t parent, uint32_t object)
{
	struct gdr_nv_map map = {
		.client = owner->client, .device = parent, .memory = object, .length = SMALL,
	};
	char path[32];
	uint32_t status;

	snprintf(path, sizeof(path), "/dev/nvidia%u", owner->minor);
	map.fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK_SYS(map.fd >= 0);
	status = request(ctl, GDR_NV_MAP, &map, &map.status);
	close(map.fd);
	return status;
}

void foreign_rm_map(const struct inside *owner)
{
	int own = open_ctl();

	refused("map request for the owner's memory through the passed descriptor",
		ask_window(owner->fd, owner, owner->parent, owner->object));
	refused("the same through a descriptor of its own",
		ask_window(own, owner, owner->parent, owner->object));
	close(own);
}

/* A reference to mem, memory of this process, below the owner's client; its status. */
static uint32_t put_below(int ctl, const struct inside *owner, const struct gpu_mem *mem,
			  uint32_t *object)
{
	struct gdr_nv_import import = { .type = GDR_NV_EXPORT_TYPE_RM, .parent = owner->parent };
	struct gdr_nv_control control = {
		.client = owner->client, .object = owner->client, .cmd = GDR_NV_CTRL_IMPORT,
		.params = (uintptr_t)&import, .params_size = sizeof(import),
	};
	struct gdr_nv_dup dup = { .client = owner->client, .parent = owner->parent };
	uint32_t words[CU_IPC_HANDLE_SIZE / 4 + 1] = { 0 }, status;
	CUipcMemHandle handle;

	if (mem->how == &gpu_allocators[GPU_MEM_CREATE]) {
		CU(cu.MemExportToShareableHandle(&import.fd, mem->handle,
						 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
		status = request(ctl, GDR_NV_CONTROL, &control, &control.status);
		close(import.fd);
		*object = import.object;
		return status;
	}
	CU(cu.IpcGetMemHandle(&handle, mem->base));
	memcpy(words, &handle, sizeof(handle));
	CHECK(owner->ipc_word < CU_IPC_HANDLE_SIZE / 4);
	dup.client_src = words[owner->ipc_word];
	dup.object_src = words[owner->ipc_word + 1];
	status = request(ctl, GDR_NV_DUP, &dup, &dup.status);
	*object = dup.object;
	return status;
}

void foreign_rm_pin(const struct inside *owner, const struct gpu_mem *mem)
{
	uint32_t object = 0, status;
	int own = open_ctl();

	refused("reference to its memory in the owner's client through a descriptor of its own",
		put_below(own, owner, mem, &object));
	close(own);
	/*
	 * With the owner's descriptor the reference itself may be made: that gives
	 * memory away and shows none.  What would make it a pin is a window.
	 */
	status = put_below(owner->fd, owner, mem, &object);
	sanity_note("reference through the passed descriptor: RM status 0x%x (%s)", status,
		    meaning(status));
	if (status == GDR_NV_OK)
		refused("map request for it", ask_window(owner->fd, owner, owner->parent, object));
}
