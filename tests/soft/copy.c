/* SPDX-License-Identifier: MIT */
/* Description: copies and fills move the right bytes and refuse wrong addresses. */
#include "soft.h"

#define N 100003

static void both_ways(void **state)
{
	unsigned char *in = malloc(N), *out = malloc(N);
	CUdeviceptr p = alloc(N), q = alloc(N);

	for (unsigned int i = 0; i < N; i++)
		in[i] = (unsigned char)(i * 7 + i / 256);
	ok(cuMemcpyHtoD_v2(p, in, N));
	ok(cuMemcpy(q, p, N));
	ok(cuMemcpyDtoH_v2(out, q, N));
	assert_memory_equal(in, out, N);
	memset(out, 0, N);
	ok(cuMemcpy((uintptr_t)out, p + 1, N - 1));
	assert_memory_equal(in + 1, out, N - 1);
	ok(cuMemcpy(p, (uintptr_t)out, N));
	ok(cuMemcpyAsync(q, p, N, NULL));
	ok(cuMemcpyDtoH_v2(out, q, N));
	assert_int_equal(out[0], in[1]);
	ok(cuMemcpy(p + 10, p, 100));           /* overlapping */
	ok(cuMemFree_v2(p));
	ok(cuMemFree_v2(q));
	free(in);
	free(out);
}

static void fills(void **state)
{
	CUdeviceptr p = alloc(64);

	ok(cuMemsetD8_v2(p, 0, 64));
	ok(cuMemsetD8_v2(p + 3, 0xab, 6));
	assert_int_equal(peek(p), 0xab000000);
	assert_int_equal(peek(p + 4), 0xabababab);
	assert_int_equal(peek(p + 8), 0xab);
	ok(cuMemsetD32_v2(p + 8, 0x12345678, 14));
	assert_int_equal(peek(p + 60), 0x12345678);
	ok(cuMemsetD8_v2(p, 1, 0));
	expect(cuMemsetD32_v2(p + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemsetD32_v2(p, 0, 17), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemsetD32_v2(p, 0, SIZE_MAX / 2), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemsetD8_v2(p, 0, 65), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemsetD8_v2(0, 0, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemsetD8_v2((uintptr_t)&p, 0, 1), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFree_v2(p));
}

static void wrong_addresses(void **state)
{
	struct vmm v = vmm_new(2 * MIB, 0);
	CUdeviceptr p = alloc(4096), gone = alloc(3 * MIB);
	unsigned char buf[16] = { 0 };
	void *host;

	ok(cuMemFree_v2(gone));
	ok(cuMemAllocHost_v2(&host, 16));
	ok(cuMemcpyHtoD_v2(p, NULL, 0));
	expect(cuMemcpyHtoD_v2(p, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpyHtoD_v2(0, buf, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpyHtoD_v2(p + 4090, buf, 16), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpyHtoD_v2(gone, buf, 16), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpyHtoD_v2((uintptr_t)buf, buf, 16), CUDA_ERROR_INVALID_VALUE);
	/* A device address is no host pointer. */
	expect(cuMemcpyHtoD_v2(p, (void *)(uintptr_t)p, 16), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpyDtoH_v2((void *)(uintptr_t)p, p, 16), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpyDtoH_v2(buf, (uintptr_t)buf, 16), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpyDtoH_v2(buf, gone, 16), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemcpyDtoH_v2(host, p, 16));
	ok(cuMemcpyDtoH_v2(buf, (uintptr_t)host, 16));
	expect(cuMemcpy(p, gone, 16), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpy(gone, p, 16), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpy(p, (uintptr_t)buf, SIZE_MAX - 100), CUDA_ERROR_INVALID_VALUE);
	memset(buf, 0x5a, sizeof(buf));
	ok(cuMemcpyHtoDAsync_v2(p, buf, 16, NULL));
	ok(cuMemcpyDtoHAsync_v2(host, p, 16, NULL));
	ok(cuStreamSynchronize(NULL));
	assert_memory_equal(host, buf, 16);
	expect(cuMemcpyHtoDAsync_v2((uintptr_t)buf, buf, 16, NULL), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpyDtoHAsync_v2((void *)(uintptr_t)p, p, 16, NULL), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpyAsync(p, (uintptr_t)buf, 16, (CUstream)(void *)buf),
	       CUDA_ERROR_INVALID_HANDLE);
	expect(cuMemcpy(v.ptr + 2 * MIB - 8, p, 16), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemcpy(v.ptr + 2 * MIB - 16, p, 16));
	ok(cuMemFreeHost(host));
	ok(cuMemFree_v2(p));
	vmm_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways),
		cmocka_unit_test(fills),
		cmocka_unit_test(wrong_addresses),
	};

	return cmocka_run_group_tests(tests, with_context, without_context);
}
