// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Which process has which memory at which device address; and the API lock. */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "nvsim_priv.h"

static DECLARE_RWSEM(api_lock);
static struct task_struct *api_owner;
LIST_HEAD(nvsim_regs);                  /* API lock */

void nvsim_api_lock(void)
{
	down_write(&api_lock);
	WRITE_ONCE(api_owner, current);
	/* NVIDIA's code may look at the caller's address space here. */
	if (current->mm)
		might_lock_read(&current->mm->mmap_lock);
}

void nvsim_api_unlock(void)
{
	WRITE_ONCE(api_owner, NULL);
	up_write(&api_lock);
}

bool nvsim_api_mine(void)
{
	return READ_ONCE(api_owner) == current;
}

void nvsim_api_assert(void)
{
	lockdep_assert_held_write(&api_lock);
}

/*
 * The registration that all of the range lies in: of this process, or, as on the
 * real driver, of whoever has the token.
 */
struct nvsim_reg *nvsim_reg_find(u64 token, u64 va, u64 size)
{
	struct nvsim_reg *reg;

	nvsim_api_assert();
	list_for_each_entry(reg, &nvsim_regs, node) {
		if (token ? reg->token != token : reg->tgid != current->tgid)
			continue;
		if (va >= reg->va && va - reg->va < reg->size && size <= reg->size - (va - reg->va))
			return reg;
	}
	return NULL;
}

static bool taken(u64 va, u64 size)
{
	struct nvsim_reg *reg;

	list_for_each_entry(reg, &nvsim_regs, node)
		if (reg->tgid == current->tgid && va < reg->va + reg->size && reg->va < va + size)
			return true;
	return false;
}

/* API lock held. */
static int enter(struct nvsim_file *f, const struct nvsim_register *arg)
{
	struct nvsim_reg *reg;

	if (!f->mem)
		return -ENODATA;
	if (!arg->size || arg->offset > f->size || arg->size > f->size - arg->offset ||
	    (arg->va | arg->size | (f->offset + arg->offset)) & (NVSIM_UNIT - 1) ||
	    arg->va + arg->size < arg->va)
		return -EINVAL;
	if (taken(arg->va, arg->size))
		return -EEXIST;
	reg = kzalloc(sizeof(*reg), GFP_KERNEL);
	if (!reg)
		return -ENOMEM;
	INIT_LIST_HEAD(&reg->pins);
	reg->mem = f->mem;
	nvsim_mem_get(reg->mem);
	reg->tgid = current->tgid;
	reg->token = f->token;
	reg->va = arg->va;
	reg->size = arg->size;
	reg->offset = f->offset + arg->offset;
	list_add_tail(&reg->node, &nvsim_regs);
	list_add_tail(&reg->of_file, &f->regs);
	nvsim_count(NVSIM_REGISTRATIONS, 1);
	return 0;
}

int nvsim_ioctl_register(struct nvsim_file *f, const struct nvsim_register *arg)
{
	int err;

	nvsim_api_lock();
	err = enter(f, arg);
	nvsim_api_unlock();
	return err;
}

/* API lock held. */
static void leave(struct nvsim_reg *reg)
{
	nvsim_p2p_revoke(reg);
	list_del(&reg->node);
	list_del(&reg->of_file);
	nvsim_mem_put(reg->mem);
	kfree(reg);
	nvsim_count(NVSIM_REGISTRATIONS, -1);
}

int nvsim_ioctl_unregister(struct nvsim_file *f, u64 va)
{
	struct nvsim_reg *reg;
	int err = -ENOENT;

	nvsim_api_lock();
	list_for_each_entry(reg, &f->regs, of_file)
		if (reg->va == va) {
			leave(reg);
			err = 0;
			break;
		}
	nvsim_api_unlock();
	return err;
}

/* The file lets its memory go, addresses first. */
void nvsim_file_clear(struct nvsim_file *f)
{
	struct nvsim_reg *reg, *next;
	struct nvsim_mem *mem;

	nvsim_api_assert();
	list_for_each_entry_safe(reg, next, &f->regs, of_file)
		leave(reg);
	spin_lock(&f->lock);
	mem = f->mem;
	f->mem = NULL;
	spin_unlock(&f->lock);
	nvsim_mem_put(mem);
}

int nvsim_ioctl_free(struct nvsim_file *f)
{
	int err = 0;

	nvsim_api_lock();
	if (f->mem)
		nvsim_file_clear(f);
	else
		err = -ENODATA;
	nvsim_api_unlock();
	return err;
}
