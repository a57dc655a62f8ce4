/* SPDX-License-Identifier: MIT */
/* The calls of /dev/gdrdrv as functions; see guest.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"

int dev_open(void)
{
	int fd = open(GDRDRV_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	need(fd >= 0);
	return fd;
}

int dev_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

bool dev_persistent(int fd)
{
	struct gdrdrv_get_attr get = { .attr = GDRDRV_ATTR_USE_PERSISTENT_MAPPING };

	need(dev_ioctl(fd, GDRDRV_IOC_GET_ATTR, &get) == 0);
	return get.val != 0;
}

int dev_pin(int fd, uint64_t va, uint64_t size, uint64_t *handle)
{
	struct gdrdrv_pin_buffer_v2 pin = { .addr = va, .size = size };
	int ret = dev_ioctl(fd, GDRDRV_IOC_PIN_BUFFER_V2, &pin);

	if (ret == 0)
		*handle = pin.handle;
	return ret;
}

uint64_t dev_must_pin(int fd, uint64_t va, uint64_t size)
{
	uint64_t handle = 0;
	int ret = dev_pin(fd, va, size, &handle);

	errno = -ret;
	need(ret == 0);
	return handle;
}

int dev_unpin(int fd, uint64_t handle)
{
	struct gdrdrv_unpin_buffer unpin = { .handle = handle };

	return dev_ioctl(fd, GDRDRV_IOC_UNPIN_BUFFER, &unpin);
}

int dev_cb_flag(int fd, uint64_t handle)
{
	struct gdrdrv_get_cb_flag get = { .handle = handle };
	int ret = dev_ioctl(fd, GDRDRV_IOC_GET_CB_FLAG, &get);

	return ret ? ret : (int)get.flag;
}

int dev_info(int fd, uint64_t handle, struct gdrdrv_get_info_v2 *info)
{
	struct gdrdrv_get_info_v2 get = { .handle = handle };
	int ret = dev_ioctl(fd, GDRDRV_IOC_GET_INFO_V2, &get);

	if (ret == 0)
		*info = get;
	return ret;
}

int dev_mapping_type(int fd, uint64_t handle)
{
	struct gdrdrv_get_info_v2 info;
	int ret = dev_info(fd, handle, &info);

	return ret ? ret : (int)info.mapping_type;
}

unsigned dev_listed_major(void)
{
	char text[8192];
	const char *at;

	need(read_file("/proc/devices", text, sizeof(text)) > 0);
	at = strstr(text, " gdrdrv\n");
	need(at != NULL);
	while (at > text && at[-1] != '\n')
		at--;
	return (unsigned)strtoul(at, NULL, 10);
}

int dev_default_type(void)
{
	char words[4096];

	need(read_file("/proc/cmdline", words, sizeof(words)) > 0);
	return strstr(words, "nopat") ? GDRDRV_MAPPING_DEVICE : GDRDRV_MAPPING_WC;
}

int dev_request(int fd, uint64_t handle, uint32_t type)
{
	struct gdrdrv_req_mapping_type req = { .handle = handle, .mapping_type = type };

	return dev_ioctl(fd, GDRDRV_IOC_REQ_MAPPING_TYPE, &req);
}

int dev_mmap(int fd, uint64_t handle, size_t len, int prot, int flags, void **addr)
{
	void *at = mmap(*addr, len, prot, flags, fd, (off_t)(handle * HOST_PAGE));

	if (at == MAP_FAILED)
		return -errno;
	*addr = at;
	return 0;
}

int dev_map(int fd, uint64_t handle, size_t len, void **addr)
{
	*addr = NULL;
	return dev_mmap(fd, handle, len, PROT_READ | PROT_WRITE, MAP_SHARED, addr);
}

void *dev_must_map(int fd, uint64_t handle, size_t len)
{
	void *addr;
	int ret = dev_map(fd, handle, len, &addr);

	errno = -ret;
	need(ret == 0);
	return addr;
}
