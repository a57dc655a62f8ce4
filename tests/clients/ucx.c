/* SPDX-License-Identifier: MIT */
/*
 * UCX: linked, so this one is compiled against the header and gets the info
 * function and struct that the header's macro names.  Ranges of the user's own
 * memory, widened to 64 KiB, registered and copied from several threads.
 */
#include "loader.h"

#include "gdrapi.h"
#include "gdrapi_ext.h"

#define THREADS 4
#define ROUNDS	40
#define MEMORY	(8ul << 20)

struct mem {
	gdr_mh_t mh;
	gdr_info_t info;
	void *bar;
	size_t length;
};

static gdr_t md;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUdeviceptr memory[2];

/* Both sides of the change of the info struct must agree. */
static void check_versions(void)
{
	int major = 0, minor = 0;

	gdr_runtime_get_version(&major, &minor);
	CHECK(major == GDR_API_MAJOR_VERSION);
	CHECK((minor <= 3) == (GDR_API_MINOR_VERSION <= 3));
}

/* What makes the transport appear: open and close again. */
static void probe(void)
{
	gdr_t g = gdr_open();

	CHECK(g);
	CHECK(gdr_close(g) == 0);
}

static void reg(struct mem *m, CUdeviceptr address, size_t length)
{
	CUdeviceptr start = address & GPU_PAGE_MASK;
	CUdeviceptr end = (address + length + GPU_PAGE_SIZE - 1) & GPU_PAGE_MASK;

	m->length = end - start;
	pthread_mutex_lock(&lock);
	CHECK(gdr_pin_buffer_v2(md, start, m->length, GDR_PIN_FLAG_DEFAULT, &m->mh) == 0);
	CHECK(gdr_map(md, m->mh, &m->bar, m->length) == 0);
	CHECK(gdr_get_info(md, m->mh, &m->info) == 0);
	pthread_mutex_unlock(&lock);
	CHECK(m->info.va <= address);
	CHECK(m->info.va + m->info.mapped_size >= address + length);
	CHECK(m->info.mapping_type != GDR_MAPPING_TYPE_NONE && m->info.mapped);
}

static void dereg(const struct mem *m)
{
	pthread_mutex_lock(&lock);
	CHECK(gdr_unmap(md, m->mh, m->bar, m->length) == 0);
	CHECK(gdr_unpin_buffer(md, m->mh) == 0);
	pthread_mutex_unlock(&lock);
}

/* A put and a get of a random piece; the pieces of two threads are far apart. */
static void *transfer(void *arg)
{
	unsigned self = (unsigned)(uintptr_t)arg;
	unsigned char out[8192], in[8192];
	unsigned seed = self + 1;

	CUDA(CtxSetCurrent(cu.ctx));
	for (unsigned i = 0; i < ROUNDS; i++) {
		size_t length = 1 + (size_t)rand_r(&seed) % sizeof(out);
		size_t at = (size_t)rand_r(&seed) % (MEMORY / THREADS - sizeof(out));
		CUdeviceptr address = memory[i % 2] + self * (MEMORY / THREADS) + at;
		struct mem m;
		char *bar;

		reg(&m, address, length);
		bar = (char *)m.bar + (address - m.info.va);
		fill(out, length, self * ROUNDS + i);
		CHECK(gdr_copy_to_mapping(m.mh, bar, out, length) == 0);
		check_device(address, out, length);
		CHECK(gdr_copy_from_mapping(m.mh, in, bar, length) == 0);
		CHECK(!memcmp(in, out, length));
		dereg(&m);
	}
	return NULL;
}

/* The test-suite of UCX: PCIe cannot be forced where there is no other way. */
static void force_pcie(void)
{
	gdr_mh_t mh = { 0 };
	int ret = gdr_pin_buffer_v2(md, memory[0], GPU_PAGE_SIZE, GDR_PIN_FLAG_FORCE_PCIE, &mh);

	CHECK(cu.coherent || ret != 0);
	if (ret == 0)
		CHECK(gdr_unpin_buffer(md, mh) == 0);
}

int main(void)
{
	pthread_t threads[THREADS];

	last_error = gdrx_last_error;
	explain = print_last_error;
	start_cuda();
	check_versions();
	probe();
	CUDA(MemAlloc(&memory[0], MEMORY));
	memory[1] = alloc_vmm(MEMORY);
	md = gdr_open();
	CHECK(md);
	force_pcie();
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, transfer, (void *)i));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(gdr_close(md) == 0);
	CUDA(MemFree(memory[0]));
	free_vmm(memory[1], MEMORY);
	return 0;
}
