// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * The operations of a VMA.  Page table entries are made by faults, for pins that can be
 * revoked by nothing else; see map.c.
 *
 * The first fault fills the whole mapping, or a large window of a larger one, so
 * that the price is paid once.  mr->lock is dropped after each step, since a
 * revocation waits for it.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "arch.h"
#include "compat.h"
#include "driver.h"
#include "huge.h"

#define FILL_WINDOW	(64ul << 20)		/* bytes filled by one fault */
#define FILL_STEP	(PMD_SIZE)		/* bytes filled under one hold of the lock */

/* Extent that holds this GPU page of the pin. */
static u32 find_extent(const struct gdrdrv_mr *mr, u64 gpu_page)
{
	u32 low = 0, high = mr->nr_extents - 1;

	while (low < high) {
		u32 mid = low + (high - low + 1) / 2;

		if (mr->extents[mid].first <= gpu_page)
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

/* Physical address of an offset in the pin, and the bytes that are contiguous from there. */
u64 gdrdrv_mr_phys(const struct gdrdrv_mr *mr, u64 offset, u64 *run)
{
	u32 i = find_extent(mr, offset >> GDRDRV_GPU_PAGE_SHIFT);
	u64 phys = mr->extents[i].phys + offset - (mr->extents[i].first << GDRDRV_GPU_PAGE_SHIFT);

	*run = gdrdrv_extent_end(mr, i) - phys;
	return phys;
}

/* Offset in the pin; right for every piece of a VMA that was split. */
u64 gdrdrv_vma_offset(const struct gdrdrv_mr *mr, const struct vm_area_struct *vma,
		      unsigned long addr)
{
	return (((u64)vma->vm_pgoff - mr->handle) << PAGE_SHIFT) + addr - vma->vm_start;
}

/* Inserts entries for [addr, end) of the VMA; the first failure ends it. */
static vm_fault_t insert(struct gdrdrv_mr *mr, struct vm_area_struct *vma, unsigned long addr,
			 unsigned long end)
{
	pgprot_t prot = arch_pgprot(vma->vm_page_prot, mr->type);
	vm_fault_t ret = VM_FAULT_NOPAGE;
	u64 phys, run = 0;

	lockdep_assert_held(&mr->lock);
	for (; addr < end; addr += PAGE_SIZE, phys += PAGE_SIZE, run -= PAGE_SIZE) {
		if (!run)
			phys = gdrdrv_mr_phys(mr, gdrdrv_vma_offset(mr, vma, addr), &run);
		ret = vmf_insert_pfn_prot(vma, addr, phys >> PAGE_SHIFT, prot);
		if (ret != VM_FAULT_NOPAGE)
			break;
	}
	return ret;
}

/*
 * As insert, if the pin is still live.  The lock is what a revocation waits for,
 * so no page table is allocated under it in a way that could wait for the disk.
 */
static vm_fault_t insert_if_live(struct gdrdrv_mr *mr, struct vm_area_struct *vma,
				 unsigned long addr, unsigned long end)
{
	vm_fault_t ret = VM_FAULT_SIGBUS;
	unsigned int flags;

	mutex_lock(&mr->lock);
	if (mr->state == GDRDRV_MR_LIVE) {
		flags = memalloc_noio_save();
		ret = insert(mr, vma, addr, end);
		memalloc_noio_restore(flags);
		if (ret == VM_FAULT_NOPAGE && !mr->type_seen)
			gdrdrv_note_type(mr, vma, addr);
	}
	mutex_unlock(&mr->lock);
	return ret;
}

/* Once a mapping: what the entry at an address says of its type. */
void gdrdrv_note_type(struct gdrdrv_mr *mr, struct vm_area_struct *vma, unsigned long addr)
{
	u32 type = arch_mapped_type(vma->vm_mm, addr);

	lockdep_assert_held(&mr->lock);
	if (mr->type_seen)
		return;
	if (type != GDRDRV_MAPPING_NONE && type != mr->type) {
		gdrdrv_info("another mapping of the same frames forbids write combining\n");
		mr->type = type;
	}
	mr->type_seen = true;
}

static vm_fault_t fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct gdrdrv_mr *mr = vma->vm_private_data;
	unsigned long addr = vmf->address & PAGE_MASK;
	unsigned long start, end, step;
	vm_fault_t ret;

	atomic64_inc(&gdrdrv_counters.faults);
	ret = insert_if_live(mr, vma, addr, addr + PAGE_SIZE);
	if (ret != VM_FAULT_NOPAGE)
		return ret;

	start = max(vma->vm_start, round_down(addr, FILL_WINDOW));
	end = min(vma->vm_end, round_down(addr, FILL_WINDOW) + FILL_WINDOW);
	for (; start < end && !fatal_signal_pending(current); start = step) {
		step = min(end, round_down(start, FILL_STEP) + FILL_STEP);
		if ((addr < start || addr >= step) && gdrdrv_huge_fits(mr, vma, start))
			continue;
		if (insert_if_live(mr, vma, start, step) != VM_FAULT_NOPAGE)
			break;
		cond_resched();
	}
	return VM_FAULT_NOPAGE;
}

/* A part of a VMA that was split. */
static void open_vma(struct vm_area_struct *vma)
{
	struct gdrdrv_mr *mr = vma->vm_private_data;

	gdrdrv_mr_get(mr);
	mutex_lock(&mr->lock);
	mr->vmas++;
	mutex_unlock(&mr->lock);
}

static void close_vma(struct vm_area_struct *vma)
{
	struct gdrdrv_mr *mr = vma->vm_private_data;

	mutex_lock(&mr->lock);
	if (!--mr->vmas) {
		atomic64_dec(&gdrdrv_counters.mappings);
		atomic64_sub(mr->mapped, &gdrdrv_counters.mapped_bytes);
	}
	mutex_unlock(&mr->lock);
	gdrdrv_mr_put(mr);
}

/* A mapping stays where it is: its user knows the address by heart. */
static int refuse_move(GDRDRV_MREMAP_ARGS(vma))
{
	return -EINVAL;
}

const struct vm_operations_struct gdrdrv_vm_ops = {
	.open	= open_vma,
	.close	= close_vma,
	.mremap	= refuse_move,
	.fault	= fault,
#ifdef GDRDRV_HUGE_PFNMAP
	.huge_fault = gdrdrv_huge_fault,
#endif
};
