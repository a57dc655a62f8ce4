/* SPDX-License-Identifier: MIT */
/*
 * The GDRCopy 2.6 programming interface: pin CUDA device memory, map it into
 * the CPU's address space, copy to and from the mapping.
 *
 * Every int-returning function gives 0 or a positive errno value; errno itself
 * is not the channel, except for gdr_open.  Every function may be called from
 * any thread at any time.  Outputs are written only on success, except where
 * stated.  A handle that is stale, foreign or made up is EINVAL.
 *
 * This header holds what 2.6 holds and nothing else; our own additions are in
 * gdrapi_ext.h.  Details: gdr_open(3), gdr_pin_buffer(3), gdr_map(3),
 * gdr_get_info(3), gdr_get_attribute(3), gdr_copy_to_mapping(3).
 */
#ifndef __GDRAPI_H__
#define __GDRAPI_H__

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define MAJOR_VERSION_SHIFT     16
#define MINOR_VERSION_MASK      (((uint32_t)1 << MAJOR_VERSION_SHIFT) - 1)

#define GDR_API_MAJOR_VERSION    2
#define GDR_API_MINOR_VERSION    6
#define GDR_API_VERSION \
	((GDR_API_MAJOR_VERSION << MAJOR_VERSION_SHIFT) | GDR_API_MINOR_VERSION)

/* The oldest driver this library works with. */
#define MINIMUM_GDRDRV_MAJOR_VERSION    2
#define MINIMUM_GDRDRV_MINOR_VERSION    0
#define MINIMUM_GDRDRV_VERSION \
	((MINIMUM_GDRDRV_MAJOR_VERSION << MAJOR_VERSION_SHIFT) | MINIMUM_GDRDRV_MINOR_VERSION)

/* GPU page: the granularity at which GPU memory is pinned, 64 KiB. */
#define GPU_PAGE_SHIFT   16
#define GPU_PAGE_SIZE    (1UL << GPU_PAGE_SHIFT)
#define GPU_PAGE_OFFSET  (GPU_PAGE_SIZE - 1)
#define GPU_PAGE_MASK    (~GPU_PAGE_OFFSET)

#ifdef __cplusplus
extern "C" {
#endif

/* An open library context. */
typedef struct gdr *gdr_t;

/* A pinned range.  All-zero is never a live handle. */
typedef struct gdr_mh_s {
	unsigned long h;
} gdr_mh_t;

typedef enum gdr_pin_flags {
	GDR_PIN_FLAG_DEFAULT = 0,
	/* Coherent platforms: reach the memory over PCIe, not over the CPU link. */
	GDR_PIN_FLAG_FORCE_PCIE = 1
} gdr_pin_flags_t;

typedef enum gdr_mapping_type {
	GDR_MAPPING_TYPE_NONE = 0,      /* not mapped */
	GDR_MAPPING_TYPE_WC = 1,        /* write combining */
	GDR_MAPPING_TYPE_CACHING = 2,   /* normal cached memory (coherent platforms) */
	GDR_MAPPING_TYPE_DEVICE = 3,    /* Arm device memory */
	GDR_MAPPING_TYPE_MAX            /* number of types, not a type */
} gdr_mapping_type_t;

/* Exclusive values, not bits. */
typedef enum gdr_map_flags {
	GDR_MAP_FLAG_DEFAULT = 0,
	GDR_MAP_FLAG_REQ_WC_MAPPING = 1,
	GDR_MAP_FLAG_REQ_CACHE_MAPPING = 2,
	GDR_MAP_FLAG_REQ_DEVICE_MAPPING = 3
} gdr_map_flags_t;

typedef enum gdr_attr {
	/* 1: pinned memory stays alive until it is unpinned, also after it was freed */
	GDR_ATTR_USE_PERSISTENT_MAPPING = 1,
	/* 1: GDR_PIN_FLAG_FORCE_PCIE is understood */
	GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE = 2,
	/* 1: the context maps through CUDA's dma-buf export */
	GDR_ATTR_USING_DMA_BUF_MMAP = 3,
	GDR_ATTR_MAX                    /* number of attributes plus one, not an attribute */
} gdr_attr_t;

typedef struct gdr_info_v2 {
	uint64_t va;                    /* device address of the first pinned byte */
	uint64_t mapped_size;           /* pinned bytes, from va on */
	uint32_t page_size;             /* granularity of the pin, bytes */
	uint64_t tm_cycles;             /* cycles the driver spent pinning; 0 if not known */
	uint32_t cycles_per_ms;         /* to convert tm_cycles; 0 if not known */
	unsigned mapped : 1;
	unsigned wc_mapping : 1;
	gdr_mapping_type_t mapping_type;
} gdr_info_v2_t;
typedef gdr_info_v2_t gdr_info_t;

/*
 * Open a context.  NULL and errno on failure; gdrx_last_error() then says why
 * each backend was refused.
 */
gdr_t gdr_open(void);

/*
 * Unmap and unpin what is left and free the context.  Always closes; returns
 * the first error met on the way.
 */
int gdr_close(gdr_t g);

/*
 * Pin size bytes of device memory at addr.  The two tokens are accepted and
 * ignored where they mean nothing.  Any address can be pinned, but only a pin
 * whose address is aligned to its info.page_size can be mapped.
 */
int gdr_pin_buffer(gdr_t g, unsigned long addr, size_t size, uint64_t p2p_token,
		   uint32_t va_space, gdr_mh_t *handle);
int gdr_pin_buffer_v2(gdr_t g, unsigned long addr, size_t size, uint32_t flags, gdr_mh_t *handle);

/* Unpin; a mapping that still exists is removed first. */
int gdr_unpin_buffer(gdr_t g, gdr_mh_t handle);

/* *flag becomes 1 once the driver has revoked the memory, else 0. */
int gdr_get_callback_flag(gdr_t g, gdr_mh_t handle, int *flag);

/*
 * Two functions of one name: sources compiled against this header get
 * gdr_get_info_v2 and the 48-byte struct.  The exported symbol gdr_get_info
 * serves programs built against releases before 2.4 and writes 40 bytes.
 */
#define gdr_get_info gdr_get_info_v2
int gdr_get_info_v2(gdr_t g, gdr_mh_t handle, gdr_info_v2_t *info);

/*
 * Map size bytes from the start of the pin.  One mapping a handle.  *va is
 * page-aligned and belongs to the library: gdr_unmap removes it.
 */
int gdr_map_v2(gdr_t g, gdr_mh_t handle, void **va, size_t size, int flags);
int gdr_map(gdr_t g, gdr_mh_t handle, void **va, size_t size);

/* va and size (rounded up to host pages) must be those of the mapping. */
int gdr_unmap(gdr_t g, gdr_mh_t handle, void *va, size_t size);

/*
 * Copy between host memory and a mapping.  map_d_ptr is any address inside the
 * mapping of handle.  Aligned copies of 1, 2, 4, 8 and 16 bytes are exactly one
 * access of the device.
 */
int gdr_copy_to_mapping(gdr_mh_t handle, void *map_d_ptr, const void *h_ptr, size_t size);
int gdr_copy_from_mapping(gdr_mh_t handle, void *h_ptr, const void *map_d_ptr, size_t size);

/* Version of this library, and of the driver (2.6 where no gdrdrv is used). */
void gdr_runtime_get_version(int *major, int *minor);
int gdr_driver_get_version(gdr_t g, int *major, int *minor);

int gdr_get_attribute(gdr_t g, gdr_attr_t attr, int *v);

/* *str becomes a static string; EINVAL for a number that is no type. */
int gdr_get_mapping_type_string(gdr_mapping_type_t mapping_type, const char **str);

#ifdef __cplusplus
}
#endif

#endif
