/* SPDX-License-Identifier: MIT */
/*
 * What the programs of this directory share.  Each replays the order of calls
 * of one client of the library, found by the name that client uses and with
 * structures of its own.  CUDA is found by dlopen, so that the same program runs
 * on softcuda and on a GPU; the backend is whatever the environment says.
 *
 * Exit status: 0 passed, 1 failed, 77 there is no CUDA device here.
 */
#ifndef CLIENTS_LOADER_H
#define CLIENTS_LOADER_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_abi.h"
#include "cuda_funcs.h"

#define GPU_PAGE 0x10000ul

static void (*explain)(void); /* prints what the library says about its failure */

#define CHECK(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			if (explain) \
				explain(); \
			exit(1); \
		} \
	} while (0)

static const char *(*last_error)(void);

static inline void print_last_error(void)
{
	fprintf(stderr, "last error: %s\n", last_error());
}

/* The library by the client's name for it. */
static inline void *load_library(const char *name, int flags)
{
	void *lib = dlopen(name, flags);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	/* for messages only; clients know nothing of it */
	last_error = (__typeof__(last_error))dlsym(lib, "gdrx_last_error");
	if (last_error)
		explain = print_last_error;
	return lib;
}

static inline void *look_up(void *lib, const char *name)
{
	void *symbol = dlsym(lib, name);

	if (!symbol) {
		fprintf(stderr, "the library has no %s\n", name);
		exit(1);
	}
	return symbol;
}

#define LOOK_UP(lib, var, name) ((var) = (__typeof__(var))look_up(lib, name))

/*
 * The calls that clients look up by these names: fields of a struct of the client's
 * own, over its own types for gdr_t and gdr_mh_t, and how they are filled in.
 */
#define CLIENT_CALLS(gdr, mh) \
	gdr (*open)(void); \
	int (*close)(gdr); \
	int (*pin)(gdr, unsigned long, size_t, uint64_t, uint32_t, mh *); \
	int (*unpin)(gdr, mh); \
	int (*map)(gdr, mh, void **, size_t); \
	int (*unmap)(gdr, mh, void *, size_t); \
	int (*copy_to)(mh, void *, const void *, size_t); \
	int (*copy_from)(mh, void *, const void *, size_t);

#define LOOK_UP_CALLS(lib, api) \
	do { \
		LOOK_UP(lib, (api).open, "gdr_open"); \
		LOOK_UP(lib, (api).close, "gdr_close"); \
		LOOK_UP(lib, (api).pin, "gdr_pin_buffer"); \
		LOOK_UP(lib, (api).unpin, "gdr_unpin_buffer"); \
		LOOK_UP(lib, (api).map, "gdr_map"); \
		LOOK_UP(lib, (api).unmap, "gdr_unmap"); \
		LOOK_UP(lib, (api).copy_to, "gdr_copy_to_mapping"); \
		LOOK_UP(lib, (api).copy_from, "gdr_copy_from_mapping"); \
	} while (0)

#define CLIENT_VERSIONS(gdr) \
	void (*runtime_version)(int *, int *); \
	int (*driver_version)(gdr, int *, int *);

#define LOOK_UP_VERSIONS(lib, api) \
	do { \
		LOOK_UP(lib, (api).runtime_version, "gdr_runtime_get_version"); \
		LOOK_UP(lib, (api).driver_version, "gdr_driver_get_version"); \
	} while (0)

#define CUDA_CALLS(X) \
	X(Init, cuInit) \
	X(DeviceGetCount, cuDeviceGetCount) \
	X(DeviceGetAttribute, cuDeviceGetAttribute) \
	X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain) \
	X(CtxSetCurrent, cuCtxSetCurrent) \
	X(CtxSynchronize, cuCtxSynchronize) \
	X(MemAlloc, cuMemAlloc_v2) \
	X(MemFree, cuMemFree_v2) \
	X(MemsetD8, cuMemsetD8_v2) \
	X(MemcpyHtoD, cuMemcpyHtoD_v2) \
	X(MemcpyDtoH, cuMemcpyDtoH_v2) \
	X(MemCreate, cuMemCreate) \
	X(MemRelease, cuMemRelease) \
	X(MemAddressReserve, cuMemAddressReserve) \
	X(MemAddressFree, cuMemAddressFree) \
	X(MemMap, cuMemMap) \
	X(MemUnmap, cuMemUnmap) \
	X(MemSetAccess, cuMemSetAccess)

static struct {
#define X(field, symbol) __typeof__(symbol) *field;
	CUDA_CALLS(X)
#undef X
	CUcontext ctx;
	bool coherent;
} cu;

#define CUDA(call) CHECK(cu.call == CUDA_SUCCESS)

/* Device 0, its primary context current. */
static inline void start_cuda(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	int n = 0, value = 0;

	if (!lib) {
		fprintf(stderr, "skipped: %s\n", dlerror());
		exit(77);
	}
#define X(field, symbol) LOOK_UP(lib, cu.field, #symbol);
	CUDA_CALLS(X)
#undef X
	if (cu.Init(0) || cu.DeviceGetCount(&n) || n < 1) {
		fprintf(stderr, "skipped: CUDA finds no device\n");
		exit(77);
	}
	CUDA(DevicePrimaryCtxRetain(&cu.ctx, 0));
	CUDA(CtxSetCurrent(cu.ctx));
	if (!cu.DeviceGetAttribute(&value, (CUdevice_attribute)100, 0))
		cu.coherent = value != 0;
}

/* VMM memory that any of the backends can map.  size: whole 2 MiB. */
static inline CUdeviceptr alloc_vmm(size_t size)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 },
		.allocFlags.gpuDirectRDMACapable = 1,
	};
	CUmemAccessDesc access = {
		.location = prop.location,
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr ptr;

	CUDA(MemCreate(&handle, size, &prop, 0));
	CUDA(MemAddressReserve(&ptr, size, 0, 0, 0));
	CUDA(MemMap(ptr, size, 0, handle, 0));
	CUDA(MemSetAccess(ptr, size, &access, 1));
	/* the mapping keeps it */
	CUDA(MemRelease(handle));
	return ptr;
}

static inline void free_vmm(CUdeviceptr ptr, size_t size)
{
	CUDA(MemUnmap(ptr, size));
	CUDA(MemAddressFree(ptr, size));
}

/* Stores to a mapping are on their way before CUDA is asked to read there. */
static inline void wc_fence(void)
{
	__sync_synchronize();
}

static inline void fill(void *buf, size_t size, unsigned seed)
{
	unsigned char *p = buf;
	uint32_t x = seed * 2654435761u + 1;

	for (size_t i = 0; i < size; i++) {
		x = x * 1664525u + 1013904223u;
		p[i] = (unsigned char)(x >> 24);
	}
}

/* Filled and written when these return: CUDA's own calls return earlier. */
static inline void set_device(CUdeviceptr ptr, unsigned char value, size_t size)
{
	CUDA(MemsetD8(ptr, value, size));
	CUDA(CtxSynchronize());
}

static inline void write_device(CUdeviceptr ptr, const void *from, size_t size)
{
	CUDA(MemcpyHtoD(ptr, from, size));
	CUDA(CtxSynchronize());
}

/* What CUDA reads at ptr is want. */
static inline void check_device(CUdeviceptr ptr, const void *want, size_t size)
{
	void *got = malloc(size);

	CHECK(got);
	CUDA(MemcpyDtoH(got, ptr, size));
	CHECK(!memcmp(got, want, size));
	free(got);
}

#endif
