/* SPDX-License-Identifier: MIT */
/* Description: cuMemAlloc places memory as the real driver does, and gives it back. */
#include "soft.h"

static void small_ones_share_a_block(void **state)
{
	CUdeviceptr a = alloc(4), b = alloc(513), c = alloc(512), big = alloc(1);

	assert_int_equal(a % (2 * MIB), 0);
	assert_int_equal(b, a + 512);
	assert_int_equal(c, b + 1024);
	assert_int_equal(big, c + 512);
	ok(cuMemFree_v2(b));
	assert_int_equal(alloc(1000), b);       /* first fit */
	ok(cuMemFree_v2(a));
	ok(cuMemFree_v2(b));
	ok(cuMemFree_v2(c));
	ok(cuMemFree_v2(big));
}

/* What the sanity suite's unaligned test relies on. */
static void neighbours_are_misaligned(void **state)
{
	CUdeviceptr f = alloc(4 + 65535), a = alloc(65540);

	assert_int_equal(f % 65536, 0);
	assert_int_equal(a - f, 0x10200);
	ok(cuMemFree_v2(a));
	ok(cuMemFree_v2(f));
}

static void memory_comes_back(void **state)
{
	size_t before = free_memory();
	CUdeviceptr a = alloc(1), b = alloc(1), c = alloc(3 * MIB);

	assert_int_equal(before - free_memory(), 2 * MIB + 4 * MIB);
	assert_int_equal(c % (2 * MIB), 0);
	ok(cuMemFree_v2(a));
	assert_int_equal(before - free_memory(), 2 * MIB + 4 * MIB);
	ok(cuMemFree_v2(b));
	assert_int_equal(before - free_memory(), 4 * MIB);
	ok(cuMemFree_v2(c));
	assert_int_equal(before, free_memory());
}

static void fresh_block_is_zero(void **state)
{
	CUdeviceptr a = alloc(8);

	poke(a, 7);
	ok(cuMemFree_v2(a));
	a = alloc(8);
	assert_int_equal(peek(a), 0);
	ok(cuMemFree_v2(a));
}

static void exhaustion(void **state)
{
	size_t avail, total;
	CUdeviceptr all, one = 42;

	ok(cuMemGetInfo_v2(&avail, &total));
	assert_int_equal(avail, total);
	expect(cuMemAlloc_v2(&one, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
	expect(cuMemAlloc_v2(&one, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
	all = alloc(total);
	assert_int_equal(free_memory(), 0);
	expect(cuMemAlloc_v2(&one, 1), CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(one, 42);
	ok(cuMemFree_v2(all));
	ok(cuMemAlloc_v2(&one, 1));
	ok(cuMemFree_v2(one));
}

static void many_blocks(void **state)
{
	CUdeviceptr p[40];
	size_t before = free_memory();

	for (int i = 0; i < 40; i++)
		p[i] = alloc(MIB);              /* two a block */
	assert_int_equal(before - free_memory(), 40 * MIB);
	for (int i = 0; i < 40; i++)
		poke(p[i] + MIB - 4, (uint32_t)i);
	for (int i = 0; i < 40; i++)
		assert_int_equal(peek(p[i] + MIB - 4), i);
	for (int i = 0; i < 40; i += 2)
		ok(cuMemFree_v2(p[i]));
	assert_int_equal(before - free_memory(), 40 * MIB);
	for (int i = 1; i < 40; i += 2)
		ok(cuMemFree_v2(p[i]));
	assert_int_equal(before, free_memory());
}

static void wrong_arguments(void **state)
{
	CUdeviceptr p = alloc(4096), base;
	size_t size;

	expect(cuMemAlloc_v2(NULL, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemAlloc_v2(&base, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemFree_v2(0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemFree_v2(p + 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemGetInfo_v2(NULL, &size), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemGetInfo_v2(&size, NULL), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemGetAddressRange_v2(&base, &size, p + 4095));
	assert_int_equal(base, p);
	assert_int_equal(size, 4096);
	ok(cuMemGetAddressRange_v2(NULL, NULL, p));
	expect(cuMemGetAddressRange_v2(&base, &size, p + 4096), CUDA_ERROR_NOT_FOUND);
	ok(cuMemFree_v2(p));
	expect(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
}

static int touch(void *arg)
{
	return *(volatile unsigned char *)arg;
}

static void cpu_cannot_touch_device_pointers(void **state)
{
	CUdeviceptr p = alloc(4096);

	assert_int_equal(in_child(touch, (void *)(uintptr_t)p), 128 + SIGSEGV);
	ok(cuMemFree_v2(p));
}

static void host_memory(void **state)
{
	unsigned char *h = NULL;
	CUdeviceptr d;

	ok(cuMemAllocHost_v2((void **)&h, 100));
	memset(h, 1, 100);
	ok(cuMemHostGetDevicePointer_v2(&d, h + 8, 0));
	assert_int_equal(d, (uintptr_t)h + 8);
	expect(cuMemHostGetDevicePointer_v2(&d, h, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemHostGetDevicePointer_v2(&d, &d, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemHostGetDevicePointer_v2(NULL, h, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemFreeHost(h + 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemFree_v2((uintptr_t)h), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFreeHost(h));
	expect(cuMemFreeHost(h), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemHostAlloc((void **)&h, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
	ok(cuMemFreeHost(h));
	expect(cuMemHostAlloc((void **)&h, 4096, 8), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemHostAlloc((void **)&h, 0, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemHostAlloc(NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemHostAlloc((void **)&h, SIZE_MAX, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

static void managed_memory(void **state)
{
	CUdeviceptr p;

	ok(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
	*(uint32_t *)(uintptr_t)p = 5;
	assert_int_equal(peek(p), 5);
	expect(cuMemFreeHost((void *)(uintptr_t)p), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFree_v2(p));
	expect(cuMemAllocManaged(&p, 4096, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemAllocManaged(&p, 4096, 3), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemAllocManaged(&p, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

/* The last release of the context frees what it owned, and only that. */
static void context_owns_memory(void **state)
{
	size_t before = free_memory();
	struct vmm v = vmm_new(2 * MIB, 0);
	CUdeviceptr p = alloc(3 * MIB), q = alloc(5), managed;
	void *host;
	CUcontext ctx;
	CUmodule module;
	CUstream stream;

	ok(cuMemAllocHost_v2(&host, 5));
	ok(cuMemAllocManaged(&managed, 5, CU_MEM_ATTACH_GLOBAL));
	ok(cuStreamCreate(&stream, 0));
	ok(cuModuleLoadData(&module, ".version 7.0\n.target sm_70\n"));
	ok(cuDevicePrimaryCtxRelease_v2(0));
	expect(cuMemAlloc_v2(&p, 1), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	expect(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemFree_v2(q), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
	ok(cuDevicePrimaryCtxRetain(&ctx, 0));
	expect(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
	expect(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(before - free_memory(), 2 * MIB);
	vmm_free(&v);
	assert_int_equal(before, free_memory());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_ones_share_a_block),
		cmocka_unit_test(neighbours_are_misaligned),
		cmocka_unit_test(memory_comes_back),
		cmocka_unit_test(fresh_block_is_zero),
		cmocka_unit_test(exhaustion),
		cmocka_unit_test(many_blocks),
		cmocka_unit_test(wrong_arguments),
		cmocka_unit_test(cpu_cannot_touch_device_pointers),
		cmocka_unit_test(host_memory),
		cmocka_unit_test(managed_memory),
		cmocka_unit_test(context_owns_memory),
	};

	return cmocka_run_group_tests(tests, with_context, without_context);
}
