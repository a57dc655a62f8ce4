/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * What an architecture knows about GPU memory: which mapping types it can do,
 * how to spell them in a page table entry, and what type an entry really has.
 *
 * One block per architecture; all define the same names:
 *
 *   arch_may_cache()		GPU memory may be reachable through a coherent link
 *   arch_pfn_is_ram()		the kernel manages this frame as normal memory
 *   arch_needs_device()	WC would not be true or not be safe on this machine
 *   arch_pgprot()		protection of a GDRDRV_MAPPING_* type
 *   arch_mapped_type()		type that the entry at an address gives, 0: unknown, so as
 *				asked for.  The VMA there cannot go meanwhile
 */
#ifndef GDRDRV_ARCH_H
#define GDRDRV_ARCH_H

#include <linux/io.h>
#include <linux/mm.h>
#include <linux/pci.h>

#include "uapi/gdrdrv.h"

#ifndef CONFIG_64BIT
#error gdrdrv needs a 64-bit kernel
#endif

/*
 * page_is_ram is GPL-only where it matters.  A frame of memory that was put
 * online has a struct page that is neither reserved nor of a device.
 */
static inline bool gdrdrv_pfn_is_online(unsigned long pfn)
{
	return pfn_valid(pfn) && !PageReserved(pfn_to_page(pfn)) &&
	       !is_zone_device_page(pfn_to_page(pfn));
}

#if defined(CONFIG_X86_64)

#include <linux/mem_encrypt.h>

static inline bool arch_may_cache(void)
{
	return false;
}

static inline bool arch_pfn_is_ram(unsigned long pfn)
{
	return false;
}

/* Without PAT there is no way to say WC: the kernel's table then has UC- for it. */
static inline bool arch_needs_device(void)
{
	return cachemode2protval(_PAGE_CACHE_MODE_WC) ==
	       cachemode2protval(_PAGE_CACHE_MODE_UC_MINUS);
}

/*
 * What pgprot_writecombine and pgprot_decrypted (GPL-only) do.  The frame is that
 * of a PCI window, which is never encrypted memory.
 */
static inline pgprot_t arch_pgprot(pgprot_t prot, u32 type)
{
	u64 val = pgprot_val(prot) & ~(u64)_PAGE_CACHE_MASK & ~(u64)sme_me_mask;

	if (type == GDRDRV_MAPPING_WC)
		val |= cachemode2protval(_PAGE_CACHE_MODE_WC);
	else
		val |= cachemode2protval(_PAGE_CACHE_MODE_UC_MINUS);
	return __pgprot(val);
}

/*
 * The kernel replaces the cache bits of an entry by what is registered for the
 * frame, so the entry says the truth and the request does not.  PAT's own bit lies
 * elsewhere in a large entry, and is not needed to tell WC.
 */
static inline u32 arch_mapped_type(struct mm_struct *mm, unsigned long addr)
{
	u64 mask = _PAGE_PCD | _PAGE_PWT, val;
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;

	if (pgd_none(*pgd))
		return GDRDRV_MAPPING_NONE;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(*p4d))
		return GDRDRV_MAPPING_NONE;
	pud = pud_offset(p4d, addr);
	val = pud_val(*pud);
	if (val && !(val & _PAGE_PSE)) {
		pmd = pmd_offset(pud, addr);
		val = pmd_val(*pmd);
		if (val && !(val & _PAGE_PSE)) {
			mask |= _PAGE_PAT;
			val = pte_val(READ_ONCE(*pte_offset_kernel(pmd, addr)));
		}
	}
	if (!(val & _PAGE_PRESENT))
		return GDRDRV_MAPPING_NONE;
	return (val & mask) == (cachemode2protval(_PAGE_CACHE_MODE_WC) & mask) ?
	       GDRDRV_MAPPING_WC : GDRDRV_MAPPING_DEVICE;
}

#elif defined(CONFIG_ARM64)

static inline bool arch_may_cache(void)
{
	return true;
}

static inline bool arch_pfn_is_ram(unsigned long pfn)
{
	return gdrdrv_pfn_is_online(pfn);
}

/* Behind the root ports of a BlueField-3, Normal-NC accesses are not allowed. */
static inline bool arch_needs_device(void)
{
	static const struct pci_device_id ports[] = {
		{ PCI_DEVICE(0x15b3, 0xa2da) },
		{ PCI_DEVICE(0x15b3, 0xa2db) },
		{ }
	};

	return pci_dev_present(ports);
}

static inline pgprot_t arch_pgprot(pgprot_t prot, u32 type)
{
	if (type == GDRDRV_MAPPING_WC)
		return pgprot_writecombine(prot);
	if (type == GDRDRV_MAPPING_DEVICE)
		return pgprot_device(prot);
	return prot;
}

static inline u32 arch_mapped_type(struct mm_struct *mm, unsigned long addr)
{
	return GDRDRV_MAPPING_NONE;
}

#else

#ifdef CONFIG_PPC64
#include <asm/reg.h>
#endif

/* POWER9 reaches GPU memory over NVLink, coherently. */
static inline bool arch_may_cache(void)
{
#ifdef CONFIG_PPC64
	return pvr_version_is(PVR_POWER9);
#else
	return false;
#endif
}

static inline bool arch_pfn_is_ram(unsigned long pfn)
{
	return gdrdrv_pfn_is_online(pfn);
}

static inline bool arch_needs_device(void)
{
	return false;
}

static inline pgprot_t arch_pgprot(pgprot_t prot, u32 type)
{
	return type == GDRDRV_MAPPING_WC ? pgprot_writecombine(prot) : prot;
}

static inline u32 arch_mapped_type(struct mm_struct *mm, unsigned long addr)
{
	return GDRDRV_MAPPING_NONE;
}

#endif
#endif
