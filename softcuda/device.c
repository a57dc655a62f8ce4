/* SPDX-License-Identifier: MIT */
/* Start-up, and what a device says about itself. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "softcuda.h"

static atomic_int owner;        /* pid in which cuInit succeeded; 0: none yet */

bool sc_device_ready(void)
{
	return atomic_load(&owner) == getpid();
}

bool sc_device_valid(CUdevice dev)
{
	return dev >= 0 && dev < sc_config()->devices;
}

/*
 * In a child of a process that had initialised CUDA nothing works any more, as
 * with the real driver; other children may start afresh.
 */
CUresult cuInit(unsigned int flags)
{
	int none = 0;

	SC_ENTER(SC_NEED_NOTHING);
	if (flags || sc_config()->bad)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sc_config()->devices)
		return CUDA_ERROR_NO_DEVICE;
	if (!atomic_compare_exchange_strong(&owner, &none, getpid()) && none != getpid())
		return CUDA_ERROR_NOT_INITIALIZED;
	return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	SC_ENTER(SC_NEED_NOTHING);
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = sc_config()->version;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	SC_ENTER(SC_NEED_INIT);
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = sc_config()->devices;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *dev, int ordinal)
{
	SC_ENTER(SC_NEED_INIT);
	if (!dev)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sc_device_valid(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*dev = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	SC_ENTER(SC_NEED_INIT);
	if (!name || len < 1)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sc_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, (size_t)len, "%s", sc_config()->name);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev)
{
	const struct sc_place *p;
	char text[40];
	int n;

	SC_ENTER(SC_NEED_INIT);
	if (!sc_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	p = &sc_config()->place[dev];
	n = snprintf(text, sizeof(text), "%04x:%02x:%02x.0", p->domain, p->bus, p->slot);
	if (!id || len <= n)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(id, text, (size_t)n + 1);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	static const char text[16] = "softcuda device";

	SC_ENTER(SC_NEED_INIT);
	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sc_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	memcpy(uuid->bytes, text, sizeof(text));
	uuid->bytes[15] = (char)dev;
	return CUDA_SUCCESS;
}
SC_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2);

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	SC_ENTER(SC_NEED_INIT);
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sc_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes = sc_config()->memory[dev];
	return CUDA_SUCCESS;
}

/* Values of an H200 where nothing speaks against them; the rest is in attribute(). */
static const struct sc_attr attributes[] = {
	{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
	{ 2, 1024 },            /* MAX_BLOCK_DIM_X */
	{ 3, 1024 },            /* MAX_BLOCK_DIM_Y */
	{ 4, 64 },              /* MAX_BLOCK_DIM_Z */
	{ 5, 0x7fffffff },      /* MAX_GRID_DIM_X */
	{ 6, 65535 },           /* MAX_GRID_DIM_Y */
	{ 7, 65535 },           /* MAX_GRID_DIM_Z */
	{ 8, 49152 },           /* MAX_SHARED_MEMORY_PER_BLOCK */
	{ 10, 32 },             /* WARP_SIZE */
	{ CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16 },
	{ CU_DEVICE_ATTRIBUTE_INTEGRATED, 0 },
	{ CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1 },
	{ CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT },
	{ 31, 1 },              /* CONCURRENT_KERNELS */
	{ CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1 },
	{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0 },
	{ CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1 },
	{ CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 1 },
	{ 115, 1 },             /* MEMORY_POOLS_SUPPORTED */
	{ CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 1 },
	{ 128, 0 },             /* HANDLE_TYPE_FABRIC_SUPPORTED */
};

/* The value in a list, or fallback. */
static int look_up(const struct sc_attr *list, size_t n, int attr, int fallback)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].attr == attr)
			return list[i].value;
	return fallback;
}

/* -1: no such attribute. */
static int attribute(int attr, CUdevice dev)
{
	const struct sc_config *c = sc_config();

	switch (attr) {
	case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
		return (int)c->place[dev].domain;
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		return (int)c->place[dev].bus;
	case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
		return (int)c->place[dev].slot;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		return c->coherent ? 10 : 9;
	case 88:                /* PAGEABLE_MEMORY_ACCESS */
	case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES:
		return c->coherent;
	case 152:               /* DMA_BUF_MMAP_SUPPORTED */
		return c->version >= 13030 ? 1 : -1;
	default:
		return look_up(attributes, sizeof(attributes) / sizeof(attributes[0]), attr, -1);
	}
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attr, CUdevice dev)
{
	const struct sc_config *c = sc_config();
	int v;

	SC_ENTER(SC_NEED_INIT);
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sc_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	v = look_up(c->attrs, c->nattrs, (int)attr, attribute((int)attr, dev));
	if (v < 0)
		return CUDA_ERROR_INVALID_VALUE;
	*value = v;
	return CUDA_SUCCESS;
}
