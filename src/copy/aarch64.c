/* SPDX-License-Identifier: MIT */
/*
 * arm64: which routines the processor runs, and their order.
 *
 * The 64-byte LD64B and ST64B are left out: they fault on cacheable memory (Arm
 * ARM, FEAT_LS64), which is what a mapping of a simulated GPU is made of.
 */
#include <sys/auxv.h>

#include "copy.h"
#include "copy/arm.h"
#include "copy/generic.h"

/* Linux arch/arm64/include/uapi/asm/hwcap.h: HWCAP_ASIMD. */
#define ASIMD (1ul << 1)

static int have_neon(void)
{
	return (getauxval(AT_HWCAP) & ASIMD) != 0;
}

/* Part of the base architecture. */
static int have_pair(void)
{
	return 1;
}

/* clang-format off */
const struct gdr_copy_kernel gdr_copy_kernels[] = {
	{ "neon",       16, have_neon,      gdr_store_neon,      gdr_load_neon },
	{ "pair",       16, have_pair,      gdr_store_pair,      gdr_load_pair },
	GDR_COPY_GENERIC_ROW,
	{ NULL },
};
/* clang-format on */
