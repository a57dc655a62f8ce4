// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/* Large page table entries; see huge.h. */
#include <linux/mm.h>
#include <linux/mman.h>

#include "arch.h"
#include "compat.h"
#include "driver.h"
#include "huge.h"

#ifdef GDRDRV_HUGE_PFNMAP

/* True if the entry of so many bytes that holds addr lies in the VMA and in one extent. */
static bool fits(struct gdrdrv_mr *mr, struct vm_area_struct *vma, unsigned long addr,
		 unsigned long size, u64 *phys)
{
	unsigned long start = round_down(addr, size);
	u64 run;

	if (start < vma->vm_start || start + size > vma->vm_end)
		return false;
	*phys = gdrdrv_mr_phys(mr, gdrdrv_vma_offset(mr, vma, start), &run);
	return run >= size && IS_ALIGNED(*phys, size);
}

bool gdrdrv_huge_fits(struct gdrdrv_mr *mr, struct vm_area_struct *vma, unsigned long addr)
{
	u64 phys;

	return fits(mr, vma, addr, PMD_SIZE, &phys);
}

static vm_fault_t insert(struct vm_fault *vmf, unsigned int order, u64 phys)
{
	bool write = vmf->flags & FAULT_FLAG_WRITE;

	if (order == HPAGE_PMD_ORDER)
		return gdrdrv_insert_pmd(vmf, phys >> PAGE_SHIFT, write);
#ifdef CONFIG_ARCH_SUPPORTS_PUD_PFNMAP
	if (order == HPAGE_PUD_ORDER)
		return gdrdrv_insert_pud(vmf, phys >> PAGE_SHIFT, write);
#endif
	return VM_FAULT_FALLBACK;
}

vm_fault_t gdrdrv_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	struct gdrdrv_mr *mr = vmf->vma->vm_private_data;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	u64 phys;

	if (!fits(mr, vmf->vma, vmf->address, PAGE_SIZE << order, &phys))
		return VM_FAULT_FALLBACK;
	mutex_lock(&mr->lock);
	if (mr->state == GDRDRV_MR_LIVE)
		ret = insert(vmf, order, phys);
	if (ret == VM_FAULT_NOPAGE) {
		atomic64_inc(&gdrdrv_counters.faults);
		gdrdrv_note_type(mr, vmf->vma, vmf->address);
	}
	mutex_unlock(&mr->lock);
	return ret;
}

/* Where the pin begins, modulo the entry's size; false if there is no such pin. */
static bool skew_of(struct gdrdrv_file *file, u64 handle, unsigned long size, unsigned long *skew)
{
	struct gdrdrv_mr *mr = gdrdrv_handle_get(file, handle);
	bool known;

	if (!mr)
		return false;
	known = mr->nr_extents;
	if (known)
		*skew = mr->extents[0].phys & (size - 1);
	gdrdrv_mr_put(mr);
	return known;
}

static unsigned long best_size(unsigned long len)
{
#ifdef CONFIG_ARCH_SUPPORTS_PUD_PFNMAP
	if (len >= PUD_SIZE)
		return PUD_SIZE;
#endif
	return PMD_SIZE;
}

unsigned long gdrdrv_get_unmapped_area(struct file *fp, unsigned long addr, unsigned long len,
				       unsigned long pgoff, unsigned long flags)
{
	unsigned long size = best_size(len), skew, at;

	if (addr || flags & MAP_FIXED || len < size ||
	    !skew_of(fp->private_data, pgoff, size, &skew))
		return gdrdrv_find_addresses(fp, addr, len, pgoff, flags);
	at = gdrdrv_find_addresses(fp, 0, len + size, pgoff, flags);
	if (IS_ERR_VALUE(at))
		return gdrdrv_find_addresses(fp, 0, len, pgoff, flags);
	return at + ((skew - at) & (size - 1));
}

#endif
