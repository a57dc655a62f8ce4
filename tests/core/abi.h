/* SPDX-License-Identifier: MIT */
/*
 * The binary interface of 2.6 in numbers, checked by both a C and a C++
 * compiler: sizes, offsets, values of macros and enumerators, the type of each
 * function.  A line that fails here breaks programs that are already built.
 */
#ifndef CORE_ABI_H
#define CORE_ABI_H

#include "gdrapi.h"
#include "gdrapi_ext.h"

#ifdef __cplusplus
#define STATIC(cond) static_assert(cond, #cond)
#else
#define STATIC(cond) _Static_assert(cond, #cond)
#endif

STATIC(GDR_API_MAJOR_VERSION == 2);
STATIC(GDR_API_MINOR_VERSION == 6);
STATIC(GDR_API_VERSION == 0x20006);
STATIC(MAJOR_VERSION_SHIFT == 16);
STATIC(MINOR_VERSION_MASK == 0xffff);
STATIC(MINIMUM_GDRDRV_MAJOR_VERSION == 2);
STATIC(MINIMUM_GDRDRV_MINOR_VERSION == 0);
STATIC(MINIMUM_GDRDRV_VERSION == 0x20000);
STATIC(GPU_PAGE_SHIFT == 16);
STATIC(GPU_PAGE_SIZE == 0x10000);
STATIC(GPU_PAGE_OFFSET == 0xffff);
STATIC(GPU_PAGE_MASK == ~0xfffful);

STATIC(sizeof(gdr_t) == 8);
STATIC(sizeof(gdr_mh_t) == 8);
STATIC(offsetof(gdr_mh_t, h) == 0);
STATIC(sizeof(gdr_info_t) == 48);
STATIC(sizeof(gdr_info_v2_t) == 48);
STATIC(offsetof(gdr_info_t, va) == 0);
STATIC(offsetof(gdr_info_t, mapped_size) == 8);
STATIC(offsetof(gdr_info_t, page_size) == 16);
STATIC(offsetof(gdr_info_t, tm_cycles) == 24);
STATIC(offsetof(gdr_info_t, cycles_per_ms) == 32);
STATIC(offsetof(gdr_info_t, mapping_type) == 40);

STATIC(sizeof(gdr_pin_flags_t) == 4);
STATIC(GDR_PIN_FLAG_DEFAULT == 0);
STATIC(GDR_PIN_FLAG_FORCE_PCIE == 1);
STATIC(sizeof(gdr_mapping_type_t) == 4);
STATIC(GDR_MAPPING_TYPE_NONE == 0);
STATIC(GDR_MAPPING_TYPE_WC == 1);
STATIC(GDR_MAPPING_TYPE_CACHING == 2);
STATIC(GDR_MAPPING_TYPE_DEVICE == 3);
STATIC(GDR_MAPPING_TYPE_MAX == 4);
STATIC(sizeof(gdr_map_flags_t) == 4);
STATIC(GDR_MAP_FLAG_DEFAULT == 0);
STATIC(GDR_MAP_FLAG_REQ_WC_MAPPING == 1);
STATIC(GDR_MAP_FLAG_REQ_CACHE_MAPPING == 2);
STATIC(GDR_MAP_FLAG_REQ_DEVICE_MAPPING == 3);
STATIC(sizeof(gdr_attr_t) == 4);
STATIC(GDR_ATTR_USE_PERSISTENT_MAPPING == 1);
STATIC(GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE == 2);
STATIC(GDR_ATTR_USING_DMA_BUF_MMAP == 3);
STATIC(GDR_ATTR_MAX == 4);

STATIC(sizeof(struct gdrx_copy_options) == 40);
STATIC(offsetof(struct gdrx_copy_options, size) == 0);
STATIC(offsetof(struct gdrx_copy_options, threads) == 8);
STATIC(offsetof(struct gdrx_copy_options, min_bytes) == 16);
STATIC(offsetof(struct gdrx_copy_options, cpus) == 24);
STATIC(offsetof(struct gdrx_copy_options, cpus_size) == 32);
STATIC(sizeof(struct gdrx_iov) == 24);
STATIC(offsetof(struct gdrx_iov, map_d_ptr) == 0);
STATIC(offsetof(struct gdrx_iov, h_ptr) == 8);
STATIC(offsetof(struct gdrx_iov, size) == 16);

/* Every function by a pointer of exactly its type; gdr_get_info is a macro here. */
struct abi_calls {
	gdr_t (*open)(void);
	int (*close)(gdr_t);
	int (*pin_buffer)(gdr_t, unsigned long, size_t, uint64_t, uint32_t, gdr_mh_t *);
	int (*pin_buffer_v2)(gdr_t, unsigned long, size_t, uint32_t, gdr_mh_t *);
	int (*unpin_buffer)(gdr_t, gdr_mh_t);
	int (*get_callback_flag)(gdr_t, gdr_mh_t, int *);
	int (*get_info)(gdr_t, gdr_mh_t, gdr_info_t *);
	int (*get_info_v2)(gdr_t, gdr_mh_t, gdr_info_v2_t *);
	int (*map)(gdr_t, gdr_mh_t, void **, size_t);
	int (*map_v2)(gdr_t, gdr_mh_t, void **, size_t, int);
	int (*unmap)(gdr_t, gdr_mh_t, void *, size_t);
	int (*copy_to_mapping)(gdr_mh_t, void *, const void *, size_t);
	int (*copy_from_mapping)(gdr_mh_t, void *, const void *, size_t);
	void (*runtime_get_version)(int *, int *);
	int (*driver_get_version)(gdr_t, int *, int *);
	int (*get_attribute)(gdr_t, gdr_attr_t, int *);
	int (*get_mapping_type_string)(gdr_mapping_type_t, const char **);
	const char *(*backend_name)(gdr_t);
	const char *(*last_error)(void);
	const char *(*open_report)(void);
	const char *(*copy_routine)(int);
	int (*parallel_to)(gdr_mh_t, void *, const void *, size_t,
			   const struct gdrx_copy_options *);
	int (*parallel_from)(gdr_mh_t, void *, const void *, size_t,
			     const struct gdrx_copy_options *);
	int (*copy_iov)(gdr_mh_t, int, const struct gdrx_iov *, size_t);
};

static const struct abi_calls abi_calls = {
	gdr_open,
	gdr_close,
	gdr_pin_buffer,
	gdr_pin_buffer_v2,
	gdr_unpin_buffer,
	gdr_get_callback_flag,
	gdr_get_info,
	gdr_get_info_v2,
	gdr_map,
	gdr_map_v2,
	gdr_unmap,
	gdr_copy_to_mapping,
	gdr_copy_from_mapping,
	gdr_runtime_get_version,
	gdr_driver_get_version,
	gdr_get_attribute,
	gdr_get_mapping_type_string,
	gdrx_backend_name,
	gdrx_last_error,
	gdrx_open_report,
	gdrx_copy_routine,
	gdrx_copy_to_mapping,
	gdrx_copy_from_mapping,
	gdrx_copy_iov,
};

/* What no static assertion can see; 0 or the number of the check that failed. */
static inline int abi_check(void)
{
	union {
		gdr_info_t info;
		unsigned char bytes[sizeof(gdr_info_t)];
	} u;
	int major = 0, minor = 0;
	const char *type = 0;

	for (size_t i = 0; i < sizeof(u.bytes); i++)
		u.bytes[i] = 0;
	u.info.mapped = 1;
	if (u.bytes[36] != 1)
		return 1;
	u.info.wc_mapping = 1;
	if (u.bytes[36] != 3)
		return 2;
	abi_calls.runtime_get_version(&major, &minor);
	if (major != GDR_API_MAJOR_VERSION || minor != GDR_API_MINOR_VERSION)
		return 3;
	if (abi_calls.get_mapping_type_string(GDR_MAPPING_TYPE_WC, &type) || !type)
		return 4;
	if (abi_calls.get_info != abi_calls.get_info_v2)
		return 5;
	if (abi_calls.close(0) != 22 || !abi_calls.last_error()[0])
		return 6;
	return 0;
}

#endif
