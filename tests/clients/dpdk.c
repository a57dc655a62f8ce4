/* SPDX-License-Identifier: MIT */
/*
 * DPDK's gpu/cuda driver: the library in the directory that GDRCOPY_PATH_L
 * names, or wherever it is found; five functions; the user's memory; and no
 * gdr_close, ever.
 */
#include "loader.h"

#define SIZE (1ul << 20)

typedef struct dpdk_gdr *dpdk_t;
typedef struct {
	unsigned long h;
} dpdk_mh;

static struct {
	dpdk_t (*open)(void);
	int (*pin)(dpdk_t, unsigned long, size_t, uint64_t, uint32_t, dpdk_mh *);
	int (*unpin)(dpdk_t, dpdk_mh);
	int (*map)(dpdk_t, dpdk_mh, void **, size_t);
	int (*unmap)(dpdk_t, dpdk_mh, void *, size_t);
} api;

static dpdk_t g;

static void load(void)
{
	const char *dir = getenv("GDRCOPY_PATH_L");
	char path[4096];
	void *lib;

	snprintf(path, sizeof(path), "%s%slibgdrapi.so", dir ? dir : "", dir ? "/" : "");
	lib = load_library(path, RTLD_LAZY);
	LOOK_UP(lib, api.open, "gdr_open");
	LOOK_UP(lib, api.pin, "gdr_pin_buffer");
	LOOK_UP(lib, api.unpin, "gdr_unpin_buffer");
	LOOK_UP(lib, api.map, "gdr_map");
	LOOK_UP(lib, api.unmap, "gdr_unmap");
}

static void *cpu_map(CUdeviceptr ptr, size_t size, dpdk_mh *mh)
{
	void *map = NULL;

	/* on first use */
	if (!g)
		g = api.open();
	CHECK(g);
	CHECK(api.pin(g, ptr, size, 0, 0, mh) == 0);
	CHECK(api.map(g, *mh, &map, size) == 0);
	return map;
}

static void cpu_unmap(dpdk_mh mh, void *map, size_t size)
{
	CHECK(api.unmap(g, mh, map, size) == 0);
	CHECK(api.unpin(g, mh) == 0);
}

int main(void)
{
	unsigned char *want = malloc(SIZE);
	CUdeviceptr ptr[2];
	dpdk_mh mh, left;
	void *map;

	CHECK(want);
	start_cuda();
	load();
	CUDA(MemAlloc(&ptr[0], 2 * SIZE));
	ptr[1] = alloc_vmm(2 * SIZE);
	for (int i = 0; i < 2; i++) {
		map = cpu_map(ptr[i], SIZE, &mh);
		fill(want, SIZE, (unsigned)i);
		memcpy(map, want, SIZE);
		wc_fence();
		check_device(ptr[i], want, SIZE);
		cpu_unmap(mh, map, SIZE);
	}
	/* one that is still mapped when the process ends */
	map = cpu_map(ptr[0], SIZE, &left);
	*(volatile char *)map = 1;
	free(want);
	return 0;
}
