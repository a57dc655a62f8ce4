/* SPDX-License-Identifier: MIT */
/*
 * Device memory of a simulated GPU, the test module that stands in for NVIDIA's
 * and owns /dev/nvsim.  Memory that has a device address can be pinned there by
 * gdrdrv, as that of a real GPU; freeing it revokes such pins.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "nvsim.h"
#include "softcuda.h"

_Static_assert(SC_BLOCK % NVSIM_UNIT == 0, "blocks are whole units");

static int open_device(void)
{
	int fd = open(NVSIM_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int call(int fd, unsigned long cmd, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, cmd, arg);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : 0;
}

int sc_nvsim_look(uint64_t *memory, struct sc_place *place)
{
	int n = 0, fd = open_device();

	if (fd < 0)
		return fd;
	for (; n < SC_MAX_DEVICES; n++) {
		struct nvsim_gpu g = { .gpu = (uint32_t)n };

		if (call(fd, NVSIM_IOC_GPU, &g) || g.size < SC_BLOCK)
			break;
		place[n] = (struct sc_place){ g.domain, g.bus, g.device };
		memory[n] = g.size / SC_BLOCK * SC_BLOCK;
	}
	close(fd);
	return n ? n : -ENODEV;
}

static uint64_t available(int dev)
{
	struct nvsim_gpu g = { .gpu = (uint32_t)dev };
	int fd = open_device();

	if (fd < 0)
		return 0;
	if (call(fd, NVSIM_IOC_GPU, &g))
		g.free = 0;
	close(fd);
	return g.free;
}

/* In one piece if that can be had, as a GPU's page tables make any memory one. */
static int alloc(int fd, struct nvsim_alloc *a)
{
	int err;

	a->extent = sc_config()->extent;
	a->align = a->extent && a->extent % SC_BLOCK ? 0 : SC_BLOCK;
	err = call(fd, NVSIM_IOC_ALLOC, a);
	if (err != -ENOMEM)
		return err;
	a->extent = NVSIM_UNIT;
	a->align = 0;
	return call(fd, NVSIM_IOC_ALLOC, a);
}

static int create(int dev, const char *label, uint64_t size)
{
	struct nvsim_alloc a = { .gpu = (uint32_t)dev, .size = size };
	int fd = open_device(), err;

	if (fd < 0)
		return fd;
	snprintf(a.label, sizeof(a.label), "%s", label);
	err = alloc(fd, &a);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* A forked child may have the descriptor as well, and must not keep the memory by it. */
static void discard(int fd)
{
	call(fd, NVSIM_IOC_FREE, NULL);
	close(fd);
}

static int attach(uint64_t id, uint64_t offset, uint64_t size)
{
	struct nvsim_attach a = { .id = id, .offset = offset, .size = size };
	int fd = open_device(), err;

	if (fd < 0)
		return fd;
	err = call(fd, NVSIM_IOC_ATTACH, &a);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int reopen(int fd)
{
	struct nvsim_info info = { 0 };
	int err = call(fd, NVSIM_IOC_INFO, &info);

	return err ? err : attach(info.id, info.base, info.size);
}

static int open_peer(uint32_t pid, int fd, uint64_t number)
{
	int err = attach(number, 0, 0);

	(void)pid;
	(void)fd;
	return err == -ENOENT ? -ESTALE : err;
}

static int label(int fd, char *label, size_t size)
{
	struct nvsim_info info = { 0 };
	int err = call(fd, NVSIM_IOC_INFO, &info);

	if (err)
		return err;
	if (strnlen(info.label, sizeof(info.label)) >= size)
		return -EINVAL;
	strcpy(label, info.label);
	return 0;
}

static int number(int fd, uint64_t *number)
{
	struct nvsim_info info = { 0 };
	int err = call(fd, NVSIM_IOC_INFO, &info);

	if (!err)
		*number = info.id;
	return err;
}

static int enter(int fd, uint64_t off, uint64_t len, CUdeviceptr va)
{
	struct nvsim_register r = { .va = va, .offset = off, .size = len };

	return call(fd, NVSIM_IOC_REGISTER, &r);
}

/* Revokes the pins there before it returns. */
static void leave(int fd, CUdeviceptr va)
{
	uint64_t at = va;

	call(fd, NVSIM_IOC_UNREGISTER, &at);
}

/* A window onto the memory, wherever it begins. */
static int export_pieces(const struct sc_piece *p, unsigned int n, int *fd)
{
	const struct sc_extent *e = sc_object_extent(p->obj, p->off);
	struct nvsim_info info = { 0 };
	int ret;

	if (n > 1) {
		sc_complain("cannot export a range of several allocations from a simulated GPU");
		return -EXDEV;
	}
	ret = call(e->file->fd, NVSIM_IOC_INFO, &info);
	if (!ret)
		ret = attach(info.id, info.base + e->off + (p->off - e->start), p->len);
	if (ret < 0)
		return ret;
	*fd = ret;
	return 0;
}

const struct sc_source sc_nvsim_source = {
	.page = NVSIM_UNIT,
	.moves = false,
	.available = available,
	.create = create,
	.discard = discard,
	.reopen = reopen,
	.open_peer = open_peer,
	.label = label,
	.number = number,
	.enter = enter,
	.leave = leave,
	.export_pieces = export_pieces,
};
