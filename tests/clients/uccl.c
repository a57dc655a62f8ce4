/* SPDX-License-Identifier: MIT */
/*
 * UCCL's FIFO: linked, compiled against the header of today and so with its info
 * struct; both versions are asked for; entries of 64 bytes go into a ring in GPU
 * memory by copies, then the head by another, and the tail comes back by one.
 */
#include "loader.h"

#include "gdrapi.h"
#include "gdrapi_ext.h"

#define ENTRY	64ul
#define ENTRIES 256ul
#define ROUNDS	2000u

static gdr_t g;

struct fifo {
	CUdeviceptr memory, ptr;
	gdr_mh_t mh;
	void *map;
	char *ring;
	uint64_t *head, *tail;
	size_t size;
};

static void open_library(void)
{
	int major = 0, minor = 0;

	gdr_runtime_get_version(&major, &minor);
	CHECK(major == GDR_API_MAJOR_VERSION && minor == GDR_API_MINOR_VERSION);
	g = gdr_open();
	CHECK(g);
	CHECK(gdr_driver_get_version(g, &major, &minor) == 0);
	CHECK(major >= MINIMUM_GDRDRV_MAJOR_VERSION);
}

static struct fifo make_fifo(void)
{
	struct fifo f = { .size = (ENTRIES * ENTRY + 16 + GPU_PAGE_SIZE - 1) & GPU_PAGE_MASK };
	gdr_info_t info;

	CUDA(MemAlloc(&f.memory, f.size + GPU_PAGE_SIZE - 1));
	set_device(f.memory, 0, f.size + GPU_PAGE_SIZE - 1);
	f.ptr = (f.memory + GPU_PAGE_SIZE - 1) & GPU_PAGE_MASK;
	CHECK(gdr_pin_buffer(g, f.ptr, f.size, 0, 0, &f.mh) == 0);
	CHECK(gdr_map(g, f.mh, &f.map, f.size) == 0);
	CHECK(gdr_get_info(g, f.mh, &info) == 0);
	CHECK(info.mapped && info.mapping_type != GDR_MAPPING_TYPE_NONE);
	f.ring = (char *)f.map + (f.ptr - info.va);
	f.head = (uint64_t *)(void *)(f.ring + ENTRIES * ENTRY);
	f.tail = f.head + 1;
	return f;
}

/* Once it sees the head, the GPU's side finds the entry whole. */
static void push_and_take(const struct fifo *f, unsigned round)
{
	CUdeviceptr counters = f->ptr + ENTRIES * ENTRY;
	size_t slot = round % ENTRIES * ENTRY;
	uint64_t head = round + 1ull, tail = 0;
	unsigned char entry[ENTRY];

	fill(entry, ENTRY, round);
	CHECK(gdr_copy_to_mapping(f->mh, f->ring + slot, entry, ENTRY) == 0);
	CHECK(gdr_copy_to_mapping(f->mh, f->head, &head, sizeof(head)) == 0);
	check_device(counters, &head, sizeof(head));
	check_device(f->ptr + slot, entry, ENTRY);
	write_device(counters + 8, &head, sizeof(head));
	CHECK(gdr_copy_from_mapping(f->mh, &tail, f->tail, sizeof(tail)) == 0);
	CHECK(tail == head);
}

int main(void)
{
	struct fifo f;

	last_error = gdrx_last_error;
	explain = print_last_error;
	start_cuda();
	open_library();
	f = make_fifo();
	for (unsigned round = 0; round < ROUNDS; round++)
		push_and_take(&f, round);
	CHECK(gdr_unmap(g, f.mh, f.map, f.size) == 0);
	CHECK(gdr_unpin_buffer(g, f.mh) == 0);
	CHECK(gdr_close(g) == 0);
	CUDA(MemFree(f.memory));
	return 0;
}
