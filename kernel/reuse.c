// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/* Puts and gets under way, see reuse.h. */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "reuse.h"

static DEFINE_SPINLOCK(lock);
static LIST_HEAD(puts);
static LIST_HEAD(gets);
static DECLARE_WAIT_QUEUE_HEAD(put_ended);

void gdrdrv_put_begin(struct gdrdrv_put *put, const void *table)
{
	put->table = table;
	spin_lock(&lock);
	list_add(&put->list, &puts);
	spin_unlock(&lock);
}

void gdrdrv_put_end(struct gdrdrv_put *put)
{
	struct gdrdrv_get *get;

	spin_lock(&lock);
	list_del(&put->list);
	list_for_each_entry(get, &gets, list) {
		if (get->nr_ended < GDRDRV_GET_ENDED)
			get->ended[get->nr_ended] = put->table;
		get->nr_ended += get->nr_ended <= GDRDRV_GET_ENDED;
	}
	spin_unlock(&lock);
	wake_up_all(&put_ended);
}

void gdrdrv_get_begin(struct gdrdrv_get *get)
{
	get->nr_ended = 0;
	spin_lock(&lock);
	list_add(&get->list, &gets);
	spin_unlock(&lock);
}

static bool is_under_way(const void *table)
{
	struct gdrdrv_put *put;
	bool found = false;

	spin_lock(&lock);
	list_for_each_entry(put, &puts, list)
		found |= put->table == table;
	spin_unlock(&lock);
	return found;
}

bool gdrdrv_get_end(struct gdrdrv_get *get, const void *table)
{
	unsigned int i;
	bool found;

	wait_event(put_ended, !is_under_way(table));

	spin_lock(&lock);
	list_del(&get->list);
	spin_unlock(&lock);
	found = get->nr_ended > GDRDRV_GET_ENDED;
	for (i = 0; i < get->nr_ended && i < GDRDRV_GET_ENDED; i++)
		found |= get->ended[i] == table;
	return found;
}
