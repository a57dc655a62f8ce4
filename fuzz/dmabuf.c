/* SPDX-License-Identifier: MIT */
/* The interface on the dmabuf backend, over softcuda. */
#include "calls.h"

static const struct ground *ground;

/* What a program does to the thread that the library runs in. */
static void change_context(struct input *in)
{
	ground_context(ground, input_pick(in, 2));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };

	if (!ground)
		ground = calls_start("dmabuf");
	ground_reset(ground);
	calls_run(ground, &in, change_context);
	return 0;
}
