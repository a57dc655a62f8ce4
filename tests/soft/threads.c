/* SPDX-License-Identifier: MIT */
/* Description: everything at once from several threads; made for ThreadSanitizer. */
#include <pthread.h>

#include "soft.h"

#define THREADS 6
#define ROUNDS 60

static CUmodule module;
static CUfunction fill;
static CUcontext context;

static void plain_memory(uint32_t id)
{
	CUdeviceptr p = alloc(64 * KIB + 65535), at = (p + 65535) & ~65535ULL;
	uint32_t *w;

	poke(at, id);
	w = window(at, 64 * KIB);
	assert_int_equal(w[0], id);
	ok(cuMemsetD8_v2(at, (unsigned char)id, 64 * KIB));
	ok(cuStreamSynchronize(NULL));          /* others' work may have been before it */
	assert_int_equal(w[5], id * 0x01010101);
	ok(cuMemFree_v2(p));
	/* A GPU's block of small allocations stays where it is, for the next of this process. */
	if (!softcuda_has_gpu())
		assert_int_equal(w[5], id * 0x01010101);
	munmap(w, 64 * KIB);
}

static void vmm_memory(uint32_t id)
{
	struct vmm v = vmm_new(2 * MIB, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	CUmemGenericAllocationHandle h;
	int fd;

	poke(v.ptr, id);
	ok(cuMemExportToShareableHandle(&fd, v.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
					0));
	ok(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd, 1));
	close(fd);
	ok(cuMemRelease(h));
	assert_int_equal(peek(v.ptr), id);
	vmm_free(&v);
}

static void kernels(uint32_t id)
{
	uint32_t n = 1000, v = id;
	CUdeviceptr p = alloc(4000);
	void *params[] = { &p, &n, &v };
	CUstream s;

	ok(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	ok(cuLaunchKernel(fill, 3, 1, 1, 1, 1, 1, 0, s, params, NULL));
	ok(cuStreamSynchronize(s));
	assert_int_equal(peek(p + 3996), id);
	ok(cuStreamDestroy_v2(s));
	ok(cuMemFree_v2(p));
}

static void queries(uint32_t id)
{
	CUdeviceptr p = alloc(4);
	CUipcMemHandle h;
	uint64_t start;
	CUcontext ctx;

	ok(cuDevicePrimaryCtxRetain(&ctx, 0));
	ok(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p));
	assert_int_equal(start, p);
	ok(cuIpcGetMemHandle(&h, p));
	free_memory();
	ok(cuDevicePrimaryCtxRelease_v2(0));
	ok(cuMemFree_v2(p));
}

static void *work(void *arg)
{
	static void (*const jobs[])(uint32_t id) = { plain_memory, vmm_memory, kernels, queries };
	uint32_t id = (uint32_t)(uintptr_t)arg;

	ok(cuCtxSetCurrent(context));
	for (unsigned int i = 0; i < ROUNDS; i++)
		jobs[(i + id) % 4](id);
	return NULL;
}

static void at_once(void **state)
{
	size_t before = free_memory();
	pthread_t thread[THREADS];

	ok(cuCtxGetCurrent(&context));
	ok(cuModuleLoadData(&module, ".version 7.0\n.target sm_70\n.entry softcuda_fill_u32() {}"));
	ok(cuModuleGetFunction(&fill, module, "softcuda_fill_u32"));
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, work, (void *)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(before, free_memory());
	ok(cuModuleUnload(module));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_once),
	};

	return cmocka_run_group_tests(tests, with_context, without_context);
}
