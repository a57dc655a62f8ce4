/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Mappings in entries of 2 MiB and 1 GiB, from kernel 6.12 on.  The kernel lets only
 * GPL modules make them, and such a module cannot be loaded beside a proprietary
 * provider; so this is a choice at build time, GDRDRV_HUGE=y, and off by default.
 */
#ifndef GDRDRV_HUGE_H
#define GDRDRV_HUGE_H

#include <linux/types.h>

struct file;
struct gdrdrv_mr;
struct vm_area_struct;

#if defined(GDRDRV_HUGE) && defined(CONFIG_ARCH_SUPPORTS_PMD_PFNMAP)
#define GDRDRV_HUGE_PFNMAP

vm_fault_t gdrdrv_huge_fault(struct vm_fault *vmf, unsigned int order);
/* Addresses that agree with the pin's physical ones, modulo the size of a large entry. */
unsigned long gdrdrv_get_unmapped_area(struct file *fp, unsigned long addr, unsigned long len,
				       unsigned long pgoff, unsigned long flags);
/* A large entry could serve this address: small ones must not take its place. */
bool gdrdrv_huge_fits(struct gdrdrv_mr *mr, struct vm_area_struct *vma, unsigned long addr);

#else

static inline bool gdrdrv_huge_fits(struct gdrdrv_mr *mr, struct vm_area_struct *vma,
				    unsigned long addr)
{
	return false;
}

#endif
#endif
