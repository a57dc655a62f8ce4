/* SPDX-License-Identifier: MIT */
/*
 * NVSHMEM: the versioned library, no older than the header it was built with;
 * the info function by its old name, but with the struct of today; the
 * symmetric heap in pins of up to 2 GB.
 */
#include "loader.h"

#define BUILT_MAJOR 2
#define BUILT_MINOR 4
#define HEAP	    (2ul << 30)

typedef struct shmem_gdr *shmem_t;
typedef struct {
	unsigned long h;
} shmem_mh;

struct shmem_info {
	uint64_t va;
	uint64_t mapped_size;
	uint32_t page_size;
	uint64_t tm_cycles;
	uint32_t cycles_per_ms;
	unsigned mapped : 1;
	unsigned wc_mapping : 1;
	int mapping_type;
};
_Static_assert(sizeof(struct shmem_info) == 48, "the struct of 2.4 and later");

static struct {
	CLIENT_CALLS(shmem_t, shmem_mh)
	int (*get_info)(shmem_t, shmem_mh, struct shmem_info *);
	CLIENT_VERSIONS(shmem_t)
} api;

static shmem_t init(void)
{
	void *lib = load_library("libgdrapi.so.2", RTLD_LAZY);
	int major = 0, minor = 0;
	shmem_t g;

	LOOK_UP(lib, api.runtime_version, "gdr_runtime_get_version");
	api.runtime_version(&major, &minor);
	CHECK(major == BUILT_MAJOR && minor >= BUILT_MINOR);
	LOOK_UP_CALLS(lib, api);
	LOOK_UP(lib, api.get_info, "gdr_get_info");
	LOOK_UP(lib, api.driver_version, "gdr_driver_get_version");
	g = api.open();
	CHECK(g);
	CHECK(api.driver_version(g, &major, &minor) == 0);
	printf("GDR driver version: (%d, %d)\n", major, minor);
	return g;
}

/* A registration: pinned, mapped, and where the library says that its start is. */
struct region {
	CUdeviceptr ptr;
	size_t size;
	shmem_mh mh;
	void *map;
	char *host;
};

static struct region reg(shmem_t g, CUdeviceptr ptr, size_t size)
{
	struct region r = { .ptr = ptr, .size = size };
	struct shmem_info info;

	CHECK(api.pin(g, ptr, size, 0, 0, &r.mh) == 0);
	CHECK(api.map(g, r.mh, &r.map, size) == 0);
	memset(&info, 0x5a, sizeof(info));
	CHECK(api.get_info(g, r.mh, &info) == 0);
	CHECK(info.mapping_type == 0x5a5a5a5a);
	CHECK(info.va <= ptr && info.va + info.mapped_size >= ptr + size);
	r.host = (char *)r.map + (ptr - info.va);
	return r;
}

static void dereg(shmem_t g, const struct region *r)
{
	CHECK(api.unmap(g, r->mh, r->map, r->size) == 0);
	CHECK(api.unpin(g, r->mh) == 0);
}

/* The proxy's atomics: volatile accesses of each width, anywhere in the heap. */
static void use_heap(const struct region *r)
{
	static const size_t places[] = { 0, 8, (1ul << 30) - 8, 1ul << 30, HEAP - 8 };
	uint32_t flushed = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *at = r->host + places[i];
		uint64_t want = 0x0101010101010101 * (i + 1), half = 0x1234abcd;

		*(volatile uint64_t *)(void *)at = want;
		wc_fence();
		check_device(r->ptr + places[i], &want, 8);
		write_device(r->ptr + places[i], &half, 4);
		CHECK(*(volatile uint32_t *)(void *)at == half);
		/* the read that flushes */
		CHECK(api.copy_from(r->mh, &flushed, at, 4) == 0);
		CHECK(flushed == half);
		CHECK(api.copy_to(r->mh, at + 4, &flushed, 4) == 0);
		check_device(r->ptr + places[i] + 4, &half, 4);
	}
}

int main(void)
{
	CUdeviceptr heap, small, aligned;
	struct region r;
	uint64_t counter = 99, back = 0;
	shmem_t g;

	start_cuda();
	g = init();

	heap = alloc_vmm(HEAP);
	r = reg(g, heap, HEAP);
	use_heap(&r);
	dereg(g, &r);
	free_vmm(heap, HEAP);

	/* IBGDA's block */
	CUDA(MemAlloc(&small, 3 * GPU_PAGE));
	aligned = (small + GPU_PAGE - 1) & ~(GPU_PAGE - 1);
	r = reg(g, aligned, 2 * GPU_PAGE);
	CHECK(api.copy_to(r.mh, r.host + GPU_PAGE, &counter, 8) == 0);
	check_device(aligned + GPU_PAGE, &counter, 8);
	CHECK(api.copy_from(r.mh, &back, r.host + GPU_PAGE, 8) == 0 && back == counter);
	dereg(g, &r);
	CUDA(MemFree(small));
	CHECK(api.close(g) == 0);
	return 0;
}
