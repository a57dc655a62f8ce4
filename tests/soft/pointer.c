/* SPDX-License-Identifier: MIT */
/* Description: pointer attributes of every kind of memory, alone and in batches. */
#include "soft.h"

static uint64_t attr(CUpointer_attribute a, CUdeviceptr p)
{
	uint64_t v = 0;

	ok(cuPointerGetAttribute(&v, a, p));
	return v;
}

static void device_memory(void **state)
{
	CUDA_POINTER_ATTRIBUTE_P2P_TOKENS tokens = { 1, 1 };
	CUdeviceptr p = alloc(1000), q = alloc(1000);
	CUcontext ctx;
	uint64_t v;

	ok(cuCtxGetCurrent(&ctx));
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_CONTEXT, p), (uintptr_t)ctx);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p), CU_MEMORYTYPE_DEVICE);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 9), p + 9);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_IS_MANAGED, p), 0);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p), 0);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p), 1);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, q + 999), q);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_RANGE_SIZE, q), 1000);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_MAPPED, p), 1);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, p), 0);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p), 0);
	assert_int_not_equal(attr(CU_POINTER_ATTRIBUTE_BUFFER_ID, p),
			     attr(CU_POINTER_ATTRIBUTE_BUFFER_ID, q));
	ok(cuPointerGetAttribute(&tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, p));
	assert_int_equal(tokens.p2pToken, 0);
	assert_int_equal(tokens.vaSpaceToken, 0xfe00);
	expect(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_HOST_POINTER, p),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuPointerGetAttribute(&v, (CUpointer_attribute)99, p), CUDA_ERROR_INVALID_VALUE);
	expect(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_CONTEXT, p),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_CONTEXT, 0),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_CONTEXT, p + 1000),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_CONTEXT, (uintptr_t)&v),
	       CUDA_ERROR_INVALID_VALUE);
	v = attr(CU_POINTER_ATTRIBUTE_BUFFER_ID, p);
	ok(cuMemFree_v2(p));
	assert_int_equal(alloc(1000), p);
	assert_int_not_equal(attr(CU_POINTER_ATTRIBUTE_BUFFER_ID, p), v);
	ok(cuMemFree_v2(p));
	ok(cuMemFree_v2(q));
}

static void sync_memops(void **state)
{
	struct vmm v = vmm_new(2 * MIB, 0);
	CUdeviceptr p = alloc(4);
	unsigned int on = 1;

	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p), 0);
	ok(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p), 1);
	expect(cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_CONTEXT, p),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (uintptr_t)&on),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, v.ptr),
	       CUDA_ERROR_NOT_SUPPORTED);
	ok(cuMemFree_v2(p));
	vmm_free(&v);
}

static void host_and_managed(void **state)
{
	CUDA_POINTER_ATTRIBUTE_P2P_TOKENS tokens;
	CUdeviceptr managed, host;
	void *h;

	ok(cuMemAllocHost_v2(&h, 100));
	host = (uintptr_t)h;
	ok(cuMemAllocManaged(&managed, 100, CU_MEM_ATTACH_GLOBAL));
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host), CU_MEMORYTYPE_HOST);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_HOST_POINTER, host + 5), host + 5);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, host), host);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, managed), CU_MEMORYTYPE_DEVICE);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_IS_MANAGED, managed), 1);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_HOST_POINTER, managed), managed);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, managed), 0);
	expect(cuPointerGetAttribute(&tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, managed),
	       CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFreeHost(h));
	ok(cuMemFree_v2(managed));
}

static void stream_ordered(void **state)
{
	CUdeviceptr p;

	ok(cuMemAllocAsync(&p, 100, NULL));
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_CONTEXT, p), 0);
	assert_int_not_equal(attr(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p), 0);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p), 0);
	ok(cuMemFreeAsync(p, NULL));
	expect(cuMemFreeAsync(p, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void vmm_memory(void **state)
{
	CUmemAllocationProp prop = vmm_prop(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1);
	CUmemGenericAllocationHandle h;
	CUdeviceptr p, m;
	uint64_t v;

	ok(cuMemAddressReserve(&p, 6 * MIB, 0, 0, 0));
	ok(cuMemCreate(&h, 2 * MIB, &prop, 0));
	m = p + 2 * MIB;
	ok(cuMemMap(m, 2 * MIB, 0, h, 0));
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_MAPPED, p), 0);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 5), p);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_RANGE_SIZE, p + 5), 6 * MIB);
	expect(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p),
	       CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_MAPPED, m), 1);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, m + 5), p);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, m + 5), m);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, m + 5), 2 * MIB);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, m), CU_MEMORYTYPE_DEVICE);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, m), 0);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, m), 1);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, m), 0);
	assert_int_equal(attr(CU_POINTER_ATTRIBUTE_CONTEXT, m), 0);
	ok(cuMemUnmap(m, 2 * MIB));
	ok(cuMemRelease(h));
	ok(cuMemAddressFree(p, 6 * MIB));
}

static void batches(void **state)
{
	/* clang-format off */
	CUpointer_attribute a[] = {
		CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
		CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_HOST_POINTER,
		CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
	};
	/* clang-format on */
	unsigned int type = 7;
	int ordinal = 7;
	unsigned char managed = 7;
	uint64_t host = 7, start = 7, size = 7;
	void *data[] = { &type, &ordinal, &managed, &host, &start, &size };
	CUdeviceptr p = alloc(1000);

	ok(cuPointerGetAttributes(6, a, data, p + 1));
	assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
	assert_int_equal(ordinal, 0);
	assert_int_equal(managed, 0);
	assert_int_equal(host, 0);
	assert_int_equal(start, p);
	assert_int_equal(size, 1000);
	host = managed = type = 7;
	ok(cuPointerGetAttributes(6, a, data, (uintptr_t)&p));
	assert_int_equal(type, 0);
	assert_int_equal(ordinal, -2);
	assert_int_equal(managed, 0);
	assert_int_equal(host, 0);
	assert_int_equal(start, 0);
	assert_int_equal(size, 0);
	expect(cuPointerGetAttributes(0, a, data, p), CUDA_ERROR_INVALID_VALUE);
	expect(cuPointerGetAttributes(6, NULL, data, p), CUDA_ERROR_INVALID_VALUE);
	expect(cuPointerGetAttributes(6, a, NULL, p), CUDA_ERROR_INVALID_VALUE);
	data[5] = NULL;
	expect(cuPointerGetAttributes(6, a, data, p), CUDA_ERROR_INVALID_VALUE);
	a[5] = CU_POINTER_ATTRIBUTE_P2P_TOKENS;
	data[5] = &size;
	type = 7;
	expect(cuPointerGetAttributes(6, a, data, p), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(type, 7);
	ok(cuMemFree_v2(p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_memory),
		cmocka_unit_test(sync_memops),
		cmocka_unit_test(host_and_managed),
		cmocka_unit_test(stream_ordered),
		cmocka_unit_test(vmm_memory),
		cmocka_unit_test(batches),
	};

	return cmocka_run_group_tests(tests, with_context, without_context);
}
