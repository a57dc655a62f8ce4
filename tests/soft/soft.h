/* SPDX-License-Identifier: MIT */
/* What the softcuda tests share: checks, a context, exports mapped for the CPU. */
#ifndef TEST_SOFT_H
#define TEST_SOFT_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cuda_abi.h"
#include "cuda_funcs.h"
#include "softcuda_hooks.h"

#define KIB 1024ULL
#define MIB (1024ULL * KIB)
#define PAGE 4096ULL

#define expect(call, want) assert_int_equal((call), (want))
#define ok(call) expect(call, CUDA_SUCCESS)

/* cmocka fixtures: a current context of device 0. */
static inline int with_context(void **state)
{
	CUcontext ctx;

	ok(cuInit(0));
	ok(cuDevicePrimaryCtxRetain(&ctx, 0));
	ok(cuCtxSetCurrent(ctx));
	return 0;
}

static inline int without_context(void **state)
{
	ok(cuCtxSetCurrent(NULL));
	ok(cuDevicePrimaryCtxRelease_v2(0));
	return 0;
}

static inline size_t free_memory(void)
{
	size_t avail, total;

	ok(cuMemGetInfo_v2(&avail, &total));
	return avail;
}

static inline CUdeviceptr alloc(size_t size)
{
	CUdeviceptr p = 0;

	ok(cuMemAlloc_v2(&p, size));
	return p;
}

static inline CUresult export_range(CUdeviceptr ptr, size_t size, int *fd)
{
	return cuMemGetHandleForAddressRange(fd, ptr, size, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
}

/* Export whole pages and map them as libgdrapi does: at offset 0; the fd is closed. */
static inline void *window(CUdeviceptr ptr, size_t size)
{
	int fd = -1;
	void *p;

	ok(export_range(ptr, size, &fd));
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	close(fd);
	return p;
}

/* Pages show in one descriptor at a time; not with udmabuf, nor on a simulated GPU. */
static inline int shown_once(void)
{
	return access("/dev/udmabuf", R_OK | W_OK) && !softcuda_has_gpu();
}

static inline uint32_t peek(CUdeviceptr ptr)
{
	uint32_t v = 0;

	ok(cuMemcpyDtoH_v2(&v, ptr, sizeof(v)));
	return v;
}

static inline void poke(CUdeviceptr ptr, uint32_t v)
{
	ok(cuMemcpyHtoD_v2(ptr, &v, sizeof(v)));
}

/* Exit status of a child that runs fn; a failed assertion there is no 0. */
static inline int in_child(int (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGABRT, SIG_DFL);
		_exit(fn(arg));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* VMM memory with one handle and one mapping. */
struct vmm {
	CUmemGenericAllocationHandle handle;
	CUdeviceptr ptr;
	size_t size;
};

static inline CUmemAllocationProp vmm_prop(int handle_types, int rdma)
{
	CUmemAllocationProp p = { 0 };

	p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	p.requestedHandleTypes = (CUmemAllocationHandleType)handle_types;
	p.allocFlags.gpuDirectRDMACapable = (unsigned char)rdma;
	return p;
}

static inline void vmm_access(CUdeviceptr ptr, size_t size, CUmemAccess_flags flags)
{
	CUmemAccessDesc d = { { CU_MEM_LOCATION_TYPE_DEVICE, 0 }, flags };

	ok(cuMemSetAccess(ptr, size, &d, 1));
}

static inline struct vmm vmm_new(size_t size, int handle_types)
{
	CUmemAllocationProp p = vmm_prop(handle_types, 1);
	struct vmm v = { .size = size };

	ok(cuMemCreate(&v.handle, size, &p, 0));
	ok(cuMemAddressReserve(&v.ptr, size, 0, 0, 0));
	ok(cuMemMap(v.ptr, size, 0, v.handle, 0));
	vmm_access(v.ptr, size, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	return v;
}

static inline void vmm_free(struct vmm *v)
{
	ok(cuMemUnmap(v->ptr, v->size));
	ok(cuMemRelease(v->handle));
	ok(cuMemAddressFree(v->ptr, v->size));
}

#endif
