// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The simulated GPUs: BAR 2 of each ivshmem device, handed out in units of
 * 64 KiB.  A unit that was used and is free holds poison; it is looked at when it
 * is handed out again, and by NVSIM_IOC_CHECK.
 */
#include <linux/bitmap.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "nvsim_priv.h"

#define WORDS_OF_PAGE (4096 / sizeof(u64))

DEFINE_MUTEX(nvsim_memory_lock);
static struct nvsim_device *devices[NVSIM_MAX_GPUS];

struct nvsim_device *nvsim_device(unsigned int gpu)
{
	return gpu < NVSIM_MAX_GPUS ? devices[gpu] : NULL;
}

static u64 __iomem *words_of(const struct nvsim_device *d, unsigned long unit)
{
	return (u64 __iomem *)((u8 __iomem *)d->bar + ((u64)unit << NVSIM_SHIFT));
}

static void fill(struct nvsim_device *d, unsigned long unit, u64 word)
{
	u64 __iomem *p = words_of(d, unit);

	for (unsigned int i = 0; i < NVSIM_UNIT / sizeof(u64); i++)
		__raw_writeq(word, p + i);
}

/* Pages of a free unit that are not poison any more; poisons them anew. */
static void inspect(struct nvsim_device *d, unsigned long unit, struct nvsim_check *c)
{
	u64 __iomem *p = words_of(d, unit);
	unsigned int pages = 0, last = ~0u;
	u64 found = 0;
	unsigned int first = 0;

	for (unsigned int i = 0; i < NVSIM_UNIT / sizeof(u64); i++) {
		u64 word = __raw_readq(p + i);

		if (word == NVSIM_POISON)
			continue;
		if (!pages) {
			first = i;
			found = word;
		}
		if (i / WORDS_OF_PAGE != last)
			pages++;
		last = i / WORDS_OF_PAGE;
		__raw_writeq(NVSIM_POISON, p + i);
	}
	c->checked += NVSIM_UNIT / 4096;
	if (!pages)
		return;
	if (!c->damaged) {
		c->first = d->phys + ((u64)unit << NVSIM_SHIFT) + first * sizeof(u64);
		c->found = found;
	}
	c->damaged += pages;
	nvsim_count(NVSIM_DAMAGED, (int)pages);
}

/* The first n free units in a row that begin at skew modulo align; -1: none.  Memory lock held. */
long nvsim_gpu_find(struct nvsim_device *d, unsigned long n, unsigned long align,
		    unsigned long skew)
{
	unsigned long base = (unsigned long)(d->phys >> NVSIM_SHIFT), at;

	lockdep_assert_held(&nvsim_memory_lock);
	at = bitmap_find_next_zero_area_off(d->used, d->units, 0, (unsigned int)n, align - 1,
					    base - skew);
	return at + n > d->units ? -1 : (long)at;
}

/* Memory lock held. */
void nvsim_gpu_take(struct nvsim_device *d, unsigned long unit, unsigned long n)
{
	bitmap_set(d->used, (unsigned int)unit, (int)n);
}

/* Take back what nobody saw.  Memory lock held. */
void nvsim_gpu_untake(struct nvsim_device *d, unsigned long unit)
{
	__clear_bit((long)unit, d->used);
}

/* Taken before, and about to be somebody's: all zeros.  Memory lock held. */
void nvsim_gpu_clear(struct nvsim_device *d, unsigned long unit)
{
	struct nvsim_check c = { 0 };

	if (test_bit((long)unit, d->stale))
		inspect(d, unit, &c);
	fill(d, unit, 0);
	__set_bit((long)unit, d->stale);
}

/* Memory lock held. */
void nvsim_gpu_drop(struct nvsim_device *d, unsigned long unit)
{
	fill(d, unit, NVSIM_POISON);
	__clear_bit((long)unit, d->used);
}

int nvsim_ioctl_check(struct nvsim_check *arg)
{
	mutex_lock(&nvsim_memory_lock);
	for (unsigned int g = 0; g < NVSIM_MAX_GPUS && devices[g]; g++) {
		struct nvsim_device *d = devices[g];

		for (unsigned long u = 0; u < d->units; u++)
			if (test_bit((long)u, d->stale) && !test_bit((long)u, d->used))
				inspect(d, u, arg);
	}
	mutex_unlock(&nvsim_memory_lock);
	return 0;
}

static u64 __iomem *word_at(u64 phys)
{
	for (unsigned int g = 0; g < NVSIM_MAX_GPUS && devices[g]; g++) {
		struct nvsim_device *d = devices[g];

		if (phys >= d->phys && phys - d->phys < d->size && !(phys & 7))
			return words_of(d, 0) + (phys - d->phys) / sizeof(u64);
	}
	return NULL;
}

int nvsim_ioctl_poke(const struct nvsim_poke *arg)
{
	u64 __iomem *p = word_at(arg->phys);

	if (!p)
		return -EINVAL;
	__raw_writeq(arg->value, p);
	return 0;
}

int nvsim_ioctl_peek(struct nvsim_poke *arg)
{
	u64 __iomem *p = word_at(arg->phys);

	if (!p)
		return -EINVAL;
	arg->value = __raw_readq(p);
	return 0;
}

int nvsim_ioctl_gpu(struct nvsim_gpu *arg)
{
	struct nvsim_device *d = nvsim_device(arg->gpu);
	unsigned long used;

	if (!d)
		return -ENODEV;
	mutex_lock(&nvsim_memory_lock);
	used = bitmap_weight(d->used, (unsigned int)d->units);
	mutex_unlock(&nvsim_memory_lock);
	arg->phys = d->phys;
	arg->size = (u64)d->units << NVSIM_SHIFT;
	arg->free = (u64)(d->units - used) << NVSIM_SHIFT;
	arg->bar1_used = d->bar1_used;
	arg->bar1_limit = d->bar1_limit;
	arg->domain = (u32)pci_domain_nr(d->pdev->bus);
	arg->bus = d->pdev->bus->number;
	arg->device = PCI_SLOT(d->pdev->devfn);
	arg->function = PCI_FUNC(d->pdev->devfn);
	return 0;
}

int nvsim_ioctl_limit(struct nvsim_limit *arg)
{
	struct nvsim_device *d = nvsim_device(arg->gpu);

	if (!d)
		return -ENODEV;
	d->bar1_limit = arg->bar1;
	return 0;
}

/*
 * ioremap_wc keeps the range reserved as WC in the table of memory types, where
 * a driver that maps it without a reservation would find that type.  A GPU's
 * BAR has none until somebody asks; so it is given back, until iounmap wants it.
 */
static void __iomem *map_bar(struct nvsim_device *d)
{
	void __iomem *bar = ioremap_wc(d->phys, d->size);

	if (bar)
		arch_io_free_memtype_wc(d->phys, d->size);
	return bar;
}

static void unmap_bar(struct nvsim_device *d)
{
	arch_io_reserve_memtype_wc(d->phys, d->size);
	iounmap(d->bar);
}

static void free_tables(struct nvsim_device *d)
{
	kvfree(d->pins);
	bitmap_free(d->stale);
	bitmap_free(d->used);
	kfree(d);
}

static struct nvsim_device *new_tables(struct pci_dev *pdev)
{
	struct nvsim_device *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return NULL;
	d->pdev = pdev;
	d->phys = pci_resource_start(pdev, 2);
	d->size = pci_resource_len(pdev, 2);
	d->units = (unsigned long)(d->size >> NVSIM_SHIFT);
	d->bar1_limit = d->size;
	d->used = bitmap_zalloc((unsigned int)d->units, GFP_KERNEL);
	d->stale = bitmap_zalloc((unsigned int)d->units, GFP_KERNEL);
	d->pins = kvcalloc(d->units, sizeof(*d->pins), GFP_KERNEL);
	if (d->units && d->used && d->stale && d->pins)
		return d;
	free_tables(d);
	return NULL;
}

static int gpu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	unsigned int gpu = 0;
	struct nvsim_device *d;
	int err;

	while (gpu < NVSIM_MAX_GPUS && devices[gpu])
		gpu++;
	if (gpu == NVSIM_MAX_GPUS)
		return -ENOSPC;
	err = pci_enable_device(pdev);
	if (err)
		return err;
	err = pci_request_region(pdev, 2, "nvsim");
	if (err)
		goto disable;
	err = -ENOMEM;
	d = new_tables(pdev);
	if (!d)
		goto release_region;
	d->bar = map_bar(d);
	if (!d->bar)
		goto free_device;
	pci_set_drvdata(pdev, d);
	devices[gpu] = d;
	pci_info(pdev, "nvsim: GPU %u, %llu MiB\n", gpu, d->size >> 20);
	return 0;

free_device:
	free_tables(d);
release_region:
	pci_release_region(pdev, 2);
disable:
	pci_disable_device(pdev);
	return err;
}

static void gpu_remove(struct pci_dev *pdev)
{
	struct nvsim_device *d = pci_get_drvdata(pdev);

	for (unsigned int g = 0; g < NVSIM_MAX_GPUS; g++)
		if (devices[g] == d)
			devices[g] = NULL;
	unmap_bar(d);
	free_tables(d);
	pci_release_region(pdev, 2);
	pci_disable_device(pdev);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(0x1af4, 0x1110) },         /* ivshmem */
	{ }
};

static struct pci_driver driver = {
	.name = "nvsim",
	.id_table = ids,
	.probe = gpu_probe,
	.remove = gpu_remove,
	.driver = { .suppress_bind_attrs = true },      /* files know the devices */
};

int nvsim_gpu_init(void)
{
	return pci_register_driver(&driver);
}

void nvsim_gpu_exit(void)
{
	pci_unregister_driver(&driver);
}
