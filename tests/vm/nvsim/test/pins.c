// SPDX-License-Identifier: MIT
/*
 * Description: the simulated GPU keeps the rules of NVIDIA's peer-to-peer
 * interface: who may pin what, callbacks, puts that miss, persistent pins, limits,
 * and the failures and delays that tests ask for.
 */
#include <pthread.h>
#include <signal.h>

#include "rig.h"

#define VA 0x7a0000000000ULL
#define SIZE KIB(256)

static int memory_at(uint64_t va, uint64_t size, uint64_t extent)
{
	int fd = rig_open();

	want(rig_alloc(fd, size, extent), 0);
	want(rig_register(fd, va, 0, size), 0);
	return fd;
}

static void who_may(void *arg)
{
	int fd = rig_open();
	uint64_t pin, token = *(uint64_t *)arg;
	struct nvsim_pin by_token = { .va = VA, .size = KIB(64), .token = token };

	want(rig_pin(fd, VA, KIB(64), 0, &pin), -EINVAL);
	/* a token is all it takes */
	want(rig_pin_as(fd, &by_token, &pin), 0);
	want(rig_unpin(fd, pin), 0);
	close(fd);
}

static void ranges(void)
{
	int a = memory_at(VA, SIZE, KIB(64)), b = memory_at(VA + SIZE, SIZE, 0);
	uint64_t pin, token, wild = rig_stats().wild;
	struct nvsim_pinned p;

	want(rig_pin(a, VA + SIZE - KIB(64), KIB(128), 0, &pin), -EINVAL);
	want(rig_pin(a, VA + 4096, KIB(64), 0, &pin), -EINVAL);
	want(rig_pin(a, VA, 4096, 0, &pin), -EINVAL);
	want(rig_pin(a, VA, 0, 0, &pin), -EINVAL);
	want(rig_pin(a, VA - KIB(64), KIB(64), 0, &pin), -EINVAL);
	want(rig_pin(a, VA, -KIB(64), 0, &pin), -EINVAL);
	want(rig_stats().wild - wild, 1);
	/* on drivers that have no other way of saying it, this asks for a persistent pin */
	if (rig_pin(a, VA, KIB(64), NVSIM_PIN_NO_CALLBACK, &pin) != -EINVAL) {
		want(rig_stats().persistent_pins, 1);
		want(rig_unpin(a, pin), 0);
	}
	want(rig_pin(b, VA + KIB(64), KIB(128), 0, &pin), 0);
	for (uint64_t i = 0; i < 2; i++) {
		p = rig_pinned(b, pin, i);
		want(p.phys, rig_info(a, KIB(64) * (i + 1)).phys);
	}
	want(p.entries, 2);
	want(p.page_size, 1);
	want_true(p.version == 0x10002 || p.version == 0x20000);
	want(rig_unpin(b, pin), 0);
	want(ioctl(a, NVSIM_IOC_TOKEN, &token), 0);
	rig_child(who_may, &token);
	close(a);
	close(b);
}

/* In the process that frees, before FREE returns, once; then put says 0 and misses. */
static void callbacks(void)
{
	int fd = memory_at(VA, SIZE, 0), pins = rig_open();
	uint64_t first, second, calls = rig_stats().callbacks, misses;

	want(rig_pin(pins, VA, SIZE, 0, &first), 0);
	want(rig_pin(pins, VA, KIB(64), 0, &second), 0);
	want(rig_pinned(pins, first, 0).revoked, 0);
	want(rig_stats().pins, 2);
	want(rig_unregister(fd, VA), 0);
	want(rig_stats().pins, 0);
	want(rig_stats().callbacks - calls, 2);
	want(rig_pinned(pins, first, 0).revoked, 1);
	want(rig_pinned(pins, first, 0).tgid, getpid());
	misses = rig_stats().put_misses;
	want(rig_unpin(pins, first), 0);
	want(rig_stats().put_misses - misses, 1);
	want(rig_register(fd, VA, 0, SIZE), 0);
	want(rig_pin(pins, VA, SIZE, 0, &first), 0);
	close(fd);
	want(rig_stats().callbacks - calls, 3);
	close(pins);
}

static void put_elsewhere(void *arg)
{
	const uint64_t *pin = arg;

	want(rig_unpin((int)pin[0], pin[1]), 0);
	want(rig_stats().pins, 1);
}

/* A put in another process misses, answers 0, and the callback still comes. */
static void foreign_put(void)
{
	int fd = memory_at(VA, SIZE, 0), pins = rig_open();
	uint64_t arg[2] = { (uint64_t)pins }, calls = rig_stats().callbacks;

	want(rig_pin(pins, VA, SIZE, 0, &arg[1]), 0);
	rig_child(put_elsewhere, arg);
	want(rig_free(fd), 0);
	want(rig_stats().callbacks - calls, 1);
	want(rig_stats().pins, 0);
	close(pins);
	close(fd);
}

static void put_persistent(void *arg)
{
	const uint64_t *pin = arg;

	want(rig_unpin((int)pin[0], pin[1]), 0);
	want(rig_stats().persistent_pins, 0);
}

/* A persistent pin keeps the memory, whoever frees it, until it is put, by whomever. */
static void persistent(void)
{
	int fd = memory_at(VA, SIZE, 0), pins = rig_open();
	uint64_t arg[2] = { (uint64_t)pins }, calls = rig_stats().callbacks, other;
	struct nvsim_pin forced = { .va = VA, .size = SIZE, .flags = NVSIM_PIN_PERSISTENT,
				    .pin_flags = 1 };
	int res = rig_pin(pins, VA, SIZE, NVSIM_PIN_PERSISTENT, &arg[1]);

	if (res == -EOPNOTSUPP) {
		printf("no persistent pins in this build\n");
		close(pins);
		close(fd);
		return;
	}
	want(res, 0);
	/* what the GPU would have to be coherent for */
	want_true(rig_pin_as(pins, &forced, &other) == -524 || rig_unpin(pins, other) == 0);
	close(fd);
	want(rig_stats().memories, 1);
	want(rig_stats().registrations, 0);
	want(rig_stats().callbacks - calls, 0);
	want(rig_pin(pins, VA, SIZE, NVSIM_PIN_PERSISTENT, &other), -EINVAL);
	rig_child(put_persistent, arg);
	want(rig_stats().memories, 0);
	want(rig_check().damaged, 0);
	close(pins);
}

static void limits(void)
{
	int fd = memory_at(VA, SIZE, 0), pins = rig_open();
	struct nvsim_limit limit = { .bar1 = KIB(128) };
	uint64_t a, b;

	want(ioctl(fd, NVSIM_IOC_LIMIT, &limit), 0);
	want(rig_pin(pins, VA, KIB(192), 0, &a), -ENOMEM);
	want(rig_pin(pins, VA, KIB(128), 0, &a), 0);
	/* what is pinned already costs nothing */
	want(rig_pin(pins, VA + KIB(64), KIB(64), 0, &b), 0);
	want(rig_pin(pins, VA + KIB(128), KIB(64), 0, &b), -ENOMEM);
	want(rig_unpin(pins, a), 0);
	want(rig_pin(pins, VA + KIB(128), KIB(64), 0, &a), 0);
	want(ioctl(fd, NVSIM_IOC_RESET), 0);
	want(rig_pin(pins, VA, SIZE, 0, &a), 0);
	close(fd);
	close(pins);
}

static void failures(void)
{
	int fd = memory_at(VA, SIZE, 0), pins = rig_open();
	uint64_t pin, failed = rig_stats().get_failures;

	want(rig_fault(NVSIM_FAULTS, 0, 1, 0), -EINVAL);
	want(rig_fault(NVSIM_FAULT_GET, 0, 1, 0), -EINVAL);
	want(rig_fault(NVSIM_FAULT_GET, 1, 2, EBUSY), 0);
	want(rig_pin(pins, VA, SIZE, 0, &pin), 0);
	want(rig_unpin(pins, pin), 0);
	want(rig_pin(pins, VA, SIZE, 0, &pin), -EBUSY);
	want(rig_pin(pins, VA, SIZE, 0, &pin), -EBUSY);
	want(rig_pin(pins, VA, SIZE, 0, &pin), 0);
	want(rig_stats().get_failures - failed, 2);
	want(rig_fault(NVSIM_FAULT_PUT, 0, 1, EIO), 0);
	want(rig_unpin(pins, pin), -EIO);
	want(rig_stats().pins, 1);
	want(rig_fault(NVSIM_FAULT_TABLE_VERSION, 0, 1, 0x30000), 0);
	want(rig_fault(NVSIM_FAULT_TABLE_PAGE_SIZE, 0, 1, 2), 0);
	want(rig_fault(NVSIM_FAULT_TABLE_ENTRIES, 0, 1, 3), 0);
	want(rig_pin(pins, VA, SIZE, 0, &pin), 0);
	want(rig_pinned(pins, pin, 0).version, 0x30000);
	want(rig_pinned(pins, pin, 0).page_size, 2);
	want(rig_pinned(pins, pin, 0).entries, 3);
	want(rig_unpin(pins, pin), 0);
	want(rig_fault(NVSIM_FAULT_TABLE_PHYS, 0, 1, 4096), 0);
	want(rig_pin(pins, VA, SIZE, 0, &pin), 0);
	want(rig_pinned(pins, pin, 3).phys, rig_info(fd, KIB(192)).phys + 4096);
	want(rig_unpin(pins, pin), 0);
	want(rig_free(fd), 0);
	want(rig_stats().pins, 0);
	close(fd);
	close(pins);
}

static void *free_it(void *arg)
{
	rig_free(*(int *)arg);
	return NULL;
}

static void wait_at(enum nvsim_point point)
{
	for (int i = 0; i < 500 && !rig_stats().at[point]; i++)
		usleep(10000);
	want(rig_stats().at[point], 1);
}

/* Memory goes while its get has not returned yet; a put waits for a callback. */
static void delays(void)
{
	int fd = memory_at(VA, SIZE, 0), pins = rig_open();
	uint64_t pin;
	pthread_t t;

	rig_delay(NVSIM_POINT_CALLBACK, 5000);
	want(rig_pin(pins, VA, SIZE, 0, &pin), 0);
	pthread_create(&t, NULL, free_it, &fd);
	wait_at(NVSIM_POINT_CALLBACK);
	want(rig_pinned(pins, pin, 0).revoked, 0);
	want(ioctl(pins, NVSIM_IOC_RELEASE), 0);
	pthread_join(t, NULL);
	want(rig_pinned(pins, pin, 0).revoked, 1);
	want(ioctl(pins, NVSIM_IOC_RESET), 0);
	want(rig_stats().at[NVSIM_POINT_CALLBACK], 0);
	close(fd);
	close(pins);
}

/*
 * A process that dies takes its memory with it.  The kernel closes files in one
 * direction: one of the pins goes before the memory, the other by its callback.
 */
static void dies(void)
{
	uint64_t calls = rig_stats().callbacks, pin;
	pid_t pid = fork();

	if (!pid) {
		int before = rig_open(), fd = memory_at(VA, SIZE, 0), after = rig_open();

		rig_map(fd, 0, SIZE, 0)[5] = 1;
		want(rig_pin(before, VA, SIZE, 0, &pin), 0);
		want(rig_pin(after, VA, SIZE, 0, &pin), 0);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
	want(rig_stats().callbacks - calls, 1);
	want(rig_stats().pins, 0);
	want(rig_stats().memories, 0);
	want(rig_check().damaged, 0);
}

int main(void)
{
	close(rig_open());
	ranges();
	callbacks();
	foreign_put();
	persistent();
	limits();
	failures();
	delays();
	dies();
	want(rig_stats().memories, 0);
	want(rig_stats().pins + rig_stats().persistent_pins, 0);
	want(rig_stats().recursions, 0);
	return rig_end();
}
