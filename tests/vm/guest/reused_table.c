/* SPDX-License-Identifier: MIT */
/*
 * An unpin is on its way to the provider when the memory is freed, which ends the
 * pin; then other memory is pinned, perhaps with a table at the same place.  The
 * late put must not take the new pin with it.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)
#define TRIES	20

static int dev;
static uint64_t old_handle, new_va, new_handle;

static void *unpin_old(void *unused)
{
	(void)unused;
	want_eq(dev_unpin(dev, old_handle), 0);
	return NULL;
}

static void *pin_new(void *unused)
{
	(void)unused;
	new_handle = dev_must_pin(dev, new_va, SIZE);
	return NULL;
}

static void one_try(void)
{
	uint64_t old_va = sim_alloc(SIZE);
	pthread_t unpinner, pinner;
	char *map;

	old_handle = dev_must_pin(dev, old_va, SIZE);
	sim_delay(NVSIM_POINT_PUT, 2000);
	need(pthread_create(&unpinner, NULL, unpin_old, NULL) == 0);
	sim_await(NVSIM_POINT_PUT, 1);
	sim_free(old_va);
	new_va = sim_alloc(SIZE);
	/* may have to wait until the put is over */
	need(pthread_create(&pinner, NULL, pin_new, NULL) == 0);
	usleep(2000);
	sim_reset();
	sim_release();
	pthread_join(unpinner, NULL);
	pthread_join(pinner, NULL);

	map = dev_must_map(dev, new_handle, SIZE);
	want_eq(poke(map, 0x11e3), 0);
	want_eq(sim_read(new_va, 0), 0x11e3);
	want_eq(dev_cb_flag(dev, new_handle), 0);
	sim_free(new_va);
	want_eq(dev_cb_flag(dev, new_handle), 1);
	want(is_dead_by_sigbus(map, SIZE));
	munmap(map, SIZE);
	want_eq(dev_unpin(dev, new_handle), 0);
}

/*
 * Here the put is over before the pin looks for it: it ends while the provider, which
 * has made the new pin, is on its way back.
 */
static void one_try_with_a_put_that_ends_meanwhile(void)
{
	uint64_t old_va = sim_alloc(SIZE), pins = sim_pins();
	pthread_t unpinner, pinner;
	char *map;

	old_handle = dev_must_pin(dev, old_va, SIZE);
	new_va = sim_alloc(SIZE);
	sim_delay(NVSIM_POINT_PUT, 2000);
	need(pthread_create(&unpinner, NULL, unpin_old, NULL) == 0);
	sim_await(NVSIM_POINT_PUT, 1);
	sim_free(old_va);
	sim_delay(NVSIM_POINT_GET, 6000);
	need(pthread_create(&pinner, NULL, pin_new, NULL) == 0);
	sim_await(NVSIM_POINT_GET, 1);
	pthread_join(unpinner, NULL);
	sim_reset();
	sim_release();
	pthread_join(pinner, NULL);

	want_eq(sim_pins(), pins + 1);
	map = dev_must_map(dev, new_handle, SIZE);
	want_eq(poke(map, 0x11e4), 0);
	want_eq(sim_read(new_va, 0), 0x11e4);
	sim_free(new_va);
	want_eq(dev_cb_flag(dev, new_handle), 1);
	want(is_dead_by_sigbus(map, SIZE));
	munmap(map, SIZE);
	want_eq(dev_unpin(dev, new_handle), 0);
}

/* On one processor the allocator gives the freed table's place to the next one. */
static void put_that_ended_takes_nothing_else(void)
{
	cpu_set_t one;
	int i;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	need(sched_setaffinity(0, sizeof(one), &one) == 0);
	for (i = 0; i < 4 && guest_failures() == 0; i++)
		one_try_with_a_put_that_ends_meanwhile();
	want_eq(sim_damage(), 0);
}

static void late_put_takes_nothing_else(void)
{
	uint64_t pins = sim_pins();
	int i;

	for (i = 0; i < TRIES && guest_failures() == 0; i++)
		one_try();
	want_eq(sim_pins(), pins);
	want_eq(sim_damage(), 0);
}

int main(void)
{
	dev = dev_open();
	if (dev_persistent(dev))
		guest_skip("only revocable memory is freed under a pin");
	RUN(late_put_takes_nothing_else);
	RUN(put_that_ended_takes_nothing_else);
	close(dev);
	return guest_end();
}
