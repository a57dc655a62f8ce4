/* SPDX-License-Identifier: MIT */
/*
 * Kernels as host functions, called once a block, each in its own thread.  To
 * add one: a function here, and a line with its entry name and the sizes of its
 * parameters in the table below.
 */
#include <sched.h>
#include <string.h>

#include "softcuda.h"

void *sc_kernel_at(struct sc_block *b, CUdeviceptr ptr, size_t size, bool write)
{
	int dev = sc_stream_device(b->op->stream);
	unsigned char *host = NULL;
	struct sc_alloc *a;
	size_t len = 0;
	bool ok;

	sc_mem_rdlock();
	a = sc_range_find(ptr);
	ok = !sc_range_resolve(ptr, dev, write, &host, &len) && len >= size &&
	     (a->kind >= SC_ASYNC || sc_access_enabled(dev, a->dev));
	sc_mem_unlock();
	if (ok)
		return host;
	sc_stream_fail(dev, CUDA_ERROR_ILLEGAL_ADDRESS);
	return NULL;
}

static uint64_t arg_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t arg_u32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* (ptr, n, value): n words, dealt out to the blocks */
static void fill_u32(struct sc_block *b, void *const *params)
{
	unsigned int stride = b->op->grid[0] * b->op->grid[1] * b->op->grid[2];
	uint32_t n = arg_u32(params[1]), value = arg_u32(params[2]);
	uint32_t *at = sc_kernel_at(b, arg_u64(params[0]), 4ULL * n, true);

	for (uint64_t i = b->index; at && i < n; i += stride)
		__atomic_store_n(&at[i], value, __ATOMIC_RELAXED);
}

/* (flag_ptr, value): until the word has the value */
static void spin_until(struct sc_block *b, void *const *params)
{
	uint32_t *flag = sc_kernel_at(b, arg_u64(params[0]), 4, false);
	uint32_t value = arg_u32(params[1]);

	while (flag && __atomic_load_n(flag, __ATOMIC_ACQUIRE) != value)
		sched_yield();
}

/*
 * (flag_in, data_in, flag_out, data_out, result, words, stride, rounds): the GPU's
 * side of tests/litmus/ping_pong.cu.
 */
static void ping_pong(struct sc_block *b, void *const *params)
{
	uint32_t words = arg_u32(params[5]), stride = arg_u32(params[6]);
	uint32_t rounds = arg_u32(params[7]), bad = 0, first[2] = { 0, 0 };
	uint32_t *flag_in = sc_kernel_at(b, arg_u64(params[0]), 4, false);
	uint32_t *data_in = sc_kernel_at(b, arg_u64(params[1]), 4ULL * words, false);
	uint32_t *flag_out = sc_kernel_at(b, arg_u64(params[2]), 4, true);
	uint32_t *data_out = sc_kernel_at(b, arg_u64(params[3]), 4ULL * words, true);
	uint32_t *result = sc_kernel_at(b, arg_u64(params[4]), 12, true);

	if (!flag_in || !data_in || !flag_out || !data_out || !result || !stride)
		return;
	for (uint32_t r = 1; r <= rounds; r++) {
		uint32_t flag, v;

		while ((flag = __atomic_load_n(flag_in, __ATOMIC_ACQUIRE)) != r && ~flag)
			sched_yield();
		if (!~flag)
			break;
		for (uint64_t i = 0; i < words; i += stride) {
			v = __atomic_load_n(&data_in[i], __ATOMIC_RELAXED);
			if (v != r && !bad++) {
				first[0] = r;
				first[1] = v;
			}
		}
		for (uint64_t i = 0; i < words; i += stride)
			__atomic_store_n(&data_out[i], r, __ATOMIC_RELAXED);
		__atomic_store_n(flag_out, r, __ATOMIC_RELEASE);
	}
	result[0] = bad;
	memcpy(&result[1], first, sizeof(first));
}

static const struct sc_kernel kernels[] = {
	{ "softcuda_fill_u32", { 8, 4, 4 }, fill_u32 },
	{ "softcuda_spin_until", { 8, 4 }, spin_until },
	{ "litmus_ping_pong", { 8, 8, 8, 8, 8, 4, 4, 4 }, ping_pong },
	{ "pplat_cpu_flag", { SC_PPLAT_ARGS }, sc_pplat_cpu },
	{ "pplat_cpu_data", { SC_PPLAT_ARGS }, sc_pplat_cpu },
	{ "pplat_gpu_flag", { SC_PPLAT_ARGS }, sc_pplat_gpu },
	{ "pplat_gpu_data", { SC_PPLAT_ARGS }, sc_pplat_gpu },
};

const struct sc_kernel *sc_kernel_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (!strcmp(kernels[i].name, name))
			return &kernels[i];
	return NULL;
}
