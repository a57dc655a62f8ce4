/* SPDX-License-Identifier: MIT */
/*
 * pplx-garden: linked; one cuMemAlloc buffer with 64 KiB to spare, in which each
 * byte is a flag that the CPU raises by a copy of that one byte.  It asks for
 * neither versions nor info, and reads nothing back.
 */
#include "loader.h"

#include "gdrapi.h"
#include "gdrapi_ext.h"

#define FLAGS 1024ul

int main(void)
{
	static const uint8_t raised = 1, lowered = 0;
	unsigned char want[FLAGS] = { 0 };
	gdr_mh_t mh = { 0 };
	CUdeviceptr memory, ptr;
	uint8_t *flags;
	void *map;
	gdr_t g;

	last_error = gdrx_last_error;
	explain = print_last_error;
	start_cuda();
	g = gdr_open();
	CHECK(g);
	CUDA(MemAlloc(&memory, FLAGS + GPU_PAGE_SIZE));
	set_device(memory, 0, FLAGS + GPU_PAGE_SIZE);
	ptr = (memory + GPU_PAGE_SIZE - 1) & GPU_PAGE_MASK;
	CHECK(gdr_pin_buffer(g, ptr, FLAGS, 0, 0, &mh) == 0);
	CHECK(gdr_map(g, mh, &map, FLAGS) == 0);
	flags = map;
	/* a flag is one byte of the GPU's: its neighbours stay as they are */
	for (size_t i = 0; i < FLAGS; i += 3) {
		CHECK(gdr_copy_to_mapping(mh, flags + i, &raised, 1) == 0);
		want[i] = 1;
	}
	check_device(ptr, want, FLAGS);
	for (size_t i = 0; i < FLAGS; i += 6) {
		CHECK(gdr_copy_to_mapping(mh, flags + i, &lowered, 1) == 0);
		want[i] = 0;
	}
	check_device(ptr, want, FLAGS);
	CHECK(gdr_unmap(g, mh, map, FLAGS) == 0);
	CHECK(gdr_unpin_buffer(g, mh) == 0);
	CHECK(gdr_close(g) == 0);
	CUDA(MemFree(memory));
	return 0;
}
