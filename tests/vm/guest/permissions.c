/* SPDX-License-Identifier: MIT */
/*
 * Who may open the device: the parameters mode and group.  Loaded with mode=0660
 * group=777, where only root and members of 777 get in, by whatever node.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#define GROUP	777
#define NOBODY	65534

static const char *const by_hand = "/dev/gdrdrv-for-all";

struct attempt {
	const char *node;
	bool member;
	int expected;		/* 0 or errno */
};

static void try_as_nobody(void *arg)
{
	const struct attempt *a = arg;
	const gid_t groups[] = { GROUP };
	int fd;

	need(setgroups(a->member, groups) == 0);
	need(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
	fd = open(a->node, O_RDWR);
	want_eq(fd < 0 ? errno : 0, a->expected);
}

static void node_has_the_mode(void)
{
	struct stat st = { 0 };

	want_eq(stat(GDRDRV_DEVICE_PATH, &st), 0);
	want_eq(st.st_mode & 07777, 0660);
}

static void udev_finds_mode_and_group(void)
{
	char text[32] = "";

	want(read_file("/sys/class/misc/gdrdrv/mode", text, sizeof(text)) > 0);
	want(strcmp(text, "0660\n") == 0);
	want(read_file("/sys/class/misc/gdrdrv/group", text, sizeof(text)) > 0);
	want_eq(atoi(text), GROUP);
}

static void strangers_are_refused(void)
{
	struct attempt own = { GDRDRV_DEVICE_PATH, false, EACCES };
	struct attempt hand = { by_hand, false, EACCES };

	want_eq(in_child(try_as_nobody, &own), 0);
	want_eq(in_child(try_as_nobody, &hand), 0);
}

/* The driver's own node belongs to group 0 until udev has been here. */
static void members_get_in(void)
{
	struct attempt hand = { by_hand, true, 0 };
	struct attempt own = { GDRDRV_DEVICE_PATH, true, 0 };

	want_eq(in_child(try_as_nobody, &hand), 0);
	need(chown(GDRDRV_DEVICE_PATH, 0, GROUP) == 0);
	want_eq(in_child(try_as_nobody, &own), 0);
}

static void root_gets_in(void)
{
	int fd = open(GDRDRV_DEVICE_PATH, O_RDWR);

	want(fd >= 0);
	close(fd);
}

int main(void)
{
	umask(0);
	unlink(by_hand);
	need(mknod(by_hand, S_IFCHR | 0666, makedev(dev_listed_major(), 0)) == 0);
	RUN(node_has_the_mode);
	RUN(udev_finds_mode_and_group);
	RUN(strangers_are_refused);
	RUN(members_get_in);
	RUN(root_gets_in);
	unlink(by_hand);
	return guest_end();
}
