/* SPDX-License-Identifier: MIT */
/*
 * Description: every kind and size of device memory, both ways, byte-exact:
 * cuMemAlloc from 4 bytes to 1 GiB with both allocators, small blocks that share
 * a memory object, starts inside an allocation, several VMM segments side by
 * side, memory freed while it is pinned; and clean refusals for the rest.
 */
#include <errno.h>
#include <string.h>

#include "gpu_test.h"

static size_t largest = 1u << 30;

static void test_sizes(gdr_t g)
{
	static const size_t sizes[] = { 4, 100, 4096, 65536, 65540, 1 << 20, (1 << 20) + 4,
					2 << 20, 5 << 20, 16 << 20, 64 << 20, 1 << 30 };
	unsigned a;
	size_t i;

	for (a = 0; gpu_allocator_names[a]; a++) {
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			struct gpu_mem mem;

			if (sizes[i] > largest)
				continue;
			CU(gpu_allocators[a].alloc(&mem, sizes[i], true, true));
			gpu_test_roundtrip(g, mem.ptr, sizes[i], i + 1);
			CU(gpu_allocators[a].free(&mem));
		}
		printf("%s: sizes up to %zu ok\n", gpu_allocator_names[a], largest);
	}
}

/* Blocks of 128 KiB + 512 land at all kinds of offsets inside shared objects. */
static void test_shared_objects(gdr_t g)
{
	enum { N = 24 };
	CUdeviceptr ptr[N];
	int i, mapped = 0;

	for (i = 0; i < N; i++)
		CU(cu.MemAlloc(&ptr[i], 2 * 65536 + 512));
	for (i = 0; i < N; i++) {
		CUdeviceptr up = (ptr[i] + GPU_PAGE_OFFSET) & GPU_PAGE_MASK;
		void *va = (void *)1;
		gdr_mh_t mh;
		int ret;

		/* Any start can be pinned; it maps only if it happens to be aligned. */
		GDR(gdr_pin_buffer(g, ptr[i], 65536 + 512, 0, 0, &mh));
		ret = gdr_map(g, mh, &va, 65536);
		if (ptr[i] & 4095)
			CHECK(ret == EINVAL && va == (void *)1);
		if (ret == 0)
			GDR(gdr_unmap(g, mh, va, 65536));
		mapped += ret == 0;
		GDR(gdr_unpin_buffer(g, mh));
		gpu_test_roundtrip(g, up, 65536, (uint64_t)i + 1);
	}
	for (i = 0; i < N; i++)
		CU(cu.MemFree(ptr[i]));
	printf("%d blocks in shared objects ok, %d of them aligned\n", N, mapped);
}

/* Two pins of one buffer that overlap show the same memory. */
static void test_overlap(gdr_t g)
{
	const size_t size = 1 << 20, at = 3 << 16;
	char text[16] = "seen twice", back[16];
	gdr_mh_t whole, part;
	struct gpu_mem mem;
	void *w, *p;

	CU(gpu_allocators[0].alloc(&mem, size, true, true));
	GDR(gdr_pin_buffer(g, mem.ptr, size, 0, 0, &whole));
	GDR(gdr_pin_buffer(g, mem.ptr + at, 65536, 0, 0, &part));
	GDR(gdr_map(g, whole, &w, size));
	GDR(gdr_map(g, part, &p, 65536));
	GDR(gdr_copy_to_mapping(part, p, text, sizeof(text)));
	GDR(gdr_copy_from_mapping(whole, back, (char *)w + at, sizeof(back)));
	CHECK(memcmp(text, back, sizeof(text)) == 0);
	GDR(gdr_unpin_buffer(g, whole)); /* with its mapping; the other stays */
	GDR(gdr_copy_from_mapping(part, back, p, sizeof(back)));
	CHECK(memcmp(text, back, sizeof(text)) == 0);
	GDR(gdr_unmap(g, part, p, 65536));
	GDR(gdr_unpin_buffer(g, part));
	CU(gpu_allocators[0].free(&mem));
	printf("overlapping pins ok\n");
}

/* A small buffer pinned by the GPU page that it lies in, as clients do. */
static void test_rounded(gdr_t g)
{
	CUdeviceptr first, ptr, page;
	unsigned char *buf = malloc(5000);
	gdr_mh_t mh;
	char *va;

	CHECK(buf);
	CU(cu.MemAlloc(&first, 512));
	CU(cu.MemAlloc(&ptr, 5000));
	CU(cu.MemFree(first));
	page = ptr & GPU_PAGE_MASK;
	gpu_test_fill(buf, 5000, 9);
	GDR(gdr_pin_buffer(g, page, 65536, 0, 0, &mh));
	GDR(gdr_map(g, mh, (void **)&va, 65536));
	GDR(gdr_copy_to_mapping(mh, va + (ptr - page), buf, 5000));
	memset(buf, 0, 5000);
	CU(cu.MemcpyDtoH(buf, ptr, 5000));
	gpu_test_compare(buf, 5000, 9, "of a page around a buffer");
	GDR(gdr_unpin_buffer(g, mh));
	CU(cu.MemFree(ptr));
	free(buf);
	printf("a page around a buffer, which starts 0x%llx bytes into it, ok\n", ptr - page);
}

static void test_start_inside(gdr_t g)
{
	static const size_t starts[] = { 1 << 16, 1 << 20, 3 << 16, (2 << 20) - (1 << 16) };
	struct gpu_mem mem;
	size_t i;

	CU(gpu_allocators[0].alloc(&mem, 4 << 20, true, false));
	for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		gpu_test_roundtrip(g, mem.ptr + starts[i], 300000, i + 7);
	CU(gpu_allocators[0].free(&mem));
	printf("starts inside an allocation ok\n");
}

static CUresult create(CUmemGenericAllocationHandle *handle, size_t size, CUdevice dev,
		       CUmemAllocationHandleType type)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = type,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = dev },
		.allocFlags = { .gpuDirectRDMACapable = 1 },
	};

	return cu.MemCreate(handle, size, &prop, 0);
}

static void set_access(CUdeviceptr at, size_t size, CUdevice dev)
{
	CUmemAccessDesc access = {
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = dev },
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};

	CU(cu.MemSetAccess(at, size, &access, 1));
}

/* Four segments of 2 MiB; ranges that cross one, two and three boundaries. */
static void test_segments(gdr_t g, CUdevice dev)
{
	enum { N = 4 };
	const size_t seg = 2 << 20;
	CUmemGenericAllocationHandle handle[N];
	CUdeviceptr at;
	int i;

	CU(cu.MemAddressReserve(&at, N * seg, 0, 0, 0));
	for (i = 0; i < N; i++) {
		CU(create(&handle[i], seg, dev, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
		CU(cu.MemMap(at + (size_t)i * seg, seg, 0, handle[i], 0));
	}
	set_access(at, N * seg, dev);
	gpu_test_roundtrip(g, at, N * seg, 1);
	gpu_test_roundtrip(g, at + seg - 65536, 2 * 65536, 2);
	gpu_test_roundtrip(g, at + seg - 65536, seg + 2 * 65536, 3);
	gpu_test_roundtrip(g, at + 65536, N * seg - 65536, 4);
	CU(cu.MemUnmap(at, N * seg));
	for (i = 0; i < N; i++)
		CU(cu.MemRelease(handle[i]));
	CU(cu.MemAddressFree(at, N * seg));
	printf("ranges over %d VMM segments ok\n", N);
}

/* A pin holds the memory: it stays readable after the free, and goes with the unpin. */
static void test_freed_while_pinned(gdr_t g)
{
	const size_t size = 8 << 20;
	size_t before = gpu_test_free_memory();
	struct gpu_mem mem;
	unsigned char *in = malloc(4096);
	gdr_mh_t mh;
	int flag;
	void *va;

	CHECK(in);
	CU(gpu_allocators[0].alloc(&mem, size, true, true));
	GDR(gdr_pin_buffer(g, mem.ptr, size, 0, 0, &mh));
	GDR(gdr_map(g, mh, &va, size));
	gpu_test_fill(in, 4096, 5);
	GDR(gdr_copy_to_mapping(mh, va, in, 4096));
	CU(gpu_allocators[0].free(&mem));
	memset(in, 0, 4096);
	GDR(gdr_copy_from_mapping(mh, in, va, 4096));
	gpu_test_compare(in, 4096, 5, "read after cuMemFree");
	GDR(gdr_get_callback_flag(g, mh, &flag));
	CHECK(flag == 0);
	GDR(gdr_unmap(g, mh, va, size));
	GDR(gdr_unpin_buffer(g, mh));
	CHECK(gpu_test_free_memory() == before);
	free(in);
	printf("memory freed while pinned ok\n");
}

/* Memory of two GPUs pinned and mapped at once, from a thread whose context is of one. */
static void test_two_gpus(gdr_t g, const struct gpu *here)
{
	const size_t size = 3 << 16;
	struct gpu there;
	struct gpu_mem mem[2];
	unsigned char *buf = malloc(size);
	gdr_mh_t mh[2];
	void *va[2];
	int i;

	CHECK(buf);
	CU(gpu_allocators[0].alloc(&mem[0], size, true, true));
	CHECK(gpu_open(here->ordinal ? 0 : 1, &there) == 0);
	CU(gpu_allocators[0].alloc(&mem[1], size, true, true));
	for (i = 0; i < 2; i++) {
		GDR(gdr_pin_buffer(g, mem[i].ptr, size, 0, 0, &mh[i]));
		GDR(gdr_map(g, mh[i], &va[i], size));
		gpu_test_fill(buf, size, (uint64_t)i + 40);
		GDR(gdr_copy_to_mapping(mh[i], va[i], buf, size));
	}
	for (i = 0; i < 2; i++) {
		CU(cu.MemcpyDtoH(buf, mem[i].ptr, size));
		gpu_test_compare(buf, size, (uint64_t)i + 40, "of one of two GPUs");
		GDR(gdr_unmap(g, mh[i], va[i], size));
		GDR(gdr_unpin_buffer(g, mh[i]));
	}
	CU(gpu_allocators[0].free(&mem[1]));
	gpu_close(&there);
	CU(cu.CtxSetCurrent(NULL));
	CU(gpu_allocators[0].free(&mem[0]));
	free(buf);
	printf("GPUs %d (%02x:%02x) and %d (%02x:%02x) at once ok\n", here->ordinal, here->bus,
	       here->slot, there.ordinal, there.bus, there.slot);
}

static void expect_refusal(gdr_t g, CUdeviceptr ptr, const char *what)
{
	gdr_mh_t mh = { 0 };
	int ret = gdr_pin_buffer(g, ptr, 65536, 0, 0, &mh);

	if (ret != ENOTSUP)
		FAIL("%s: pin returned %d, not ENOTSUP", what, ret);
	CHECK(mh.h == 0);
	printf("%s: %s\n", what, gdrx_last_error());
}

/* Kinds that the rm backend cannot map, each refused with what to do instead. */
static void test_refusals(gdr_t g, CUdevice dev)
{
	const size_t seg = 2 << 20;
	CUmemGenericAllocationHandle handle;
	CUdeviceptr ptr;
	gdr_mh_t mh;
	void *host;

	CU(cu.MemAllocManaged(&ptr, seg, CU_MEM_ATTACH_GLOBAL));
	expect_refusal(g, ptr, "managed");
	CU(cu.MemFree(ptr));
	CU(cu.MemAllocHost(&host, seg));
	expect_refusal(g, (CUdeviceptr)(uintptr_t)host, "host");
	CU(cu.MemFreeHost(host));
	CU(cu.MemAllocAsync(&ptr, seg, NULL));
	CU(cu.StreamSynchronize(NULL));
	expect_refusal(g, ptr, "stream-ordered");
	CU(cu.MemFreeAsync(ptr, NULL));
	CU(cu.StreamSynchronize(NULL));
	CU(cu.MemAddressReserve(&ptr, seg, 0, 0, 0));
	CU(create(&handle, seg, dev, CU_MEM_HANDLE_TYPE_NONE));
	CU(cu.MemMap(ptr, seg, 0, handle, 0));
	set_access(ptr, seg, dev);
	expect_refusal(g, ptr, "VMM without a handle type");
	CU(cu.MemUnmap(ptr, seg));
	CU(cu.MemRelease(handle));
	CU(cu.MemAddressFree(ptr, seg));
	CHECK(gdr_pin_buffer(g, 0x1000, 65536, 0, 0, &mh) == EINVAL);
	CU(cu.MemAlloc(&ptr, seg));
	CHECK(gdr_pin_buffer(g, ptr + 65536, seg, 0, 0, &mh) == EINVAL);
	CU(cu.MemFree(ptr));
}

int main(int argc, char **argv)
{
	struct gpu gpu;
	int files;
	gdr_t g;

	gpu_test_begin(argc > 1 ? atoi(argv[1]) : 0, &gpu);
	if (cu_is_soft())
		largest = 64u << 20;
	files = gpu_test_open_files();
	g = gdr_open();
	CHECK(g);
	test_sizes(g);
	test_shared_objects(g);
	if (!cu_is_soft()) { /* which needs /dev/udmabuf for the one, and is strict in the other */
		test_overlap(g);
		test_rounded(g);
	}
	test_start_inside(g);
	test_segments(g, gpu.dev);
	test_freed_while_pinned(g);
	if (strcmp(gdrx_backend_name(g), "rm") == 0)
		test_refusals(g, gpu.dev);
	if (gpu_count() > 1) /* last: leaves no context current */
		test_two_gpus(g, &gpu);
	GDR(gdr_close(g));
	CHECK(gpu_test_open_files() == files || gpu_count() > 1);
	gpu_close(&gpu);
	printf("ok\n");
	return 0;
}
