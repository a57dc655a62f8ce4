/* SPDX-License-Identifier: MIT */
/* The fake over softcuda: CUDA's memory objects are softcuda's, seen through its hooks. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "fake_priv.h"
#include "softcuda_hooks.h"

struct soft {
	uint32_t client, object;
};

static int describe(uint32_t client, uint32_t object, struct fake_memory *out)
{
	int device = softcuda_object_device(client, object), fd;
	const struct fake_rm_gpu *gpu = device < 0 ? NULL : fake_gpu_by_ordinal((uint32_t)device);
	uint64_t offset;
	int err;

	if (!gpu)
		return -ENOENT;
	err = softcuda_object(client, object, &fd, &offset, &out->size);
	if (!err)
		__real_close(fd);
	else if (err != -EXDEV)
		return err;
	out->instance = gpu->instance;
	fake_memory_soft_kind(out);
	return 0;
}

void *fake_soft_find(uint32_t client, uint32_t object, struct fake_memory *out)
{
	struct soft *soft;

	if (softcuda_object_ref(client, object))
		return NULL;
	soft = malloc(sizeof(*soft));
	if (!soft || describe(client, object, out))
		abort();
	*soft = (struct soft){ client, object };
	return soft;
}

void *fake_soft_find_fd(int fd, struct fake_memory *out)
{
	uint32_t client, object;

	if (softcuda_fd_object(fd, &client, &object))
		return NULL;
	return fake_soft_find(client, object, out);
}

void fake_soft_put(void *p)
{
	struct soft *soft = p;

	if (softcuda_object_unref(soft->client, soft->object))
		abort();
	free(soft);
}

void *fake_soft_map(void *p, void *addr, size_t len, int prot, int flags, uint64_t offset)
{
	const struct soft *soft = p;
	int err;

	if (!(flags & MAP_FIXED))
		addr = __real_mmap(addr, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (addr == MAP_FAILED)
		return addr;
	err = softcuda_object_map(soft->client, soft->object, offset, len, addr);
	if (!err)
		return addr;
	if (!(flags & MAP_FIXED))
		__real_munmap(addr, len);
	errno = -err;
	return MAP_FAILED;
}
