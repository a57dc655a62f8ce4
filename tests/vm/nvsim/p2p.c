// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The exported functions, with the rules of NVIDIA's (open-gpu-kernel-modules,
 * kernel-open/nvidia/nv-p2p.c and src/nvidia/src/kernel/gpu/bus/p2p.c):
 * a range is found by the tgid of the caller, or by the token alone; it lies in one
 * allocation; put_pages looks for (tgid, table) and answers 0 when there is no
 * such pin; put_pages_persistent works from anywhere; none may be called from
 * inside a free callback.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "nvsim_priv.h"

#ifdef NVSIM_EXPORT_PLAIN
#define NVSIM_EXPORT(symbol) EXPORT_SYMBOL(symbol)
#else
#define NVSIM_EXPORT(symbol) EXPORT_SYMBOL_GPL(symbol)
#endif

struct p2p {
	struct nvidia_p2p_page_table table;
	struct list_head node;          /* of its registration, or of the persistent ones */
	struct nvsim_mem *mem;          /* persistent: a user of it */
	struct nvsim_device *dev;
	bool persistent;
	bool stuck;                     /* put failed, as asked for */
	void (*callback)(void *data);
	void *data;
	u64 offset, size;               /* in the memory */
	const u32 *unit;                /* of the memory, at offset */
	struct nvidia_p2p_page *page;
	uint8_t uuid[16];
};

static LIST_HEAD(persistent_pins);      /* API lock */

#define DEAD 0x6b                       /* what the tables of pins that are gone hold */

static void table_free(struct p2p *p)
{
	u64 n = p->size >> NVSIM_SHIFT;

	if (p->page)
		memset(p->page, DEAD, n * sizeof(*p->page));
	if (p->table.pages)
		memset(p->table.pages, DEAD, n * sizeof(*p->table.pages));
	kvfree(p->page);
	kvfree(p->table.pages);
	memset(p, DEAD, sizeof(*p));
	kfree(p);
}

static struct p2p *table_new(u64 size)
{
	struct p2p *p = kzalloc(sizeof(*p), GFP_KERNEL);
	size_t n = (size_t)(size >> NVSIM_SHIFT);

	if (!p)
		return NULL;
	p->size = size;
	p->page = kvcalloc(n, sizeof(*p->page), GFP_KERNEL);
	p->table.pages = kvcalloc(n, sizeof(*p->table.pages), GFP_KERNEL);
	if (p->page && p->table.pages)
		return p;
	table_free(p);
	return NULL;
}

/* Count the units in; -ENOMEM if BAR1 has no room for those that are not pinned yet. */
static int budget_take(struct p2p *p)
{
	u64 fresh = 0, n = p->size >> NVSIM_SHIFT;

	for (u64 i = 0; i < n; i++)
		if (!p->dev->pins[p->unit[i]])
			fresh += NVSIM_UNIT;
	if (fresh > p->dev->bar1_limit || p->dev->bar1_used > p->dev->bar1_limit - fresh)
		return -ENOMEM;
	for (u64 i = 0; i < n; i++)
		p->dev->pins[p->unit[i]]++;
	p->dev->bar1_used += fresh;
	return 0;
}

static void budget_give(struct p2p *p)
{
	for (u64 i = 0; i < p->size >> NVSIM_SHIFT; i++)
		if (!--p->dev->pins[p->unit[i]])
			p->dev->bar1_used -= NVSIM_UNIT;
}

static void table_fill(struct p2p *p)
{
	u32 n = (u32)(p->size >> NVSIM_SHIFT);
	u64 v;

	for (u32 i = 0; i < n; i++) {
		p->page[i].physical_address = nvsim_mem_phys(p->mem, p->offset +
							     ((u64)i << NVSIM_SHIFT));
		p->table.pages[i] = &p->page[i];
	}
	if (nvsim_fault(NVSIM_FAULT_TABLE_PHYS, &v))
		p->page[n - 1].physical_address += v;
	p->table.version = NVIDIA_P2P_PAGE_TABLE_VERSION;
	if (nvsim_fault(NVSIM_FAULT_TABLE_VERSION, &v))
		p->table.version = (uint32_t)v;
	p->table.page_size = NVIDIA_P2P_PAGE_SIZE_64KB;
	if (nvsim_fault(NVSIM_FAULT_TABLE_PAGE_SIZE, &v))
		p->table.page_size = (uint32_t)v;
	p->table.entries = n;
	if (nvsim_fault(NVSIM_FAULT_TABLE_ENTRIES, &v))
		p->table.entries = (uint32_t)v;
	p->table.gpu_uuid = p->uuid;
#if NVSIM_TABLE == 2
	if (nvsim_fault(NVSIM_FAULT_TABLE_FLAGS, &v))
		p->table.flags = (uint32_t)v;
#endif
}

/* A pin without its table being told to anybody; API lock held. */
static struct p2p *pin_new(u64 token, u64 va, u64 size, bool persistent)
{
	struct nvsim_reg *reg = nvsim_reg_find(token, va, size);
	struct p2p *p;
	int err;

	if (!reg)
		return ERR_PTR(-EINVAL);
	p = table_new(size);
	if (!p)
		return ERR_PTR(-ENOMEM);
	p->mem = reg->mem;
	p->dev = p->mem->dev;
	p->offset = reg->offset + (va - reg->va);
	p->unit = p->mem->unit + (p->offset >> NVSIM_SHIFT);
	err = budget_take(p);
	if (err) {
		table_free(p);
		return ERR_PTR(err);
	}
	table_fill(p);
	p->persistent = persistent;
	if (persistent)
		nvsim_mem_get(p->mem);
	list_add_tail(&p->node, persistent ? &persistent_pins : &reg->pins);
	nvsim_count(persistent ? NVSIM_PERSISTENT_PINS : NVSIM_PINS, 1);
	return p;
}

/* API lock held. */
static void pin_drop(struct p2p *p)
{
	list_del(&p->node);
	budget_give(p);
	nvsim_count(p->persistent ? NVSIM_PERSISTENT_PINS : NVSIM_PINS, -1);
	if (p->persistent)
		nvsim_mem_put(p->mem);
	table_free(p);
}

void nvsim_p2p_revoke(struct nvsim_reg *reg)
{
	nvsim_api_assert();
	while (!list_empty(&reg->pins)) {
		struct p2p *p = list_first_entry(&reg->pins, struct p2p, node);

		nvsim_point(NVSIM_POINT_CALLBACK);
		p->callback(p->data);
		nvsim_count(NVSIM_CALLBACKS, 1);
		nvsim_point(NVSIM_POINT_CALLBACK_DONE);
		pin_drop(p);
	}
}

/* Pins that a failing put left behind. */
void nvsim_p2p_unstick(void)
{
	struct p2p *p, *next;

	nvsim_api_assert();
	list_for_each_entry_safe(p, next, &persistent_pins, node)
		if (p->stuck)
			pin_drop(p);
}

static int refuse(bool get)
{
	if (!nvsim_api_mine())
		return 0;
	nvsim_count(NVSIM_RECURSIONS, 1);
	pr_warn("nvsim: %s from inside a free callback\n", get ? "get_pages" : "put_pages");
	return -EIO;
}

static int get(u64 token, u64 va, u64 size, bool persistent, struct nvidia_p2p_page_table **table,
	       void (*callback)(void *), void *data)
{
	struct p2p *p;
	u64 v;
	int err = refuse(true);

	if (err)
		return err;
	if (va + size < va)
		nvsim_count(NVSIM_WILD, 1);
	if (!table || !size || (va | size) & (NVSIM_UNIT - 1) || va + size < va)
		return -EINVAL;
	if (nvsim_fault(NVSIM_FAULT_GET, &v))
		return -(int)v;
	nvsim_api_lock();
	p = pin_new(token, va, size, persistent);
	if (!IS_ERR(p)) {
		p->callback = callback;
		p->data = data;
		nvsim_point(NVSIM_POINT_GET_LOCKED);
	}
	nvsim_api_unlock();
	if (IS_ERR(p))
		return (int)PTR_ERR(p);
	nvsim_point(NVSIM_POINT_GET);
	/* May be gone by now, with its callback behind it: the caller's to know. */
	*table = nvsim_fault(NVSIM_FAULT_TABLE_NULL, &v) ? NULL : &p->table;
	return 0;
}

static int counted_get(int err)
{
	nvsim_count(NVSIM_GETS, 1);
	if (err)
		nvsim_count(NVSIM_GET_FAILURES, 1);
	return err;
}

/* The pin with this table; the pointer is compared, never followed.  API lock held. */
static struct p2p *find_revocable(u64 token, const struct nvidia_p2p_page_table *table)
{
	struct nvsim_reg *reg;
	struct p2p *p;

	list_for_each_entry(reg, &nvsim_regs, node) {
		if (token ? reg->token != token : reg->tgid != current->tgid)
			continue;
		list_for_each_entry(p, &reg->pins, node)
			if (&p->table == table)
				return p;
	}
	return NULL;
}

static struct p2p *find_persistent(const struct nvidia_p2p_page_table *table)
{
	struct p2p *p;

	list_for_each_entry(p, &persistent_pins, node)
		if (&p->table == table)
			return p;
	return NULL;
}

/* miss: the answer where there is no such pin. */
static int put(u64 token, struct nvidia_p2p_page_table *table, bool persistent, int miss)
{
	struct p2p *p;
	int err = refuse(false);
	u64 v;

	nvsim_count(NVSIM_PUTS, 1);
	if (err || !table)
		return err;
	nvsim_point(NVSIM_POINT_PUT);
	nvsim_api_lock();
	p = persistent ? find_persistent(table) : find_revocable(token, table);
	if (!p && NVSIM_PERSISTENT == 1)
		p = find_persistent(table);
	if (!p) {
		nvsim_count(NVSIM_PUT_MISSES, 1);
		err = miss;
	} else if (nvsim_fault(NVSIM_FAULT_PUT, &v)) {
		nvsim_count(NVSIM_PUT_FAILURES, 1);
		p->stuck = true;
		err = -(int)v;
	} else {
		pin_drop(p);
	}
	nvsim_api_unlock();
	return err;
}

#if NVSIM_PERSISTENT == 1
int nvidia_p2p_cap_persistent_pages = 1;
NVSIM_EXPORT(nvidia_p2p_cap_persistent_pages);
#endif

int nvidia_p2p_get_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 uint64_t length, struct nvidia_p2p_page_table **page_table,
			 void (*free_callback)(void *data), void *data)
{
	bool persistent = NVSIM_PERSISTENT == 1 && !free_callback;

	might_sleep();
	if (!persistent && (!free_callback || !data))
		return counted_get(-EINVAL);
	return counted_get(get(p2p_token, virtual_address, length, persistent, page_table,
			       free_callback, data));
}
NVSIM_EXPORT(nvidia_p2p_get_pages);

int nvidia_p2p_put_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 struct nvidia_p2p_page_table *page_table)
{
	might_sleep();
	return put(p2p_token, page_table, false, 0);
}
NVSIM_EXPORT(nvidia_p2p_put_pages);

/* Called from inside the callback; the table goes when that returns. */
int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table)
{
	return 0;
}
NVSIM_EXPORT(nvidia_p2p_free_page_table);

#if NVSIM_PERSISTENT == 2
/* FORCE_BAR1 is for coherent GPUs only: ENOTSUPP, as on 570 and later; other bits are ignored. */
int nvidia_p2p_get_pages_persistent(uint64_t virtual_address, uint64_t length,
				    struct nvidia_p2p_page_table **page_table, uint32_t flags)
{
	might_sleep();
	if (flags & 1)
		return counted_get(-ENOTSUPP);
	return counted_get(get(0, virtual_address, length, true, page_table, NULL, NULL));
}
NVSIM_EXPORT(nvidia_p2p_get_pages_persistent);

int nvidia_p2p_put_pages_persistent(uint64_t virtual_address,
				    struct nvidia_p2p_page_table *page_table, uint32_t flags)
{
	might_sleep();
	if (flags) {
		nvsim_count(NVSIM_PUTS, 1);
		nvsim_count(NVSIM_PUT_FAILURES, 1);
		return -EINVAL;
	}
	return put(0, page_table, true, -EINVAL);
}
NVSIM_EXPORT(nvidia_p2p_put_pages_persistent);
#endif
