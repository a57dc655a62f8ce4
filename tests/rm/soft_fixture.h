/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the rm backend start from: softcuda with two devices, the
 * fake RM over its memory, an open context, and the promise that nothing of all
 * this is left at the end.
 */
#ifndef SOFT_FIXTURE_H
#define SOFT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda_abi.h"
#include "cuda_funcs.h"
#include "fake_rm.h"
#include "gdrapi.h"
#include "gdrapi_ext.h"

#define KIB (1ul << 10)
#define MIB (1ul << 20)
#define DEVICES 2

/* cmocka group setup: CUDA up, GDRCOPY_BACKEND=rm. */
int soft_start(void **state);

/* cmocka setup and teardown; *state is the gdr_t. */
int soft_open(void **state);
int soft_close(void **state);

/* The same without a context. */
int soft_reset(void **state);
int soft_check_clean(void **state);

/*
 * True if no object, window, file, descriptor or device memory is left and no
 * rule was broken.
 */
bool soft_is_clean(void);

void soft_use(CUdevice dev);            /* make its context current */

/* VMM memory: n allocations of seg bytes, side by side. */
struct vmm {
	CUdeviceptr ptr;
	size_t seg;
	unsigned n;
	CUmemGenericAllocationHandle handles[8];
};
void vmm_new(CUdevice dev, size_t seg, unsigned n, CUmemAllocationHandleType type, struct vmm *v);
void vmm_free(struct vmm *v);
#define POSIX_FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

CUdeviceptr cuda_alloc(size_t size);
void cuda_free(CUdeviceptr ptr);

/* Fill device memory with a pattern, or fail unless it holds it. */
void pattern_to_device(CUdeviceptr ptr, size_t size, unsigned seed);
void pattern_on_device(CUdeviceptr ptr, size_t size, unsigned seed);
/* The same through a mapping. */
void pattern_to_cpu(void *p, size_t size, unsigned seed);
void pattern_on_cpu(const void *p, size_t size, unsigned seed);

/* Pin, map and compare all size bytes both ways, let go. */
void round_trip(gdr_t g, CUdeviceptr ptr, size_t size);

/* Pinning fails with err and a last error that contains needle, and holds nothing. */
void refuse_pin(gdr_t g, CUdeviceptr ptr, size_t size, int err, const char *needle);

/*
 * Everything that the backend does, once: 64 KiB at ptr, three segments of v.
 * Stops at the first failure, which it returns; lets go of all either way.
 */
int soft_scenario(CUdeviceptr ptr, const struct vmm *v);

/* Rewrites the words of every IPC handle that the library gets; NULL: leave them. */
extern void (*soft_twist_ipc)(uint32_t words[16]);
/* What the library calls in place of cuIpcGetMemHandle; NULL: that. */
extern CUresult (*soft_ipc)(CUipcMemHandle *handle, CUdeviceptr ptr);

/* The library's cuMemFree, which waits for kernels, is put off until this. */
void soft_put_off_frees(void);
void soft_free_now(void);

/* What the library is told to be the context of all memory; NULL: nothing. */
extern CUcontext soft_memory_context;
extern unsigned soft_primaries;         /* primary contexts that the library retained */

#endif
