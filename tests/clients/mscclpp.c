/* SPDX-License-Identifier: MIT */
/*
 * MSCCL++: linked; a driver of 2.5 at least; pages of 64 KiB on which flags are
 * raised with 8-byte atomic stores.  Its look at the device node comes before
 * the library and is left out here.
 */
#include "loader.h"

#include "gdrapi.h"
#include "gdrapi_ext.h"

static gdr_t g;

static void init(void)
{
	int major = 0, minor = 0;

	gdr_runtime_get_version(&major, &minor);
	printf("GDRCopy initialized: libgdrapi %d.%d", major, minor);
	g = gdr_open();
	CHECK(g);
	CHECK(gdr_driver_get_version(g, &major, &minor) == 0);
	printf(", gdrdrv %d.%d\n", major, minor);
	CHECK(major > 2 || (major == 2 && minor >= 5));
}

/* A semaphore's page. */
static void page(CUdeviceptr ptr)
{
	gdr_mh_t mh = { 0 };
	uint64_t value, seen, copied[2] = { 11, 12 }, back[2] = { 0, 0 };
	uint64_t *flag;
	void *map;
	int ret = gdr_pin_buffer_v2(g, ptr, GPU_PAGE_SIZE, GDR_PIN_FLAG_FORCE_PCIE, &mh);

	CHECK(cu.coherent || ret != 0);
	if (ret)
		ret = gdr_pin_buffer_v2(g, ptr, GPU_PAGE_SIZE, GDR_PIN_FLAG_DEFAULT, &mh);
	CHECK(ret == 0);
	CHECK(gdr_map(g, mh, &map, GPU_PAGE_SIZE) == 0);
	flag = map;
	for (value = 1; value <= 100; value++) {
		__atomic_store_n(flag, value, __ATOMIC_RELEASE);
		wc_fence();
		CUDA(MemcpyDtoH(&seen, ptr, sizeof(seen)));
		CHECK(seen == value);
		seen = value << 32;
		write_device(ptr + 8, &seen, sizeof(seen));
		CHECK(__atomic_load_n(flag + 1, __ATOMIC_ACQUIRE) == value << 32);
	}
	CHECK(gdr_copy_to_mapping(mh, flag + 2, copied, sizeof(copied)) == 0);
	CHECK(gdr_copy_from_mapping(mh, back, flag + 2, sizeof(back)) == 0);
	CHECK(back[0] == 11 && back[1] == 12);
	CHECK(gdr_unmap(g, mh, map, GPU_PAGE_SIZE) == 0);
	CHECK(gdr_unpin_buffer(g, mh) == 0);
}

int main(void)
{
	CUdeviceptr vmm, plain;

	last_error = gdrx_last_error;
	explain = print_last_error;
	start_cuda();
	init();
	vmm = alloc_vmm(2ul << 20);
	CUDA(MemAlloc(&plain, 2 * GPU_PAGE_SIZE));
	page(vmm);
	page((plain + GPU_PAGE_SIZE - 1) & GPU_PAGE_MASK);
	free_vmm(vmm, 2ul << 20);
	CUDA(MemFree(plain));
	CHECK(gdr_close(g) == 0);
	return 0;
}
