// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * The ways out of LIVE: the provider revokes the pages, or their owner unpins
 * them.  Either changes the state under mr->lock, then zaps; see driver.h.
 */
#include <linux/io.h>
#include <linux/mm.h>

#include "arch.h"
#include "compat.h"
#include "driver.h"

/*
 * Takes the pages out of every VMA of the pin, by its interval of offsets.  A pin
 * that was never in the table has no interval and no VMA.
 */
void gdrdrv_mr_zap(struct gdrdrv_mr *mr)
{
	u32 i;
	bool reserved;

	if (!RB_EMPTY_NODE(&mr->node))
		unmap_mapping_range(&mr->file->mapping, (loff_t)mr->handle << PAGE_SHIFT,
				    (loff_t)mr->pages << PAGE_SHIFT, 1);

	mutex_lock(&mr->lock);
	reserved = mr->reserved;
	mr->reserved = false;
	mutex_unlock(&mr->lock);
	for (i = 0; reserved && i < mr->nr_extents; i++)
		arch_io_free_memtype_wc(mr->extents[i].phys,
					gdrdrv_extent_end(mr, i) - mr->extents[i].phys);
}

/*
 * Makes WC true on x86, where an entry gets the type that is registered for its
 * frame.  Extent by extent, so that scattered pins are WC as well.  A range that
 * another user holds as something else keeps that type, which the first entry
 * will tell.
 */
int gdrdrv_mr_reserve(struct gdrdrv_mr *mr)
{
	u32 i;
	int ret = 0;

	if (!mr->mappable || arch_needs_device())
		return 0;
	for (i = 0; i < mr->nr_extents; i++) {
		ret = arch_io_reserve_memtype_wc(mr->extents[i].phys,
						 gdrdrv_extent_end(mr, i) - mr->extents[i].phys);
		if (ret)
			goto free_reserved;
		cond_resched();
	}
	mutex_lock(&mr->lock);
	mr->reserved = true;
	mutex_unlock(&mr->lock);
	return 0;

free_reserved:
	while (i--)
		arch_io_free_memtype_wc(mr->extents[i].phys,
					gdrdrv_extent_end(mr, i) - mr->extents[i].phys);
	return ret == -EBUSY ? 0 : ret;
}

/*
 * Runs under the provider's locks; the pages are valid until it returns.  Returns
 * the table if it was known, which the caller ends.
 */
struct nvidia_p2p_page_table *gdrdrv_mr_revoke(struct gdrdrv_mr *mr)
{
	struct nvidia_p2p_page_table *table;
	bool was_live;

	mutex_lock(&mr->lock);
	table = mr->table;
	mr->table = NULL;
	mr->revoked = true;
	was_live = mr->state == GDRDRV_MR_LIVE;
	if (was_live) {
		mr->state = GDRDRV_MR_REVOKED;
		atomic_inc(&mr->file->revoked);
	}
	mutex_unlock(&mr->lock);

	gdrdrv_mr_zap(mr);
	atomic64_inc(&gdrdrv_counters.revocations);
	if (was_live)
		wake_up_all(&mr->file->wait);
	return table;
}

/* The pin is out of the table: nobody can map it any more. */
void gdrdrv_mr_kill(struct gdrdrv_mr *mr)
{
	mutex_lock(&mr->lock);
	if (mr->state == GDRDRV_MR_REVOKED)
		atomic_dec(&mr->file->revoked);
	mr->state = GDRDRV_MR_DEAD;
	mutex_unlock(&mr->lock);

	if (mr->persistent)
		gdrdrv_wait_for_mmap();
	gdrdrv_mr_zap(mr);
}
