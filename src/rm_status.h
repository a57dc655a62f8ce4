/* SPDX-License-Identifier: MIT */
/*
 * What a status of NVIDIA's resource manager means to a caller: the errno, the
 * driver's own name for it, and what the user can do.
 */
#ifndef GDR_RM_STATUS_H
#define GDR_RM_STATUS_H

#include <stdint.h>

struct gdr_rm_status {
	uint32_t code;
	int err;                        /* positive */
	const char *name;
	const char *remedy;
};

/* Never NULL: a status that is not in the table reads as EIO. */
const struct gdr_rm_status *gdr_rm_status_find(uint32_t code);

#endif
