/* SPDX-License-Identifier: MIT */
/*
 * Each allocation, and each copy from or to the user, fails in turn: the call fails
 * or does without, and nothing is left either way.  Needs a kernel with fault
 * injection.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(4 * GPU_PAGE)
#define MOST	2000

static int nth;		/* /proc/thread-self/fail-nth */
static int fd;
static uint64_t va, handle;
static void *map;

static bool set(unsigned n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	return pwrite(nth, text, (size_t)len, 0) == len;
}

/*
 * True if the fault came in the call; nothing fails any more.  It may come in here
 * instead: the number is copied to the user, and from him, as well.
 */
static bool disarm(void)
{
	char text[16] = "";
	bool came = pread(nth, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0;

	if (!set(0))
		need(set(0));
	return came;
}

static int do_open(void)
{
	int got = open(GDRDRV_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (got < 0)
		return -errno;
	close(got);
	return 0;
}

static int do_pin(void)
{
	struct gdrdrv_pin_buffer_v2 pin = { .addr = va, .size = SIZE };
	int ret = dev_ioctl(fd, GDRDRV_IOC_PIN_BUFFER_V2, &pin);

	/* the copy of the answer may be what failed: then there is no pin */
	handle = pin.handle;
	return ret;
}

static void undo_pin(void)
{
	want_eq(dev_unpin(fd, handle), 0);
}

static void pin_first(void)
{
	handle = dev_must_pin(fd, va, SIZE);
}

static int do_map(void)
{
	return dev_map(fd, handle, SIZE, &map);
}

static void undo_map(void)
{
	want_eq(readable_pages(map, SIZE), SIZE / HOST_PAGE);
	want_eq(munmap(map, SIZE), 0);
}

static void map_first(void)
{
	pin_first();
	map = dev_must_map(fd, handle, SIZE);
}

/* Where no page table is yet, at a new place each time. */
static void map_far_off(void)
{
	static uintptr_t far_off = (uintptr_t)1 << 44;

	pin_first();
	map = (void *)far_off;
	far_off += UINT64_C(1) << 39;
	need(dev_mmap(fd, handle, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, &map) == 0);
}

/* A failed fault is tried again by the CPU, or raises SIGBUS. */
static int do_touch(void)
{
	int sig = peek_at(map, 0);

	want_in(sig, 0, SIGBUS);
	return sig ? -EFAULT : 0;
}

static int do_request(void)
{
	return dev_request(fd, handle, GDRDRV_MAPPING_WC);
}

static int do_query(void)
{
	return dev_mapping_type(fd, handle) < 0 ? -EFAULT : 0;
}

static int do_split(void)
{
	return mprotect((char *)map + HOST_PAGE, HOST_PAGE, PROT_READ) ? -errno : 0;
}

static int do_unmap(void)
{
	return munmap(map, SIZE) ? -errno : 0;
}

static int do_unpin(void)
{
	return dev_unpin(fd, handle);
}

static void clean_pin(void)
{
	dev_unpin(fd, handle);
}

static void clean_map(void)
{
	dev_unpin(fd, handle);
	want_eq(sim_probe(map, SIZE).present, 0);
	munmap(map, SIZE);
}

static const struct step {
	const char *name;
	void (*before)(void);
	int (*call)(void);
	void (*undo)(void);	/* after the call succeeded */
	void (*after)(void);	/* in any case, undoes before() */
} steps[] = {
	{ "open", NULL, do_open, NULL, NULL },
	{ "pin", NULL, do_pin, undo_pin, NULL },
	{ "map", pin_first, do_map, undo_map, clean_pin },
	{ "touch", map_far_off, do_touch, NULL, clean_map },
	{ "split", map_first, do_split, NULL, clean_map },
	{ "request", pin_first, do_request, NULL, clean_pin },
	{ "query", pin_first, do_query, NULL, clean_pin },
	{ "unmap", map_first, do_unmap, NULL, clean_map },
	{ "unpin", map_first, do_unpin, NULL, clean_map },
};

static const struct step *step;

static void each_failure(void)
{
	unsigned n, failed = 0, survived = 0;
	uint64_t pins = sim_pins();
	bool came = true;
	int ret;

	for (n = 1; came && n < MOST; n++) {
		if (step->before)
			step->before();
		need(set(n));
		ret = step->call();
		came = disarm();
		if (ret == 0 && step->undo)
			step->undo();
		if (!came)
			want_eq(ret, 0);
		else if (ret)
			failed++;
		else
			survived++;
		if (step->after)
			step->after();
		if (!want_eq(sim_pins(), pins))
			break;
	}
	want(n < MOST);
	/* a persistent pin is entered at mmap: there is nothing to allocate later */
	want(n > 2 || (step->call == do_touch && dev_persistent(fd)));
	guest_note("%s: %u failures injected, %u calls failed, %u did without", step->name,
		   failed + survived, failed, survived);
}

/* Quiet, and everything that may fail does: also what may wait, and single pages. */
static void set_up_injection(void)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
	static const char *const settings[][2] = {
		{ "verbose", "0" }, { "ignore-gfp-wait", "N" }, { "ignore-gfp-highmem", "N" },
		{ "min-order", "0" },
	};
	char path[128];
	size_t k, s;
	int at;

	for (k = 0; k < COUNT_OF(kinds); k++)
		for (s = 0; s < COUNT_OF(settings); s++) {
			snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", kinds[k],
				 settings[s][0]);
			at = open(path, O_WRONLY);
			if (at < 0)
				continue;
			need(write(at, settings[s][1], strlen(settings[s][1])) > 0);
			close(at);
		}
}

int main(void)
{
	size_t i;

	nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth < 0)
		guest_skip("this kernel has no fault injection");
	set_up_injection();
	fd = dev_open();
	va = sim_alloc_pieces(SIZE, GPU_PAGE);
	for (i = 0; i < COUNT_OF(steps); i++) {
		step = &steps[i];
		guest_run(step->name, each_failure);
	}
	close(fd);
	sim_free(va);
	want_eq(sim_damage(), 0);
	return guest_end();
}
