/* SPDX-License-Identifier: MIT */
/*
 * Requests to NVIDIA's resource manager.  A request fails in one of two ways:
 * the ioctl itself (the driver did not take it), or the status inside its
 * structure.  outcome() turns both into an errno and a sentence.
 */
#include "rm.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "rm_abi.h"
#include "rm_status.h"

/* The GPU file answers EAGAIN while the GPU wakes up: wait up to a second. */
#define AGAIN_TRIES     1000
#define AGAIN_NS        1000000L

/* Requests, by number, that this driver has taken before: a later EINVAL means the GPU went. */
static atomic_bool taken[1u << _IOC_NRBITS];

static int request(int fd, unsigned long req, void *arg)
{
	const struct timespec pause = { .tv_nsec = AGAIN_NS };

	for (int tries = 0; ioctl(fd, req, arg) < 0;) {
		int err = errno;

		if (err == EINTR)
			continue;
		if (err != EAGAIN || ++tries == AGAIN_TRIES)
			return -err;
		nanosleep(&pause, NULL);
	}
	atomic_store_explicit(&taken[_IOC_NR(req)], true, memory_order_relaxed);
	return 0;
}

static int refused(unsigned long req, int err, const char *what)
{
	if (err == ENODEV || (err == EINVAL && atomic_load(&taken[_IOC_NR(req)])))
		return gdr_log_fail(ENODEV, "%s: the driver no longer takes this request; was the "
				    "GPU lost or the driver reloaded? See `dmesg | grep -i "
				    "-e xid -e nvrm`", what);
	if (err == EINVAL || err == ENOTTY)
		return gdr_log_fail(ENOTSUP, "%s: driver ABI unknown, request 0x%lx is not taken; "
				    "releases 515 to 595 do. Use the gdrdrv driver instead",
				    what, req);
	return gdr_log_fail(err, "%s: ioctl 0x%lx on the NVIDIA driver failed: %s", what, req,
			    gdr_log_errstr(err));
}

/* err: of request(); status: of the structure, looked at if err is 0; fmt: step and object. */
static int outcome(unsigned long req, int err, uint32_t status, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int outcome(unsigned long req, int err, uint32_t status, const char *fmt, ...)
{
	const struct gdr_rm_status *s;
	char what[160];
	va_list ap;

	if (!err && status == GDR_NV_OK)
		return 0;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (err)
		return refused(req, -err, what);
	s = gdr_rm_status_find(status);
	return gdr_log_fail(s->err, "%s: RM status 0x%02x (%s): %s", what, status, s->name,
			    s->remedy);
}

static int open_node(const char *path)
{
	int fd, err;

	do
		fd = open(path, O_RDWR | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd >= 0)
		return fd;
	err = errno;
	switch (err) {
	case ENOENT:
	case ENXIO:
		return gdr_log_fail(err, "%s is not there: load the NVIDIA driver (nvidia-smi as "
				    "root makes the nodes), or give the container the GPU", path);
	case EACCES:
	case EPERM:
		return gdr_log_fail(err, "%s may not be opened for reading and writing: check its "
				    "mode (0666 is usual) and the container's devices", path);
	default:
		return gdr_log_fail(err, "opening %s failed: %s; see `dmesg | grep -i nvrm`", path,
				    gdr_log_errstr(err));
	}
}

int gdr_rm_open_ctl(void)
{
	return open_node("/dev/nvidiactl");
}

int gdr_rm_open_gpu(uint32_t minor)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/nvidia%u", minor);
	return open_node(path);
}

int gdr_rm_register(int file, int ctl)
{
	struct gdr_nv_register p = { .ctl_fd = ctl };
	int err = request(file, GDR_NV_REGISTER, &p);

	if (err == -EINVAL && atomic_load(&taken[_IOC_NR(GDR_NV_REGISTER)]))
		return gdr_log_fail(EINVAL, "tie GPU file %d to control file %d: it is tied to one "
				    "already, or %d is no open /dev/nvidiactl", file, ctl, ctl);
	return outcome(GDR_NV_REGISTER, err, GDR_NV_OK, "tie GPU file %d to control file %d",
		       file, ctl);
}

int gdr_rm_find_card(int ctl, uint32_t domain, uint32_t bus, uint32_t slot,
		     struct gdr_rm_card *card)
{
	struct gdr_nv_card list[GDR_NV_CARDS_MAX] = { 0 };
	size_t n = GDR_NV_CARDS_USUAL;
	int err;

	/* EINVAL: the host has more GPUs than that. */
	err = request(ctl, GDR_NV_CARD_INFO(GDR_NV_CARDS_USUAL), list);
	if (err == -EINVAL) {
		n = GDR_NV_CARDS_MAX;
		err = request(ctl, GDR_NV_CARD_INFO(GDR_NV_CARDS_MAX), list);
	}
	err = outcome(GDR_NV_CARD_INFO(n), err, GDR_NV_OK, "read the driver's card list");
	if (err)
		return err;

	for (size_t i = 0; i < n; i++) {
		if (!list[i].valid || list[i].domain != domain || list[i].bus != bus ||
		    list[i].slot != slot)
			continue;
		*card = (struct gdr_rm_card){
			.gpu_id = list[i].gpu_id,
			.minor = list[i].minor,
			.bar1_base = list[i].fb_addr,
			.bar1_size = list[i].fb_size,
		};
		return 0;
	}
	return gdr_log_fail(ENODEV, "the GPU at %04x:%02x:%02x is not in the driver's card list: "
			    "is it bound to the nvidia driver (`lspci -k`)?", domain, bus, slot);
}

/* Below client->handle, or a client of its own where that is 0. */
static int alloc(const struct gdr_rm_client *client, uint32_t parent, uint32_t class, void *params,
		 const char *what, uint32_t *object)
{
	struct gdr_nv_alloc p = {
		.root = client->handle,
		.parent = parent,
		.class = class,
		.params = (uintptr_t)params,
	};
	int err = request(client->ctl, GDR_NV_ALLOC, &p);

	err = outcome(GDR_NV_ALLOC, err, p.word6 | p.word7,
		      "allocate %s (class 0x%x) in RM client 0x%x", what, class, client->handle);
	if (!err)
		*object = p.object;
	return err;
}

int gdr_rm_client_new(int ctl, struct gdr_rm_client *client)
{
	struct gdr_rm_client new = { .ctl = ctl };
	int err = alloc(&new, 0, GDR_NV_CLASS_ROOT, NULL, "an RM client", &new.handle);

	if (!err)
		*client = new;
	return err;
}

int gdr_rm_device_new(const struct gdr_rm_client *client, uint32_t instance, uint32_t *device)
{
	struct gdr_nv_device_params params = {
		.device_id = instance,
		.client_share = client->handle,
	};
	char what[48];

	snprintf(what, sizeof(what), "a device object of instance %u", instance);
	return alloc(client, client->handle, GDR_NV_CLASS_DEVICE, &params, what, device);
}

int gdr_rm_subdevice_new(const struct gdr_rm_client *client, uint32_t device, uint32_t *subdevice)
{
	struct gdr_nv_subdevice_params params = { .subdevice_id = 0 };
	char what[48];

	snprintf(what, sizeof(what), "a subdevice object below 0x%x", device);
	return alloc(client, device, GDR_NV_CLASS_SUBDEVICE, &params, what, subdevice);
}

/* Sets *status (GDR_NV_OK where the ioctl failed) and returns request()'s -errno. */
static int control(const struct gdr_rm_client *client, uint32_t object, uint32_t cmd, void *params,
		   uint32_t size, uint32_t *status)
{
	struct gdr_nv_control p = {
		.client = client->handle,
		.object = object,
		.cmd = cmd,
		.params = (uintptr_t)params,
		.params_size = size,
	};
	int err = request(client->ctl, GDR_NV_CONTROL, &p);

	*status = err ? GDR_NV_OK : p.status;
	return err;
}

int gdr_rm_device_instance(const struct gdr_rm_client *client, uint32_t gpu_id, uint32_t *instance)
{
	struct gdr_nv_id_info info = { .gpu_id = gpu_id };
	uint32_t status;
	int err;

	err = control(client, client->handle, GDR_NV_CTRL_ID_INFO, &info, sizeof(info), &status);
	err = outcome(GDR_NV_CONTROL, err, status,
		      "look up the device instance of GPU id 0x%x", gpu_id);
	if (!err)
		*instance = info.device_instance;
	return err;
}

/* The other kind of parent may do: the caller's to try, so not a failure yet. */
static int wrong_parent(const char *step, uint32_t parent)
{
	gdr_log(GDR_LOG_DEBUG, "%s: the object does not go below parent 0x%x", step, parent);
	return -EXDEV;
}

int gdr_rm_dup(const struct gdr_rm_client *client, uint32_t parent, uint32_t src_client,
	       uint32_t src_object, uint32_t *object)
{
	struct gdr_nv_dup p = {
		.client = client->handle,
		.parent = parent,
		.client_src = src_client,
		.object_src = src_object,
	};
	int err = request(client->ctl, GDR_NV_DUP, &p);

	if (!err && p.status == GDR_NV_INVALID_OBJECT_PARENT)
		return wrong_parent("duplicate", parent);
	err = outcome(GDR_NV_DUP, err, p.status,
		      "duplicate CUDA's memory object 0x%x (RM client 0x%x)", src_object,
		      src_client);
	if (!err)
		*object = p.object;
	return err;
}

int gdr_rm_import(const struct gdr_rm_client *client, uint32_t parent, int export_fd,
		  uint32_t *object)
{
	struct gdr_nv_import p = {
		.fd = export_fd,
		.type = GDR_NV_EXPORT_TYPE_RM,
		.parent = parent,
	};
	uint32_t status;
	int err = control(client, client->handle, GDR_NV_CTRL_IMPORT, &p, sizeof(p), &status);

	if (!err && status == GDR_NV_INVALID_OBJECT_PARENT)
		return wrong_parent("import", parent);
	err = outcome(GDR_NV_CONTROL, err, status,
		      "import the memory behind export descriptor %d", export_fd);
	if (!err)
		*object = p.object;
	return err;
}

int gdr_rm_export_info(const struct gdr_rm_client *client, int export_fd, uint32_t *max_objects,
		       uint32_t *instance)
{
	struct gdr_nv_export_info info = { .fd = export_fd };
	struct gdr_nv_export_info_535 old = { .fd = export_fd };
	uint32_t status;
	int err;

	err = control(client, client->handle, GDR_NV_CTRL_EXPORT_INFO, &info, sizeof(info),
		      &status);
	if (!err && status == GDR_NV_INVALID_ARGUMENT) {
		err = control(client, client->handle, GDR_NV_CTRL_EXPORT_INFO, &old, sizeof(old),
			      &status);
		info.max_objects = old.max_objects;
		info.device_instance = old.device_instance;
	}
	err = outcome(GDR_NV_CONTROL, err, status, "ask what export descriptor %d carries",
		      export_fd);
	if (err)
		return err;
	*max_objects = info.max_objects;
	*instance = info.device_instance;
	return 0;
}

int gdr_rm_surface(const struct gdr_rm_client *client, uint32_t object, struct gdr_rm_surface *out)
{
	struct gdr_nv_handle_info info = { .object = object, .index = GDR_NV_HANDLE_INFO_CLASS };
	struct gdr_nv_surface_entry list[] = {
		{ .index = GDR_NV_SURFACE_SIZE },
		{ .index = GDR_NV_SURFACE_SPACE },
	};
	struct gdr_nv_surface_info surface = { .count = 2, .list = (uintptr_t)list };
	uint32_t status;
	int err;

	err = control(client, client->handle, GDR_NV_CTRL_HANDLE_INFO, &info, sizeof(info),
		      &status);
	err = outcome(GDR_NV_CONTROL, err, status, "ask for the class of object 0x%x", object);
	if (err)
		return err;
	err = control(client, object, GDR_NV_CTRL_SURFACE_INFO, &surface, sizeof(surface), &status);
	err = outcome(GDR_NV_CONTROL, err, status,
		      "ask for size and place of memory object 0x%x", object);
	if (err)
		return err;
	*out = (struct gdr_rm_surface){
		.size = (uint64_t)list[0].data * GDR_NV_SURFACE_UNIT,
		.space = list[1].data,
		.class = (uint32_t)info.result,
	};
	return 0;
}

int gdr_rm_map(const struct gdr_rm_client *client, uint32_t parent, uint32_t object,
	       uint64_t offset, uint64_t len, int file, uint64_t *linear)
{
	struct gdr_nv_map p = {
		.client = client->handle,
		.device = parent,
		.memory = object,
		.offset = offset,
		.length = len,
		.fd = file,
	};
	int err;

	/* The driver widens anything else to host pages, and mmap would then not fit. */
	assert((offset | len) % (uint64_t)sysconf(_SC_PAGESIZE) == 0);
	err = request(client->ctl, GDR_NV_MAP, &p);
	err = outcome(GDR_NV_MAP, err, p.status, "map 0x%llx bytes at 0x%llx of memory object 0x%x",
		      (unsigned long long)len, (unsigned long long)offset, object);
	if (!err)
		*linear = p.linear;
	return err;
}

int gdr_rm_unmap(const struct gdr_rm_client *client, uint32_t parent, uint32_t object,
		 uint64_t linear)
{
	struct gdr_nv_unmap p = {
		.client = client->handle,
		.device = parent,
		.memory = object,
		.linear = linear,
	};
	int err = request(client->ctl, GDR_NV_UNMAP, &p);

	return outcome(GDR_NV_UNMAP, err, p.status, "give back the window of memory object 0x%x",
		       object);
}

int gdr_rm_free(const struct gdr_rm_client *client, uint32_t parent, uint32_t object)
{
	struct gdr_nv_free p = {
		.root = client->handle,
		.parent = parent,
		.object = object,
	};
	int err = request(client->ctl, GDR_NV_FREE, &p);

	return outcome(GDR_NV_FREE, err, p.status, "free RM object 0x%x", object);
}
