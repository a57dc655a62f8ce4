/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the parts of nvsim share.
 *
 * LOCKS, outermost first:
 *   API lock      registrations, pins, what a file holds.  Held across get, put and the free
 *                 callbacks.  mmap_lock and memory reclaim come inside it, so that nothing
 *                 that runs under mmap_lock may take it.
 *   mmap_lock
 *   memory lock   the allocator, the list of memories, poison; a leaf, allocates nothing
 *   file lock     a spinlock: which memory a file holds, for mmap
 */
#ifndef NVSIM_PRIV_H
#define NVSIM_PRIV_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "nv-p2p.h"
#include "nvsim.h"

#define NVSIM_SHIFT 16
#define NVSIM_MAX_GPUS 4

/* gpu.c */
struct nvsim_device {
	struct pci_dev *pdev;
	phys_addr_t phys;
	u64 size;
	void __iomem *bar;
	unsigned long units;
	unsigned long *used;            /* memory lock */
	unsigned long *stale;           /* was used before: poisoned whenever it is free */
	u32 *pins;                      /* of each unit; API lock */
	u64 bar1_used, bar1_limit;      /* API lock */
};

extern struct mutex nvsim_memory_lock;
struct nvsim_device *nvsim_device(unsigned int gpu);
int nvsim_gpu_init(void);
void nvsim_gpu_exit(void);
long nvsim_gpu_find(struct nvsim_device *d, unsigned long units, unsigned long align,
		    unsigned long skew);
void nvsim_gpu_take(struct nvsim_device *d, unsigned long unit, unsigned long n);
void nvsim_gpu_untake(struct nvsim_device *d, unsigned long unit);
void nvsim_gpu_clear(struct nvsim_device *d, unsigned long unit);
void nvsim_gpu_drop(struct nvsim_device *d, unsigned long unit);
int nvsim_ioctl_gpu(struct nvsim_gpu *arg);
int nvsim_ioctl_check(struct nvsim_check *arg);
int nvsim_ioctl_poke(const struct nvsim_poke *arg);
int nvsim_ioctl_peek(struct nvsim_poke *arg);
int nvsim_ioctl_limit(struct nvsim_limit *arg);

/* memory.c */
struct nvsim_mem {
	struct kref users;              /* files, registrations, mmaps, persistent pins */
	struct list_head node;
	u64 id;
	struct nvsim_device *dev;
	unsigned int gpu;
	unsigned long units;
	u32 *unit;                      /* where each lies in the BAR */
	char label[NVSIM_LABEL];
};

struct nvsim_file {
	spinlock_t lock;
	struct nvsim_mem *mem;          /* changed under the API lock and this one */
	u64 offset, size;               /* of mem, which the file shows */
	u64 token;
	struct list_head regs;
	struct list_head pins;          /* made by NVSIM_IOC_PIN */
};

struct nvsim_mem *nvsim_mem_new(const struct nvsim_alloc *a);
struct nvsim_mem *nvsim_mem_find(u64 id);
void nvsim_mem_get(struct nvsim_mem *mem);
void nvsim_mem_put(struct nvsim_mem *mem);
phys_addr_t nvsim_mem_phys(const struct nvsim_mem *mem, u64 offset);
u64 nvsim_mem_run(const struct nvsim_mem *mem, u64 offset, u64 end);
int nvsim_ioctl_alloc(struct nvsim_file *f, struct nvsim_alloc *arg);
int nvsim_ioctl_attach(struct nvsim_file *f, const struct nvsim_attach *arg);
int nvsim_ioctl_info(struct nvsim_file *f, struct nvsim_info *arg);

/* address.c: device addresses of processes. */
struct nvsim_reg {
	struct list_head node;          /* of all */
	struct list_head of_file;
	struct list_head pins;          /* revocable */
	struct nvsim_mem *mem;
	pid_t tgid;
	u64 token;
	u64 va, size;
	u64 offset;                     /* of va, in mem */
};

void nvsim_api_lock(void);
void nvsim_api_unlock(void);
bool nvsim_api_mine(void);              /* the caller is inside a callback */
void nvsim_api_assert(void);
extern struct list_head nvsim_regs;
struct nvsim_reg *nvsim_reg_find(u64 token, u64 va, u64 size);
void nvsim_file_clear(struct nvsim_file *f);    /* API lock held */
int nvsim_ioctl_register(struct nvsim_file *f, const struct nvsim_register *arg);
int nvsim_ioctl_unregister(struct nvsim_file *f, u64 va);
int nvsim_ioctl_free(struct nvsim_file *f);

/* p2p.c; API lock held */
void nvsim_p2p_revoke(struct nvsim_reg *reg);
void nvsim_p2p_unstick(void);

/* pin.c */
int nvsim_ioctl_pin(struct nvsim_file *f, struct nvsim_pin *arg);
int nvsim_ioctl_pinned(struct nvsim_file *f, struct nvsim_pinned *arg);
int nvsim_ioctl_unpin(struct nvsim_file *f, struct nvsim_unpin *arg);
void nvsim_pin_release(struct nvsim_file *f);

/* fault.c */
enum nvsim_counter {
	NVSIM_GETS, NVSIM_GET_FAILURES, NVSIM_PUTS, NVSIM_PUT_MISSES, NVSIM_PUT_FAILURES,
	NVSIM_CALLBACKS, NVSIM_RECURSIONS, NVSIM_WILD, NVSIM_MEMORIES, NVSIM_REGISTRATIONS,
	NVSIM_PINS, NVSIM_PERSISTENT_PINS, NVSIM_DAMAGED,
	NVSIM_COUNTERS
};

void nvsim_count(enum nvsim_counter c, int by);
bool nvsim_fault(enum nvsim_fault_kind kind, u64 *value);
void nvsim_point(enum nvsim_point point);
int nvsim_ioctl_stats(struct nvsim_stats *arg);
int nvsim_ioctl_fault(const struct nvsim_fault *arg);
int nvsim_ioctl_delay(const struct nvsim_delay *arg);
void nvsim_fault_release(void);
void nvsim_fault_reset(void);

/* probe.c, window.c */
int nvsim_ioctl_probe(struct nvsim_probe *arg);
int nvsim_mmap(struct file *file, struct vm_area_struct *vma);

#endif
