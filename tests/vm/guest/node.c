/* SPDX-License-Identifier: MIT */
/* The device node, the names in /proc and /sys, and the bytes of /proc/driver/gdrdrv. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

static const char *const parameters[] = { "dbg_enabled", "info_enabled", "use_persistent_mapping" };

static void node_appears_by_itself(void)
{
	struct stat st = { 0 };

	want_eq(stat(GDRDRV_DEVICE_PATH, &st), 0);
	want(S_ISCHR(st.st_mode));
	want_eq(st.st_mode & 07777, 0666);
	want_eq(st.st_uid, 0);
}

static void node_made_by_hand_works(void)
{
	const char *path = "/dev/gdrdrv-by-hand";
	struct gdrdrv_get_version v = { 0 };
	uint64_t va = sim_alloc(GPU_PAGE), handle;
	void *map;
	int fd;

	unlink(path);
	need(mknod(path, S_IFCHR | 0600, makedev(dev_listed_major(), 0)) == 0);
	fd = open(path, O_RDWR);
	if (want(fd >= 0))
		want_eq(dev_ioctl(fd, GDRDRV_IOC_GET_VERSION, &v), 0);
	want_eq(v.gdrdrv_version, GDRDRV_VERSION);
	handle = dev_must_pin(fd, va, GPU_PAGE);
	map = dev_must_map(fd, handle, GPU_PAGE);
	want_eq(poke(map, 0x40de), 0);
	want_eq(sim_read(va, 0), 0x40de);
	want_eq(dev_unpin(fd, handle), 0);
	want(is_dead_by_sigbus(map, GPU_PAGE));
	munmap(map, GPU_PAGE);
	close(fd);
	sim_free(va);
	unlink(path);
}

static void other_minors_are_enxio(void)
{
	static const unsigned minors[] = { 1, 2, 255 };
	const char *path = "/dev/gdrdrv-minor";
	size_t i;

	for (i = 0; i < COUNT_OF(minors); i++) {
		unlink(path);
		need(mknod(path, S_IFCHR | 0600, makedev(dev_listed_major(), minors[i])) == 0);
		want(open(path, O_RDWR) < 0);
		want_eq(errno, ENXIO);
	}
	unlink(path);
}

static void open_as_nobody(void *unused)
{
	int fd;

	(void)unused;
	need(setgid(65534) == 0 && setuid(65534) == 0);
	fd = open(GDRDRV_DEVICE_PATH, O_RDWR);
	if (want(fd >= 0))
		want_eq(dev_persistent(fd) >> 1, 0);
}

static void everybody_may_open(void)
{
	want_eq(in_child(open_as_nobody, NULL), 0);
}

static long long parameter(const char *name)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), "/sys/module/gdrdrv/parameters/%s", name);
	if (!want(read_file(path, text, sizeof(text)) > 0))
		return -1;
	return text[0] == 'Y' ? 1 : text[0] == 'N' ? 0 : strtoll(text, NULL, 10);
}

static void parameters_stand_in_sysfs(void)
{
	char path[128];
	struct stat st;
	size_t i;

	for (i = 0; i < COUNT_OF(parameters); i++) {
		want(parameter(parameters[i]) >= 0);
		snprintf(path, sizeof(path), "/sys/module/gdrdrv/parameters/%s", parameters[i]);
		if (want_eq(stat(path, &st), 0))
			want_eq(st.st_mode & 0444, 0444);
	}
}

static void proc_params_to_the_byte(void)
{
	char text[512], expected[512];
	int fd = dev_open();
	const char *flavor;
	struct stat st;

	need(read_file("/proc/driver/gdrdrv/params", text, sizeof(text)) > 0);
	flavor = strstr(text, "proprietary") ? "proprietary" : "opensource";
	snprintf(expected, sizeof(expected),
		 "Version: 2.6\n"
		 "Built for NVIDIA driver flavor: %s\n"
		 "Use persistent mapping: %s\n"
		 "dbg_enabled: %lld\n"
		 "info_enabled: %lld\n",
		 flavor, dev_persistent(fd) ? "yes" : "no", parameter("dbg_enabled"),
		 parameter("info_enabled"));
	if (!want_eq(strcmp(text, expected), 0))
		guest_note("it reads:\n%s", text);
	need(stat("/proc/driver/gdrdrv/params", &st) == 0);
	want_eq(st.st_mode & 07777, 0444);
	need(stat("/proc/driver/gdrdrv", &st) == 0);
	want_eq(st.st_mode & 07777, 0555);
	close(fd);
}

static void refcount_file(void)
{
	const char *path = "/proc/driver/gdrdrv/nv_get_pages_refcount";
	char text[64];
	struct stat st;
	int ret = read_file(path, text, sizeof(text));

	if (parameter("dbg_enabled") == 0) {
		want_eq(ret, -ENOENT);
		return;
	}
	want_eq(stat(path, &st), 0);
	want_eq(st.st_mode & 07777, 0440);
	want_eq(strcmp(text, "0\n"), 0);
}

static void module_is_listed(void)
{
	char text[8192];

	need(read_file("/proc/modules", text, sizeof(text)) > 0);
	want(strncmp(text, "gdrdrv ", 7) == 0 || strstr(text, "\ngdrdrv ") != NULL);
	want(strstr(text, "nv-p2p-dummy") == NULL && strstr(text, "nv_p2p_dummy") == NULL);
}

int main(void)
{
	RUN(node_appears_by_itself);
	RUN(node_made_by_hand_works);
	RUN(other_minors_are_enxio);
	RUN(everybody_may_open);
	RUN(parameters_stand_in_sysfs);
	RUN(proc_params_to_the_byte);
	RUN(refcount_file);
	RUN(module_is_listed);
	return guest_end();
}
