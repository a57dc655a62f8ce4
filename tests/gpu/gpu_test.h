/* SPDX-License-Identifier: MIT */
/*
 * What the GPU tests share.  They are plain programs that run on whatever
 * backend works: on a GPU, or with GDRCOPY_SOFTCUDA=1 without one.  Exit
 * status 0, 1, or 77 for "cannot run here", with the reason on stdout.
 */
#ifndef GPU_TEST_H
#define GPU_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gdrapi.h"
#include "gdrapi_ext.h"
#include "gpu.h"

/* Stop the test with the place and the reason. */
#define FAIL(...) gpu_test_fail(__FILE__, __LINE__, __VA_ARGS__)
void gpu_test_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

#define CHECK(cond) do { if (!(cond)) FAIL("%s", #cond); } while (0)
/* A gdr_ call that must return 0. */
#define GDR(call) do { \
	int err_ = (call); \
	if (err_) \
		FAIL("%s: %d, %s", #call, err_, gdrx_last_error()); \
} while (0)
/* A CUDA call that must succeed. */
#define CU(call) do { \
	CUresult res_ = (call); \
	if (res_) \
		FAIL("%s: %s", #call, cu_error_name(res_)); \
} while (0)

/* Load CUDA, make a GPU's context current, say where the test runs; exits 77 if it cannot. */
void gpu_test_begin(int ordinal, struct gpu *gpu);

/* Open descriptors of this process. */
int gpu_test_open_files(void);

/* Free device memory, bytes. */
size_t gpu_test_free_memory(void);

/* What byte i of pattern number seed is. */
static inline unsigned char gpu_test_byte(uint64_t seed, size_t i)
{
	return (unsigned char)((seed * 0x9e3779b97f4a7c15ull + i * 0x2545f4914f6cdd1dull) >> 56);
}

void gpu_test_fill(void *buf, size_t size, uint64_t seed);

/* Stops the test at the first byte that is not of the pattern. */
void gpu_test_compare(const void *buf, size_t size, uint64_t seed, const char *what);

/*
 * Pin and map size bytes at ptr, check bytes both ways against CUDA's copies at
 * several offsets and alignments, and over the whole range; unmap, unpin.
 */
void gpu_test_roundtrip(gdr_t g, CUdeviceptr ptr, size_t size, uint64_t seed);

#endif
