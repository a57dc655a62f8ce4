// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * mmap of /dev/nvsim: the memory as its owner's library sees it, entered as it is
 * touched, or with NVSIM_MMAP_EAGER at once.  A mapping is a user of the memory.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "nvsim_priv.h"

struct window {
	struct kref users;              /* VMAs */
	struct nvsim_mem *mem;
	u64 offset;                     /* of the file, in mem */
};

static void release(struct kref *users)
{
	struct window *w = container_of(users, struct window, users);

	nvsim_mem_put(w->mem);
	kfree(w);
}

static void window_open(struct vm_area_struct *vma)
{
	struct window *w = vma->vm_private_data;

	kref_get(&w->users);
}

static void window_close(struct vm_area_struct *vma)
{
	struct window *w = vma->vm_private_data;

	kref_put(&w->users, release);
}

static u64 vma_offset(const struct vm_area_struct *vma)
{
	return ((u64)vma->vm_pgoff << PAGE_SHIFT) & ~NVSIM_MMAP_EAGER;
}

/* The whole unit around the address, as far as the VMA goes. */
static vm_fault_t window_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct window *w = vma->vm_private_data;
	u64 here = w->offset + vma_offset(vma) + (vmf->address - vma->vm_start);
	u64 lo = max(here & ~(NVSIM_UNIT - 1), here - (vmf->address - vma->vm_start));
	u64 hi = min((here | (NVSIM_UNIT - 1)) + 1, here + (vma->vm_end - vmf->address));
	unsigned long va = vmf->address - (unsigned long)(here - lo);
	vm_fault_t ret = VM_FAULT_NOPAGE;

	for (u64 at = lo; at < hi; at += PAGE_SIZE, va += PAGE_SIZE) {
		vm_fault_t r = vmf_insert_pfn(vma, va, PHYS_PFN(nvsim_mem_phys(w->mem, at)));

		if (va == (vmf->address & PAGE_MASK))
			ret = r;
	}
	return ret;
}

static const struct vm_operations_struct window_ops = {
	.open = window_open,
	.close = window_close,
	.fault = window_fault,
};

/* pgprot_writecombine is GPL-only on x86; slot 1 of the kernel's PAT is WC. */
static pgprot_t write_combining(pgprot_t prot)
{
#ifdef CONFIG_X86
	return __pgprot((pgprot_val(prot) & ~(pgprotval_t)_PAGE_CACHE_MASK) | _PAGE_PWT);
#else
	return pgprot_writecombine(prot);
#endif
}

static int enter_all(struct vm_area_struct *vma, const struct nvsim_mem *mem, u64 at)
{
	pgprot_t prot = write_combining(vma->vm_page_prot);
	u64 end = at + (vma->vm_end - vma->vm_start);
	unsigned long va = vma->vm_start;

	while (at < end) {
		u64 n = nvsim_mem_run(mem, at, end);
		int err = remap_pfn_range(vma, va, PHYS_PFN(nvsim_mem_phys(mem, at)),
					  (unsigned long)n, prot);

		if (err)
			return err;
		at += n;
		va += (unsigned long)n;
	}
	return 0;
}

/* vm_flags_set() needs a GPL-only symbol from 6.15 on; here nobody else sees the VMA yet. */
static void add_flags(struct vm_area_struct *vma, unsigned long flags)
{
#ifdef HAVE_VM_FLAGS_INIT
	vm_flags_init(vma, vma->vm_flags | flags);
#else
	vma->vm_flags |= flags;
#endif
}

/* What the file holds now, with one more user; NULL. */
static struct nvsim_mem *held(struct nvsim_file *f, u64 *offset, u64 *size)
{
	struct nvsim_mem *mem;

	spin_lock(&f->lock);
	mem = f->mem;
	if (mem)
		nvsim_mem_get(mem);
	*offset = f->offset;
	*size = f->size;
	spin_unlock(&f->lock);
	return mem;
}

int nvsim_mmap(struct file *file, struct vm_area_struct *vma)
{
	bool eager = (u64)vma->vm_pgoff << PAGE_SHIFT & NVSIM_MMAP_EAGER;
	u64 at = vma_offset(vma), size, len = vma->vm_end - vma->vm_start;
	struct window *w = kzalloc(sizeof(*w), GFP_KERNEL);
	int err = -ENODATA;

	if (!w)
		return -ENOMEM;
	kref_init(&w->users);
	w->mem = held(file->private_data, &w->offset, &size);
	if (!w->mem)
		goto free_window;
	err = -EINVAL;
	if (at > size || len > size - at || !(vma->vm_flags & VM_SHARED))
		goto put_memory;
	add_flags(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	if (eager) {
		err = enter_all(vma, w->mem, w->offset + at);
		if (err)
			goto put_memory;
	}
	vma->vm_private_data = w;
	vma->vm_ops = &window_ops;
	return 0;

put_memory:
	nvsim_mem_put(w->mem);
free_window:
	kfree(w);
	return err;
}
