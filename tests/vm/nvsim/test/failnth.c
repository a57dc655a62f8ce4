// SPDX-License-Identifier: MIT
/*
 * Description: every allocation of the simulated GPU fails in turn: the call fails,
 * and nothing is left.  Freeing needs none and always works.  Needs a kernel with
 * fault injection.
 */
#include "rig.h"

#define VA 0x7a0000000000ULL
#define SIZE KIB(192)
#define MOST 200

static int nth = -1, fd, pins;
static uint64_t pin;
static volatile uint64_t *map;

static int do_open(void)
{
	int f = open(NVSIM_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (f < 0)
		return -errno;
	close(f);
	return 0;
}

static int do_alloc(void)
{
	return rig_alloc(fd, SIZE, KIB(64));
}

static int do_register(void)
{
	return rig_register(fd, VA, 0, SIZE);
}

static int do_pin(void)
{
	struct nvsim_pin p = { .va = VA, .size = SIZE };
	int err = ioctl(pins, NVSIM_IOC_PIN, &p) ? -errno : p.result;

	pin = p.pin;
	return err;
}

static int do_map(void)
{
	map = rig_map(fd, 0, SIZE, 0);
	return map ? 0 : -errno;
}

static int do_map_eager(void)
{
	map = rig_map(fd, 0, SIZE, NVSIM_MMAP_EAGER);
	return map ? 0 : -errno;
}

static int do_free(void)
{
	return rig_free(fd);
}

static void undo_open(void)
{
}

static void undo_alloc(void)
{
	want(rig_free(fd), 0);
}

static void undo_register(void)
{
	want(rig_unregister(fd, VA), 0);
}

static void undo_pin(void)
{
	want(rig_unpin(pins, pin), 0);
}

static void undo_map(void)
{
	map[0] = 1;
	munmap((void *)(uintptr_t)map, SIZE);
}

static void redo(void)
{
	want(do_alloc(), 0);
	want(do_register(), 0);
	want(rig_pin(pins, VA, SIZE, 0, &pin), 0);
}

static int set(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	return pwrite(nth, text, (size_t)len, 0) == len;
}

/* Did the fault come?  If not, it comes in here: numbers are copied as well. */
static int disarm(void)
{
	char text[16] = "";
	int came = pread(nth, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0;

	want_true(set(0) || set(0));
	return came;
}

/* Until the call comes through without its fault: undo() takes a success back. */
static void each(const char *name, int (*call)(void), void (*undo)(void))
{
	unsigned int n = 1, failed = 0;

	for (; n < MOST; n++) {
		struct nvsim_stats before = rig_stats(), after;
		int err, came;

		want_true(set(n));
		err = call();
		came = disarm();
		if (!err) {
			undo();
		} else {
			failed++;
			want_true(err == -ENOMEM || err == -EFAULT || err == -EAGAIN);
			after = rig_stats();
			if (err == -ENOMEM && after.memories + after.pins + after.registrations !=
					      before.memories + before.pins + before.registrations)
				want(n, 0);
			/* the answer did not get out: what it was about is there */
			if (err == -EFAULT && call == do_alloc)
				rig_free(fd);
		}
		if (!came)
			break;
	}
	printf("%s: %u faults, %u calls failed\n", name, n - 1, failed);
	want_true(n < MOST);
}

static void write_file(const char *path, const char *text)
{
	int f = open(path, O_WRONLY);

	if (f < 0)
		return;
	want(write(f, text, strlen(text)), (long long)strlen(text));
	close(f);
}

int main(void)
{
	/* what is said of each fault looks like a complaint */
	write_file("/sys/kernel/debug/failslab/verbose", "0");
	write_file("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	write_file("/sys/kernel/debug/fail_usercopy/verbose", "0");
	write_file("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	write_file("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	write_file("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth < 0) {
		printf("this kernel has no fault injection\n");
		return 77;
	}
	fd = rig_open();
	pins = rig_open();
	rig_stats();
	each("open", do_open, undo_open);
	each("alloc", do_alloc, undo_alloc);
	want(do_alloc(), 0);
	each("register", do_register, undo_register);
	want(do_register(), 0);
	each("pin", do_pin, undo_pin);
	each("map", do_map, undo_map);
	each("map at once", do_map_eager, undo_map);
	want(rig_pin(pins, VA, SIZE, 0, &pin), 0);
	each("free", do_free, redo);
	close(fd);
	close(pins);
	want(rig_stats().memories, 0);
	want(rig_stats().pins, 0);
	want(rig_check().damaged, 0);
	return rig_end();
}
