// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What tests count, break and slow down. */
#include <linux/jiffies.h>
#include <linux/wait.h>

#include "nvsim_priv.h"

#define MAX_DELAY 10000

static DEFINE_SPINLOCK(fault_lock);
static struct nvsim_fault faults[NVSIM_FAULTS];         /* fault lock */

static u32 delays[NVSIM_POINTS];
static unsigned int generation;         /* of delays; changes end those that are under way */
static DECLARE_WAIT_QUEUE_HEAD(delayed);
static atomic_t waiting[NVSIM_POINTS], passed[NVSIM_POINTS];

static atomic64_t counters[NVSIM_COUNTERS];

void nvsim_count(enum nvsim_counter c, int by)
{
	atomic64_add(by, &counters[c]);
}

/* Does this call get the fault? */
bool nvsim_fault(enum nvsim_fault_kind kind, u64 *value)
{
	struct nvsim_fault *f = &faults[kind];
	bool hit = false;

	spin_lock(&fault_lock);
	if (f->count && (!f->tgid || f->tgid == (u32)current->tgid)) {
		if (f->skip) {
			f->skip--;
		} else {
			f->count--;
			*value = f->value;
			hit = true;
		}
	}
	spin_unlock(&fault_lock);
	return hit;
}

int nvsim_ioctl_fault(const struct nvsim_fault *arg)
{
	if (arg->kind >= NVSIM_FAULTS)
		return -EINVAL;
	if ((arg->kind == NVSIM_FAULT_GET || arg->kind == NVSIM_FAULT_PUT) &&
	    (!arg->value || arg->value > 4095))
		return -EINVAL;
	spin_lock(&fault_lock);
	faults[arg->kind] = *arg;
	spin_unlock(&fault_lock);
	return 0;
}

/* Not interruptible, as the real driver is not. */
void nvsim_point(enum nvsim_point point)
{
	unsigned int now = READ_ONCE(generation);
	u32 ms = READ_ONCE(delays[point]);

	if (!ms)
		return;
	atomic_inc(&passed[point]);
	atomic_inc(&waiting[point]);
	wait_event_timeout(delayed, READ_ONCE(generation) != now, (long)msecs_to_jiffies(ms));
	atomic_dec(&waiting[point]);
}

int nvsim_ioctl_delay(const struct nvsim_delay *arg)
{
	if (arg->point >= NVSIM_POINTS || arg->ms > MAX_DELAY)
		return -EINVAL;
	WRITE_ONCE(delays[arg->point], arg->ms);
	return 0;
}

void nvsim_fault_release(void)
{
	spin_lock(&fault_lock);
	WRITE_ONCE(generation, generation + 1);
	spin_unlock(&fault_lock);
	wake_up_all(&delayed);
}

void nvsim_fault_reset(void)
{
	spin_lock(&fault_lock);
	memset(faults, 0, sizeof(faults));
	spin_unlock(&fault_lock);
	for (unsigned int i = 0; i < NVSIM_POINTS; i++)
		WRITE_ONCE(delays[i], 0);
	nvsim_fault_release();
}

int nvsim_ioctl_stats(struct nvsim_stats *arg)
{
	static const size_t place[NVSIM_COUNTERS] = {
		[NVSIM_GETS] = offsetof(struct nvsim_stats, gets),
		[NVSIM_GET_FAILURES] = offsetof(struct nvsim_stats, get_failures),
		[NVSIM_PUTS] = offsetof(struct nvsim_stats, puts),
		[NVSIM_PUT_MISSES] = offsetof(struct nvsim_stats, put_misses),
		[NVSIM_PUT_FAILURES] = offsetof(struct nvsim_stats, put_failures),
		[NVSIM_CALLBACKS] = offsetof(struct nvsim_stats, callbacks),
		[NVSIM_RECURSIONS] = offsetof(struct nvsim_stats, recursions),
		[NVSIM_WILD] = offsetof(struct nvsim_stats, wild),
		[NVSIM_MEMORIES] = offsetof(struct nvsim_stats, memories),
		[NVSIM_REGISTRATIONS] = offsetof(struct nvsim_stats, registrations),
		[NVSIM_PINS] = offsetof(struct nvsim_stats, pins),
		[NVSIM_PERSISTENT_PINS] = offsetof(struct nvsim_stats, persistent_pins),
		[NVSIM_DAMAGED] = offsetof(struct nvsim_stats, damaged),
	};

	for (unsigned int i = 0; i < NVSIM_COUNTERS; i++)
		*(u64 *)((char *)arg + place[i]) = (u64)atomic64_read(&counters[i]);
	for (unsigned int i = 0; i < NVSIM_POINTS; i++) {
		arg->at[i] = (u32)atomic_read(&waiting[i]);
		arg->passed[i] = (u32)atomic_read(&passed[i]);
	}
	return 0;
}
