/* SPDX-License-Identifier: MIT */
/* RM clients, one a GPU; holding memory objects and their BAR1 windows. */
#include "rm_gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "log.h"

#define VIDEO_MEMORY    2       /* address space, as RM numbers it */
#define LOCAL_MEMORY    0x40    /* RM class of video memory objects */

static struct gdr_rm_gpu *gpus;         /* registry lock */
/* Held while one is made, so that a process makes one client a GPU. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

/* Major number of the kernel driver, 0 if not known. */
static int driver_major(void)
{
	FILE *f = fopen("/sys/module/nvidia/version", "re");
	char line[64] = "";

	if (!f)
		return 0;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	return atoi(line);
}

/*
 * What the driver's mmap gives.  Coherent GPUs: cached.  Otherwise
 * write-combining, except on arm64, where drivers before 590 used
 * Device-nGnRE (open-gpu-kernel-modules, nv-mmap.c, 580 against 590).
 */
static gdr_mapping_type_t mapping_type(const struct gdr_cuda *cu, CUdevice dev)
{
	int coherent;

	if (cu->DeviceGetAttribute(&coherent,
			CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
			dev) == CUDA_SUCCESS && coherent)
		return GDR_MAPPING_TYPE_CACHING;
#ifdef __aarch64__
	if (driver_major() < 590)
		return GDR_MAPPING_TYPE_DEVICE;
#else
	(void)driver_major;
#endif
	return GDR_MAPPING_TYPE_WC;
}

static int pci_address(const struct gdr_cuda *cu, CUdevice dev, int addr[3])
{
	static const CUdevice_attribute attrs[3] = {
		CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
		CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
		CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
	};
	CUresult res;
	int i;

	for (i = 0; i < 3; i++) {
		res = cu->DeviceGetAttribute(&addr[i], attrs[i], dev);
		if (res != CUDA_SUCCESS)
			return gdr_cuda_fail(cu, res, "cuDeviceGetAttribute",
					     "for the PCI address of the GPU");
	}
	return 0;
}

/* Client and device object on an open ctl. */
static int make_client(struct gdr_rm_gpu *gpu, int ctl)
{
	int pci[3];
	int ret = pci_address(gpu->cu, gpu->dev, pci);

	if (ret < 0)
		return ret;
	ret = gdr_rm_find_card(ctl, (uint32_t)pci[0], (uint32_t)pci[1], (uint32_t)pci[2],
			       &gpu->card);
	if (ret < 0)
		return ret;
	ret = gdr_rm_client_new(ctl, &gpu->client);
	if (ret < 0)
		return ret;
	ret = gdr_rm_device_instance(&gpu->client, gpu->card.gpu_id, &gpu->instance);
	if (ret < 0)
		return ret;
	return gdr_rm_device_new(&gpu->client, gpu->instance, &gpu->device);
}

static int make_gpu(const struct gdr_cuda *cu, CUdevice dev, struct gdr_rm_gpu **out)
{
	struct gdr_rm_gpu *gpu = calloc(1, sizeof(*gpu));
	int ctl, ret;

	if (!gpu)
		return gdr_log_fail(ENOMEM, "gdr_pin_buffer: out of memory");
	ctl = gdr_rm_open_ctl();
	if (ctl < 0) {
		ret = ctl;
		goto free_gpu;
	}
	gpu->cu = cu;
	gpu->dev = dev;
	gpu->owner = gdr_owner_self();
	gpu->type = mapping_type(cu, dev);
	gpu->refs = 1;
	pthread_mutex_init(&gpu->lock, NULL);
	ret = make_client(gpu, ctl);
	if (ret < 0)
		goto close_ctl;
	*out = gpu;
	return 0;

close_ctl: /* which ends the client, if there is one: nothing is mapped */
	close(ctl);
	pthread_mutex_destroy(&gpu->lock);
free_gpu:
	free(gpu);
	return ret;
}

static struct gdr_rm_gpu *find_gpu(CUdevice dev)
{
	struct gdr_rm_gpu *gpu;

	gdr_registry_lock();
	for (gpu = gpus; gpu && gpu->dev != dev; gpu = gpu->next)
		;
	if (gpu)
		gpu->refs++;
	gdr_registry_unlock();
	return gpu;
}

int gdr_rm_gpu_get(const struct gdr_cuda *cu, CUdevice dev, struct gdr_rm_gpu **out)
{
	struct gdr_rm_gpu *gpu;
	int ret = 0;

	pthread_mutex_lock(&making);
	gpu = find_gpu(dev);
	if (!gpu) {
		ret = make_gpu(cu, dev, &gpu);
		if (ret == 0) {
			gdr_registry_lock();
			gpu->next = gpus;
			gpus = gpu;
			gdr_registry_unlock();
		}
	}
	pthread_mutex_unlock(&making);
	if (ret == 0)
		*out = gpu;
	return ret;
}

/* Registry lock held.  Off the list, if it is there: a child's list is empty. */
static void unlink_gpu(const struct gdr_rm_gpu *gpu)
{
	struct gdr_rm_gpu **link;

	for (link = &gpus; *link; link = &(*link)->next) {
		if (*link == gpu) {
			*link = gpu->next;
			return;
		}
	}
}

void gdr_rm_gpu_put(struct gdr_rm_gpu *gpu)
{
	bool last;

	gdr_registry_lock();
	last = --gpu->refs == 0;
	if (last)
		unlink_gpu(gpu);
	gdr_registry_unlock();
	if (!last)
		return;
	close(gpu->client.ctl);
	if (gdr_owner_is_self(&gpu->owner)) {
		if (gpu->primary)
			gpu->cu->DevicePrimaryCtxRelease(gpu->dev);
		pthread_mutex_destroy(&gpu->lock); /* a child's may be held for ever */
	}
	free(gpu);
}

void gdr_rm_gpu_after_fork_child(void)
{
	gpus = NULL;
	making = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* The subdevice object, made on first use. */
static int need_subdevice(struct gdr_rm_gpu *gpu, uint32_t *out)
{
	int ret = 0;

	if (!gpu->subdevice)
		ret = gdr_rm_subdevice_new(&gpu->client, gpu->device, &gpu->subdevice);
	if (ret == 0)
		*out = gpu->subdevice;
	return ret;
}

/* The object must be video memory and hold the part. */
static int check_part(struct gdr_rm_gpu *gpu, const struct gdr_rm_part *part)
{
	struct gdr_rm_surface s;
	int ret = gdr_rm_surface(&gpu->client, part->object, &s);

	if (ret < 0)
		return ret;
	if (s.class != LOCAL_MEMORY || s.space != VIDEO_MEMORY)
		return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: the memory behind the address is "
				    "no video memory (RM class 0x%x, address space %u)",
				    s.class, s.space);
	if (part->offset > s.size || part->len > s.size - part->offset)
		return gdr_log_fail(EINVAL, "gdr_pin_buffer: 0x%llx bytes at offset 0x%llx go "
				    "past the end of the memory object, 0x%llx bytes",
				    (unsigned long long)part->len,
				    (unsigned long long)part->offset,
				    (unsigned long long)s.size);
	return 0;
}

static int hold_checked(struct gdr_rm_gpu *gpu, struct gdr_rm_part *part)
{
	int ret;

	part->file = -1;
	ret = check_part(gpu, part);
	if (ret < 0)
		gdr_rm_free(&gpu->client, part->parent, part->object);
	return ret;
}

/* The other parent was tried as well. */
static int no_other_parent(int ret)
{
	if (ret != -EXDEV)
		return ret;
	return gdr_log_fail(EINVAL, "gdr_pin_buffer: the driver takes the memory object below "
			    "neither a device nor a subdevice (RM status 0x36)");
}

int gdr_rm_part_dup(struct gdr_rm_gpu *gpu, uint32_t src_client, uint32_t src_object,
		    struct gdr_rm_part *part)
{
	int ret;

	part->parent = gpu->device;
	ret = gdr_rm_dup(&gpu->client, part->parent, src_client, src_object, &part->object);
	if (ret == -EXDEV) {
		ret = need_subdevice(gpu, &part->parent);
		if (ret < 0)
			return ret;
		ret = gdr_rm_dup(&gpu->client, part->parent, src_client, src_object,
				 &part->object);
	}
	return ret < 0 ? no_other_parent(ret) : hold_checked(gpu, part);
}

int gdr_rm_export_objects(struct gdr_rm_gpu *gpu, int export_fd, unsigned *objects)
{
	uint32_t max_objects, instance;
	int ret = gdr_rm_export_info(&gpu->client, export_fd, &max_objects, &instance);

	if (ret < 0)
		return ret;
	if (instance != gpu->instance)
		return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: the VMM allocation is exported from "
				    "device instance %u, not from %u, the GPU it is said to be on",
				    instance, gpu->instance);
	*objects = max_objects;
	return 0;
}

int gdr_rm_part_import(struct gdr_rm_gpu *gpu, int export_fd, struct gdr_rm_part *part)
{
	int ret;

	part->parent = gpu->device;
	ret = gdr_rm_import(&gpu->client, part->parent, export_fd, &part->object);
	if (ret == -EXDEV) {
		ret = need_subdevice(gpu, &part->parent);
		if (ret < 0)
			return ret;
		ret = gdr_rm_import(&gpu->client, part->parent, export_fd, &part->object);
	}
	return ret < 0 ? no_other_parent(ret) : hold_checked(gpu, part);
}

/* Drop the window.  Its mapping is gone, so the driver may reuse what it showed. */
static int drop_window(struct gdr_rm_gpu *gpu, struct gdr_rm_part *part)
{
	if (part->file < 0)
		return 0;
	if (part->stuck)
		return gdr_log_fail(EIO, "gdr_map: an earlier mapping of this pin could not be "
				    "removed, so its window stays 0x%llx bytes long; map that "
				    "many, or pin again", (unsigned long long)part->window_len);
	gdr_rm_part_forget(part);
	return gdr_rm_unmap(&gpu->client, part->parent, part->object, part->linear);
}

int gdr_rm_part_release(struct gdr_rm_gpu *gpu, struct gdr_rm_part *part)
{
	if (part->stuck)
		return gdr_log_fail(EIO, "a mapping of 0x%llx bytes of GPU memory could not be "
				    "removed; the memory stays allocated until the process ends",
				    (unsigned long long)part->window_len);
	gdr_rm_part_forget(part);
	/* Frees the window with the object. */
	return gdr_rm_free(&gpu->client, part->parent, part->object);
}

void gdr_rm_part_forget(struct gdr_rm_part *part)
{
	int file = part->file;

	/* In this order: a child forked meanwhile must not close what took the number. */
	part->file = -1;
	if (file >= 0)
		close(file);
}

int gdr_rm_part_window(struct gdr_rm_gpu *gpu, struct gdr_rm_part *part, uint64_t len)
{
	int file, ret;

	if (part->file >= 0 && part->window_len == len)
		return 0;
	ret = drop_window(gpu, part);
	if (ret < 0)
		return ret;
	file = gdr_rm_open_gpu(gpu->card.minor);
	if (file < 0)
		return file;
	ret = gdr_rm_register(file, gpu->client.ctl);
	if (ret == 0)
		ret = gdr_rm_map(&gpu->client, part->parent, part->object, part->offset, len,
				 file, &part->linear);
	if (ret < 0) {
		close(file);
		return ret;
	}
	part->file = file;
	part->window_len = len;
	return 0;
}
