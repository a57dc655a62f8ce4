// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Pins for user space: the exported functions called as a driver would call them,
 * and what such a driver sees.
 */
#include <linux/slab.h>

#include "nvsim_priv.h"

struct pin {
	struct list_head of_file;
	u64 number;
	u64 token, va;
	u32 va_space;
	bool persistent;
	struct nvidia_p2p_page_table *table;
	pid_t tgid;
	bool revoked;                   /* pin lock, as those below; the table is gone then */
	pid_t revoker;
	bool orphan;                    /* the callback is its last user */
};

static DEFINE_MUTEX(pin_lock);          /* taken in callbacks; not held over get and put */
static u64 last_number;

static void revoked(void *data)
{
	struct pin *p = data;
	bool orphan;

	nvidia_p2p_free_page_table(p->table);
	mutex_lock(&pin_lock);
	p->revoked = true;
	p->revoker = current->tgid;
	orphan = p->orphan;
	mutex_unlock(&pin_lock);
	if (orphan)
		kfree(p);
}

static int pin(struct pin *p, u64 size, u32 flags, u32 pin_flags)
{
	if (!p->persistent)
		return nvidia_p2p_get_pages(p->token, p->va_space, p->va, size, &p->table,
					    flags & NVSIM_PIN_NO_CALLBACK ? NULL : revoked, p);
#if NVSIM_PERSISTENT == 2
	return nvidia_p2p_get_pages_persistent(p->va, size, &p->table, pin_flags);
#elif NVSIM_PERSISTENT == 1
	return nvidia_p2p_get_pages(p->token, p->va_space, p->va, size, &p->table, NULL, NULL);
#else
	return -EOPNOTSUPP;
#endif
}

static int unpin(struct pin *p, u32 put_flags)
{
#if NVSIM_PERSISTENT == 2
	if (p->persistent)
		return nvidia_p2p_put_pages_persistent(p->va, p->table, put_flags);
#endif
	return nvidia_p2p_put_pages(p->token, p->va_space, p->va, p->table);
}

int nvsim_ioctl_pin(struct nvsim_file *f, struct nvsim_pin *arg)
{
	struct pin *p;

	if (arg->flags & ~(NVSIM_PIN_PERSISTENT | NVSIM_PIN_NO_CALLBACK))
		return -EINVAL;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	p->token = arg->token;
	p->va_space = arg->va_space;
	p->va = arg->va;
	p->persistent = arg->flags & NVSIM_PIN_PERSISTENT ||
			(arg->flags & NVSIM_PIN_NO_CALLBACK && NVSIM_PERSISTENT == 1);
	p->tgid = current->tgid;
	arg->result = pin(p, arg->size, arg->flags, arg->pin_flags);
	if (arg->result) {
		kfree(p);
		return 0;
	}
	mutex_lock(&pin_lock);
	p->number = arg->pin = ++last_number;
	list_add_tail(&p->of_file, &f->pins);
	mutex_unlock(&pin_lock);
	return 0;
}

/* Pin lock held. */
static struct pin *find(struct nvsim_file *f, u64 number)
{
	struct pin *p;

	list_for_each_entry(p, &f->pins, of_file)
		if (p->number == number)
			return p;
	return NULL;
}

int nvsim_ioctl_pinned(struct nvsim_file *f, struct nvsim_pinned *arg)
{
	struct pin *p;
	int err = 0;

	mutex_lock(&pin_lock);
	p = find(f, arg->pin);
	if (!p) {
		err = -ENOENT;
	} else if (p->revoked) {
		*arg = (struct nvsim_pinned){ .pin = arg->pin, .index = arg->index, .revoked = 1,
					      .tgid = (u64)p->revoker };
	} else if (!p->table) {
		err = -ENODATA;
	} else if (arg->index >= p->table->entries) {
		err = -EINVAL;
	} else {
		arg->revoked = 0;
		arg->version = p->table->version;
		arg->page_size = p->table->page_size;
		arg->entries = p->table->entries;
		arg->phys = p->table->pages[arg->index]->physical_address;
		arg->tgid = 0;
	}
	mutex_unlock(&pin_lock);
	return err;
}

/*
 * A revocable pin that was not taken back, for this is another process or the put
 * failed, still has its callback.
 */
static int drop(struct pin *p, u32 put_flags)
{
	int result = unpin(p, put_flags);
	bool last = p->persistent || (!result && (p->token || p->tgid == current->tgid));

	mutex_lock(&pin_lock);
	last = last || p->revoked;
	p->orphan = true;
	mutex_unlock(&pin_lock);
	if (last)
		kfree(p);
	return result;
}

int nvsim_ioctl_unpin(struct nvsim_file *f, struct nvsim_unpin *arg)
{
	struct pin *p;

	mutex_lock(&pin_lock);
	p = find(f, arg->pin);
	if (p)
		list_del(&p->of_file);
	mutex_unlock(&pin_lock);
	if (!p)
		return -ENOENT;
	arg->result = drop(p, arg->put_flags);
	return 0;
}

void nvsim_pin_release(struct nvsim_file *f)
{
	struct pin *p, *next;

	list_for_each_entry_safe(p, next, &f->pins, of_file) {
		list_del(&p->of_file);
		drop(p, 0);
	}
}
