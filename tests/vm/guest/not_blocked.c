/* SPDX-License-Identifier: MIT */
/*
 * While one thread sleeps in the provider, in a pin, an unpin or a callback, all
 * others go on with the pins that exist: nothing of the driver's is held meanwhile.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE		(2 * GPU_PAGE)
#define DELAY_MS	10000	/* the most that the simulation takes; released before */
#define SOON_US		8000000

static int dev;
static uint64_t va, handle;	/* the pin that is used meanwhile */
static uint64_t slow_va, slow_handle;

static void use_the_other_pin(void)
{
	struct gdrdrv_get_info_v2 info;
	struct gdrdrv_get_version v;
	char path[64], text[256];
	char *map;

	want_eq(dev_ioctl(dev, GDRDRV_IOC_GET_VERSION, &v), 0);
	want_eq(dev_request(dev, handle, GDRDRV_MAPPING_WC), 0);
	map = dev_must_map(dev, handle, SIZE);
	want_eq(poke(map, 0xb10c), 0);
	want_eq(readable_pages(map, SIZE), SIZE / HOST_PAGE);
	want_eq(dev_info(dev, handle, &info), 0);
	want_eq(dev_cb_flag(dev, handle), 0);
	want_eq(munmap(map, SIZE), 0);
	want_eq(dev_unpin(dev, NO_HANDLE), -EINVAL);
	want(read_file("/proc/driver/gdrdrv/counters", text, sizeof(text)) > 0);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", dev);
	want(read_file(path, text, sizeof(text)) > 0);
	close(dev_open());
}

/* What the slow thread does is seen at the point; then it is as quick as ever. */
static void meanwhile(enum nvsim_point point, void *(*slow)(void *), void *arg)
{
	pthread_t thread;
	uint64_t start;

	sim_delay(point, DELAY_MS);
	need(pthread_create(&thread, NULL, slow, arg) == 0);
	sim_await(point, 1);
	start = now_us();
	use_the_other_pin();
	want(now_us() - start < SOON_US);
	want_eq(sim_stats().at[point], 1);
	sim_reset();
	sim_release();
	pthread_join(thread, NULL);
}

static void *pin(void *unused)
{
	(void)unused;
	slow_handle = dev_must_pin(dev, slow_va, SIZE);
	return NULL;
}

static void *unpin(void *unused)
{
	(void)unused;
	want_eq(dev_unpin(dev, slow_handle), 0);
	return NULL;
}

static void *give_up(void *unused)
{
	(void)unused;
	sim_free(slow_va);
	return NULL;
}

static void while_a_pin_sleeps(void)
{
	slow_va = sim_alloc(SIZE);
	meanwhile(NVSIM_POINT_GET, pin, NULL);
	want_eq(dev_unpin(dev, slow_handle), 0);
	meanwhile(NVSIM_POINT_GET_LOCKED, pin, NULL);
	want_eq(dev_unpin(dev, slow_handle), 0);
	sim_free(slow_va);
}

static void while_an_unpin_sleeps(void)
{
	slow_va = sim_alloc(SIZE);
	slow_handle = dev_must_pin(dev, slow_va, SIZE);
	meanwhile(NVSIM_POINT_PUT, unpin, NULL);
	sim_free(slow_va);
}

static void while_a_callback_sleeps(void)
{
	static const enum nvsim_point points[] = {
		NVSIM_POINT_CALLBACK, NVSIM_POINT_CALLBACK_DONE,
	};
	size_t i;

	if (dev_persistent(dev)) {
		guest_skip_case("memory is persistent");
		return;
	}
	for (i = 0; i < COUNT_OF(points); i++) {
		slow_va = sim_alloc(SIZE);
		slow_handle = dev_must_pin(dev, slow_va, SIZE);
		meanwhile(points[i], give_up, NULL);
		want_eq(dev_cb_flag(dev, slow_handle), 1);
		want_eq(dev_unpin(dev, slow_handle), 0);
	}
}

/* The pin itself, while its callback is due or just over: no access, and no deadlock. */
static void the_pin_that_is_revoked(void)
{
	pthread_t freer, unpinner;
	char *map;

	if (dev_persistent(dev)) {
		guest_skip_case("memory is persistent");
		return;
	}
	slow_va = sim_alloc(SIZE);
	slow_handle = dev_must_pin(dev, slow_va, SIZE);
	map = dev_must_map(dev, slow_handle, SIZE);
	want_eq(poke(map, 1), 0);
	sim_delay(NVSIM_POINT_CALLBACK_DONE, DELAY_MS);
	need(pthread_create(&freer, NULL, give_up, NULL) == 0);
	sim_await(NVSIM_POINT_CALLBACK_DONE, 1);
	want(is_dead_by_sigbus(map, SIZE));
	want_eq(dev_cb_flag(dev, slow_handle), 1);
	/* may wait for the callback to be over, which the release below ends */
	need(pthread_create(&unpinner, NULL, unpin, NULL) == 0);
	usleep(20000);
	want_eq(munmap(map, SIZE), 0);
	sim_reset();
	sim_release();
	pthread_join(freer, NULL);
	pthread_join(unpinner, NULL);
	want_eq(dev_unpin(dev, slow_handle), -EINVAL);
}

int main(void)
{
	dev = dev_open();
	va = sim_alloc(SIZE);
	handle = dev_must_pin(dev, va, SIZE);
	RUN(while_a_pin_sleeps);
	RUN(while_an_unpin_sleeps);
	RUN(while_a_callback_sleeps);
	RUN(the_pin_that_is_revoked);
	want_eq(sim_damage(), 0);
	return guest_end();
}
