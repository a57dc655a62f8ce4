/* SPDX-License-Identifier: MIT */
/*
 * Where CUDA places the scratch memory of the calibration: a layout is believed
 * only if the samples could have shown that it is another.
 */
#include "soft_fixture.h"

#include <errno.h>

#define BLOCK   (2 * MIB)       /* small allocations share one */
#define SAMPLE  KIB             /* of scratch memory */
#define SAMPLES 7               /* small ones, at most */

/* A full block whose first SAMPLE bytes are free; a buffer of 64 KiB in its middle. */
struct block {
	CUdeviceptr first, gap, buffer, rest[2];
};

static void block_new(struct block *b)
{
	b->first = cuda_alloc(SAMPLE);
	b->gap = cuda_alloc(64 * KIB - SAMPLE);
	b->buffer = cuda_alloc(64 * KIB);
	b->rest[0] = cuda_alloc(MIB);
	b->rest[1] = cuda_alloc(MIB - 128 * KIB);
	assert_int_equal(b->first % BLOCK, 0);
	assert_int_equal(b->rest[1] + MIB - 128 * KIB, b->first + BLOCK);
}

static void block_free(const struct block *b)
{
	cuda_free(b->gap);
	cuda_free(b->buffer);
	cuda_free(b->rest[0]);
	cuda_free(b->rest[1]);
}

/*
 * All samples at the start of their objects: every word that is 0 looks like the
 * offset.  What is pinned then lies elsewhere in its object.
 */
static void samples_at_the_start_of_blocks(void **state)
{
	struct block blocks[2];

	block_new(&blocks[0]);
	block_new(&blocks[1]);
	cuda_free(blocks[0].first);
	cuda_free(blocks[1].first);
	round_trip(*state, blocks[0].buffer, 64 * KIB);
	block_free(&blocks[0]);
	block_free(&blocks[1]);
}

/* As many as are tried: the layout is not believed, and not given up for good. */
static void no_sample_elsewhere(void **state)
{
	CUdeviceptr filler[SAMPLES];
	struct block blocks[SAMPLES];
	int i;

	for (i = 0; i < SAMPLES; i++)
		block_new(&blocks[i]);
	for (i = 0; i < SAMPLES; i++)
		cuda_free(blocks[i].first);
	refuse_pin(*state, blocks[0].buffer, 64 * KIB, ENOTSUP, "which word is the offset");
	for (i = 0; i < SAMPLES; i++)
		filler[i] = cuda_alloc(SAMPLE);
	round_trip(*state, blocks[0].buffer, 64 * KIB);
	for (i = 0; i < SAMPLES; i++) {
		cuda_free(filler[i]);
		block_free(&blocks[i]);
	}
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, soft_open, soft_close)
	static const struct CMUnitTest tests[] = {
		T(samples_at_the_start_of_blocks),
		T(no_sample_elsewhere),
	};
#undef T

	return cmocka_run_group_tests_name("rm samples", tests, soft_start, NULL);
}
