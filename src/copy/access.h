/* SPDX-License-Identifier: MIT */
/*
 * Single accesses of the device side.  Each is one volatile access of 1, 2, 4,
 * 8 or 16 bytes at its natural alignment; the host side has any alignment.
 *
 * With GDR_COPY_TRACE defined every access of the device side, here and in the
 * block routines, is reported to gdr_copy_trace, which a test provides.
 */
#ifndef GDR_COPY_ACCESS_H
#define GDR_COPY_ACCESS_H

#include <stdint.h>
#include <string.h>

#include "copy.h"

#ifdef GDR_COPY_TRACE
void gdr_copy_trace(enum gdr_copy_dir dir, const volatile void *dev, size_t width);
#else
#define gdr_copy_trace(dir, dev, width) ((void)0)
#endif

/*
 * One instruction on x86-64 and arm64, where it is spelled out: left to itself
 * the compiler may take two general registers.  Elsewhere it is the compiler's
 * vector move, LXVD2X on POWER.
 */
struct gdr_vec16 {
	uint64_t lane __attribute__((vector_size(16)));
};

#if defined(__x86_64__)
#define GDR_LOAD_VEC16(v, p)    __asm__ volatile("movdqa %1, %0" : "=x"(v) : "m"(p))
#define GDR_STORE_VEC16(p, v)   __asm__ volatile("movdqa %1, %0" : "=m"(p) : "x"(v))
#elif defined(__aarch64__)
#define GDR_LOAD_VEC16(v, p)    __asm__ volatile("ldr %q0, %1" : "=w"(v) : "Q"(p))
#define GDR_STORE_VEC16(p, v)   __asm__ volatile("str %q1, %0" : "=Q"(p) : "w"(v))
#else
#define GDR_LOAD_VEC16(v, p)    ((v) = (p))
#define GDR_STORE_VEC16(p, v)   ((p) = (v))
#endif

#define GDR_STORE_AS(type, dev, host) do {                      \
		type value_;                                    \
		memcpy(&value_, host, sizeof(value_));          \
		*(volatile type *)(dev) = value_;               \
	} while (0)

#define GDR_LOAD_AS(type, host, dev) do {                       \
		type value_ = *(const volatile type *)(dev);    \
		memcpy(host, &value_, sizeof(value_));          \
	} while (0)

static inline void gdr_access_store16(void *dev, const void *host)
{
	struct gdr_vec16 v;

	memcpy(&v, host, sizeof(v));
	GDR_STORE_VEC16(((volatile struct gdr_vec16 *)dev)->lane, v.lane);
}

static inline void gdr_access_load16(void *host, const void *dev)
{
	struct gdr_vec16 v;

	GDR_LOAD_VEC16(v.lane, ((const volatile struct gdr_vec16 *)dev)->lane);
	memcpy(host, &v, sizeof(v));
}

static inline void gdr_access_store(void *dev, const void *host, size_t width)
{
	gdr_copy_trace(GDR_COPY_TO_MAPPING, dev, width);
	switch (width) {
	case 1:
		GDR_STORE_AS(uint8_t, dev, host);
		break;
	case 2:
		GDR_STORE_AS(uint16_t, dev, host);
		break;
	case 4:
		GDR_STORE_AS(uint32_t, dev, host);
		break;
	case 8:
		GDR_STORE_AS(uint64_t, dev, host);
		break;
	case 16:
		gdr_access_store16(dev, host);
		break;
	}
}

static inline void gdr_access_load(void *host, const void *dev, size_t width)
{
	gdr_copy_trace(GDR_COPY_FROM_MAPPING, dev, width);
	switch (width) {
	case 1:
		GDR_LOAD_AS(uint8_t, host, dev);
		break;
	case 2:
		GDR_LOAD_AS(uint16_t, host, dev);
		break;
	case 4:
		GDR_LOAD_AS(uint32_t, host, dev);
		break;
	case 8:
		GDR_LOAD_AS(uint64_t, host, dev);
		break;
	case 16:
		gdr_access_load16(host, dev);
		break;
	}
}

#endif
