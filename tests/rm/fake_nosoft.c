/* SPDX-License-Identifier: MIT */
/* The fake without softcuda: it knows no memory but its own. */
#include <errno.h>
#include <sys/mman.h>

#include "fake_priv.h"

void *fake_soft_find(uint32_t client, uint32_t object, struct fake_memory *out)
{
	return NULL;
}

void *fake_soft_find_fd(int fd, struct fake_memory *out)
{
	return NULL;
}

void fake_soft_put(void *soft)
{
}

void *fake_soft_map(void *soft, void *addr, size_t len, int prot, int flags, uint64_t offset)
{
	errno = ENXIO;
	return MAP_FAILED;
}
