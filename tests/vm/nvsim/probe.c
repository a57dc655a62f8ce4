// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The caller's page tables, walked by hand: how large the entries are and which
 * memory type they have.  No GPL-only symbol is used.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "nvsim_priv.h"

struct entry {
	u64 value;                      /* 0: not present */
	u64 size;                       /* bytes that it covers, or would cover */
	u64 phys;                       /* of the first of them */
	bool writable;
};

#ifdef CONFIG_X86

/* SDM 4.9.2: PAT, PCD and PWT choose a byte of the PAT register. */
static enum nvsim_type entry_type(const struct entry *e)
{
	static const u8 types[8] = {
		NVSIM_TYPE_UC, NVSIM_TYPE_WC, NVSIM_TYPE_OTHER, NVSIM_TYPE_OTHER,
		NVSIM_TYPE_WT, NVSIM_TYPE_WP, NVSIM_TYPE_WB, NVSIM_TYPE_UC_MINUS,
	};
	u64 pat_bit = e->size > PAGE_SIZE ? _PAGE_PAT_LARGE : _PAGE_PAT;
	unsigned int index = (e->value & _PAGE_PWT ? 1 : 0) | (e->value & _PAGE_PCD ? 2 : 0) |
			     (e->value & pat_bit ? 4 : 0);
	u32 lo, hi;

	asm volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(0x277));
	return types[((u64)hi << 32 | lo) >> (8 * index) & 7];
}

static bool value_writable(u64 value)
{
	return value & _PAGE_RW;
}

#elif defined(CONFIG_ARM64)

static enum nvsim_type entry_type(const struct entry *e)
{
	switch ((e->value & PTE_ATTRINDX_MASK) >> 2) {
	case MT_NORMAL:
		return NVSIM_TYPE_WB;
	case MT_NORMAL_NC:
		return NVSIM_TYPE_WC;
	case MT_DEVICE_nGnRnE:
	case MT_DEVICE_nGnRE:
		return NVSIM_TYPE_UC;
	default:
		return NVSIM_TYPE_OTHER;
	}
}

static bool value_writable(u64 value)
{
	return value & PTE_WRITE;
}

#else

static enum nvsim_type entry_type(const struct entry *e)
{
	return NVSIM_TYPE_OTHER;
}

static bool value_writable(u64 value)
{
	return true;
}

#endif

static void found(struct entry *e, u64 value, u64 pfn)
{
	e->value = value;
	e->phys = pfn << PAGE_SHIFT;
	e->writable = value_writable(value);
}

/*
 * The entry that maps va.  mmap_lock held, interrupts off: so no page table goes
 * away meanwhile.
 */
static void walk(struct mm_struct *mm, unsigned long va, struct entry *e)
{
	pgd_t *pgd = pgd_offset(mm, va);
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;
	pte_t *pte;

	*e = (struct entry){ .size = PGDIR_SIZE };
	if (pgd_none(*pgd) || pgd_bad(*pgd))
		return;
	p4d = p4d_offset(pgd, va);
	e->size = P4D_SIZE;
	if (p4d_none(*p4d) || p4d_bad(*p4d))
		return;
	pud = pud_offset(p4d, va);
	e->size = PUD_SIZE;
	if (pud_none(*pud) || !pud_present(*pud))
		return;
	if (pud_leaf(*pud)) {
		found(e, pud_val(*pud), pud_pfn(*pud));
		return;
	}
	pmd = pmd_offset(pud, va);
	e->size = PMD_SIZE;
	if (pmd_none(*pmd) || !pmd_present(*pmd))
		return;
	if (pmd_leaf(*pmd)) {
		found(e, pmd_val(*pmd), pmd_pfn(*pmd));
		return;
	}
	pte = pte_offset_kernel(pmd, va);
	e->size = PAGE_SIZE;
	if (pte_present(*pte))
		found(e, pte_val(*pte), pte_pfn(*pte));
}

static void count(struct nvsim_probe *arg, const struct entry *e, u64 bytes)
{
	arg->present += bytes;
	if (e->writable)
		arg->writable += bytes;
	if (e->size == PUD_SIZE)
		arg->level_1g += bytes;
	else if (e->size == PMD_SIZE)
		arg->level_2m += bytes;
	else
		arg->level_4k += bytes;
	arg->type[entry_type(e)] += bytes;
}

int nvsim_ioctl_probe(struct nvsim_probe *arg)
{
	u64 va = arg->va, end = va + arg->size;
	struct mm_struct *mm = current->mm;

	if (!arg->size || (va | end) & ~PAGE_MASK || end < va || end > TASK_SIZE_MAX)
		return -EINVAL;
	*arg = (struct nvsim_probe){ .va = va, .size = arg->size };
	mmap_read_lock(mm);
	while (va < end && !fatal_signal_pending(current)) {
		unsigned long flags;
		struct entry e;
		u64 next;

		local_irq_save(flags);
		walk(mm, (unsigned long)va, &e);
		local_irq_restore(flags);
		next = min((va & ~(e.size - 1)) + e.size, end);
		if (e.value) {
			if (va == arg->va)
				arg->phys = e.phys + (va & (e.size - 1));
			count(arg, &e, next - va);
		}
		va = next;
		cond_resched();
	}
	mmap_read_unlock(mm);
	return 0;
}
