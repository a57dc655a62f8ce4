/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Every difference between kernels, from 4.18 on; from 5.10 on they are tested.  The rest is
 * written for the newest kernel.  HAVE_* comes from Kbuild, which looks into the
 * headers: distributions carry interfaces back, so a version says little.
 *
 * Also the way around interfaces that only GPL modules may use: this module must
 * load beside a proprietary provider.
 */
#ifndef GDRDRV_COMPAT_H
#define GDRDRV_COMPAT_H

#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#ifdef HAVE_MMAP_LOCK
#include <linux/mmap_lock.h>
#endif
#include <linux/version.h>

/* A module that uses a proprietary one is marked as proprietary. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 9, 0)
#define HAVE_TAINT_INHERITANCE
#endif

/* start_boottime was real_start_time before 5.5. */
static inline u64 gdrdrv_start_time(const struct task_struct *task)
{
#ifdef HAVE_START_BOOTTIME
	return task->start_boottime;
#else
	return task->real_start_time;
#endif
}

/*
 * Only for a VMA that no one else can see yet, as in mmap: vm_flags_set would
 * need a GPL-only symbol from 6.15 on, and is not needed there.
 */
static inline void gdrdrv_vm_flags_add(struct vm_area_struct *vma, unsigned long flags)
{
#ifdef HAVE_VM_FLAGS_INIT
	vm_flags_init(vma, vma->vm_flags | flags);
#else
	vma->vm_flags |= flags;
#endif
}

/* Returns when no mmap of this process is under way that was before. */
static inline void gdrdrv_wait_for_mmap(void)
{
	if (!current->mm)
		return;
#ifdef HAVE_MMAP_LOCK
	mmap_read_lock(current->mm);
	mmap_read_unlock(current->mm);
#else
	down_read(&current->mm->mmap_sem);
	up_read(&current->mm->mmap_sem);
#endif
}

/* 4.18 has no insertion with a protection of its own; vm_page_prot is the same here. */
#ifndef HAVE_VMF_INSERT_PFN_PROT
static inline vm_fault_t vmf_insert_pfn_prot(struct vm_area_struct *vma, unsigned long addr,
					     unsigned long pfn, pgprot_t prot)
{
	return vmf_insert_pfn(vma, addr, pfn);
}
#endif

/*
 * A remap of a whole VMA reserves its memory type once more on x86.  Up to 6.15 that
 * also marks the VMA, and a mark gets lost or doubled when a VMA is split; from then on
 * it lasts until the VMA goes, which may be long after the pin.  The pin has a
 * reservation of its own, so neither is wanted: the mark is taken back, or the first
 * page entered by itself.
 */
#if defined(VM_PAT) || !defined(CONFIG_X86)
static inline int gdrdrv_remap(struct vm_area_struct *vma, unsigned long addr, u64 phys,
			       unsigned long size, bool reserved)
{
	int ret = remap_pfn_range(vma, addr, phys >> PAGE_SHIFT, size, vma->vm_page_prot);

#ifdef VM_PAT
	if (!ret && reserved && (vma->vm_flags & VM_PAT)) {
#ifdef HAVE_VM_FLAGS_INIT
		vm_flags_init(vma, vma->vm_flags & ~VM_PAT);
#else
		vma->vm_flags &= ~VM_PAT;
#endif
		arch_io_free_memtype_wc(phys, size);
	}
#endif
	return ret;
}
#else
static inline int gdrdrv_remap(struct vm_area_struct *vma, unsigned long addr, u64 phys,
			       unsigned long size, bool reserved)
{
	unsigned long first = 0;

	if (reserved && addr == vma->vm_start && size == vma->vm_end - vma->vm_start) {
		first = PAGE_SIZE;
		if (vmf_insert_pfn_prot(vma, addr, phys >> PAGE_SHIFT, vma->vm_page_prot) !=
		    VM_FAULT_NOPAGE)
			return -EAGAIN;
	}
	if (size == first)
		return 0;
	return remap_pfn_range(vma, addr + first, (phys + first) >> PAGE_SHIFT, size - first,
			       vma->vm_page_prot);
}
#endif

/* Large entries: 6.12 to 6.16 wrap a frame number in a type of its own. */
#if defined(GDRDRV_HUGE) && defined(CONFIG_ARCH_SUPPORTS_PMD_PFNMAP)
#ifdef HAVE_PFN_T
#include <linux/pfn_t.h>
#define gdrdrv_insert_pmd(vmf, pfn, write) \
	vmf_insert_pfn_pmd(vmf, __pfn_to_pfn_t(pfn, PFN_DEV), write)
#define gdrdrv_insert_pud(vmf, pfn, write) \
	vmf_insert_pfn_pud(vmf, __pfn_to_pfn_t(pfn, PFN_DEV), write)
#else
#define gdrdrv_insert_pmd(vmf, pfn, write)	vmf_insert_pfn_pmd(vmf, pfn, write)
#define gdrdrv_insert_pud(vmf, pfn, write)	vmf_insert_pfn_pud(vmf, pfn, write)
#endif

static inline unsigned long gdrdrv_find_addresses(struct file *fp, unsigned long addr,
						  unsigned long len, unsigned long pgoff,
						  unsigned long flags)
{
#ifdef HAVE_UNMAPPED_AREA_OF_MM
	return mm_get_unmapped_area(current->mm, fp, addr, len, pgoff, flags);
#else
	return mm_get_unmapped_area(fp, addr, len, pgoff, flags);
#endif
}
#endif

/* 5.11 and 5.12 passed the flags of mremap. */
#ifdef HAVE_MREMAP_FLAGS
#define GDRDRV_MREMAP_ARGS(vma)	struct vm_area_struct *vma, unsigned long flags
#else
#define GDRDRV_MREMAP_ARGS(vma)	struct vm_area_struct *vma
#endif

#endif
