/* SPDX-License-Identifier: MIT */
/* Description: kernels run beside the CPU, and work keeps the order of its streams. */
#include <pthread.h>

#include "soft.h"

static const char ptx[] =
	"//\n// two entries\n//\n.version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry softcuda_fill_u32(.param .u64 p, .param .u32 n, .param .u32 v)\n{ ret; }\n"
	".visible .entry softcuda_spin_until(.param .u64 p, .param .u32 v)\n{ ret; }\n"
	".visible .entry unknown_kernel()\n{ ret; }\n";

static CUmodule module;
static CUfunction fill, spin;

static int load(void **state)
{
	with_context(state);
	ok(cuModuleLoadData(&module, ptx));
	ok(cuModuleGetFunction(&fill, module, "softcuda_fill_u32"));
	ok(cuModuleGetFunction(&spin, module, "softcuda_spin_until"));
	return 0;
}

static int unload(void **state)
{
	ok(cuModuleUnload(module));
	return without_context(state);
}

static CUresult launch_fill(CUdeviceptr p, uint32_t n, uint32_t v, unsigned int blocks, CUstream s)
{
	void *params[] = { &p, &n, &v };

	return cuLaunchKernel(fill, blocks, 1, 1, 32, 1, 1, 0, s, params, NULL);
}

static CUresult launch_spin(CUdeviceptr flag, uint32_t v, CUstream s)
{
	void *params[] = { &flag, &v };

	return cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, s, params, NULL);
}

/* A word of host memory that kernels poll. */
static uint32_t *flag_new(void)
{
	void *flag;

	ok(cuMemHostAlloc(&flag, 4, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
	return flag;
}

static void set(uint32_t *flag, uint32_t v)
{
	__atomic_store_n(flag, v, __ATOMIC_RELEASE);
}

static void modules(void **state)
{
	static const char bad[] = "not a module", half[] = "/* c */ .version 7.0\n";
	static const unsigned char elf[64] = { 0x7f, 'E', 'L', 'F' };
	CUfunction f = NULL;
	CUmodule m = NULL;

	expect(cuModuleLoadData(&m, bad), CUDA_ERROR_INVALID_IMAGE);
	expect(cuModuleLoadData(&m, half), CUDA_ERROR_INVALID_PTX);
	expect(cuModuleLoadData(&m, NULL), CUDA_ERROR_INVALID_VALUE);
	expect(cuModuleLoadData(NULL, ptx), CUDA_ERROR_INVALID_VALUE);
	expect(cuModuleGetFunction(&f, module, "unknown_kernel"), CUDA_ERROR_NOT_FOUND);
	expect(cuModuleGetFunction(&f, module, "softcuda_fill"), CUDA_ERROR_NOT_FOUND);
	expect(cuModuleGetFunction(NULL, module, "softcuda_fill_u32"), CUDA_ERROR_INVALID_VALUE);
	expect(cuModuleGetFunction(&f, module, NULL), CUDA_ERROR_INVALID_VALUE);
	ok(cuModuleLoadData(&m, ".version 7.0\n.target sm_70\n.entry softcuda_fill_u32x() {}\n"));
	/* A kernel that softcuda has, but the module has not. */
	expect(cuModuleGetFunction(&f, m, "softcuda_fill_u32"), CUDA_ERROR_NOT_FOUND);
	ok(cuModuleUnload(m));
	expect(cuModuleUnload(m), CUDA_ERROR_INVALID_HANDLE);
	expect(cuModuleGetFunction(&f, m, "softcuda_fill_u32"), CUDA_ERROR_INVALID_HANDLE);
	ok(cuModuleLoadData(&m, elf));
	ok(cuModuleGetFunction(&f, m, "softcuda_fill_u32"));
	ok(cuModuleUnload(m));
	expect(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
}

static void launch_arguments(void **state)
{
	CUdeviceptr p = alloc(4096);
	uint32_t n = 4, v = 1;
	void *params[] = { &p, &n, &v }, *none[] = { &p, NULL, &v };
	struct {
		uint64_t p;
		uint32_t n, v;
	} packed = { p, 8, 99 };
	size_t size = sizeof(packed), less = 12;
	void *extra[] = { (void *)1, &packed, (void *)2, &size, NULL };
	void *wrong[] = { (void *)7, &packed, NULL },
	     *shorter[] = { (void *)1, &packed, (void *)2, &less, NULL };

#define LAUNCH(gx, gy, gz, bx, by, bz) \
	cuLaunchKernel(fill, gx, gy, gz, bx, by, bz, 0, NULL, params, NULL)
	expect(LAUNCH(0, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
	expect(LAUNCH(1, 0, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
	expect(LAUNCH(1, 1, 0, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
	expect(LAUNCH(1, 1, 1, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
	expect(LAUNCH(1, 1, 1, 1025, 1, 1), CUDA_ERROR_INVALID_VALUE);
	expect(LAUNCH(1, 1, 1, 64, 32, 1), CUDA_ERROR_INVALID_VALUE);
	expect(LAUNCH(1, 1, 1, 1, 1, 65), CUDA_ERROR_INVALID_VALUE);
	expect(LAUNCH(1, 65536, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
	expect(LAUNCH(0x80000000, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
	expect(LAUNCH(0x7fffffff, 65535, 65535, 1, 1, 1), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
	expect(LAUNCH(5000, 1, 1, 1, 1, 1), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
	expect(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 1 << 20, NULL, params, NULL),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, none, NULL),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, wrong),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, shorter),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, (CUstream)params, params, NULL),
	       CUDA_ERROR_INVALID_HANDLE);
	expect(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
	       CUDA_ERROR_INVALID_HANDLE);
#undef LAUNCH
	ok(cuLaunchKernel(fill, 2, 2, 2, 8, 8, 1, 0, NULL, NULL, extra));
	ok(cuStreamSynchronize(NULL));
	assert_int_equal(peek(p + 28), 99);
	assert_int_equal(peek(p + 32), 0);
	ok(cuMemFree_v2(p));
}

static void fills(void **state)
{
	CUdeviceptr p = alloc(MIB);
	uint32_t *w = window(p, MIB);

	ok(launch_fill(p, 1000, 5, 8, NULL));
	ok(cuStreamSynchronize(NULL));
	assert_int_equal(w[999], 5);
	assert_int_equal(w[1000], 0);
	ok(launch_fill(p, 3, 6, 8, (CUstream)1));
	assert_int_equal(peek(p + 8), 6);       /* waits for the default stream */
	munmap(w, MIB);
	ok(cuMemFree_v2(p));
}

/* The pplat way: the CPU releases the kernel through a mapping of device memory. */
static void spins_until_the_cpu_writes(void **state)
{
	CUdeviceptr p = alloc(4);
	uint32_t *w = window(p & ~(PAGE - 1), PAGE);

	ok(launch_spin(p, 3, NULL));
	expect(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	set(w + (p & (PAGE - 1)) / 4, 3);
	ok(cuStreamSynchronize(NULL));
	ok(cuStreamQuery(NULL));
	munmap(w, PAGE);
	ok(cuMemFree_v2(p));
}

static void order_of_streams(void **state)
{
	CUdeviceptr p = alloc(64), q = alloc(64);
	uint32_t *flag = flag_new(), *back = flag_new();
	CUstream s, t, free_running;

	ok(cuStreamCreate(&s, CU_STREAM_DEFAULT));
	ok(cuStreamCreate(&t, CU_STREAM_DEFAULT));
	ok(cuStreamCreate(&free_running, CU_STREAM_NON_BLOCKING));
	ok(launch_spin((uintptr_t)flag, 1, s));
	ok(launch_fill(p, 1, 7, 1, s));                 /* after the spin */
	ok(cuMemcpyAsync((uintptr_t)back, p, 4, s));    /* after the fill */
	ok(launch_fill(q, 1, 8, 1, t));                 /* beside it */
	ok(cuStreamSynchronize(t));
	ok(launch_fill(q + 4, 1, 9, 1, free_running));
	ok(cuStreamSynchronize(free_running));
	expect(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	expect(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	ok(cuStreamQuery(t));
	ok(cuMemsetD8_v2(q, 1, 4)); /* default stream: after s, and does not block */
	expect(cuStreamQuery(t), CUDA_ERROR_NOT_READY); /* nor may t pass the default stream */
	ok(cuStreamQuery(free_running));
	assert_int_equal(__atomic_load_n(back, __ATOMIC_ACQUIRE), 0);
	set(flag, 1);
	ok(cuCtxSynchronize());
	assert_int_equal(*back, 7);
	assert_int_equal(peek(q), 0x01010101);
	assert_int_equal(peek(q + 4), 9);
	ok(cuStreamDestroy_v2(t));
	expect(cuStreamDestroy_v2(t), CUDA_ERROR_INVALID_HANDLE);
	expect(cuStreamQuery(t), CUDA_ERROR_INVALID_HANDLE);
	expect(cuStreamSynchronize(t), CUDA_ERROR_INVALID_HANDLE);
	expect(cuStreamDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
	expect(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuStreamCreate(&t, 2), CUDA_ERROR_INVALID_VALUE);
	/* A stream that goes while it works still finishes. */
	ok(launch_spin((uintptr_t)flag, 2, s));
	ok(launch_fill(p, 1, 70, 1, s));
	ok(cuStreamDestroy_v2(s));
	set(flag, 2);
	ok(cuCtxSynchronize());
	assert_int_equal(peek(p), 70);
	ok(cuStreamDestroy_v2(free_running));
	ok(cuMemFreeHost(flag));
	ok(cuMemFreeHost(back));
	ok(cuMemFree_v2(p));
	ok(cuMemFree_v2(q));
}

static void *release_later(void *flag)
{
	usleep(20000);
	set(flag, 1);
	return NULL;
}

/* cuMemFree and copies on the default stream wait for what runs. */
static void implicit_waits(void **state)
{
	unsigned int on = 1;
	uint32_t *flag = flag_new();
	CUdeviceptr p = alloc(4), async;
	pthread_t thread;
	CUstream s;

	ok(cuStreamCreate(&s, CU_STREAM_DEFAULT));
	for (int i = 0; i < 4; i++) {
		size_t before = free_memory();

		set(flag, 0);
		ok(launch_spin((uintptr_t)flag, 1, s));
		ok(launch_fill(p, 1, 40, 1, s));
		ok(cuMemAllocAsync(&async, 4, s));
		ok(cuMemFreeAsync(async, s));
		expect(cuMemFreeAsync(async, s), CUDA_ERROR_INVALID_VALUE);
		expect(cuMemFree_v2(async), CUDA_ERROR_INVALID_VALUE);
		assert_int_equal(before - free_memory(), 2 * MIB);
		assert_int_equal(pthread_create(&thread, NULL, release_later, flag), 0);
		if (i == 0)
			assert_int_equal(peek(p), 40);
		if (i == 1) {
			ok(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
			ok(cuMemsetD32_v2(p, 41, 1));
		}
		if (i == 2)
			ok(cuMemFree_v2(alloc(4)));
		if (i == 3)
			ok(cuMemFreeHost(flag_new()));
		ok(cuStreamQuery(s));
		assert_int_equal(before, free_memory());
		pthread_join(thread, NULL);
	}
	ok(cuStreamDestroy_v2(s));
	ok(cuMemFreeHost(flag));
	ok(cuMemFree_v2(p));
}

/* Pages move to a new file under a kernel that works on them. */
static void export_under_a_running_kernel(void **state)
{
	CUdeviceptr p = alloc(8 * MIB);
	uint32_t *w;
	CUstream s;

	ok(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	ok(launch_spin(p + MIB, 1, s));
	ok(launch_fill(p + MIB + 4, 1000, 3, 2, s));
	w = window(p + MIB, 64 * KIB);
	expect(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	set(w, 1);
	ok(cuStreamSynchronize(s));
	assert_int_equal(w[1000], 3);
	munmap(w, 64 * KIB);
	/* No word that the kernel stores meanwhile is lost. */
	for (unsigned int i = 1; i < 60; i++) {
		ok(launch_fill(p + MIB, MIB, i, 2, s));
		w = window(p + MIB - (i & 1) * PAGE, 5 * MIB);
		ok(cuStreamSynchronize(s));
		for (unsigned int j = 0; j < MIB; j++)
			if (w[(i & 1) * PAGE / 4 + j] != i)
				fail_msg("round %u: word %u is lost", i, j);
		munmap(w, 5 * MIB);
	}
	ok(cuStreamDestroy_v2(s));
	ok(cuMemFree_v2(p));
}

/* A kernel that leaves its memory breaks the context until it is gone. */
static void illegal_address_sticks(void **state)
{
	CUdeviceptr p = alloc(4096);
	CUcontext ctx;

	ok(launch_fill(p, 1025, 1, 1, NULL));
	expect(cuStreamSynchronize(NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
	expect(cuStreamQuery(NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
	expect(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	expect(launch_fill(p, 1, 1, 1, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
	expect(cuMemsetD8_v2(p, 1, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
	ok(cuDevicePrimaryCtxRelease_v2(0));
	ok(cuDevicePrimaryCtxRetain(&ctx, 0));
	ok(cuStreamSynchronize(NULL));
	ok(cuModuleLoadData(&module, ptx));
	ok(cuModuleGetFunction(&fill, module, "softcuda_fill_u32"));
	ok(cuModuleGetFunction(&spin, module, "softcuda_spin_until"));
	/* So does a copy whose memory went before its turn came. */
	{
		uint32_t *flag = flag_new();
		struct vmm v = vmm_new(2 * MIB, 0);

		ok(launch_spin((uintptr_t)flag, 1, NULL));
		ok(cuMemsetD8_v2(v.ptr, 1, 2 * MIB));
		vmm_access(v.ptr, v.size, CU_MEM_ACCESS_FLAGS_PROT_NONE);
		set(flag, 1);
		expect(cuStreamSynchronize(NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
		vmm_free(&v);
	}
	ok(cuDevicePrimaryCtxRelease_v2(0));
	ok(cuDevicePrimaryCtxRetain(&ctx, 0));
	ok(cuModuleLoadData(&module, ptx));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules),
		cmocka_unit_test(launch_arguments),
		cmocka_unit_test(fills),
		cmocka_unit_test(spins_until_the_cpu_writes),
		cmocka_unit_test(order_of_streams),
		cmocka_unit_test(implicit_waits),
		cmocka_unit_test(export_under_a_running_kernel),
		cmocka_unit_test(illegal_address_sticks),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
