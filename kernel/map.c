// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * mmap of a pin, and the choice of its mapping type.
 *
 * A persistent pin is mapped at once: a remap is several times faster than single
 * insertions.  The pages of others can be revoked at any time, by somebody who must
 * not wait for mmap_lock, and a VMA is found by a zap only once mmap has returned;
 * so nothing is entered here for them, and the first fault fills the mapping.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "arch.h"
#include "compat.h"
#include "driver.h"
#include "huge.h"

#define REMAP_STEP	(16ul << 20)	/* bytes entered before others get the processor */

static u32 choose_type(const struct gdrdrv_mr *mr)
{
	if (mr->want != GDRDRV_MAPPING_NONE)
		return mr->want;
	if (mr->cacheable)
		return GDRDRV_MAPPING_CACHING;
	return arch_needs_device() ? GDRDRV_MAPPING_DEVICE : GDRDRV_MAPPING_WC;
}

static bool is_mapped(const struct gdrdrv_mr *mr)
{
	lockdep_assert_held(&mr->lock);
	return mr->vmas && mr->state == GDRDRV_MR_LIVE;
}

/* The type of the pin's next mappings. */
int gdrdrv_mr_request(struct gdrdrv_mr *mr, u32 type)
{
	bool device = arch_needs_device();
	int ret = 0;

	mutex_lock(&mr->lock);
	if (mr->state == GDRDRV_MR_DEAD)
		ret = -EINVAL;
	else if (is_mapped(mr))
		ret = -EBUSY;
	else if ((type == GDRDRV_MAPPING_CACHING && !mr->cacheable) ||
		 (type == GDRDRV_MAPPING_WC && device) ||
		 (type == GDRDRV_MAPPING_DEVICE && !device))
		ret = -EOPNOTSUPP;
	else
		mr->want = type;
	mutex_unlock(&mr->lock);
	return ret;
}

/*
 * The type of the mapping that exists; -EINVAL if the pin was unpinned meanwhile.
 * If no entry has told it yet, one byte is read through the mapping, by the process
 * that owns it; this fills the mapping as well, so that the time of the first fault
 * belongs to mapping and not to copying.
 */
int gdrdrv_mr_type(struct gdrdrv_mr *mr, u32 *type)
{
	const u8 __user *first;
	u8 byte __maybe_unused;
	bool look;
	int ret;

	mutex_lock(&mr->lock);
	look = is_mapped(mr) && !mr->type_seen;
	first = (const u8 __user *)mr->user_start;
	mutex_unlock(&mr->lock);
	if (look && get_user(byte, first))
		gdrdrv_dbg("a mapping cannot be read, its type is what was asked for\n");

	mutex_lock(&mr->lock);
	*type = is_mapped(mr) ? mr->type : GDRDRV_MAPPING_NONE;
	ret = mr->state == GDRDRV_MR_DEAD ? -EINVAL : 0;
	mutex_unlock(&mr->lock);
	return ret;
}

static int check_vma(const struct gdrdrv_mr *mr, const struct vm_area_struct *vma)
{
	if (mr->state != GDRDRV_MR_LIVE || mr->vmas)
		return -EINVAL;
	if (!mr->mappable || !mr->nr_extents)
		return -EINVAL;
	if (vma->vm_end - vma->vm_start > mr->size)
		return -EINVAL;
	return 0;
}

static void set_up_vma(struct vm_area_struct *vma, struct gdrdrv_mr *mr)
{
	mr->type = choose_type(mr);
	mr->type_seen = mr->type != GDRDRV_MAPPING_WC;
	mr->vmas = 1;
	mr->mapped = vma->vm_end - vma->vm_start;
	mr->user_start = vma->vm_start;
	atomic64_inc(&gdrdrv_counters.mappings);
	atomic64_add(mr->mapped, &gdrdrv_counters.mapped_bytes);

	gdrdrv_vm_flags_add(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = arch_pgprot(vma->vm_page_prot, mr->type);
	vma->vm_ops = &gdrdrv_vm_ops;
	vma->vm_private_data = mr;
}

/* Large entries come by faults, where the build has them. */
static bool maps_at_once(const struct gdrdrv_mr *mr)
{
#ifdef GDRDRV_HUGE_PFNMAP
	return false;
#else
	return mr->persistent;
#endif
}

/* What is remapped at once of so many bytes: x86 looks up the type of each page of a part. */
static unsigned long remap_len(const struct vm_area_struct *vma, unsigned long len)
{
#ifdef VM_PAT
	/* but that of a whole VMA once, where it keeps track of these */
	if (len == vma->vm_end - vma->vm_start)
		return len;
#endif
	return min(len, REMAP_STEP);
}

static int remap(struct gdrdrv_mr *mr, struct vm_area_struct *vma)
{
	unsigned long addr = vma->vm_start, len;
	u64 phys, run;

	for (; addr < vma->vm_end; addr += len) {
		phys = gdrdrv_mr_phys(mr, addr - vma->vm_start, &run);
		len = remap_len(vma, min_t(u64, run, vma->vm_end - addr));
		if (gdrdrv_remap(vma, addr, phys, len, mr->reserved))
			return -EAGAIN;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	gdrdrv_note_type(mr, vma, vma->vm_start);
	return 0;
}

static void undo_vma(struct vm_area_struct *vma, struct gdrdrv_mr *mr)
{
	vma->vm_ops = NULL;
	vma->vm_private_data = NULL;
	mr->vmas = 0;
	atomic64_dec(&gdrdrv_counters.mappings);
	atomic64_sub(mr->mapped, &gdrdrv_counters.mapped_bytes);
}

int gdrdrv_mmap(struct file *fp, struct vm_area_struct *vma)
{
	struct gdrdrv_file *file = fp->private_data;
	struct gdrdrv_mr *mr;
	int ret;

	if (!gdrdrv_is_owner(file))
		return -EACCES;
	/* a private mapping would get copies of the pages, which no zap takes away */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	mr = gdrdrv_handle_get(file, vma->vm_pgoff);
	if (!mr)
		return -EINVAL;

	mutex_lock(&mr->lock);
	ret = check_vma(mr, vma);
	if (!ret) {
		set_up_vma(vma, mr);
		if (maps_at_once(mr))
			ret = remap(mr, vma);
		if (ret)
			undo_vma(vma, mr);
	}
	mutex_unlock(&mr->lock);
	if (ret)
		gdrdrv_mr_put(mr);
	return ret;
}
