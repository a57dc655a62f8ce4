/* SPDX-License-Identifier: MIT */
/*
 * IPC handles of every shape: CUDA puts the same words in them in another order,
 * changed or left out.  The rm backend finds its way or refuses; what it maps is
 * the memory that was pinned, always.
 */
#include "calls.h"
#include "inject.h"

#define WORDS 16
#define STEPS 24

static const struct ground *ground;
static struct {
	uint8_t op, to, from;
	uint32_t value;
} steps[STEPS];
static unsigned n_steps;

/* The same for every handle: a layout is a layout. */
static void twist(uint32_t w[WORDS])
{
	unsigned i;

	for (i = 0; i < n_steps; i++) {
		uint32_t *to = &w[steps[i].to], *from = &w[steps[i].from], old = *to;

		switch (steps[i].op) {
		case 0:
			*to = *from;
			break;
		case 1:
			*to = *from;
			*from = old;
			break;
		case 2:
			*to = steps[i].value;
			break;
		case 3:
			*to ^= steps[i].value;
			break;
		default:
			*to += steps[i].value;
		}
	}
}

/* Any bytes: what is in front of the calls decides about the words. */
static void read_steps(struct input *in)
{
	unsigned i;

	n_steps = input_pick(in, STEPS + 1);
	for (i = 0; i < n_steps; i++) {
		steps[i].op = (uint8_t)input_pick(in, 5);
		steps[i].to = (uint8_t)input_pick(in, WORDS);
		steps[i].from = (uint8_t)input_pick(in, WORDS);
		steps[i].value = 0;
		if (steps[i].op > 1)
			steps[i].value = input_pick(in, 4) ? (uint32_t)input_wild(in) :
				0xc1d00000u + (uint32_t)input_number(in, 2);
	}
}

static void try_memory(gdr_t g, uint64_t at, uint64_t size)
{
	gdr_mh_t mh = { 77 };
	void *va = NULL;
	uint64_t page, seen;

	if (calls_failed(WATCH(gdr_pin_buffer(g, at, size, 0, 0, &mh)))) {
		MUST(mh.h == 77);
		return;
	}
	if (!calls_failed(WATCH(gdr_map(g, mh, &va, size)))) {
		for (page = 0; page < size; page += CALLS_PAGE) {
			memcpy(&seen, (char *)va + page, sizeof(seen));
			MUST(seen == at + page);
		}
		MUST(!WATCH(gdr_unmap(g, mh, va, size)));
	}
	MUST(!WATCH(gdr_unpin_buffer(g, mh)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	gdr_t g;

	if (!ground)
		ground = calls_start("rm");
	ground_reset(ground);
	read_steps(&in);
	inject_twist_ipc = twist;
	g = WATCH(gdr_open());
	MUST(g);
	try_memory(g, ground->inner, ground->inner_size);
	try_memory(g, ground->plain, ground->plain_size);
	calls_failed(WATCH(gdr_close(g)));
	MUST(ground_is_clean(ground));
	calls_run(ground, &in, NULL);
	return 0;
}
