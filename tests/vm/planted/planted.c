// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * One mistake of each kind that the detectors of a kernel are there for, made when
 * the module is loaded with fault=NAME.  It shows that they detect.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "../nvsim/nvsim.h"

static char *fault = "none";
module_param(fault, charp, 0444);
MODULE_PARM_DESC(fault, "which mistake to make");

/* A variable, so that no compiler or checker sees the mistake. */
static int bits = 40;
module_param(bits, int, 0444);
MODULE_PARM_DESC(bits, "how far fault=shift shifts an int");

#define SIZE 100

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);
static struct file *held;

/* Out of line and volatile: the compiler must not see what happens. */
static noinline void store(volatile char *p, int at)
{
	p[at] = 1;
}

static noinline int load(volatile char *p, int at)
{
	return p[at];
}

static int out_of_bounds(char *p)
{
	store(p, SIZE + 4);
	return 0;
}

static int use_after_free(char *p)
{
	kfree(p);
	load(p, 8);
	return 1;
}

static int double_free(char *p)
{
	kfree(p);
	kfree(p);
	return 1;
}

/* Not in the init function, whose name is gone when kmemleak shows who allocated. */
static noinline int leak(char *p)
{
	char *lost = kmalloc(3 * SIZE, GFP_KERNEL);

	if (lost)
		store(lost, 0);
	return 0;
}

static int lock_order(char *p)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
	return 0;
}

static int sleep_in_atomic(char *p)
{
	spin_lock(&spin);
	msleep(20);
	spin_unlock(&spin);
	return 0;
}

static int might_sleep_in_atomic(char *p)
{
	spin_lock(&spin);
	might_sleep();
	spin_unlock(&spin);
	return 0;
}

static int shift(char *p)
{
	store(p, (1 << bits) & 1);
	return 0;
}

static int warn(char *p)
{
	WARN(1, "planted\n");
	return 0;
}

static int oops(char *p)
{
	store(NULL, 16);
	return 0;
}

static int hang(char *p)
{
	DECLARE_WAIT_QUEUE_HEAD_ONSTACK(never);

	wait_event(never, !p);
	return 0;
}

/* The whole machine: no processor serves interrupts any more. */
static void spin_here(void *unused)
{
	local_irq_disable();
	for (;;)
		cpu_relax();
}

static int lockup(char *p)
{
	on_each_cpu(spin_here, NULL, 0);
	return 0;
}

/* An open file keeps a driver loaded. */
static int hold(char *p)
{
	held = filp_open("/dev/gdrdrv", O_RDWR, 0);
	return 0;
}

/* Memory of the simulated GPU that nobody gives back. */
static int allocate(char *p)
{
	struct nvsim_alloc arg = { .size = NVSIM_UNIT };
	unsigned long at = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
				   MAP_ANONYMOUS | MAP_PRIVATE, 0);

	held = filp_open(NVSIM_DEVICE_PATH, O_RDWR, 0);
	if (IS_ERR(held) || copy_to_user((void __user *)at, &arg, sizeof(arg)) ||
	    held->f_op->unlocked_ioctl(held, NVSIM_IOC_ALLOC, at))
		pr_err("nothing allocated\n");
	return 0;
}

static const struct {
	const char *name;
	int (*make)(char *p);	/* 1: p is not to be freed any more */
} faults[] = {
	{ "out_of_bounds", out_of_bounds },
	{ "use_after_free", use_after_free },
	{ "double_free", double_free },
	{ "leak", leak },
	{ "lock_order", lock_order },
	{ "sleep_in_atomic", sleep_in_atomic },
	{ "might_sleep_in_atomic", might_sleep_in_atomic },
	{ "shift", shift },
	{ "warn", warn },
	{ "oops", oops },
	{ "hang", hang },
	{ "lockup", lockup },
	{ "hold", hold },
	{ "allocate", allocate },
};

static int __init planted_init(void)
{
	char *p = kmalloc(SIZE, GFP_KERNEL);
	size_t i;

	if (!p)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(faults); i++)
		if (!strcmp(fault, faults[i].name))
			break;
	if (i == ARRAY_SIZE(faults)) {
		kfree(p);
		return strcmp(fault, "none") ? -EINVAL : 0;
	}
	if (!faults[i].make(p))
		kfree(p);
	return 0;
}

static void __exit planted_exit(void)
{
	if (!IS_ERR_OR_NULL(held))
		filp_close(held, NULL);
}

module_init(planted_init);
module_exit(planted_exit);

MODULE_DESCRIPTION("planted mistakes for the detectors of a debug kernel");
MODULE_LICENSE("Dual MIT/GPL");
