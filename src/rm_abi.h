/* SPDX-License-Identifier: MIT */
/*
 * The part of the NVIDIA driver's ioctl interface that rm.c uses: requests,
 * structures, object classes, controls and status codes.  Everything here has
 * the same value in every open kernel module from 515 to 595 except the two
 * marked "history".  The driver checks the size of each structure exactly, so
 * all padding is named and every offset is asserted at the end.
 */
#ifndef GDR_RM_ABI_H
#define GDR_RM_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

/* NVOS00: free an object and everything below it. */
struct gdr_nv_free {
	uint32_t root;
	uint32_t parent;
	uint32_t object;
	uint32_t status;
};

/*
 * NVOS21: allocate an object.  History: word6 is the status up to 530 and the
 * size of the parameters from 535 on, which moves the status to word7.  Size 0
 * means "as the class says", so with word6 sent as 0 the status is word6 | word7
 * on all of them.
 */
struct gdr_nv_alloc {
	uint32_t root;
	uint32_t parent;
	uint32_t object;                /* in: 0, the driver picks; out */
	uint32_t class;
	uint64_t params;                /* pointer */
	uint32_t word6;
	uint32_t word7;
};

/* NVOS54: a control call on an object. */
struct gdr_nv_control {
	uint32_t client;
	uint32_t object;
	uint32_t cmd;
	uint32_t flags;
	uint64_t params;                /* pointer */
	uint32_t params_size;           /* must be the command's own */
	uint32_t status;
};

/* NVOS55: a second reference to an object. */
struct gdr_nv_dup {
	uint32_t client;
	uint32_t parent;
	uint32_t object;                /* in: 0, the driver picks; out */
	uint32_t client_src;
	uint32_t object_src;
	uint32_t flags;
	uint32_t status;
};

/* NVOS33 and a descriptor: make a window and attach it to an open GPU file. */
struct gdr_nv_map {
	uint32_t client;
	uint32_t device;                /* parent of the memory: device or subdevice */
	uint32_t memory;
	uint32_t pad0;
	uint64_t offset;
	uint64_t length;
	uint64_t linear;                /* out: CPU physical address */
	uint32_t status;
	uint32_t flags;                 /* always 0: the bits differ between releases */
	int32_t fd;
	uint32_t pad1;
};

/* NVOS34: give a window back. */
struct gdr_nv_unmap {
	uint32_t client;
	uint32_t device;
	uint32_t memory;
	uint32_t pad0;
	uint64_t linear;
	uint32_t status;
	uint32_t flags;
};

/* Tie a GPU file to a control file. */
struct gdr_nv_register {
	int32_t ctl_fd;
};

/* One entry of the card list. */
struct gdr_nv_card {
	uint8_t valid;
	uint8_t pad0[3];
	uint32_t domain;
	uint8_t bus;
	uint8_t slot;
	uint8_t function;
	uint8_t pad1;
	uint16_t vendor;
	uint16_t device;
	uint32_t gpu_id;
	uint16_t irq;
	uint16_t pad2;
	uint64_t reg_addr;
	uint64_t reg_size;
	uint64_t fb_addr;               /* BAR1 */
	uint64_t fb_size;
	uint32_t minor;
	uint8_t dev_name[10];
	uint8_t pad3[2];
};

/* Parameters of class DEVICE. */
struct gdr_nv_device_params {
	uint32_t device_id;             /* device instance */
	uint32_t client_share;
	uint32_t target_client;
	uint32_t target_device;
	uint32_t flags;
	uint32_t pad0;
	uint64_t va_space_size;
	uint64_t va_start_internal;
	uint64_t va_limit_internal;
	uint32_t va_mode;
	uint32_t pad1;
};

/* Parameters of class SUBDEVICE. */
struct gdr_nv_subdevice_params {
	uint32_t subdevice_id;
};

/* GDR_NV_CTRL_ID_INFO, on the client */
struct gdr_nv_id_info {
	uint32_t gpu_id;                /* in */
	uint32_t gpu_flags;
	uint32_t device_instance;
	uint32_t subdevice_instance;
	uint32_t sli_status;
	uint32_t board_id;
	uint32_t gpu_instance;
	int32_t numa_id;
};

/* GDR_NV_CTRL_HANDLE_INFO, on the client */
struct gdr_nv_handle_info {
	uint32_t object;                /* in */
	uint32_t index;                 /* in: GDR_NV_HANDLE_INFO_* */
	uint64_t result;
};

/* GDR_NV_CTRL_IMPORT, on the client: the one object of an export descriptor */
struct gdr_nv_import {
	int32_t fd;
	uint32_t type;                  /* GDR_NV_EXPORT_TYPE_RM */
	uint32_t device;                /* ignored */
	uint32_t parent;
	uint32_t object;                /* in: 0, the driver picks; out */
};

/*
 * GDR_NV_CTRL_EXPORT_INFO, on the client.  History: up to 535 there is no
 * gpu_instance and the rest sits 4 bytes earlier.
 */
struct gdr_nv_export_info {
	int32_t fd;                     /* in */
	uint32_t device_instance;
	uint32_t gpu_instance;
	uint16_t max_objects;
	uint8_t metadata[64];
	uint8_t pad0[2];
};

struct gdr_nv_export_info_535 {
	int32_t fd;                     /* in */
	uint32_t device_instance;
	uint16_t max_objects;
	uint8_t metadata[64];
	uint8_t pad0[2];
};

/* GDR_NV_CTRL_SURFACE_INFO, on a memory object */
struct gdr_nv_surface_entry {
	uint32_t index;                 /* in: GDR_NV_SURFACE_* */
	uint32_t data;
};

struct gdr_nv_surface_info {
	uint32_t count;
	uint32_t pad0;
	uint64_t list;                  /* pointer to count entries */
};

/* Requests.  The card list takes as many entries as fit one request, 227. */
#define GDR_NV_FREE             _IOWR('F', 0x29, struct gdr_nv_free)
#define GDR_NV_CONTROL          _IOWR('F', 0x2a, struct gdr_nv_control)
#define GDR_NV_ALLOC            _IOWR('F', 0x2b, struct gdr_nv_alloc)
#define GDR_NV_DUP              _IOWR('F', 0x34, struct gdr_nv_dup)
#define GDR_NV_MAP              _IOWR('F', 0x4e, struct gdr_nv_map)
#define GDR_NV_UNMAP            _IOWR('F', 0x4f, struct gdr_nv_unmap)
#define GDR_NV_CARD_INFO_NR     200
#define GDR_NV_CARD_INFO(n) \
	_IOC(_IOC_READ | _IOC_WRITE, 'F', GDR_NV_CARD_INFO_NR, (n) * sizeof(struct gdr_nv_card))
#define GDR_NV_REGISTER         _IOWR('F', 201, struct gdr_nv_register)

#define GDR_NV_CARDS_USUAL      32
/* What fits the size field of a request: 227, on POWER 113. */
#define GDR_NV_CARDS_MAX        (_IOC_SIZEMASK / sizeof(struct gdr_nv_card))

/* Object classes */
#define GDR_NV_CLASS_ROOT       0x41
#define GDR_NV_CLASS_DEVICE     0x80
#define GDR_NV_CLASS_SUBDEVICE  0x2080
#define GDR_NV_CLASS_VIDMEM     0x40
#define GDR_NV_CLASS_SYSMEM     0x3e

/* Controls */
#define GDR_NV_CTRL_ID_INFO             0x205
#define GDR_NV_CTRL_HANDLE_INFO         0xd02
#define GDR_NV_CTRL_IMPORT              0x3d06
#define GDR_NV_CTRL_EXPORT_INFO         0x3d08
#define GDR_NV_CTRL_SURFACE_INFO        0x410110

#define GDR_NV_EXPORT_TYPE_RM           1
#define GDR_NV_HANDLE_INFO_PARENT       1
#define GDR_NV_HANDLE_INFO_CLASS        2
#define GDR_NV_SURFACE_SIZE             7       /* in units of GDR_NV_SURFACE_UNIT */
#define GDR_NV_SURFACE_SPACE            9
#define GDR_NV_SURFACE_UNIT             4096
#define GDR_NV_SPACE_VIDMEM             2

/* Status of a request, inside its structure */
#define GDR_NV_OK                       0x00
#define GDR_NV_GPU_IS_LOST              0x0f
#define GDR_NV_INSUFFICIENT_RESOURCES   0x1a
#define GDR_NV_INSUFFICIENT_PERMISSIONS 0x1b
#define GDR_NV_INVALID_ARGUMENT         0x1f
#define GDR_NV_INVALID_BASE             0x20
#define GDR_NV_INVALID_CLASS            0x22
#define GDR_NV_INVALID_CLIENT           0x23
#define GDR_NV_INVALID_LIMIT            0x2e
#define GDR_NV_INVALID_OBJECT           0x31
#define GDR_NV_INVALID_OBJECT_HANDLE    0x33
#define GDR_NV_INVALID_OBJECT_PARENT    0x36
#define GDR_NV_INVALID_PARAMETER        0x3b
#define GDR_NV_INVALID_STATE            0x40
#define GDR_NV_NO_MEMORY                0x51
#define GDR_NV_NOT_SUPPORTED            0x56
#define GDR_NV_OBJECT_NOT_FOUND         0x57
#define GDR_NV_OPERATING_SYSTEM         0x59
#define GDR_NV_PROTECTION_FAULT         0x5f
#define GDR_NV_STATE_IN_USE             0x63
#define GDR_NV_RESOURCE_LOST            0x6e

#define GDR_NV_SIZE(type, size) _Static_assert(sizeof(struct type) == (size), "size of " #type)
#define GDR_NV_AT(type, field, offset) \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field)
#define GDR_NV_WORD(request, value) _Static_assert((request) == (value), #request)

GDR_NV_WORD(GDR_NV_FREE, 0xc0104629);
GDR_NV_WORD(GDR_NV_CONTROL, 0xc020462a);
GDR_NV_WORD(GDR_NV_ALLOC, 0xc020462b);
GDR_NV_WORD(GDR_NV_DUP, 0xc01c4634);
GDR_NV_WORD(GDR_NV_MAP, 0xc038464e);
GDR_NV_WORD(GDR_NV_UNMAP, 0xc020464f);
GDR_NV_WORD(GDR_NV_CARD_INFO(GDR_NV_CARDS_USUAL), 0xc90046c8);
GDR_NV_WORD(GDR_NV_REGISTER, 0xc00446c9);

GDR_NV_SIZE(gdr_nv_free, 16);
GDR_NV_AT(gdr_nv_free, root, 0);
GDR_NV_AT(gdr_nv_free, parent, 4);
GDR_NV_AT(gdr_nv_free, object, 8);
GDR_NV_AT(gdr_nv_free, status, 12);

GDR_NV_SIZE(gdr_nv_alloc, 32);
GDR_NV_AT(gdr_nv_alloc, root, 0);
GDR_NV_AT(gdr_nv_alloc, parent, 4);
GDR_NV_AT(gdr_nv_alloc, object, 8);
GDR_NV_AT(gdr_nv_alloc, class, 12);
GDR_NV_AT(gdr_nv_alloc, params, 16);
GDR_NV_AT(gdr_nv_alloc, word6, 24);
GDR_NV_AT(gdr_nv_alloc, word7, 28);

GDR_NV_SIZE(gdr_nv_control, 32);
GDR_NV_AT(gdr_nv_control, client, 0);
GDR_NV_AT(gdr_nv_control, object, 4);
GDR_NV_AT(gdr_nv_control, cmd, 8);
GDR_NV_AT(gdr_nv_control, flags, 12);
GDR_NV_AT(gdr_nv_control, params, 16);
GDR_NV_AT(gdr_nv_control, params_size, 24);
GDR_NV_AT(gdr_nv_control, status, 28);

GDR_NV_SIZE(gdr_nv_dup, 28);
GDR_NV_AT(gdr_nv_dup, client, 0);
GDR_NV_AT(gdr_nv_dup, parent, 4);
GDR_NV_AT(gdr_nv_dup, object, 8);
GDR_NV_AT(gdr_nv_dup, client_src, 12);
GDR_NV_AT(gdr_nv_dup, object_src, 16);
GDR_NV_AT(gdr_nv_dup, flags, 20);
GDR_NV_AT(gdr_nv_dup, status, 24);

GDR_NV_SIZE(gdr_nv_map, 56);
GDR_NV_AT(gdr_nv_map, client, 0);
GDR_NV_AT(gdr_nv_map, device, 4);
GDR_NV_AT(gdr_nv_map, memory, 8);
GDR_NV_AT(gdr_nv_map, pad0, 12);
GDR_NV_AT(gdr_nv_map, offset, 16);
GDR_NV_AT(gdr_nv_map, length, 24);
GDR_NV_AT(gdr_nv_map, linear, 32);
GDR_NV_AT(gdr_nv_map, status, 40);
GDR_NV_AT(gdr_nv_map, flags, 44);
GDR_NV_AT(gdr_nv_map, fd, 48);
GDR_NV_AT(gdr_nv_map, pad1, 52);

GDR_NV_SIZE(gdr_nv_unmap, 32);
GDR_NV_AT(gdr_nv_unmap, client, 0);
GDR_NV_AT(gdr_nv_unmap, device, 4);
GDR_NV_AT(gdr_nv_unmap, memory, 8);
GDR_NV_AT(gdr_nv_unmap, pad0, 12);
GDR_NV_AT(gdr_nv_unmap, linear, 16);
GDR_NV_AT(gdr_nv_unmap, status, 24);
GDR_NV_AT(gdr_nv_unmap, flags, 28);

GDR_NV_SIZE(gdr_nv_register, 4);
GDR_NV_SIZE(gdr_nv_card, 72);
GDR_NV_AT(gdr_nv_card, valid, 0);
GDR_NV_AT(gdr_nv_card, domain, 4);
GDR_NV_AT(gdr_nv_card, bus, 8);
GDR_NV_AT(gdr_nv_card, slot, 9);
GDR_NV_AT(gdr_nv_card, function, 10);
GDR_NV_AT(gdr_nv_card, vendor, 12);
GDR_NV_AT(gdr_nv_card, device, 14);
GDR_NV_AT(gdr_nv_card, gpu_id, 16);
GDR_NV_AT(gdr_nv_card, irq, 20);
GDR_NV_AT(gdr_nv_card, reg_addr, 24);
GDR_NV_AT(gdr_nv_card, reg_size, 32);
GDR_NV_AT(gdr_nv_card, fb_addr, 40);
GDR_NV_AT(gdr_nv_card, fb_size, 48);
GDR_NV_AT(gdr_nv_card, minor, 56);
GDR_NV_AT(gdr_nv_card, dev_name, 60);

GDR_NV_SIZE(gdr_nv_device_params, 56);
GDR_NV_AT(gdr_nv_device_params, device_id, 0);
GDR_NV_AT(gdr_nv_device_params, client_share, 4);
GDR_NV_AT(gdr_nv_device_params, target_client, 8);
GDR_NV_AT(gdr_nv_device_params, target_device, 12);
GDR_NV_AT(gdr_nv_device_params, flags, 16);
GDR_NV_AT(gdr_nv_device_params, va_space_size, 24);
GDR_NV_AT(gdr_nv_device_params, va_start_internal, 32);
GDR_NV_AT(gdr_nv_device_params, va_limit_internal, 40);
GDR_NV_AT(gdr_nv_device_params, va_mode, 48);

GDR_NV_SIZE(gdr_nv_subdevice_params, 4);
GDR_NV_SIZE(gdr_nv_id_info, 32);
GDR_NV_AT(gdr_nv_id_info, gpu_id, 0);
GDR_NV_AT(gdr_nv_id_info, gpu_flags, 4);
GDR_NV_AT(gdr_nv_id_info, device_instance, 8);
GDR_NV_AT(gdr_nv_id_info, subdevice_instance, 12);
GDR_NV_AT(gdr_nv_id_info, sli_status, 16);
GDR_NV_AT(gdr_nv_id_info, board_id, 20);
GDR_NV_AT(gdr_nv_id_info, gpu_instance, 24);
GDR_NV_AT(gdr_nv_id_info, numa_id, 28);

GDR_NV_SIZE(gdr_nv_handle_info, 16);
GDR_NV_AT(gdr_nv_handle_info, object, 0);
GDR_NV_AT(gdr_nv_handle_info, index, 4);
GDR_NV_AT(gdr_nv_handle_info, result, 8);

GDR_NV_SIZE(gdr_nv_import, 20);
GDR_NV_AT(gdr_nv_import, fd, 0);
GDR_NV_AT(gdr_nv_import, type, 4);
GDR_NV_AT(gdr_nv_import, device, 8);
GDR_NV_AT(gdr_nv_import, parent, 12);
GDR_NV_AT(gdr_nv_import, object, 16);

GDR_NV_SIZE(gdr_nv_export_info, 80);
GDR_NV_AT(gdr_nv_export_info, fd, 0);
GDR_NV_AT(gdr_nv_export_info, device_instance, 4);
GDR_NV_AT(gdr_nv_export_info, gpu_instance, 8);
GDR_NV_AT(gdr_nv_export_info, max_objects, 12);
GDR_NV_AT(gdr_nv_export_info, metadata, 14);

GDR_NV_SIZE(gdr_nv_export_info_535, 76);
GDR_NV_AT(gdr_nv_export_info_535, fd, 0);
GDR_NV_AT(gdr_nv_export_info_535, device_instance, 4);
GDR_NV_AT(gdr_nv_export_info_535, max_objects, 8);
GDR_NV_AT(gdr_nv_export_info_535, metadata, 10);

GDR_NV_SIZE(gdr_nv_surface_entry, 8);
GDR_NV_AT(gdr_nv_surface_entry, index, 0);
GDR_NV_AT(gdr_nv_surface_entry, data, 4);

GDR_NV_SIZE(gdr_nv_surface_info, 16);
GDR_NV_AT(gdr_nv_surface_info, count, 0);
GDR_NV_AT(gdr_nv_surface_info, list, 8);

#endif
