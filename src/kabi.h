/* SPDX-License-Identifier: MIT */
/*
 * The ioctls of /dev/gdrdrv, one function each.
 *
 * All return 0 or -errno, retry EINTR, and write outputs only on success.  What
 * an older driver lacks is made up for, or refused, here: callers do not look
 * at the version.  Failures are recorded (log.h), except where stated.
 */
#ifndef GDR_KABI_H
#define GDR_KABI_H

#include <stdint.h>

#include "backend.h"

struct gdr_kabi {
	int fd;		  /* 0 is a descriptor like any other */
	uint32_t version; /* the driver's, major << 16 | minor */
};

/* Not recorded: the caller knows what a failure means. */
int gdr_kabi_get_version(int fd, uint32_t *driver, uint32_t *min_api);

/*
 * *handle is the kernel's; any 64-bit value is one, 0 included.  Before 2.5:
 * flags are -EINVAL.  From 2.5 on the tokens are not passed.
 */
int gdr_kabi_pin(const struct gdr_kabi *k, const struct gdr_pin_args *args,
		 uint64_t *handle);
int gdr_kabi_unpin(const struct gdr_kabi *k, uint64_t handle);

/* *flag is 0 or 1. */
int gdr_kabi_callback_flag(const struct gdr_kabi *k, uint64_t handle, int *flag);

/*
 * Before 2.4 the type is inferred, and DEVICE cannot be told from CACHING.
 * -EPROTO for a type that this library does not know.
 */
int gdr_kabi_info(const struct gdr_kabi *k, uint64_t handle, gdr_info_v2_t *info);

/* 0 for an attribute that the driver does not know, and before 2.5. */
int gdr_kabi_attribute(const struct gdr_kabi *k, gdr_attr_t attr, int *value);

/*
 * Ask for the type of the mappings to come; NONE lets the driver choose.
 * Before 2.5 drivers take no wishes: 0, and the caller compares afterwards.
 */
int gdr_kabi_request_type(const struct gdr_kabi *k, uint64_t handle,
			  gdr_mapping_type_t type);

#endif
