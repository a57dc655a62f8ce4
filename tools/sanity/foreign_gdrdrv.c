/* SPDX-License-Identifier: MIT */
/* gdrdrv serves the process that opened it, and no other; see foreign.h. */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "foreign.h"
#include "session.h"
#include "uapi/gdrdrv.h"

void foreign_gdrdrv_pin(int fd, const struct gpu_mem *mem)
{
	struct gdrdrv_pin_buffer_v2 pin = { .addr = mem->ptr, .size = mem->size };

	CHECK_SYS(ioctl(fd, GDRDRV_IOC_PIN_BUFFER_V2, &pin) == -1 && errno == EACCES);
	sanity_note("gdrdrv refuses the second process's pin with EACCES");
}

void foreign_gdrdrv_map(int fd)
{
	/* The first handle of an open file is 0, and so is its offset. */
	struct gdrdrv_req_mapping_type type = { .handle = 0, .mapping_type = GDRDRV_MAPPING_NONE };
	void *va;

	CHECK_SYS(ioctl(fd, GDRDRV_IOC_REQ_MAPPING_TYPE, &type) == -1 && errno == EACCES);
	va = mmap(NULL, SMALL, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK_SYS(va == MAP_FAILED && errno == EACCES);
	sanity_note("gdrdrv refuses the second process's request and mmap with EACCES");
}
