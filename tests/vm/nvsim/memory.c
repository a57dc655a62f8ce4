// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Pieces of device memory: where their units lie, who uses them, and their descriptors. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "nvsim_priv.h"

static LIST_HEAD(memories);             /* memory lock */
static u64 last_id;

/*
 * Pieces are looked for from the last to the first, each at the lowest place that
 * is free: so each lies below the one before it and never continues it.
 */
static int place(struct nvsim_mem *mem, unsigned long piece, unsigned long align,
		 unsigned long skew)
{
	unsigned long left = mem->units;

	while (left) {
		unsigned long n = left % piece ? left % piece : piece;
		long at = nvsim_gpu_find(mem->dev, n, align, skew);

		if (at < 0)
			break;
		nvsim_gpu_take(mem->dev, (unsigned long)at, n);
		for (left -= n; n--;)
			mem->unit[left + n] = (u32)at + (u32)n;
	}
	if (!left)
		return 0;
	/* Nobody has seen those yet: they are what they were. */
	for (; left < mem->units; left++)
		nvsim_gpu_untake(mem->dev, mem->unit[left]);
	return -ENOMEM;
}

static bool valid(const struct nvsim_alloc *a)
{
	u64 align = a->align ? a->align : NVSIM_UNIT;

	u64 all = a->size | a->extent | align | a->skew;

	return a->size && !a->pad && !(all & (NVSIM_UNIT - 1)) && !(align & (align - 1)) &&
	       a->skew < align &&
	       strnlen(a->label, NVSIM_LABEL) < NVSIM_LABEL;
}

static struct nvsim_mem *mem_alloc(struct nvsim_device *d, const struct nvsim_alloc *a)
{
	struct nvsim_mem *mem;

	if (a->size > (u64)d->units << NVSIM_SHIFT)
		return NULL;
	mem = kzalloc(sizeof(*mem), GFP_KERNEL);
	if (!mem)
		return NULL;
	mem->units = (unsigned long)(a->size >> NVSIM_SHIFT);
	mem->unit = kvcalloc(mem->units, sizeof(*mem->unit), GFP_KERNEL);
	if (!mem->unit) {
		kfree(mem);
		return NULL;
	}
	kref_init(&mem->users);
	mem->dev = d;
	mem->gpu = a->gpu;
	memcpy(mem->label, a->label, NVSIM_LABEL);
	return mem;
}

/* One user; an ERR_PTR. */
struct nvsim_mem *nvsim_mem_new(const struct nvsim_alloc *a)
{
	struct nvsim_device *d = nvsim_device(a->gpu);
	u64 align = a->align ? a->align : NVSIM_UNIT, extent = a->extent ? a->extent : a->size;
	struct nvsim_mem *mem;
	int err;

	if (!valid(a))
		return ERR_PTR(-EINVAL);
	if (!d)
		return ERR_PTR(-ENODEV);
	mem = mem_alloc(d, a);
	if (!mem)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&nvsim_memory_lock);
	err = place(mem, (unsigned long)min(extent, a->size) >> NVSIM_SHIFT,
		    (unsigned long)(align >> NVSIM_SHIFT), (unsigned long)(a->skew >> NVSIM_SHIFT));
	if (!err) {
		for (unsigned long i = 0; i < mem->units; i++)
			nvsim_gpu_clear(d, mem->unit[i]);
		mem->id = ++last_id;
		list_add_tail(&mem->node, &memories);
	}
	mutex_unlock(&nvsim_memory_lock);
	if (err) {
		kvfree(mem->unit);
		kfree(mem);
		return ERR_PTR(err);
	}
	nvsim_count(NVSIM_MEMORIES, 1);
	return mem;
}

/* With one more user; NULL. */
struct nvsim_mem *nvsim_mem_find(u64 id)
{
	struct nvsim_mem *mem, *found = NULL;

	mutex_lock(&nvsim_memory_lock);
	list_for_each_entry(mem, &memories, node)
		if (mem->id == id && kref_get_unless_zero(&mem->users)) {
			found = mem;
			break;
		}
	mutex_unlock(&nvsim_memory_lock);
	return found;
}

void nvsim_mem_get(struct nvsim_mem *mem)
{
	kref_get(&mem->users);
}

static void mem_release(struct kref *users)
{
	struct nvsim_mem *mem = container_of(users, struct nvsim_mem, users);

	mutex_lock(&nvsim_memory_lock);
	list_del(&mem->node);
	for (unsigned long i = 0; i < mem->units; i++)
		nvsim_gpu_drop(mem->dev, mem->unit[i]);
	mutex_unlock(&nvsim_memory_lock);
	nvsim_count(NVSIM_MEMORIES, -1);
	kvfree(mem->unit);
	kfree(mem);
}

/* The last put poisons the pages.  May sleep; also under mmap_lock. */
void nvsim_mem_put(struct nvsim_mem *mem)
{
	if (mem)
		kref_put(&mem->users, mem_release);
}

phys_addr_t nvsim_mem_phys(const struct nvsim_mem *mem, u64 offset)
{
	return mem->dev->phys + ((u64)mem->unit[offset >> NVSIM_SHIFT] << NVSIM_SHIFT) +
	       (offset & (NVSIM_UNIT - 1));
}

/* Bytes from offset on, up to end, that are contiguous. */
u64 nvsim_mem_run(const struct nvsim_mem *mem, u64 offset, u64 end)
{
	u64 at = (offset | (NVSIM_UNIT - 1)) + 1;

	while (at < end && mem->unit[at >> NVSIM_SHIFT] == mem->unit[(at >> NVSIM_SHIFT) - 1] + 1)
		at += NVSIM_UNIT;
	return min(at, end) - offset;
}

/* API lock held; takes over mem. */
static void hold(struct nvsim_file *f, struct nvsim_mem *mem, u64 offset, u64 size)
{
	spin_lock(&f->lock);
	f->mem = mem;
	f->offset = offset;
	f->size = size;
	spin_unlock(&f->lock);
}

int nvsim_ioctl_alloc(struct nvsim_file *f, struct nvsim_alloc *arg)
{
	struct nvsim_mem *mem;
	int err = 0;

	nvsim_api_lock();
	if (f->mem) {
		err = -EBUSY;
		goto unlock;
	}
	mem = nvsim_mem_new(arg);
	if (IS_ERR(mem)) {
		err = (int)PTR_ERR(mem);
		goto unlock;
	}
	hold(f, mem, 0, arg->size);
	arg->id = mem->id;
unlock:
	nvsim_api_unlock();
	return err;
}

int nvsim_ioctl_attach(struct nvsim_file *f, const struct nvsim_attach *arg)
{
	struct nvsim_mem *mem = nvsim_mem_find(arg->id);
	u64 all, size;
	int err = 0;

	if (!mem)
		return -ENOENT;
	all = (u64)mem->units << NVSIM_SHIFT;
	nvsim_api_lock();
	size = arg->size || arg->offset > all ? arg->size : all - arg->offset;
	if (f->mem)
		err = -EBUSY;
	else if (!size || (arg->offset | size) & 4095 || arg->offset > all ||
		 size > all - arg->offset)
		err = -EINVAL;
	else
		hold(f, mem, arg->offset, size);
	nvsim_api_unlock();
	if (err)
		nvsim_mem_put(mem);
	return err;
}

int nvsim_ioctl_info(struct nvsim_file *f, struct nvsim_info *arg)
{
	struct nvsim_mem *mem;
	int err = 0;

	nvsim_api_lock();
	mem = f->mem;
	if (!mem) {
		err = -ENODATA;
	} else if (arg->offset >= f->size) {
		err = -EINVAL;
	} else {
		u64 at = f->offset + arg->offset;

		arg->id = mem->id;
		arg->base = f->offset;
		arg->size = f->size;
		arg->phys = nvsim_mem_phys(mem, at);
		arg->run = nvsim_mem_run(mem, at, f->offset + f->size);
		arg->gpu = mem->gpu;
		memcpy(arg->label, mem->label, NVSIM_LABEL);
	}
	nvsim_api_unlock();
	return err;
}
