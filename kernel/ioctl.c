// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * The commands: one table, one copy in and out, handlers on kernel structs.  A
 * handler writes its outputs only when it succeeds.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#ifdef CONFIG_X86
#include <asm/tsc.h>
#endif

#include "driver.h"
#include "p2p.h"

static int do_pin(struct gdrdrv_file *file, union gdrdrv_arg *arg)
{
	const struct gdrdrv_pin_args args = {
		.addr = arg->pin.addr,
		.size = arg->pin.size,
		.token = arg->pin.p2p_token,
		.va_space = arg->pin.va_space,
	};

	return gdrdrv_mr_pin(file, &args, &arg->pin.handle);
}

static int do_pin_v2(struct gdrdrv_file *file, union gdrdrv_arg *arg)
{
	const struct gdrdrv_pin_args args = {
		.addr = arg->pin_v2.addr,
		.size = arg->pin_v2.size,
		.flags = arg->pin_v2.flags,
	};

	if (args.flags & ~GDRDRV_PIN_FLAGS_KNOWN)
		return -EINVAL;
	if (args.flags & GDRDRV_PIN_FLAG_FORCE_PCIE && !gdrdrv_p2p_force_pcie())
		return -EINVAL;
	return gdrdrv_mr_pin(file, &args, &arg->pin_v2.handle);
}

static int undo_pin(struct gdrdrv_file *file, union gdrdrv_arg *arg)
{
	return gdrdrv_mr_unpin(file, arg->pin.handle);
}

static int undo_pin_v2(struct gdrdrv_file *file, union gdrdrv_arg *arg)
{
	return gdrdrv_mr_unpin(file, arg->pin_v2.handle);
}

static int do_unpin(struct gdrdrv_file *file, union gdrdrv_arg *arg)
{
	return gdrdrv_mr_unpin(file, arg->unpin.handle);
}

static int do_get_cb_flag(struct gdrdrv_file *file, union gdrdrv_arg *arg)
{
	struct gdrdrv_mr *mr = gdrdrv_handle_get(file, arg->cb_flag.handle);

	if (!mr)
		return -EINVAL;
	arg->cb_flag.flag = READ_ONCE(mr->revoked);
	gdrdrv_mr_put(mr);
	return 0;
}

static u32 clock_khz(void)
{
#ifdef CONFIG_X86
	return cpu_khz;
#else
	return 0;
#endif
}

/* What both versions tell. */
static int get_info(struct gdrdrv_file *file, u64 handle, struct gdrdrv_get_info_v2 *info)
{
	struct gdrdrv_mr *mr = gdrdrv_handle_get(file, handle);
	int ret;

	if (!mr)
		return -EINVAL;
	ret = gdrdrv_mr_type(mr, &info->mapping_type);
	info->va = mr->va;
	info->mapped_size = mr->size;
	info->page_size = GDRDRV_GPU_PAGE_SIZE;
	info->tsc_khz = clock_khz();
	info->tm_cycles = mr->tm_cycles;
	gdrdrv_mr_put(mr);
	return ret;
}

static int do_get_info(struct gdrdrv_file *file, union gdrdrv_arg *arg)
{
	struct gdrdrv_get_info_v2 info;
	int ret = get_info(file, arg->info.handle, &info);

	if (ret)
		return ret;
	arg->info.va = info.va;
	arg->info.mapped_size = info.mapped_size;
	arg->info.page_size = info.page_size;
	arg->info.tsc_khz = info.tsc_khz;
	arg->info.tm_cycles = info.tm_cycles;
	arg->info.mapped = info.mapping_type != GDRDRV_MAPPING_NONE;
	arg->info.wc_mapping = info.mapping_type == GDRDRV_MAPPING_WC;
	return 0;
}

static int do_get_info_v2(struct gdrdrv_file *file, union gdrdrv_arg *arg)
{
	return get_info(file, arg->info_v2.handle, &arg->info_v2);
}

static int do_get_attr(struct gdrdrv_file *file, union gdrdrv_arg *arg)
{
	switch (arg->attr.attr) {
	case GDRDRV_ATTR_USE_PERSISTENT_MAPPING:
		arg->attr.val = gdrdrv_p2p_persistent();
		return 0;
	case GDRDRV_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE:
		arg->attr.val = gdrdrv_p2p_force_pcie();
		return 0;
	default:
		return -EINVAL;
	}
}

static int do_req_mapping_type(struct gdrdrv_file *file, union gdrdrv_arg *arg)
{
	struct gdrdrv_mr *mr;
	int ret;

	if (arg->req_type.mapping_type > GDRDRV_MAPPING_DEVICE)
		return -EINVAL;
	mr = gdrdrv_handle_get(file, arg->req_type.handle);
	if (!mr)
		return -EINVAL;
	ret = gdrdrv_mr_request(mr, arg->req_type.mapping_type);
	gdrdrv_mr_put(mr);
	return ret;
}

static int do_get_version(struct gdrdrv_file *file, union gdrdrv_arg *arg)
{
	arg->version.gdrdrv_version = GDRDRV_VERSION;
	arg->version.minimum_gdr_api_version = GDRDRV_MIN_API_VERSION;
	return 0;
}

#define COPY_IN		1
#define COPY_OUT	2
#define COPY_BOTH	(COPY_IN | COPY_OUT)
#define COPY_ALWAYS	4	/* out, also when the handler failed */

static const struct command {
	unsigned int cmd;
	unsigned int copy;
	size_t size;
	int (*run)(struct gdrdrv_file *file, union gdrdrv_arg *arg);
	int (*undo)(struct gdrdrv_file *file, union gdrdrv_arg *arg);
} commands[] = {
#define COMMAND(nr, copy, name, run, undo) \
	{ GDRDRV_IOC_##nr, copy, sizeof(struct gdrdrv_##name), run, undo }
	COMMAND(PIN_BUFFER, COPY_BOTH, pin_buffer, do_pin, undo_pin),
	COMMAND(PIN_BUFFER_V2, COPY_BOTH, pin_buffer_v2, do_pin_v2, undo_pin_v2),
	COMMAND(UNPIN_BUFFER, COPY_IN, unpin_buffer, do_unpin, NULL),
	COMMAND(GET_CB_FLAG, COPY_BOTH, get_cb_flag, do_get_cb_flag, NULL),
	COMMAND(GET_INFO, COPY_BOTH, get_info, do_get_info, NULL),
	COMMAND(GET_INFO_V2, COPY_BOTH, get_info_v2, do_get_info_v2, NULL),
	COMMAND(GET_ATTR, COPY_BOTH | COPY_ALWAYS, get_attr, do_get_attr, NULL),
	COMMAND(REQ_MAPPING_TYPE, COPY_IN, req_mapping_type, do_req_mapping_type, NULL),
	COMMAND(GET_VERSION, COPY_OUT, get_version, do_get_version, NULL),
#undef COMMAND
};

static const struct command *find_command(unsigned int cmd)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].cmd == cmd)
			return &commands[i];
	return NULL;
}

/*
 * Runs a command whose struct has so many bytes in user space; 0 stands for the
 * size that it has here.
 */
long gdrdrv_ioctl_sized(struct file *fp, unsigned int cmd, void __user *uarg, size_t size)
{
	struct gdrdrv_file *file = fp->private_data;
	const struct command *c;
	union gdrdrv_arg arg;
	int ret;

	if (_IOC_TYPE(cmd) != GDRDRV_IOC_TYPE)
		return -EINVAL;
	if (!gdrdrv_is_owner(file))
		return -EACCES;
	c = find_command(cmd);
	if (!c)
		return -ENOTTY;
	if (!size)
		size = c->size;

	memset(&arg, 0, sizeof(arg));
	if (c->copy & COPY_IN && copy_from_user(&arg, uarg, size))
		return -EFAULT;
	ret = c->run(file, &arg);
	if (!(c->copy & COPY_OUT) || (ret && !(c->copy & COPY_ALWAYS)))
		return ret;
	if (copy_to_user(uarg, &arg, size)) {
		if (!ret && c->undo)
			c->undo(file, &arg);
		return -EFAULT;
	}
	return ret;
}

long gdrdrv_ioctl(struct file *fp, unsigned int cmd, unsigned long arg)
{
	return gdrdrv_ioctl_sized(fp, cmd, (void __user *)arg, 0);
}
