// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * Pins: from a range of GPU addresses to an object with extents and a handle, and
 * back.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timex.h>

#include "arch.h"
#include "driver.h"
#include "p2p.h"

void gdrdrv_mr_get(struct gdrdrv_mr *mr)
{
	kref_get(&mr->ref);
}

static void free_mr(struct kref *ref)
{
	struct gdrdrv_mr *mr = container_of(ref, struct gdrdrv_mr, ref);

	gdrdrv_file_put(mr->file);
	kvfree(mr->extents);
	kfree(mr);
}

void gdrdrv_mr_put(struct gdrdrv_mr *mr)
{
	kref_put(&mr->ref, free_mr);
}

/* Physical end of extent i. */
u64 gdrdrv_extent_end(const struct gdrdrv_mr *mr, u32 i)
{
	u64 pages = mr->size >> GDRDRV_GPU_PAGE_SHIFT;
	u64 end = i + 1 < mr->nr_extents ? mr->extents[i + 1].first : pages;

	return mr->extents[i].phys + ((end - mr->extents[i].first) << GDRDRV_GPU_PAGE_SHIFT);
}

static u64 cycles_now(void)
{
#ifdef CONFIG_X86
	return get_cycles();
#else
	return 0;
#endif
}

/* Counts bytes against the limit of this open file before they are pinned. */
static int charge(struct gdrdrv_file *file, u64 bytes)
{
	u64 limit = READ_ONCE(gdrdrv_max_pinned);
	int ret = 0;

	mutex_lock(&file->lock);
	if (limit && (bytes > limit || file->pinned > limit - bytes))
		ret = -ENOMEM;
	else
		file->pinned += bytes;
	mutex_unlock(&file->lock);
	return ret;
}

static void uncharge(struct gdrdrv_file *file, u64 bytes)
{
	mutex_lock(&file->lock);
	file->pinned -= bytes;
	mutex_unlock(&file->lock);
}

/* Widens the range to GPU pages; the provider counts those in 32 bits. */
static int set_range(struct gdrdrv_mr *mr, const struct gdrdrv_pin_args *args)
{
	u64 mask = GDRDRV_GPU_PAGE_SIZE - 1;
	u64 last = args->addr + (args->size - 1);

	if (!args->size || last < args->addr || last > U64_MAX - GDRDRV_GPU_PAGE_SIZE)
		return -EINVAL;
	mr->va = args->addr & ~mask;
	mr->size = (last | mask) + 1 - mr->va;
	if (mr->size >> GDRDRV_GPU_PAGE_SHIFT > U32_MAX)
		return -EINVAL;
	mr->pages = mr->size >> PAGE_SHIFT;
	mr->mappable = !(args->addr & mask);
	return 0;
}

static struct gdrdrv_mr *new_mr(struct gdrdrv_file *file, const struct gdrdrv_pin_args *args)
{
	struct gdrdrv_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = set_range(mr, args);
	if (ret) {
		kfree(mr);
		return ERR_PTR(ret);
	}
	kref_init(&mr->ref);
	RB_CLEAR_NODE(&mr->node);
	mutex_init(&mr->lock);
	mr->flags = args->flags;
	mr->persistent = gdrdrv_p2p_persistent();
	kref_get(&file->ref);
	mr->file = file;
	return mr;
}

static int check_args(const struct gdrdrv_pin_args *args)
{
	if (!args->addr)
		return -EINVAL;
	if (gdrdrv_p2p_persistent())
		return args->token || args->va_space ? -EINVAL : 0;
	return args->flags ? -EINVAL : 0;
}

/* What the extents say about mapping; judged by all of them. */
static void judge_extents(struct gdrdrv_mr *mr)
{
	bool ram = mr->nr_extents;
	u32 i;

	for (i = 0; i < mr->nr_extents; i++) {
		if (!PAGE_ALIGNED(mr->extents[i].phys))
			mr->mappable = false;
		ram &= arch_pfn_is_ram(mr->extents[i].phys >> PAGE_SHIFT);
	}
	mr->cacheable = arch_may_cache() && (ram || mr->cacheable);
}

/* From here on the pin can be revoked; if it was already, it starts that way. */
static void bring_to_life(struct gdrdrv_mr *mr)
{
	bool revoked;

	mutex_lock(&mr->lock);
	revoked = mr->revoked;
	mr->state = revoked ? GDRDRV_MR_REVOKED : GDRDRV_MR_LIVE;
	if (revoked)
		atomic_inc(&mr->file->revoked);
	mutex_unlock(&mr->lock);
	if (revoked) {
		gdrdrv_mr_zap(mr);	/* of what was reserved meanwhile */
		wake_up_all(&mr->file->wait);
	}
}

/* Ends a pin that is in no table; takes over the table's reference. */
static void retire(struct gdrdrv_mr *mr)
{
	gdrdrv_mr_kill(mr);
	gdrdrv_p2p_put(mr, gdrdrv_is_owner(mr->file));
	uncharge(mr->file, mr->size);
	gdrdrv_mr_put(mr);
}

static void count_pin(const struct gdrdrv_mr *mr, int sign)
{
	atomic64_add(sign, &gdrdrv_counters.pins);
	atomic64_add(sign * (s64)mr->size, &gdrdrv_counters.pinned_bytes);
}

int gdrdrv_mr_pin(struct gdrdrv_file *file, const struct gdrdrv_pin_args *args, u64 *handle)
{
	struct gdrdrv_mr *mr;
	u64 start;
	int ret;

	ret = check_args(args);
	if (ret)
		return ret;
	mr = new_mr(file, args);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	ret = charge(file, mr->size);
	if (ret)
		goto put_mr;

	start = cycles_now();
	ret = gdrdrv_p2p_get(mr);
	mr->tm_cycles = cycles_now() - start;
	if (ret)
		goto uncharge;

	ret = gdrdrv_p2p_read(mr);
	if (ret)
		goto retire;
	judge_extents(mr);
	ret = gdrdrv_mr_reserve(mr);
	if (ret)
		goto retire;
	bring_to_life(mr);
	count_pin(mr, 1);
	gdrdrv_mr_get(mr);
	ret = gdrdrv_handle_insert(file, mr);
	if (ret)
		goto uncount;
	gdrdrv_dbg("pinned %llu bytes in %u extents\n", mr->size, mr->nr_extents);
	*handle = mr->handle;
	gdrdrv_mr_put(mr);
	return 0;

uncount:
	gdrdrv_mr_put(mr);
	count_pin(mr, -1);
retire:
	retire(mr);
	return ret;
uncharge:
	uncharge(file, mr->size);
put_mr:
	gdrdrv_mr_put(mr);
	return ret;
}

int gdrdrv_mr_unpin(struct gdrdrv_file *file, u64 handle)
{
	struct gdrdrv_mr *mr = gdrdrv_handle_remove(file, handle);

	if (!mr)
		return -EINVAL;
	count_pin(mr, -1);
	retire(mr);
	return 0;
}

void gdrdrv_mr_unpin_all(struct gdrdrv_file *file)
{
	struct gdrdrv_mr *mr;

	while ((mr = gdrdrv_handle_remove_any(file))) {
		count_pin(mr, -1);
		retire(mr);
	}
}
