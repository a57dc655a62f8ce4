/* SPDX-License-Identifier: MIT */
/*
 * Description: 1,000 pin, map, copy, unmap, unpin cycles leave descriptors, GPU
 * memory and address space as they were; so do 50 open-close cycles.
 */
#include <string.h>

#include "gpu_test.h"

/* Mappings of this process. */
static int count_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	int c, n = 0;

	CHECK(f);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

static void cycle(gdr_t g, const struct gpu_mem *mem)
{
	char word[8] = "gdrcopy", back[8];
	gdr_mh_t mh;
	void *va;

	GDR(gdr_pin_buffer(g, mem->ptr, mem->size, 0, 0, &mh));
	GDR(gdr_map(g, mh, &va, mem->size));
	GDR(gdr_copy_to_mapping(mh, va, word, sizeof(word)));
	GDR(gdr_copy_from_mapping(mh, back, va, sizeof(back)));
	CHECK(memcmp(word, back, sizeof(word)) == 0);
	GDR(gdr_unmap(g, mh, va, mem->size));
	GDR(gdr_unpin_buffer(g, mh));
}

static void run(gdr_t g, const struct gpu_allocator *how, int cycles)
{
	struct gpu_mem mem;
	int files, maps, i;
	size_t memory;

	/* What is made once is made now, by us and in CUDA's context. */
	CU(how->alloc(&mem, 1 << 20, true, true));
	cycle(g, &mem);
	CU(how->free(&mem));
	memory = gpu_test_free_memory();
	CU(how->alloc(&mem, 1 << 20, true, true));
	files = gpu_test_open_files();
	maps = count_mappings();
	for (i = 0; i < cycles; i++)
		cycle(g, &mem);
	CHECK(gpu_test_open_files() == files);
	CHECK(count_mappings() == maps);
	CU(how->free(&mem));
	printf("%s: %d cycles; free memory %zu before, %zu after; %d descriptors\n", how->name,
	       cycles, memory, gpu_test_free_memory(), files);
	CHECK(gpu_test_free_memory() == memory);
}

int main(int argc, char **argv)
{
	int cycles = argc > 1 ? atoi(argv[1]) : 1000;
	int files, i;
	unsigned a;
	struct gpu gpu;
	size_t memory;
	gdr_t g;

	gpu_test_begin(0, &gpu);
	files = gpu_test_open_files();
	g = gdr_open();
	CHECK(g);
	{ /* a pool block of CUDA's own that stays is not ours */
		CUdeviceptr small;

		CU(cu.MemAlloc(&small, 512));
		for (a = 0; gpu_allocator_names[a]; a++)
			run(g, &gpu_allocators[a], cycles);
		CU(cu.MemFree(small));
	}
	GDR(gdr_close(g));
	CHECK(gpu_test_open_files() == files);
	memory = gpu_test_free_memory();
	for (i = 0; i < 50; i++) {
		struct gpu_mem mem;

		CU(gpu_allocators[0].alloc(&mem, 65536, true, true));
		g = gdr_open();
		CHECK(g);
		cycle(g, &mem);
		GDR(gdr_close(g));
		CU(gpu_allocators[0].free(&mem));
	}
	CHECK(gpu_test_open_files() == files);
	CHECK(gpu_test_free_memory() == memory);
	gpu_close(&gpu);
	printf("ok\n");
	return 0;
}
