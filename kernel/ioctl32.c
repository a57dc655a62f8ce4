// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * Commands of 32-bit processes.  Programs built with our header use the numbers and
 * layouts of 64 bits.  Others put the size of a pointer, 4, where 8 stands here;
 * and i386 aligns 64-bit words to 4, so its structs end where the last member ends,
 * and PIN_BUFFER has no hole.  A struct that is longer (32-bit Arm) has padding there.
 */
#include <linux/compat.h>
#include <linux/uaccess.h>

#include "driver.h"

#ifdef CONFIG_COMPAT

struct pin_buffer_i386 {
	__u64 addr;
	__u64 size;
	__u64 p2p_token;
	__u32 va_space;
	__u64 handle;
} __packed;

#define PIN_BUFFER_I386	_IOWR(GDRDRV_IOC_TYPE, 1, struct pin_buffer_i386)
#define POINTER_SIZED(nr)	_IOWR(GDRDRV_IOC_TYPE, nr, __u32)

static const struct {
	unsigned int theirs;
	unsigned int ours;
	size_t size;			/* up to the end of the last member */
} numbers[] = {
	{ POINTER_SIZED(2), GDRDRV_IOC_UNPIN_BUFFER, 8 },
	{ POINTER_SIZED(3), GDRDRV_IOC_GET_CB_FLAG, 12 },
	{ POINTER_SIZED(4), GDRDRV_IOC_GET_INFO, 48 },
	{ POINTER_SIZED(5), GDRDRV_IOC_GET_INFO_V2, 44 },
	{ POINTER_SIZED(6), GDRDRV_IOC_GET_ATTR, 8 },
	{ POINTER_SIZED(8), GDRDRV_IOC_REQ_MAPPING_TYPE, 12 },
	{ POINTER_SIZED(255), GDRDRV_IOC_GET_VERSION, 8 },
};

static long pin_i386(struct gdrdrv_file *file, struct pin_buffer_i386 __user *uarg)
{
	struct pin_buffer_i386 in;
	struct gdrdrv_pin_args args = { 0 };
	u64 handle;
	int ret;

	if (!gdrdrv_is_owner(file))
		return -EACCES;
	if (copy_from_user(&in, uarg, sizeof(in)))
		return -EFAULT;
	args.addr = in.addr;
	args.size = in.size;
	args.token = in.p2p_token;
	args.va_space = in.va_space;
	ret = gdrdrv_mr_pin(file, &args, &handle);
	if (ret)
		return ret;
	in.handle = handle;
	if (copy_to_user(uarg, &in, sizeof(in))) {
		gdrdrv_mr_unpin(file, handle);
		return -EFAULT;
	}
	return 0;
}

long gdrdrv_ioctl32(struct file *fp, unsigned int cmd, unsigned long arg)
{
	void __user *uarg = compat_ptr(arg);
	size_t i;

	if (cmd == PIN_BUFFER_I386)
		return pin_i386(fp->private_data, uarg);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i].theirs == cmd)
			return gdrdrv_ioctl_sized(fp, numbers[i].ours, uarg, numbers[i].size);
	return gdrdrv_ioctl_sized(fp, cmd, uarg, 0);
}

#endif
