/* SPDX-License-Identifier: MIT */
/* The list of GPUs, the primary context, and host buffers. */
#include "gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdrapi.h"
#include "place.h"

int gpu_init(bool soft)
{
	CUresult res = cu.Init(0);

	if (res == CUDA_SUCCESS)
		return 0;
	fprintf(stderr, "ERROR: cuInit: %s (%d)\n", cu_error_name(res), (int)res);
	if (!soft)
		fprintf(stderr, "ERROR: CUDA finds no usable GPU; give --soft to run on softcuda, "
			"which needs none and works on host memory\n");
	return -ENODEV;
}

int gpu_count(void)
{
	int n;

	if (cu_check(cu.DeviceGetCount(&n), "cuDeviceGetCount"))
		return -EIO;
	return n;
}

static int attribute(CUdevice dev, CUdevice_attribute attr, unsigned *out)
{
	int v;

	if (cu_check(cu.DeviceGetAttribute(&v, attr, dev), "cuDeviceGetAttribute"))
		return -EIO;
	*out = (unsigned)v;
	return 0;
}

/* As nvidia-smi writes it. */
static void get_uuid(CUdevice dev, char *buf, size_t len)
{
	static const char dash[16] = { [4] = 1, [6] = 1, [8] = 1, [10] = 1 };
	size_t i, at;
	CUuuid id;

	if (!cu.DeviceGetUuid || cu.DeviceGetUuid(&id, dev) != CUDA_SUCCESS)
		return;
	at = (size_t)snprintf(buf, len, "GPU-");
	for (i = 0; i < sizeof(id.bytes); i++)
		at += (size_t)snprintf(buf + at, len - at, "%s%02x", dash[i] ? "-" : "",
				       (unsigned char)id.bytes[i]);
}

int gpu_describe(int ordinal, struct gpu *out)
{
	struct gpu g = { .ordinal = ordinal };
	CUresult res = cu.DeviceGet(&g.dev, ordinal);
	int n;

	if (res != CUDA_SUCCESS) {
		fprintf(stderr, "ERROR: GPU %d: cuDeviceGet: %s (%d)", ordinal, cu_error_name(res),
			(int)res);
		if (res == CUDA_ERROR_INVALID_DEVICE && cu.DeviceGetCount(&n) == CUDA_SUCCESS)
			fprintf(stderr, "; GPUs that are there: %d", n);
		fputc('\n', stderr);
		return -ENODEV;
	}
	if (cu_check(cu.DeviceGetName(g.name, sizeof(g.name), g.dev), "cuDeviceGetName") ||
	    cu_check(cu.DriverGetVersion(&g.driver), "cuDriverGetVersion") ||
	    attribute(g.dev, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, &g.domain) ||
	    attribute(g.dev, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, &g.bus) ||
	    attribute(g.dev, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, &g.slot))
		return -EIO;
	get_uuid(g.dev, g.uuid, sizeof(g.uuid));
	*out = g;
	return 0;
}

int gpu_numa_node(const struct gpu *gpu)
{
	return cu_is_soft() ? -1 : place_pci_node("/sys", gpu->domain, gpu->bus, gpu->slot);
}

/* GPUDirect RDMA is what gdrdrv needs; other backends may do without, so pinning decides. */
static void warn_without_rdma(const struct gpu *gpu)
{
	int v;

	if (gpu->driver < 11030)
		return;
	if (cu.DeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, gpu->dev) ==
	    CUDA_SUCCESS && !v)
		fprintf(stderr, "WARNING: GPU %d does not support GPUDirect RDMA; pinning may be "
			"refused\n", gpu->ordinal);
}

int gpu_open(int ordinal, struct gpu *out)
{
	CUcontext ctx;
	struct gpu g;
	int err;

	err = gpu_describe(ordinal, &g);
	if (err)
		return err;
	err = cu_check(cu.DevicePrimaryCtxRetain(&ctx, g.dev), "cuDevicePrimaryCtxRetain");
	if (err)
		return err;
	err = cu_check(cu.CtxSetCurrent(ctx), "cuCtxSetCurrent");
	if (err) {
		cu.DevicePrimaryCtxRelease(g.dev);
		return err;
	}
	warn_without_rdma(&g);
	*out = g;
	return 0;
}

void gpu_close(const struct gpu *gpu)
{
	cu_check(cu.CtxSetCurrent(NULL), "cuCtxSetCurrent");
	cu_check(cu.DevicePrimaryCtxRelease(gpu->dev), "cuDevicePrimaryCtxRelease");
}

size_t gpu_round_up(size_t size)
{
	return (size + GPU_PAGE_OFFSET) & GPU_PAGE_MASK;
}

int host_alloc_pageable(size_t size, struct host_mem *out)
{
	struct host_mem m = { .size = size };
	int err = posix_memalign(&m.ptr, (size_t)sysconf(_SC_PAGESIZE), size);

	if (err) {
		fprintf(stderr, "ERROR: %zu bytes of host memory: posix_memalign: %s\n", size,
			strerror(err));
		return -err;
	}
	/* Touched here, not in the first timed copy. */
	memset(m.ptr, 0, size);
	*out = m;
	return 0;
}

int host_alloc(size_t size, struct host_mem *out)
{
	struct host_mem m = { .size = size, .pinned = true };
	CUresult res = cu.MemAllocHost(&m.ptr, size);
	int err;

	if (res != CUDA_SUCCESS) {
		err = host_alloc_pageable(size, &m);
		if (err) {
			fprintf(stderr, "ERROR: cuMemAllocHost: %s (%d)\n", cu_error_name(res),
				(int)res);
			return err;
		}
		fprintf(stderr, "NOTE: %zu bytes of host memory are not page-locked: "
			"cuMemAllocHost: %s (%d)\n", size, cu_error_name(res), (int)res);
	}
	*out = m;
	return 0;
}

void host_free(const struct host_mem *mem)
{
	if (!mem->pinned)
		free(mem->ptr);
	else if (mem->ptr)
		cu_check(cu.MemFreeHost(mem->ptr), "cuMemFreeHost");
}
