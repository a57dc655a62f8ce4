// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The module and /dev/nvsim: open files and the dispatch of ioctls. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "nvsim_priv.h"

union arg {
	struct nvsim_alloc alloc;
	struct nvsim_attach attach;
	struct nvsim_register reg;
	struct nvsim_info info;
	struct nvsim_gpu gpu;
	struct nvsim_stats stats;
	struct nvsim_check check;
	struct nvsim_fault fault;
	struct nvsim_delay delay;
	struct nvsim_limit limit;
	struct nvsim_poke poke;
	struct nvsim_probe probe;
	struct nvsim_pin pin;
	struct nvsim_pinned pinned;
	struct nvsim_unpin unpin;
	u64 word;
};

static atomic64_t last_token;

static int nvsim_open(struct inode *inode, struct file *file)
{
	struct nvsim_file *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	spin_lock_init(&f->lock);
	INIT_LIST_HEAD(&f->regs);
	INIT_LIST_HEAD(&f->pins);
	f->token = (u64)atomic64_inc_return(&last_token);
	file->private_data = f;
	return 0;
}

static int nvsim_release(struct inode *inode, struct file *file)
{
	struct nvsim_file *f = file->private_data;

	nvsim_api_lock();
	nvsim_file_clear(f);
	nvsim_api_unlock();
	nvsim_pin_release(f);
	kfree(f);
	return 0;
}

static void reset(void)
{
	nvsim_fault_reset();
	nvsim_api_lock();
	nvsim_p2p_unstick();
	for (unsigned int g = 0; nvsim_device(g); g++)
		nvsim_device(g)->bar1_limit = nvsim_device(g)->size;
	nvsim_api_unlock();
}

static int call(struct nvsim_file *f, unsigned int cmd, union arg *a)
{
	switch (cmd) {
	case NVSIM_IOC_ALLOC:
		return nvsim_ioctl_alloc(f, &a->alloc);
	case NVSIM_IOC_ATTACH:
		return nvsim_ioctl_attach(f, &a->attach);
	case NVSIM_IOC_FREE:
		return nvsim_ioctl_free(f);
	case NVSIM_IOC_REGISTER:
		return nvsim_ioctl_register(f, &a->reg);
	case NVSIM_IOC_UNREGISTER:
		return nvsim_ioctl_unregister(f, a->word);
	case NVSIM_IOC_INFO:
		return nvsim_ioctl_info(f, &a->info);
	case NVSIM_IOC_TOKEN:
		a->word = f->token;
		return 0;
	case NVSIM_IOC_GPU:
		return nvsim_ioctl_gpu(&a->gpu);
	case NVSIM_IOC_STATS:
		return nvsim_ioctl_stats(&a->stats);
	case NVSIM_IOC_CHECK:
		return nvsim_ioctl_check(&a->check);
	case NVSIM_IOC_FAULT:
		return nvsim_ioctl_fault(&a->fault);
	case NVSIM_IOC_DELAY:
		return nvsim_ioctl_delay(&a->delay);
	case NVSIM_IOC_RELEASE:
		nvsim_fault_release();
		return 0;
	case NVSIM_IOC_LIMIT:
		return nvsim_ioctl_limit(&a->limit);
	case NVSIM_IOC_PROBE:
		return nvsim_ioctl_probe(&a->probe);
	case NVSIM_IOC_RESET:
		reset();
		return 0;
	case NVSIM_IOC_POKE:
		return nvsim_ioctl_poke(&a->poke);
	case NVSIM_IOC_PEEK:
		return nvsim_ioctl_peek(&a->poke);
	case NVSIM_IOC_PIN:
		return nvsim_ioctl_pin(f, &a->pin);
	case NVSIM_IOC_PINNED:
		return nvsim_ioctl_pinned(f, &a->pinned);
	case NVSIM_IOC_UNPIN:
		return nvsim_ioctl_unpin(f, &a->unpin);
	default:
		return -ENOTTY;
	}
}

/* The layouts are the same for 32-bit processes. */
static long nvsim_ioctl(struct file *file, unsigned int cmd, unsigned long where)
{
	void __user *user = (void __user *)where;
	unsigned int size = _IOC_SIZE(cmd);
	union arg a = { };
	long err;

	if (_IOC_TYPE(cmd) != 0xd5 || size > sizeof(a))
		return -ENOTTY;
	if (_IOC_DIR(cmd) & _IOC_WRITE && copy_from_user(&a, user, size))
		return -EFAULT;
	err = call(file->private_data, cmd, &a);
	if (!err && _IOC_DIR(cmd) & _IOC_READ && copy_to_user(user, &a, size))
		return -EFAULT;
	return err;
}

static const struct file_operations nvsim_fops = {
	.owner = THIS_MODULE,
	.open = nvsim_open,
	.release = nvsim_release,
	.unlocked_ioctl = nvsim_ioctl,
	.compat_ioctl = nvsim_ioctl,
	.mmap = nvsim_mmap,
};

static struct miscdevice misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "nvsim",
	.mode = 0666,
	.fops = &nvsim_fops,
};

static int __init nvsim_init(void)
{
	int err = nvsim_gpu_init();

	if (err)
		return err;
	err = misc_register(&misc);
	if (err)
		nvsim_gpu_exit();
	return err;
}

static void __exit nvsim_exit(void)
{
	misc_deregister(&misc);
	nvsim_api_lock();
	nvsim_p2p_unstick();
	nvsim_api_unlock();
	nvsim_gpu_exit();
}

module_init(nvsim_init);
module_exit(nvsim_exit);
MODULE_DESCRIPTION("Simulated GPU with NVIDIA's peer-to-peer interface, for tests");
#ifdef NVSIM_PROPRIETARY
MODULE_LICENSE("Proprietary");
#else
MODULE_LICENSE("Dual MIT/GPL");
#endif
