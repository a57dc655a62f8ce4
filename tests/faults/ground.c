/* SPDX-License-Identifier: MIT */
/* Starting the grounds, and looking for what was left on them. */
#include "ground.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_abi.h"
#include "cuda_funcs.h"
#include "fake_rm.h"
#include "gdrdrv.h"
#include "inject.h"

#define MIB      (1ul << 20)
#define GPU_PAGE (64ul << 10)
#define SEGMENT  (2 * MIB)
#define N_PARTS  3

static CUcontext context;
static size_t free_before;

static bool cuda_ok(CUresult res, const char *what)
{
	if (res)
		fprintf(stderr, "softcuda: %s: %d\n", what, (int)res);
	return res == CUDA_SUCCESS;
}
#define OK(call) cuda_ok(call, #call)

static bool make_parts(uint64_t *at)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE },
		.allocFlags.gpuDirectRDMACapable = 1,
	};
	CUmemAccessDesc access = {
		.location = prop.location,
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr ptr;
	int i;

	if (!OK(cuMemAddressReserve(&ptr, N_PARTS * SEGMENT, 0, 0, 0)))
		return false;
	for (i = 0; i < N_PARTS; i++)
		if (!OK(cuMemCreate(&handle, SEGMENT, &prop, 0)) ||
		    !OK(cuMemMap(ptr + i * SEGMENT, SEGMENT, 0, handle, 0)) ||
		    !OK(cuMemRelease(handle)))
			return false;
	*at = ptr;
	return OK(cuMemSetAccess(ptr, N_PARTS * SEGMENT, &access, 1));
}

static bool start_cuda(struct ground *g)
{
	CUdeviceptr ptr;

	if (!OK(cuInit(0)) || !OK(cuDevicePrimaryCtxRetain(&context, 0)) ||
	    !OK(cuCtxSetCurrent(context)) || !OK(cuMemAlloc_v2(&ptr, 4 * MIB)))
		return false;
	g->plain = ptr;
	g->plain_size = 4 * MIB;
	if (!OK(cuMemAlloc_v2(&ptr, 512)) || !OK(cuMemAlloc_v2(&ptr, 512)))
		return false;
	g->small = ptr;
	g->small_size = 512;
	if (!OK(cuMemAlloc_v2(&ptr, GPU_PAGE - 1024)) || !OK(cuMemAlloc_v2(&ptr, GPU_PAGE)))
		return false;
	g->inner = ptr;
	g->inner_size = GPU_PAGE;
	g->parts_size = N_PARTS * SEGMENT;
	return make_parts(&g->parts);
}

struct ground *ground_start(const char *backend)
{
	static struct ground g;

	g.backend = backend;
	g.cuda = strcmp(backend, "gdrdrv") != 0;
	setenv("GDRCOPY_BACKEND", backend, 1);
	setenv("GDRCOPY_ENABLE_LOGGING", "1", 1);
	setenv("GDRCOPY_LOG_LEVEL", "1", 1);
	if (g.cuda)
		return start_cuda(&g) ? &g : NULL;
	g.plain = GDRDRV_MEMORY;
	g.parts = GDRDRV_MEMORY + 64 * MIB;
	g.small = GDRDRV_MEMORY + 128 * MIB + 512;
	g.plain_size = 4 * MIB;
	g.parts_size = N_PARTS * SEGMENT;
	g.small_size = 512;
	g.inner = GDRDRV_MEMORY + 192 * MIB + GPU_PAGE;
	g.inner_size = GPU_PAGE;
	return &g;
}

static size_t free_memory(void)
{
	size_t left = 0, total;

	cuMemGetInfo_v2(&left, &total);
	return left;
}

static void add_gpu(void)
{
	/* Minor, device instance and CUDA ordinal differ. */
	struct fake_rm_gpu gpu = {
		.gpu_id = 0x100,
		.minor = 2,
		.instance = 1,
		.bar1_base = 0x100000000000ull,
		.bar1_size = 1ull << 38,
	};
	int domain = 0, bus = 0, slot = 0;

	OK(cuDeviceGetAttribute(&domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0));
	OK(cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0));
	OK(cuDeviceGetAttribute(&slot, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0));
	gpu.domain = (uint32_t)domain;
	gpu.bus = (uint32_t)bus;
	gpu.slot = (uint32_t)slot;
	fake_rm_add_gpu(&gpu);
}

void ground_context(const struct ground *g, bool current)
{
	if (g->cuda)
		cuCtxSetCurrent(current ? context : NULL);
}

bool ground_no_context(const struct ground *g)
{
	CUcontext current = NULL;

	return !g->cuda || (cuCtxGetCurrent(&current) == CUDA_SUCCESS && !current);
}

void ground_reset(const struct ground *g)
{
	static const struct gdrdrv_setup newest = {
		.version = 2 << 16 | 6,
		.min_api = 2 << 16,
		.type = 1,
	};

	gdrdrv_reset(&newest);
	fake_rm_reset();
	inject_none();
	if (g->cuda) {
		add_gpu();
		ground_context(g, true);
		free_before = free_memory();
	}
}

static bool models_are_clean(void)
{
	struct gdrdrv_counts d;
	struct fake_rm_counts r;
	bool clean = true;

	gdrdrv_count(&d);
	fake_rm_counts(&r);
	if (d.files || d.pins || d.mappings) {
		fprintf(stderr, "left in gdrdrv: %u files, %u pins, %u mappings\n", d.files, d.pins,
			d.mappings);
		clean = false;
	}
	if (r.ctl_files || r.gpu_files || r.clients || r.devices || r.memories || r.windows ||
	    r.mappings) {
		fprintf(stderr, "left in the resource manager: %u control files, %u GPU files, "
			"%u clients, %u devices, %u memories, %u windows, %u mappings\n",
			r.ctl_files, r.gpu_files, r.clients, r.devices, r.memories, r.windows,
			r.mappings);
		clean = false;
	}
	if (gdrdrv_violations() || fake_rm_violations()) {
		fprintf(stderr, "violation: %s%s\n", gdrdrv_violation(), fake_rm_violation());
		clean = false;
	}
	return clean;
}

bool ground_is_clean(const struct ground *g)
{
	bool clean = inject_holds_nothing();

	if (inject_remove_stuck())
		fake_rm_process_end();
	if (!models_are_clean())
		clean = false;
	if (g->cuda) {
		ground_context(g, true);
		if (free_memory() != free_before) {
			fprintf(stderr, "%zu bytes of device memory free before, %zu now\n",
				free_before, free_memory());
			clean = false;
		}
	}
	return clean;
}
