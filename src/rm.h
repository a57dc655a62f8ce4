/* SPDX-License-Identifier: MIT */
/*
 * Calls into NVIDIA's resource manager (RM) through /dev/nvidiactl, one
 * function a request, and nothing of policy.  0 or -errno; a failure is
 * recorded with the step, the RM status and what to do.  Layouts: rm_abi.h.
 *
 * The order rule that every caller keeps: the driver does not touch a user
 * mapping when the memory object behind it goes, so an object is freed, or its
 * client closed, only after the last mapping of it is gone.
 */
#ifndef GDR_RM_H
#define GDR_RM_H

#include <stdint.h>

/* One RM client, created through ctl; only that file may use it. */
struct gdr_rm_client {
	int ctl;                /* /dev/nvidiactl */
	uint32_t handle;
};

/* One GPU as the driver's card list shows it. */
struct gdr_rm_card {
	uint32_t gpu_id;
	uint32_t minor;         /* /dev/nvidia<minor> */
	uint64_t bar1_base;
	uint64_t bar1_size;     /* bytes */
};

struct gdr_rm_surface {
	uint64_t size;          /* bytes */
	uint32_t space;         /* address space; 2 is video memory */
	uint32_t class;         /* RM class; 0x40 is local video memory */
};

/* Open /dev/nvidiactl, or /dev/nvidia<minor>; O_CLOEXEC.  A descriptor or -errno. */
int gdr_rm_open_ctl(void);
int gdr_rm_open_gpu(uint32_t minor);

/* Tie the life of ctl (and so of its client) to that of file and its mappings. */
int gdr_rm_register(int file, int ctl);

/* Find the card at a PCI address.  -ENODEV if the driver does not list it. */
int gdr_rm_find_card(int ctl, uint32_t domain, uint32_t bus, uint32_t slot,
		     struct gdr_rm_card *card);

/* Make the RM client of ctl. */
int gdr_rm_client_new(int ctl, struct gdr_rm_client *client);

/* The device instance of an attached GPU; differs from minor and CUDA ordinal. */
int gdr_rm_device_instance(const struct gdr_rm_client *client, uint32_t gpu_id, uint32_t *instance);

/* Allocate the device object, or a subdevice object below one. */
int gdr_rm_device_new(const struct gdr_rm_client *client, uint32_t instance, uint32_t *device);
int gdr_rm_subdevice_new(const struct gdr_rm_client *client, uint32_t device, uint32_t *subdevice);

/*
 * A second reference to a memory object, below parent: of another client's
 * object in this process, or of the one object behind an export descriptor.
 * -EXDEV if the object wants the other kind of parent (device or subdevice);
 * that one is for the caller to try and not recorded as a failure.
 */
int gdr_rm_dup(const struct gdr_rm_client *client, uint32_t parent, uint32_t src_client,
	       uint32_t src_object, uint32_t *object);
int gdr_rm_import(const struct gdr_rm_client *client, uint32_t parent, int export_fd,
		  uint32_t *object);

/* How many objects an export descriptor carries, and on which device instance. */
int gdr_rm_export_info(const struct gdr_rm_client *client, int export_fd, uint32_t *max_objects,
		       uint32_t *instance);

/* What a memory object is. */
int gdr_rm_surface(const struct gdr_rm_client *client, uint32_t object, struct gdr_rm_surface *out);

/*
 * Attach a BAR1 window of [offset, offset + len) of object to file, an open
 * /dev/nvidia<minor> of the object's GPU which has no window yet; mmap of file
 * at offset 0 for exactly len bytes then shows it.  Multiples of the host page.
 */
int gdr_rm_map(const struct gdr_rm_client *client, uint32_t parent, uint32_t object,
	       uint64_t offset, uint64_t len, int file, uint64_t *linear);

/* Give back the window at linear; no user mapping of it may exist. */
int gdr_rm_unmap(const struct gdr_rm_client *client, uint32_t parent, uint32_t object,
		 uint64_t linear);

/* Free an object and what is below it; no user mapping of it may exist. */
int gdr_rm_free(const struct gdr_rm_client *client, uint32_t parent, uint32_t object);

#endif
