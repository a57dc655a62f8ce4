/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The interface of /dev/gdrdrv, between the gdrdrv module and libgdrapi.
 *
 * Life of a pin
 *
 *   open("/dev/gdrdrv", O_RDWR | O_CLOEXEC)
 *   GET_VERSION                        what this driver is, whom it serves
 *   PIN_BUFFER[_V2]                    GPU range -> handle
 *   REQ_MAPPING_TYPE                   optional: how to map it
 *   mmap(.., MAP_SHARED, fd, handle * host page size)
 *   GET_INFO[_V2]                      what the mapping became
 *   munmap
 *   UNPIN_BUFFER
 *   close                              unpins what is left
 *
 * Ownership
 *
 *   An open file belongs to the process that opened it.  Every ioctl and mmap
 *   from another process, a forked child included, fails with EACCES; that
 *   holds for a file passed over a socket as well.  All threads of the opener
 *   are equal.  A mapping is not inherited over fork.
 *
 * Handles
 *
 *   A handle is 64 bits wide, belongs to one open file, and is also the page
 *   offset to mmap at, so each pin owns the offsets [handle, handle + pages).
 *   The first handle of a file is 0, which is as valid as any other.  Handles
 *   grow, stay below 2^32, and start anew from 0 when they get there, with
 *   those that are free again; a mapping always shows the pin that it was made
 *   of, never a later one of the same handle.  An unknown handle is EINVAL.
 *
 * Pinning
 *
 *   The range is widened to whole GPU pages of 64 KiB.  Memory is either
 *   persistent (it stays until it is unpinned, even if it was freed) or
 *   revocable (freeing it takes the pages away: GET_CB_FLAG then answers 1,
 *   touching the mapping raises SIGBUS, and only queries and UNPIN_BUFFER are
 *   left).  Which of the two is a property of the loaded module, see
 *   GDRDRV_ATTR_USE_PERSISTENT_MAPPING.
 *
 * Mapping
 *
 *   One mapping a pin at a time; it starts at the pin's first byte and covers
 *   any number of host pages up to the pinned size.  Only a pin whose address
 *   is a multiple of 64 KiB can be mapped.  Never unmap a part of a mapping.
 *   With no request, or NONE, the driver chooses the type: CACHING for memory
 *   that the CPU may cache, DEVICE on hosts that need it, else WC.
 *
 * Events
 *
 *   poll() tells POLLPRI and POLLERR for as long as a pin of the file is revoked
 *   and not yet unpinned.
 *
 * Commands
 *
 *   The driver compares all 32 bits of a command.  An unknown command is
 *   ENOTTY, one of another type byte EINVAL.  Arguments are copied in and out
 *   whole, at the size of their struct; named padding is to be sent as 0.
 *   Which command exists is told by the driver's version:
 *
 *      2.0   PIN_BUFFER, UNPIN_BUFFER, GET_CB_FLAG, GET_INFO, GET_VERSION
 *      2.4   GET_INFO_V2
 *      2.5   GET_ATTR, PIN_BUFFER_V2, REQ_MAPPING_TYPE
 *
 *   32-bit processes use the same numbers and structs on a 64-bit kernel.
 *
 *   Everything in this file is frozen.  A new command encodes the size of its
 *   struct, and rejects flags that it does not know and padding that is not 0.
 */
#ifndef GDRDRV_UAPI_H
#define GDRDRV_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GDRDRV_DEVICE_PATH	"/dev/gdrdrv"

/* Versions are major << 16 | minor. */
#define GDRDRV_VERSION_OF(major, minor)	(((__u32)(major) << 16) | (__u32)(minor))
#define GDRDRV_VERSION_MAJOR(v)		((__u32)(v) >> 16)
#define GDRDRV_VERSION_MINOR(v)		((__u32)(v) & 0xffff)

/* The driver that belongs to this file, and the oldest library it serves. */
#define GDRDRV_MAJOR_VERSION	2
#define GDRDRV_MINOR_VERSION	6
#define GDRDRV_VERSION		GDRDRV_VERSION_OF(GDRDRV_MAJOR_VERSION, GDRDRV_MINOR_VERSION)
#define GDRDRV_MIN_API_VERSION	GDRDRV_VERSION_OF(2, 0)

/* Granularity of a pin, bytes. */
#define GDRDRV_GPU_PAGE_SIZE	65536

enum gdrdrv_mapping_type {
	GDRDRV_MAPPING_NONE	= 0,	/* not mapped; as a request: driver decides */
	GDRDRV_MAPPING_WC	= 1,	/* write combining */
	GDRDRV_MAPPING_CACHING	= 2,	/* normal cached memory */
	GDRDRV_MAPPING_DEVICE	= 3,	/* Arm device memory */
};

/* gdrdrv_pin_buffer_v2.flags */
#define GDRDRV_PIN_FLAG_FORCE_PCIE	0x1u	/* reach the memory over PCIe, not a CPU link */
#define GDRDRV_PIN_FLAGS_KNOWN		GDRDRV_PIN_FLAG_FORCE_PCIE

/* gdrdrv_get_attr.attr; the value is 0 or 1 */
enum gdrdrv_attr {
	GDRDRV_ATTR_USE_PERSISTENT_MAPPING	= 1,
	GDRDRV_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE	= 2,
};

/*
 * PIN_BUFFER: pin [addr, addr + size).  The tokens are CUDA's P2P tokens; both
 * must be 0 where memory is persistent, and this driver does not look at them
 * elsewhere: memory is always the caller's.  EINVAL: addr 0, or not GPU memory
 * of the caller.  ENOMEM: no memory or no BAR space left.
 */
struct gdrdrv_pin_buffer {
	__u64 addr;
	__u64 size;		/* bytes */
	__u64 p2p_token;
	__u32 va_space;
	__u32 pad;
	__u64 handle;		/* out */
};

/*
 * PIN_BUFFER_V2: as PIN_BUFFER with tokens of 0.  EINVAL also for an unknown
 * flag, and for any flag where memory is revocable.
 */
struct gdrdrv_pin_buffer_v2 {
	__u64 addr;
	__u64 size;		/* bytes */
	__u32 flags;		/* GDRDRV_PIN_FLAG_* */
	__u32 pad;
	__u64 handle;		/* out */
};

/* UNPIN_BUFFER: a mapping that still exists loses its pages, not its addresses. */
struct gdrdrv_unpin_buffer {
	__u64 handle;
};

/* GET_CB_FLAG: 1 once the memory was revoked, else 0. */
struct gdrdrv_get_cb_flag {
	__u64 handle;
	__u32 flag;		/* out */
	__u32 pad;
};

/* GET_INFO: va and mapped_size describe the pin after widening. */
struct gdrdrv_get_info {
	__u64 handle;
	__u64 va;		/* out, this and all below */
	__u64 mapped_size;	/* bytes */
	__u32 page_size;	/* GDRDRV_GPU_PAGE_SIZE */
	__u32 tsc_khz;		/* unit of tm_cycles; 0 if not known */
	__u64 tm_cycles;	/* time spent pinning; 0 if not known */
	__u32 mapped;		/* 0 or 1 */
	__u32 wc_mapping;	/* 0 or 1 */
};

/* GET_INFO_V2: as GET_INFO, with the exact type instead of two booleans. */
struct gdrdrv_get_info_v2 {
	__u64 handle;
	__u64 va;		/* out, this and all below */
	__u64 mapped_size;
	__u32 page_size;
	__u32 tsc_khz;
	__u64 tm_cycles;
	__u32 mapping_type;	/* enum gdrdrv_mapping_type */
	__u32 pad;
};

/* GET_ATTR: EINVAL for an attribute that the driver does not know. */
struct gdrdrv_get_attr {
	__u32 attr;		/* enum gdrdrv_attr */
	__u32 val;		/* out */
};

/*
 * REQ_MAPPING_TYPE: the type of this pin's next mappings, until another is
 * asked for.  EINVAL: no such type or handle.  EBUSY: mapped already.
 * EOPNOTSUPP: not possible for this pin on this machine; NONE always is.
 */
struct gdrdrv_req_mapping_type {
	__u64 handle;
	__u32 mapping_type;	/* enum gdrdrv_mapping_type */
	__u32 pad;
};

/* GET_VERSION: a library older than minimum_gdr_api_version must not go on. */
struct gdrdrv_get_version {
	__u32 gdrdrv_version;		/* out */
	__u32 minimum_gdr_api_version;	/* out */
};

/*
 * Only the two PIN commands encode the size of their struct.  The others carry
 * an inherited 8, whatever their struct's size is; __u64 stands for that 8, so
 * that the numbers do not depend on the size of a pointer.
 */
#define GDRDRV_IOC_TYPE			0xDA
#define GDRDRV_IOC_PIN_BUFFER		_IOWR(GDRDRV_IOC_TYPE, 1, struct gdrdrv_pin_buffer)
#define GDRDRV_IOC_UNPIN_BUFFER		_IOWR(GDRDRV_IOC_TYPE, 2, __u64)
#define GDRDRV_IOC_GET_CB_FLAG		_IOWR(GDRDRV_IOC_TYPE, 3, __u64)
#define GDRDRV_IOC_GET_INFO		_IOWR(GDRDRV_IOC_TYPE, 4, __u64)
#define GDRDRV_IOC_GET_INFO_V2		_IOWR(GDRDRV_IOC_TYPE, 5, __u64)
#define GDRDRV_IOC_GET_ATTR		_IOWR(GDRDRV_IOC_TYPE, 6, __u64)
#define GDRDRV_IOC_PIN_BUFFER_V2	_IOWR(GDRDRV_IOC_TYPE, 7, struct gdrdrv_pin_buffer_v2)
#define GDRDRV_IOC_REQ_MAPPING_TYPE	_IOWR(GDRDRV_IOC_TYPE, 8, __u64)
#define GDRDRV_IOC_GET_VERSION		_IOWR(GDRDRV_IOC_TYPE, 255, __u64)

/* The numbers above, frozen. */
#ifdef __cplusplus
#define GDRDRV_FROZEN(what, number)	static_assert((what) == (number), #what)
#else
#define GDRDRV_FROZEN(what, number)	__extension__ _Static_assert((what) == (number), #what)
#endif
#define GDRDRV_FROZEN_SIZE(name, n)	GDRDRV_FROZEN(sizeof(struct gdrdrv_##name), n)
#define GDRDRV_FROZEN_AT(name, field, n) \
	GDRDRV_FROZEN(__builtin_offsetof(struct gdrdrv_##name, field), n)

/*
 * powerpc spells the direction with other bits, but read|write comes out the same.
 * The kernel's own _IOWR is no constant expression to clang.
 */
#if !defined(__KERNEL__) || !defined(__clang__)
GDRDRV_FROZEN(GDRDRV_IOC_PIN_BUFFER,		0xC028DA01u);
GDRDRV_FROZEN(GDRDRV_IOC_UNPIN_BUFFER,		0xC008DA02u);
GDRDRV_FROZEN(GDRDRV_IOC_GET_CB_FLAG,		0xC008DA03u);
GDRDRV_FROZEN(GDRDRV_IOC_GET_INFO,		0xC008DA04u);
GDRDRV_FROZEN(GDRDRV_IOC_GET_INFO_V2,		0xC008DA05u);
GDRDRV_FROZEN(GDRDRV_IOC_GET_ATTR,		0xC008DA06u);
GDRDRV_FROZEN(GDRDRV_IOC_PIN_BUFFER_V2,	0xC020DA07u);
GDRDRV_FROZEN(GDRDRV_IOC_REQ_MAPPING_TYPE,	0xC008DA08u);
GDRDRV_FROZEN(GDRDRV_IOC_GET_VERSION,		0xC008DAFFu);
#endif

GDRDRV_FROZEN(GDRDRV_MAPPING_NONE, 0);
GDRDRV_FROZEN(GDRDRV_MAPPING_WC, 1);
GDRDRV_FROZEN(GDRDRV_MAPPING_CACHING, 2);
GDRDRV_FROZEN(GDRDRV_MAPPING_DEVICE, 3);
GDRDRV_FROZEN(GDRDRV_PIN_FLAG_FORCE_PCIE, 1);
GDRDRV_FROZEN(GDRDRV_ATTR_USE_PERSISTENT_MAPPING, 1);
GDRDRV_FROZEN(GDRDRV_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, 2);

GDRDRV_FROZEN_SIZE(pin_buffer, 40);
GDRDRV_FROZEN_AT(pin_buffer, addr, 0);
GDRDRV_FROZEN_AT(pin_buffer, size, 8);
GDRDRV_FROZEN_AT(pin_buffer, p2p_token, 16);
GDRDRV_FROZEN_AT(pin_buffer, va_space, 24);
GDRDRV_FROZEN_AT(pin_buffer, pad, 28);
GDRDRV_FROZEN_AT(pin_buffer, handle, 32);

GDRDRV_FROZEN_SIZE(pin_buffer_v2, 32);
GDRDRV_FROZEN_AT(pin_buffer_v2, addr, 0);
GDRDRV_FROZEN_AT(pin_buffer_v2, size, 8);
GDRDRV_FROZEN_AT(pin_buffer_v2, flags, 16);
GDRDRV_FROZEN_AT(pin_buffer_v2, pad, 20);
GDRDRV_FROZEN_AT(pin_buffer_v2, handle, 24);

GDRDRV_FROZEN_SIZE(unpin_buffer, 8);
GDRDRV_FROZEN_AT(unpin_buffer, handle, 0);

GDRDRV_FROZEN_SIZE(get_cb_flag, 16);
GDRDRV_FROZEN_AT(get_cb_flag, handle, 0);
GDRDRV_FROZEN_AT(get_cb_flag, flag, 8);
GDRDRV_FROZEN_AT(get_cb_flag, pad, 12);

GDRDRV_FROZEN_SIZE(get_info, 48);
GDRDRV_FROZEN_AT(get_info, handle, 0);
GDRDRV_FROZEN_AT(get_info, va, 8);
GDRDRV_FROZEN_AT(get_info, mapped_size, 16);
GDRDRV_FROZEN_AT(get_info, page_size, 24);
GDRDRV_FROZEN_AT(get_info, tsc_khz, 28);
GDRDRV_FROZEN_AT(get_info, tm_cycles, 32);
GDRDRV_FROZEN_AT(get_info, mapped, 40);
GDRDRV_FROZEN_AT(get_info, wc_mapping, 44);

GDRDRV_FROZEN_SIZE(get_info_v2, 48);
GDRDRV_FROZEN_AT(get_info_v2, handle, 0);
GDRDRV_FROZEN_AT(get_info_v2, va, 8);
GDRDRV_FROZEN_AT(get_info_v2, mapped_size, 16);
GDRDRV_FROZEN_AT(get_info_v2, page_size, 24);
GDRDRV_FROZEN_AT(get_info_v2, tsc_khz, 28);
GDRDRV_FROZEN_AT(get_info_v2, tm_cycles, 32);
GDRDRV_FROZEN_AT(get_info_v2, mapping_type, 40);
GDRDRV_FROZEN_AT(get_info_v2, pad, 44);

GDRDRV_FROZEN_SIZE(get_attr, 8);
GDRDRV_FROZEN_AT(get_attr, attr, 0);
GDRDRV_FROZEN_AT(get_attr, val, 4);

GDRDRV_FROZEN_SIZE(req_mapping_type, 16);
GDRDRV_FROZEN_AT(req_mapping_type, handle, 0);
GDRDRV_FROZEN_AT(req_mapping_type, mapping_type, 8);
GDRDRV_FROZEN_AT(req_mapping_type, pad, 12);

GDRDRV_FROZEN_SIZE(get_version, 8);
GDRDRV_FROZEN_AT(get_version, gdrdrv_version, 0);
GDRDRV_FROZEN_AT(get_version, minimum_gdr_api_version, 4);

#undef GDRDRV_FROZEN_AT
#undef GDRDRV_FROZEN_SIZE
#undef GDRDRV_FROZEN

#endif
