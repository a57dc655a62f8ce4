// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * Calls into NVIDIA's module; the only file that knows its functions.  Which of
 * them the provider has, and which kind of page table, is found out when gdrdrv is
 * loaded and used, not when it is built: the optional functions are weak, and read
 * through a table, since the distance of a direct reference to an absent symbol
 * does not fit on every architecture.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "compat.h"
#include "p2p.h"
#include "provider/nv-p2p.h"
#include "reuse.h"

#define FORCE_BAR1_FLAG		0x1u	/* of get_pages_persistent */
#define CPU_CACHEABLE		0x1u	/* of the page table, from version 2.0 on */
#define PAGE_SIZE_64K		1u	/* of the page table */

/* Nobody's GPU memory: the driver maps nothing at the first addresses. */
#define NO_GPU_ADDRESS		(1ull << GDRDRV_GPU_PAGE_SHIFT)

#pragma weak nvidia_p2p_get_pages_persistent
#pragma weak nvidia_p2p_put_pages_persistent
#pragma weak nvidia_p2p_cap_persistent_pages

static struct {
	int (*get_persistent)(uint64_t va, uint64_t len, struct nvidia_p2p_page_table **table,
			      uint32_t flags);
	int (*put_persistent)(uint64_t va, struct nvidia_p2p_page_table *table, uint32_t flags);
	int *cap_persistent;
} provider = {
	.get_persistent = nvidia_p2p_get_pages_persistent,
	.put_persistent = nvidia_p2p_put_pages_persistent,
	.cap_persistent = &nvidia_p2p_cap_persistent_pages,
};

static bool callbacks_used;

static bool has_functions(void)
{
	return READ_ONCE(provider.get_persistent) && READ_ONCE(provider.put_persistent);
}

static bool has_null_callback(void)
{
	int *cap = READ_ONCE(provider.cap_persistent);

	return cap && *cap;
}

bool gdrdrv_p2p_persistent(void)
{
	return gdrdrv_use_persistent && (has_functions() || has_null_callback());
}

bool gdrdrv_p2p_force_pcie(void)
{
	return GDRDRV_FORCE_BAR1 && gdrdrv_p2p_persistent() && has_functions();
}

/* From 5.9 on a module inherits the taint of a proprietary one that it uses. */
bool gdrdrv_p2p_open_flavour(void)
{
#ifdef HAVE_TAINT_INHERITANCE
	return !test_bit(TAINT_PROPRIETARY_MODULE, &THIS_MODULE->taints);
#else
	return GDRDRV_OPEN_FLAVOUR;
#endif
}

static int get_persistent(struct gdrdrv_mr *mr)
{
	u32 flags = mr->flags & GDRDRV_PIN_FLAG_FORCE_PCIE ? FORCE_BAR1_FLAG : 0;

	if (has_functions())
		return READ_ONCE(provider.get_persistent)(mr->va, mr->size, &mr->table, flags);
	return nvidia_p2p_get_pages(0, 0, mr->va, mr->size, &mr->table, NULL, mr);
}

static int put_persistent(struct gdrdrv_mr *mr)
{
	if (has_functions())
		return READ_ONCE(provider.put_persistent)(mr->va, mr->table, 0);
	return nvidia_p2p_put_pages(0, 0, mr->va, mr->table);
}

/* The registration's references: to the pin, and to the code of the callback. */
static void register_callback(struct gdrdrv_mr *mr)
{
	gdrdrv_mr_get(mr);
	__module_get(THIS_MODULE);
	mutex_lock(&mr->lock);
	mr->registered = true;
	mutex_unlock(&mr->lock);
	atomic64_inc(&gdrdrv_counters.held);
}

/* True for the one caller that ends the registration, and may drop its references. */
static bool unregister_callback(struct gdrdrv_mr *mr)
{
	bool was;

	mutex_lock(&mr->lock);
	was = mr->registered;
	mr->registered = false;
	mr->table = NULL;
	mutex_unlock(&mr->lock);
	if (!was)
		return false;
	atomic64_dec(&gdrdrv_counters.held);
	gdrdrv_mr_put(mr);
	module_put(THIS_MODULE);
	return true;
}

/* False if the callback has run: the table is not ours any more. */
static bool begin_put(struct gdrdrv_mr *mr, struct gdrdrv_put *put,
		      struct nvidia_p2p_page_table **table)
{
	bool ours;

	mutex_lock(&mr->lock);
	/* without a table there is no key: the registration lasts as long as the memory */
	ours = mr->registered && mr->table;
	if (ours) {
		*table = mr->table;
		gdrdrv_put_begin(put, mr->table);
	}
	mutex_unlock(&mr->lock);
	return ours;
}

static void put_failed(int err)
{
	atomic64_inc(&gdrdrv_counters.put_failures);
	pr_warn_ratelimited("the provider did not take pages back: error %d\n", err);
}

/*
 * In the owner's process a put waits for a callback that has begun, so after a
 * put that succeeded the callback has returned or will never run.
 */
static int put_revocable(struct gdrdrv_mr *mr)
{
	struct nvidia_p2p_page_table *table;
	struct gdrdrv_put put;
	int ret;

	if (!begin_put(mr, &put, &table))
		return 0;
	ret = nvidia_p2p_put_pages(0, 0, mr->va, table);
	gdrdrv_put_end(&put);
	if (!ret)
		unregister_callback(mr);
	else
		put_failed(ret);
	return ret;
}

/* The provider's callback: under its locks, in the process that frees the memory. */
static void revoke(void *data)
{
	struct nvidia_p2p_page_table *table;
	struct gdrdrv_mr *mr = data;

	table = gdrdrv_mr_revoke(mr);
	if (table)
		nvidia_p2p_free_page_table(table);
	unregister_callback(mr);
}

/* False if the callback came first: its table ends here then. */
static bool keep_table(struct gdrdrv_mr *mr, struct nvidia_p2p_page_table *table)
{
	bool valid;

	mutex_lock(&mr->lock);
	valid = !mr->revoked;
	if (valid)
		mr->table = table;
	mutex_unlock(&mr->lock);
	if (!valid)
		nvidia_p2p_free_page_table(table);
	return valid;
}

/*
 * As the memory of the calling process: whoever knows a token of CUDA could pin what
 * belongs to another one, and tokens are easy to guess.
 */
static int get_revocable(struct gdrdrv_mr *mr)
{
	struct nvidia_p2p_page_table *table;
	struct gdrdrv_get get;
	bool kept, put;
	int ret;

	WRITE_ONCE(callbacks_used, true);
	do {
		gdrdrv_get_begin(&get);
		register_callback(mr);
		ret = nvidia_p2p_get_pages(0, 0, mr->va, mr->size, &table, revoke, mr);
		kept = !ret && keep_table(mr, table);
		put = gdrdrv_get_end(&get, kept ? table : NULL) && kept && table;
		if (ret)
			unregister_callback(mr);
		else if (put)
			ret = put_revocable(mr);
	} while (!ret && put && !READ_ONCE(mr->revoked));
	return ret;
}

int gdrdrv_p2p_get(struct gdrdrv_mr *mr)
{
	int ret;

	if (!mr->persistent) {
		ret = get_revocable(mr);
	} else {
		ret = get_persistent(mr);
		if (!ret)
			atomic64_inc(&gdrdrv_counters.held);
	}
	/* the provider's own "not supported" is a number that user space does not know */
	return ret == -ENOTSUPP ? -EOPNOTSUPP : ret;
}

void gdrdrv_p2p_put(struct gdrdrv_mr *mr, bool by_owner)
{
	int ret;

	if (!mr->persistent) {
		if (by_owner)
			put_revocable(mr);
		return;
	}
	ret = put_persistent(mr);
	if (!ret)
		atomic64_dec(&gdrdrv_counters.held);
	else
		put_failed(ret);
}

static bool known_version(u32 version)
{
	return version >> 16 == 2 || (version >> 16 == 1 && (version & 0xffff) >= 2);
}

/* From 2.0 on the table has flags at its end; before, other data lies there. */
static bool table_is_cacheable(const struct nvidia_p2p_page_table *table)
{
	return table->version >> 16 >= 2 && table->flags & CPU_CACHEABLE;
}

/* Counts the extents, and writes them where there is a place for them. */
static u32 walk_table(const struct nvidia_p2p_page_table *table, struct gdrdrv_extent *extents)
{
	u64 next = 0;
	u32 i, n = 0;

	for (i = 0; i < table->entries; i++) {
		u64 phys = table->pages[i]->physical_address;

		if (!i || phys != next) {
			if (extents) {
				extents[n].phys = phys;
				extents[n].first = i;
			}
			n++;
		}
		next = phys + GDRDRV_GPU_PAGE_SIZE;
	}
	return n;
}

static int check_table(const struct gdrdrv_mr *mr, const struct nvidia_p2p_page_table *table)
{
	if (!table)
		return -EFAULT;
	if (!known_version(table->version)) {
		pr_warn_ratelimited("the provider's page table has version %#x\n", table->version);
		return -EFAULT;
	}
	if (table->page_size != PAGE_SIZE_64K ||
	    table->entries != mr->size >> GDRDRV_GPU_PAGE_SHIFT) {
		pr_warn_ratelimited("the provider gave %u pages of kind %u for %llu bytes\n",
				    table->entries, table->page_size, mr->size);
		return -EINVAL;
	}
	return 0;
}

/* The table is valid while the callback cannot get past mr->lock. */
int gdrdrv_p2p_read(struct gdrdrv_mr *mr)
{
	struct gdrdrv_extent *extents = NULL;
	u32 n = 0;
	int ret = 0;

	mutex_lock(&mr->lock);
	if (!mr->revoked) {
		ret = check_table(mr, mr->table);
		if (!ret)
			n = walk_table(mr->table, NULL);
	}
	mutex_unlock(&mr->lock);
	if (ret || !n)
		return ret;

	extents = kvmalloc_array(n, sizeof(*extents), GFP_KERNEL_ACCOUNT);
	if (!extents)
		return -ENOMEM;
	mutex_lock(&mr->lock);
	if (!mr->revoked) {
		walk_table(mr->table, extents);
		mr->cacheable = table_is_cacheable(mr->table);
		mr->extents = extents;
		mr->nr_extents = n;
	}
	mutex_unlock(&mr->lock);
	if (!mr->extents)
		kvfree(extents);
	return 0;
}

static void no_callback(void *data)
{
}

/*
 * No registration is left, but the last callback may be on its way out of our
 * code.  It runs under the provider's lock, and a get waits for that lock before
 * it finds out that nobody has memory at this address.
 */
void gdrdrv_p2p_exit(void)
{
	struct nvidia_p2p_page_table *table;

	if (!READ_ONCE(callbacks_used))
		return;
	if (!nvidia_p2p_get_pages(0, 0, NO_GPU_ADDRESS, GDRDRV_GPU_PAGE_SIZE, &table,
				  no_callback, &provider))
		nvidia_p2p_put_pages(0, 0, NO_GPU_ADDRESS, table);
}
