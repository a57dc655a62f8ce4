// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * Open files: who may open, who owns, what poll and fdinfo say, and when the pins
 * of a file end.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/major.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "compat.h"
#include "driver.h"

/* The node's mode decides; where a group is set, one must also be in it. */
static bool may_open(void)
{
	if (gdrdrv_group < 0)
		return true;
	return in_group_p(KGIDT_INIT(gdrdrv_group)) || capable(CAP_DAC_OVERRIDE);
}

bool gdrdrv_is_owner(const struct gdrdrv_file *file)
{
	return current->tgid == file->tgid &&
	       gdrdrv_start_time(current->group_leader) == file->start_time;
}

/* A mapping of its own, so that a zap reaches the VMAs of this open file alone. */
static void init_mapping(struct address_space *mapping, struct inode *inode)
{
	address_space_init_once(mapping);
	mapping->host = inode;
	mapping->a_ops = &empty_aops;
}

int gdrdrv_open(struct inode *inode, struct file *fp)
{
	struct gdrdrv_file *file;

	/* of our own major only the first minor is a device; the misc node has any */
	if (imajor(inode) != MISC_MAJOR && iminor(inode) != 0)
		return -ENXIO;
	if (!may_open())
		return -EACCES;
	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	kref_init(&file->ref);
	init_mapping(&file->mapping, inode);
	file->tgid = current->tgid;
	file->start_time = gdrdrv_start_time(current->group_leader);
	mutex_init(&file->lock);
	file->pins = RB_ROOT;
	atomic_set(&file->revoked, 0);
	init_waitqueue_head(&file->wait);

	fp->private_data = file;
	fp->f_mapping = &file->mapping;
	return nonseekable_open(inode, fp);
}

static void free_file(struct kref *ref)
{
	kfree(container_of(ref, struct gdrdrv_file, ref));
}

void gdrdrv_file_put(struct gdrdrv_file *file)
{
	kref_put(&file->ref, free_file);
}

/*
 * A child that inherited the file must not keep the memory of a process that is
 * gone: when the owner exits with the file open, its pins end, whoever else holds
 * the file.  One that gave the file away and closed it leaves its pins to the holder.
 */
int gdrdrv_flush(struct file *fp, fl_owner_t id)
{
	struct gdrdrv_file *file = fp->private_data;

	if (gdrdrv_is_owner(file) && !atomic_read(&current->signal->live))
		gdrdrv_mr_unpin_all(file);
	return 0;
}

int gdrdrv_release(struct inode *inode, struct file *fp)
{
	struct gdrdrv_file *file = fp->private_data;

	gdrdrv_mr_unpin_all(file);
	gdrdrv_file_put(file);
	return 0;
}

/* POLLPRI and POLLERR for as long as a pin is revoked and not unpinned. */
__poll_t gdrdrv_poll(struct file *fp, struct poll_table_struct *wait)
{
	struct gdrdrv_file *file = fp->private_data;

	poll_wait(fp, &file->wait, wait);
	return atomic_read(&file->revoked) ? EPOLLPRI | EPOLLERR : 0;
}

void gdrdrv_show_fdinfo(struct seq_file *m, struct file *fp)
{
	struct gdrdrv_file *file = fp->private_data;
	u64 pins, pinned, mapped = 0;
	struct rb_node *node;

	mutex_lock(&file->lock);
	pins = file->nr_pins;
	pinned = file->pinned;
	for (node = rb_first(&file->pins); node; node = rb_next(node)) {
		struct gdrdrv_mr *mr = rb_entry(node, struct gdrdrv_mr, node);

		/* without mr->lock: a figure, not a decision */
		if (READ_ONCE(mr->vmas))
			mapped += READ_ONCE(mr->mapped);
	}
	mutex_unlock(&file->lock);

	seq_printf(m, "gdrdrv-pins:\t%llu\n", pins);
	seq_printf(m, "gdrdrv-pinned-bytes:\t%llu\n", pinned);
	seq_printf(m, "gdrdrv-mapped-bytes:\t%llu\n", mapped);
	seq_printf(m, "gdrdrv-revoked:\t%d\n", atomic_read(&file->revoked));
}
