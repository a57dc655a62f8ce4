// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * The module: parameters, device nodes, loading and unloading.
 *
 * There are two ways to the same device: a misc device, which the kernel itself
 * puts into /dev, and a character device with a number of its own, which scripts
 * look up in /proc/devices to make a node.
 */
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "driver.h"
#include "huge.h"
#include "p2p.h"

int gdrdrv_dbg_enabled;
module_param_named(dbg_enabled, gdrdrv_dbg_enabled, int, 0444);
MODULE_PARM_DESC(dbg_enabled, "log more, and show nv_get_pages_refcount (default 0)");

int gdrdrv_info_enabled;
module_param_named(info_enabled, gdrdrv_info_enabled, int, 0444);
MODULE_PARM_DESC(info_enabled, "log what is worth knowing (default 0)");

int gdrdrv_use_persistent = 1;
module_param_named(use_persistent_mapping, gdrdrv_use_persistent, int, 0444);
MODULE_PARM_DESC(use_persistent_mapping,
		 "keep memory until it is unpinned, where the NVIDIA driver can (default 1)");

unsigned long gdrdrv_max_pinned;
module_param_named(max_pinned_bytes, gdrdrv_max_pinned, ulong, 0644);
MODULE_PARM_DESC(max_pinned_bytes, "most bytes that one open file may pin (default 0: no limit)");

unsigned int gdrdrv_max_handle = U32_MAX;
module_param_named(max_handle, gdrdrv_max_handle, uint, 0444);
MODULE_PARM_DESC(max_handle, "last handle before handles start anew, for tests (default 2^32-1)");

int gdrdrv_group = -1;
module_param_named(group, gdrdrv_group, int, 0444);
MODULE_PARM_DESC(group, "number of the group that may open the device (default -1: no such rule)");

static ushort mode = 0666;

static int get_mode(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "0%o\n", mode);
}

/* Octal, with a 0 in front or not, as for chmod. */
static int set_mode(const char *text, const struct kernel_param *kp)
{
	u16 value;
	int ret = kstrtou16(text, 8, &value);

	if (!ret && value > 0777)
		ret = -ERANGE;
	if (!ret)
		mode = value;
	return ret;
}

static const struct kernel_param_ops mode_ops = {
	.set = set_mode,
	.get = get_mode,
};
module_param_cb(mode, &mode_ops, &mode, 0444);
__MODULE_PARM_TYPE(mode, "ushort");
MODULE_PARM_DESC(mode, "permissions of /dev/gdrdrv (default 0666)");

struct gdrdrv_counters gdrdrv_counters;
static int major;

const struct file_operations gdrdrv_fops = {
	.owner		= THIS_MODULE,
	.open		= gdrdrv_open,
	.flush		= gdrdrv_flush,
	.release	= gdrdrv_release,
	.unlocked_ioctl	= gdrdrv_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl	= gdrdrv_ioctl32,
#endif
	.mmap		= gdrdrv_mmap,
#ifdef GDRDRV_HUGE_PFNMAP
	.get_unmapped_area = gdrdrv_get_unmapped_area,
#endif
	.poll		= gdrdrv_poll,
	.show_fdinfo	= gdrdrv_show_fdinfo,
};

/* What udev gives the node, see 99-gdrdrv.rules. */
static ssize_t mode_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return scnprintf(buf, PAGE_SIZE, "0%o\n", mode);
}
static DEVICE_ATTR_RO(mode);

static ssize_t group_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return scnprintf(buf, PAGE_SIZE, "%d\n", gdrdrv_group);
}
static DEVICE_ATTR_RO(group);

static struct attribute *node_attrs[] = {
	&dev_attr_mode.attr,
	&dev_attr_group.attr,
	NULL,
};
ATTRIBUTE_GROUPS(node);

static struct miscdevice misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "gdrdrv",
	.fops	= &gdrdrv_fops,
	.groups	= node_groups,
};

static int __init gdrdrv_init(void)
{
	int ret;

	ret = register_chrdev(0, "gdrdrv", &gdrdrv_fops);
	if (ret < 0)
		return ret;
	major = ret;

	ret = gdrdrv_proc_init();
	if (ret)
		goto unregister_chrdev;

	misc.mode = mode;
	ret = misc_register(&misc);
	if (ret)
		goto exit_proc;

	gdrdrv_info("version %d.%d, %s pages\n", GDRDRV_MAJOR_VERSION, GDRDRV_MINOR_VERSION,
		    gdrdrv_p2p_persistent() ? "persistent" : "revocable");
	return 0;

exit_proc:
	gdrdrv_proc_exit();
unregister_chrdev:
	unregister_chrdev(major, "gdrdrv");
	return ret;
}

static void __exit gdrdrv_exit(void)
{
	misc_deregister(&misc);
	gdrdrv_proc_exit();
	unregister_chrdev(major, "gdrdrv");
	gdrdrv_p2p_exit();
}

module_init(gdrdrv_init);
module_exit(gdrdrv_exit);

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Maps GPU memory into processes, for GDRCopy");
MODULE_VERSION("2.6.0");
#ifdef GDRDRV_BUILT_FOR
MODULE_INFO(nvidia, GDRDRV_BUILT_FOR);
#endif
