/* SPDX-License-Identifier: MIT */
/* max_pinned_bytes: no open file may pin more; the module is loaded with 1 MiB. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define PARAMETER	"/sys/module/gdrdrv/parameters/max_pinned_bytes"
#define LIMIT		MIB(1)

static uint64_t va;

static void up_to_the_limit(void)
{
	int fd = dev_open(), other = dev_open();
	uint64_t half, rest, handle;

	half = dev_must_pin(fd, va, LIMIT / 2);
	want_eq(dev_pin(fd, va, LIMIT / 2 + 1, &handle), -ENOMEM);
	want_eq(dev_pin(fd, va, LIMIT, &handle), -ENOMEM);
	rest = dev_must_pin(fd, va, LIMIT / 2);
	want_eq(dev_pin(fd, va, 1, &handle), -ENOMEM);
	/* a limit of the file, not of the process */
	handle = dev_must_pin(other, va, LIMIT);
	want_eq(dev_unpin(other, handle), 0);
	want_eq(dev_unpin(fd, half), 0);
	half = dev_must_pin(fd, va, LIMIT / 2);
	want_eq(dev_unpin(fd, half), 0);
	want_eq(dev_unpin(fd, rest), 0);
	handle = dev_must_pin(fd, va, LIMIT);
	close(fd);
	close(other);
}

/* A pin that fails otherwise is not charged. */
static void failures_are_not_charged(void)
{
	int fd = dev_open(), i;
	uint64_t handle;

	for (i = 0; i < 100; i++) {
		want_eq(dev_pin(fd, GPU_PAGE * 7, LIMIT / 2, &handle), -EINVAL);
		sim_fault(NVSIM_FAULT_GET, EIO);
		want_eq(dev_pin(fd, va, LIMIT, &handle), -EIO);
		sim_fault(NVSIM_FAULT_TABLE_VERSION, 0x70000);
		want_eq(dev_pin(fd, va, LIMIT, &handle), -EFAULT);
	}
	sim_reset();
	handle = dev_must_pin(fd, va, LIMIT);
	want_eq(dev_unpin(fd, handle), 0);
	close(fd);
}

static int shared;
static unsigned pinned;

static void *pin_halves(void *unused)
{
	uint64_t handle;
	int i;

	(void)unused;
	for (i = 0; i < 500; i++) {
		if (dev_pin(shared, va, LIMIT / 2, &handle))
			continue;
		want(__atomic_add_fetch(&pinned, 1, __ATOMIC_SEQ_CST) <= 2);
		__atomic_sub_fetch(&pinned, 1, __ATOMIC_SEQ_CST);
		want_eq(dev_unpin(shared, handle), 0);
	}
	return NULL;
}

static void never_more_at_once(void)
{
	pthread_t threads[4];
	uint64_t handle;
	int i;

	shared = dev_open();
	for (i = 0; i < 4; i++)
		need(pthread_create(&threads[i], NULL, pin_halves, NULL) == 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	handle = dev_must_pin(shared, va, LIMIT);
	want_eq(dev_unpin(shared, handle), 0);
	close(shared);
}

int main(void)
{
	char text[32];

	if (read_file(PARAMETER, text, sizeof(text)) <= 0 || strtoull(text, NULL, 10) != LIMIT)
		guest_skip("needs max_pinned_bytes=1048576");
	va = sim_alloc(2 * LIMIT);
	RUN(up_to_the_limit);
	RUN(failures_are_not_charged);
	RUN(never_more_at_once);
	return guest_end();
}
