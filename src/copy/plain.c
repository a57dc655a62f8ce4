/* SPDX-License-Identifier: MIT */
/* The table of processors that have no vector routines here, POWER among them. */
#include "copy.h"
#include "copy/generic.h"

const struct gdr_copy_kernel gdr_copy_kernels[] = {
	GDR_COPY_GENERIC_ROW,
	{ NULL },
};
