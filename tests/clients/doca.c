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
	doca_t (*open)(void);
	int (*close)(doca_t);
	int (*pin)(doca_t, unsigned long, size_t, uint64_t, uint32_t, doca_mh *);
	int (*unpin)(doca_t, doca_mh);
	int (*map)(doca_t, doca_mh, void **, size_t);
	int (*unmap)(doca_t, doca_mh, void *, size_t);
	void (*runtime_version)(int *, int *);
	int (*driver_version)(doca_t, int *, int *);
	int (*copy_to)(doca_mh, void *, const void *, size_t);
	int (*copy_from)(doca_mh, void *, const void *, size_t);
} api;

static void load(void)
{
	void *lib = load_library("libgdrapi.so.2", RTLD_LAZY);

	LOOK_UP(lib, api.open, "gdr_open");
	LOOK_UP(lib, api.close, "gdr_close");
	LOOK_UP(lib, api.pin, "gdr_pin_buffer");
	LOOK_UP(lib, api.unpin, "gdr_unpin_buffer");
	LOOK_UP(lib, api.map, "gdr_map");
	LOOK_UP(lib, api.unmap, "gdr_unmap");
	LOOK_UP(lib, api.copy_to, "gdr_copy_to_mapping");
	LOOK_UP(lib, api.copy_from, "gdr_copy_from_mapping");
	LOOK_UP(lib, api.runtime_version, "gdr_runtime_get_version");
	LOOK_UP(lib, api.driver_version, "gdr_driver_get_version");
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
