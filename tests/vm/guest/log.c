/* SPDX-License-Identifier: MIT */
/* What a user can make the driver say: not much, and no kernel address. */
#include <errno.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SYSLOG_ACTION_READ_ALL	3
#define SYSLOG_ACTION_CLEAR	5

static char text[1 << 20];

/* Sixteen hexadecimal digits in a row that start with ffff: an address of the kernel. */
static bool has_kernel_address(const char *line, const char *end)
{
	const char *at;
	size_t n = 0;

	for (at = line; at < end; at++) {
		n = isxdigit((unsigned char)*at) ? n + 1 : 0;
		if (n == 16 && strncmp(at - 15, "ffff", 4) == 0)
			return true;
	}
	return false;
}

static void provoke(int fd, uint64_t va)
{
	struct gdrdrv_pin_buffer pin = { .addr = va, .size = GPU_PAGE, .p2p_token = 99,
					 .va_space = 7 };
	uint64_t handle;
	void *map;

	dev_ioctl(fd, GDRDRV_IOC_PIN_BUFFER, &pin);
	dev_pin(fd, 0, 1, &handle);
	dev_pin(fd, 0x1000, 1, &handle);
	dev_pin(fd, va, UINT64_MAX, &handle);
	dev_unpin(fd, NO_HANDLE);
	dev_cb_flag(fd, NO_HANDLE);
	dev_request(fd, NO_HANDLE, 1);
	dev_request(fd, 0, 9);
	dev_ioctl(fd, 0xC008DA63, &pin);
	dev_ioctl(fd, 0xC008DB63, &pin);
	dev_map(fd, NO_HANDLE, HOST_PAGE, &map);
	dev_map(fd, 0, MIB(16), &map);
	sim_fault(NVSIM_FAULT_GET, EIO);
	dev_pin(fd, va, GPU_PAGE, &handle);
	sim_fault(NVSIM_FAULT_TABLE_VERSION, 0x70000);
	dev_pin(fd, va, GPU_PAGE, &handle);
	sim_reset();
}

static void few_lines_and_no_addresses(void)
{
	uint64_t va = sim_alloc(GPU_PAGE);
	int fd = dev_open(), i, n;
	unsigned lines = 0;
	char *line, *end;

	klogctl(SYSLOG_ACTION_CLEAR, NULL, 0);
	for (i = 0; i < 1000; i++)
		provoke(fd, va);
	n = klogctl(SYSLOG_ACTION_READ_ALL, text, sizeof(text) - 1);
	need(n >= 0);
	text[n] = '\0';
	for (line = text; *line; line = end + 1) {
		end = strchrnul(line, '\n');
		if (memmem(line, (size_t)(end - line), "gdrdrv", 6)) {
			lines++;
			if (!want(!has_kernel_address(line, end)))
				guest_note("%.*s", (int)(end - line), line);
		}
		if (!*end)
			break;
	}
	guest_note("14,000 refused calls, %u lines", lines);
	want(lines <= 200);
	close(fd);
	sim_free(va);
}

int main(void)
{
	RUN(few_lines_and_no_addresses);
	return guest_end();
}
