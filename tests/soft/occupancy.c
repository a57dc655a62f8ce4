/* SPDX-License-Identifier: MIT */
/* Description: how many blocks of a kernel run at once on a multiprocessor. */
#include "soft.h"

static const char ptx[] = ".version 6.0\n.target sm_70\n.entry pplat_cpu_data() { ret; }\n"
			  ".entry pplat_gpu_flag() { ret; }\n";

static void blocks_by_threads(void **state)
{
	static const struct {
		int threads, blocks;
	} rows[] = {
		{ 1, 32 }, { 32, 32 }, { 64, 32 }, { 65, 21 }, { 512, 4 }, { 513, 3 }, { 1024, 2 },
		{ 1025, 0 },
	};
	CUmodule module;
	CUfunction f;
	int n = -1;

	ok(cuModuleLoadData(&module, ptx));
	ok(cuModuleGetFunction(&f, module, "pplat_gpu_flag"));
	ok(cuModuleGetFunction(&f, module, "pplat_cpu_data"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, rows[i].threads, 0));
		assert_int_equal(n, rows[i].blocks);
	}
	ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 32, 65536));
	assert_int_equal(n, 0);

	n = -1;
	expect(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, f, 32, 0),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 0, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, NULL, 32, 0),
	       CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(n, -1);
	ok(cuModuleUnload(module));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_by_threads),
	};

	return cmocka_run_group_tests(tests, with_context, without_context);
}
