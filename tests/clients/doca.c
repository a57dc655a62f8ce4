/* SPDX-License-Identifier: MIT */
/*
 * DOCA GPUNetIO: the versioned library; versions looked up but not asked for;
 * buffers with 64 KiB of slack, aligned by hand.
 */
#include "loader.h"

#define SIZE 5000ul

typedef struct doca_gdr *doca_t;
typedef struct {
	unsigned long h;
} doca_mh;

static struct {
	CLIENT_CALLS(doca_t, doca_mh)
	CLIENT_VERSIONS(doca_t)
} api;

static void load(void)
{
	void *lib = load_library("libgdrapi.so.2", RTLD_LAZY);

	LOOK_UP_CALLS(lib, api);
	LOOK_UP_VERSIONS(lib, api);
}

int main(void)
{
	unsigned char out[SIZE], in[SIZE];
	size_t size = (SIZE + GPU_PAGE - 1) & ~(GPU_PAGE - 1);
	CUdeviceptr memory, ptr;
	doca_mh mh;
	void *map;
	doca_t g;

	start_cuda();
	load();
	g = api.open();
	CHECK(g);
	for (unsigned round = 0; round < 10; round++) {
		CUDA(MemAlloc(&memory, size + GPU_PAGE));
		ptr = (memory + GPU_PAGE - 1) & ~(GPU_PAGE - 1);
		CHECK(api.pin(g, ptr, size, 0, 0, &mh) == 0);
		CHECK(api.map(g, mh, &map, size) == 0);
		fill(out, SIZE, round);
		CHECK(api.copy_to(mh, map, out, SIZE) == 0);
		check_device(ptr, out, SIZE);
		CHECK(api.copy_from(mh, in, map, SIZE) == 0);
		CHECK(!memcmp(in, out, SIZE));
		/* the doorbell record */
		*(volatile uint32_t *)map = 0x12345678 + round;
		wc_fence();
		CUDA(MemcpyDtoH(in, ptr, 4));
		CHECK(in[0] == 0x78 + round && in[3] == 0x12);
		CHECK(api.unmap(g, mh, map, size) == 0);
		CHECK(api.unpin(g, mh) == 0);
		CUDA(MemFree(memory));
	}
	CHECK(api.close(g) == 0);
	return 0;
}
