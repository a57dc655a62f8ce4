/* SPDX-License-Identifier: MIT */
/*
 * Device memory in memfds of this process, which others open through /proc.  The
 * label is the memfd's name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softcuda.h"

/* Nobody knows: the host's memory is as large as it is until it is not. */
static uint64_t available(int dev)
{
	(void)dev;
	return UINT64_MAX;
}

static int create(int dev, const char *label, uint64_t size)
{
	int fd = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	(void)dev;
	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)size))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static void discard(int fd)
{
	close(fd);
}

static int open_path(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int reopen(int fd)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open_path(path);
}

static int number(int fd, uint64_t *number)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*number = (uint64_t)st.st_dev << 48 ^ (uint64_t)st.st_ino;
	return 0;
}

static int open_peer(uint32_t pid, int fd, uint64_t want)
{
	char path[64];
	uint64_t have = 0;

	snprintf(path, sizeof(path), "/proc/%u/fd/%d", pid, fd);
	fd = open_path(path);
	if (fd < 0)
		return fd;
	if (number(fd, &have) || have != want) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static int label(int fd, char *label, size_t size)
{
	static const char prefix[] = "/memfd:";
	char path[48], link[160];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof(link) - 1);
	if (n < 0)
		return -errno;
	link[n] = '\0';
	if (strncmp(link, prefix, strlen(prefix)) || (size_t)n - strlen(prefix) >= size)
		return -EINVAL;
	strcpy(label, link + strlen(prefix));
	return 0;
}

/* Nobody looks memory up by its device address. */
static int enter(int fd, uint64_t off, uint64_t len, CUdeviceptr va)
{
	(void)fd;
	(void)off;
	(void)len;
	(void)va;
	return 0;
}

static void leave(int fd, CUdeviceptr va)
{
	(void)fd;
	(void)va;
}

const struct sc_source sc_memfd_source = {
	.page = SC_PAGE,
	.moves = true,
	.available = available,
	.create = create,
	.discard = discard,
	.reopen = reopen,
	.open_peer = open_peer,
	.label = label,
	.number = number,
	.enter = enter,
	.leave = leave,
	.export_pieces = sc_export_moving,
};
