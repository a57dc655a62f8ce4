/* SPDX-License-Identifier: MIT */
/*
 * The module goes when nothing of it is in use, and not before; what it made goes
 * with it, and comes again.  Arguments: MODULE [TRIES].
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)

static const char *module;
static char parameters[64];
static unsigned long tries;

static int unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

static int load(void)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC), ret;

	need(fd >= 0);
	ret = syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return ret;
}

static bool is_listed(const char *path, const char *name)
{
	static char text[16384];

	need(read_file(path, text, sizeof(text)) > 0);
	return strstr(text, name) != NULL;
}

static void goes_and_comes_again(void)
{
	struct stat st;
	int fd;

	want_eq(unload("gdrdrv"), 0);
	want_eq(stat(GDRDRV_DEVICE_PATH, &st), -1);
	want_eq(stat("/proc/driver/gdrdrv", &st), -1);
	want_eq(stat("/sys/module/gdrdrv", &st), -1);
	want(!is_listed("/proc/devices", " gdrdrv\n"));
	want_eq(open(GDRDRV_DEVICE_PATH, O_RDWR), -1);

	want_eq(load(), 0);
	want_eq(load(), -EEXIST);
	want_eq(stat(GDRDRV_DEVICE_PATH, &st), 0);
	want_eq(stat("/proc/driver/gdrdrv/params", &st), 0);
	want(is_listed("/proc/devices", " gdrdrv\n"));
	fd = dev_open();
	want_eq(dev_mapping_type(fd, 0), -EINVAL);
	close(fd);
}

static void not_while_it_is_open(void)
{
	uint64_t va = sim_alloc(SIZE), handle;
	int fd = dev_open();
	char *map;

	want_eq(unload("gdrdrv"), -EAGAIN);
	handle = dev_must_pin(fd, va, SIZE);
	want_eq(unload("gdrdrv"), -EAGAIN);
	map = dev_must_map(fd, handle, SIZE);
	want_eq(unload("gdrdrv"), -EAGAIN);
	close(fd);
	want_eq(unload("gdrdrv"), -EAGAIN);
	want_eq(poke(map, 1), 0);
	munmap(map, SIZE);
	want_eq(unload("gdrdrv"), 0);
	want_eq(sim_pins(), 0);
	want_eq(load(), 0);
	sim_free(va);
}

/* It uses symbols of NVIDIA's module. */
static void the_provider_stays(void)
{
	want_eq(unload("nvidia"), -EAGAIN);
}

static int sockets[2];
static int dev;

static void close_last(void *unused)
{
	char byte;

	(void)unused;
	sim_leave();
	need(read(sockets[1], &byte, 1) == 1);
	close(dev);
}

/* The provider may still call back for a pin whose file is gone: the code must be there. */
static void not_while_a_callback_is_due(void)
{
	uint64_t va = sim_alloc(SIZE);
	bool persistent;
	pid_t pid;
	int ret;

	dev = dev_open();
	persistent = dev_persistent(dev);
	dev_must_pin(dev, va, SIZE);
	need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	pid = start_child(close_last, NULL);
	close(dev);
	need(write(sockets[0], "x", 1) == 1);
	want_eq(wait_child(pid), 0);
	ret = unload("gdrdrv");
	if (persistent || sim_pins() == 0)
		want_eq(ret, 0);
	else
		want_eq(ret, -EAGAIN);
	sim_free(va);
	want_eq(sim_pins(), 0);
	if (ret)
		want_eq(unload("gdrdrv"), 0);
	want_eq(load(), 0);
	want_eq(sim_damage(), 0);
}

static bool stop;

static void *open_all_the_time(void *unused)
{
	struct gdrdrv_get_version v;
	uint64_t random = 88172645463325252;

	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		int fd = open(GDRDRV_DEVICE_PATH, O_RDWR | O_CLOEXEC);

		/* time for the other side */
		usleep(pseudo_random(&random) % 500);
		if (fd < 0)
			continue;
		want_eq(dev_ioctl(fd, GDRDRV_IOC_GET_VERSION, &v), 0);
		close(fd);
		usleep(pseudo_random(&random) % 2000);
	}
	return NULL;
}

static void while_somebody_opens(void)
{
	unsigned long n, busy = 0, gone = 0;
	pthread_t thread;

	stop = false;
	need(pthread_create(&thread, NULL, open_all_the_time, NULL) == 0);
	for (n = 0; n < tries; n++) {
		int ret = unload("gdrdrv");

		if (!want_in(ret, 0, -EAGAIN))
			break;
		busy += ret != 0;
		gone += ret == 0;
		if (ret == 0 && !want_eq(load(), 0))
			break;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	guest_note("%lu times unloaded, %lu times busy", gone, busy);
}

int main(int argc, char **argv)
{
	int fd = dev_open();

	module = argc > 1 ? argv[1] : "/modules/gdrdrv.ko";
	tries = number_arg(argc, argv, 2, 30);
	if (access(module, R_OK) != 0)
		guest_skip("no %s", module);
	snprintf(parameters, sizeof(parameters), "use_persistent_mapping=%d", dev_persistent(fd));
	close(fd);
	RUN(goes_and_comes_again);
	RUN(not_while_it_is_open);
	RUN(the_provider_stays);
	RUN(not_while_a_callback_is_due);
	RUN(while_somebody_opens);
	return guest_end();
}
