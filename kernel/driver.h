/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Private types of gdrdrv, and the two rules that every file here keeps.
 *
 * Lock order
 *
 *	mmap_lock  ->  mr->lock		(mmap, fault, VMA open and close)
 *	provider's locks -> mr->lock	(the revocation callback)
 *	mr->lock, file->lock		are leaves, but for the list lock of reuse.c: no user
 *					memory and no call into the provider under them
 *	i_mmap_rwsem			taken by a zap with none of ours held
 *
 *	Nothing is held across a call into the provider: it takes its own lock for
 *	writing, may sleep for long, and calls back under it.
 *
 * Lifetime
 *
 *	A gdrdrv_mr is one pin.  References: the handle table, each VMA, and the
 *	callback that the provider has registered (gone once it ran, or once a put by
 *	the owner's process has returned).  The last also holds the module.  A pin
 *	holds its gdrdrv_file, so that a callback after the last close is harmless.
 *
 *	    NEW --> LIVE --> REVOKED --> DEAD
 *	               \_________________/
 *
 *	Only LIVE pins get page table entries.  Whoever leaves LIVE does so under
 *	mr->lock and zaps afterwards; the fault handler inserts under mr->lock after
 *	looking at the state.  So once a zap that follows the change has returned,
 *	nothing in any VMA reaches the pages, and nothing can again.  Everybody who
 *	must promise that zaps himself, also when another is at it.
 *
 *	mmap makes entries too, of persistent pins: their only way out of LIVE is an
 *	unpin by the process that maps.  A zap does not find a VMA before mmap has
 *	returned; so that unpin waits for mmap_lock between the change and the zap.
 *
 *	VMAs are bound to the pin (vm_private_data), never to a handle, and no VMA is
 *	remembered: splitting, moving, and handles that come back change nothing.
 */
#ifndef GDRDRV_DRIVER_H
#define GDRDRV_DRIVER_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "uapi/gdrdrv.h"

struct miscdevice;
struct nvidia_p2p_page_table;
struct seq_file;
struct vm_area_struct;

#define GDRDRV_GPU_PAGE_SHIFT	16

/* One open file. */
struct gdrdrv_file {
	struct kref ref;
	struct address_space mapping;	/* the VMAs of this open file and no others */

	/* the owner: a tgid can come back, together with its start time it cannot */
	pid_t tgid;
	u64 start_time;			/* ns since boot */

	struct mutex lock;		/* the next four */
	struct rb_root pins;		/* by handle */
	u64 next_handle;		/* where the search for a free interval starts */
	u64 pinned;			/* bytes, pins under way included */
	u64 nr_pins;

	atomic_t revoked;		/* pins in the table that are REVOKED */
	wait_queue_head_t wait;		/* poll; woken when revoked grows */
};

enum gdrdrv_mr_state {
	GDRDRV_MR_NEW,		/* being pinned, not in the table */
	GDRDRV_MR_LIVE,
	GDRDRV_MR_REVOKED,	/* the provider took the pages back */
	GDRDRV_MR_DEAD,		/* unpinned, not in the table */
};

/* A physically contiguous run; it ends where the next one, or the pin, ends. */
struct gdrdrv_extent {
	u64 phys;
	u64 first;		/* GPU page within the pin */
};

struct gdrdrv_mr {
	struct kref ref;
	struct gdrdrv_file *file;

	/* constant once the pin is in the table */
	struct rb_node node;		/* file->lock */
	u64 handle;			/* host pages; also the mmap offset */
	u64 pages;			/* host pages */
	u64 va;				/* start, rounded down to GPU pages */
	u64 size;			/* bytes, whole GPU pages */
	u32 flags;			/* GDRDRV_PIN_FLAG_* */
	u64 tm_cycles;
	bool persistent;
	bool mappable;			/* the caller's address and all extents are aligned */
	bool cacheable;
	u32 nr_extents;
	struct gdrdrv_extent *extents;

	struct mutex lock;		/* all below */
	enum gdrdrv_mr_state state;
	bool revoked;			/* the callback has run */
	bool registered;		/* the provider may still call back */
	bool reserved;			/* the memory type of all extents is ours */
	struct nvidia_p2p_page_table *table;	/* the provider's; a key once registered is 0 */

	u32 want;			/* requested type, GDRDRV_MAPPING_* */
	u32 type;			/* of the mapping that exists */
	bool type_seen;			/* a page table entry confirmed the type */
	unsigned int vmas;
	u64 mapped;			/* bytes at mmap time */
	unsigned long user_start;	/* of the mapping, at mmap time: a hint */
};

struct gdrdrv_pin_args {
	u64 addr;
	u64 size;
	u64 token;
	u32 va_space;
	u32 flags;
};

/* Whole-module counters; /proc/driver/gdrdrv/counters. */
struct gdrdrv_counters {
	atomic64_t held;		/* get_pages not yet undone: nv_get_pages_refcount */
	atomic64_t pins;
	atomic64_t pinned_bytes;
	atomic64_t mappings;
	atomic64_t mapped_bytes;
	atomic64_t revocations;
	atomic64_t faults;
	atomic64_t put_failures;
};

extern struct gdrdrv_counters gdrdrv_counters;

/* main.c */
extern int gdrdrv_dbg_enabled;
extern int gdrdrv_info_enabled;
extern int gdrdrv_use_persistent;
extern int gdrdrv_group;
extern unsigned int gdrdrv_max_handle;
extern unsigned long gdrdrv_max_pinned;
extern const struct file_operations gdrdrv_fops;

#define gdrdrv_dbg(fmt, ...) do {					\
	if (gdrdrv_dbg_enabled)						\
		pr_info_ratelimited("debug: " fmt, ##__VA_ARGS__);	\
} while (0)

#define gdrdrv_info(fmt, ...) do {					\
	if (gdrdrv_info_enabled || gdrdrv_dbg_enabled)			\
		pr_info_ratelimited(fmt, ##__VA_ARGS__);		\
} while (0)

/* file.c */
int gdrdrv_open(struct inode *inode, struct file *fp);
int gdrdrv_flush(struct file *fp, fl_owner_t id);
int gdrdrv_release(struct inode *inode, struct file *fp);
__poll_t gdrdrv_poll(struct file *fp, struct poll_table_struct *wait);
void gdrdrv_show_fdinfo(struct seq_file *m, struct file *fp);
bool gdrdrv_is_owner(const struct gdrdrv_file *file);
void gdrdrv_file_put(struct gdrdrv_file *file);

/* ioctl.c, ioctl32.c */
union gdrdrv_arg {
	struct gdrdrv_pin_buffer pin;
	struct gdrdrv_pin_buffer_v2 pin_v2;
	struct gdrdrv_unpin_buffer unpin;
	struct gdrdrv_get_cb_flag cb_flag;
	struct gdrdrv_get_info info;
	struct gdrdrv_get_info_v2 info_v2;
	struct gdrdrv_get_attr attr;
	struct gdrdrv_req_mapping_type req_type;
	struct gdrdrv_get_version version;
};

long gdrdrv_ioctl(struct file *fp, unsigned int cmd, unsigned long arg);
long gdrdrv_ioctl_sized(struct file *fp, unsigned int cmd, void __user *arg, size_t size);
long gdrdrv_ioctl32(struct file *fp, unsigned int cmd, unsigned long arg);

/* handle.c: the table of one file; insert fails with -ENOMEM only */
int gdrdrv_handle_insert(struct gdrdrv_file *file, struct gdrdrv_mr *mr);
struct gdrdrv_mr *gdrdrv_handle_get(struct gdrdrv_file *file, u64 handle);
struct gdrdrv_mr *gdrdrv_handle_remove(struct gdrdrv_file *file, u64 handle);
struct gdrdrv_mr *gdrdrv_handle_remove_any(struct gdrdrv_file *file);

/* mr.c; unpin_all: of a file that nobody can mmap any more */
int gdrdrv_mr_pin(struct gdrdrv_file *file, const struct gdrdrv_pin_args *args, u64 *handle);
int gdrdrv_mr_unpin(struct gdrdrv_file *file, u64 handle);
void gdrdrv_mr_unpin_all(struct gdrdrv_file *file);
void gdrdrv_mr_get(struct gdrdrv_mr *mr);
void gdrdrv_mr_put(struct gdrdrv_mr *mr);
u64 gdrdrv_extent_end(const struct gdrdrv_mr *mr, u32 i);

/* invalidate.c */
void gdrdrv_mr_zap(struct gdrdrv_mr *mr);
void gdrdrv_mr_kill(struct gdrdrv_mr *mr);
struct nvidia_p2p_page_table *gdrdrv_mr_revoke(struct gdrdrv_mr *mr);
int gdrdrv_mr_reserve(struct gdrdrv_mr *mr);

/* map.c */
int gdrdrv_mmap(struct file *fp, struct vm_area_struct *vma);
int gdrdrv_mr_request(struct gdrdrv_mr *mr, u32 type);
int gdrdrv_mr_type(struct gdrdrv_mr *mr, u32 *type);

/* fault.c */
extern const struct vm_operations_struct gdrdrv_vm_ops;
u64 gdrdrv_mr_phys(const struct gdrdrv_mr *mr, u64 offset, u64 *run);
u64 gdrdrv_vma_offset(const struct gdrdrv_mr *mr, const struct vm_area_struct *vma,
		      unsigned long addr);
void gdrdrv_note_type(struct gdrdrv_mr *mr, struct vm_area_struct *vma, unsigned long addr);

/* proc.c */
int gdrdrv_proc_init(void);
void gdrdrv_proc_exit(void);

#endif
