/* SPDX-License-Identifier: MIT */
/*
 * Linked into a gdrcopy_sanity whose system calls go to the model of the
 * resource manager in tests/rm: the rm backend on softcuda's memory.  Every
 * process starts with two GPUs, and one that broke a rule of the driver fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_rm.h"

static void check_rules(void)
{
	if (!fake_rm_violations())
		return;
	fprintf(stderr, "%u rules of the driver broken, the last: %s\n", fake_rm_violations(),
		fake_rm_violation());
	_exit(1);
}

__attribute__((constructor)) static void start(void)
{
	/* Minor, device instance and CUDA ordinal differ, as they do on real hosts. */
	const struct fake_rm_gpu gpus[] = {
		{ .domain = 0x5cda, .bus = 1, .gpu_id = 0x100, .minor = 2, .instance = 1,
		  .ordinal = 0, .bar1_base = 1ull << 44, .bar1_size = 1ull << 38 },
		{ .domain = 0x5cda, .bus = 2, .gpu_id = 0x101, .minor = 0, .instance = 2,
		  .ordinal = 1, .bar1_base = 1ull << 45, .bar1_size = 1ull << 38 },
	};

	fake_rm_reset();
	fake_rm_add_gpu(&gpus[0]);
	fake_rm_add_gpu(&gpus[1]);
	setenv("GDRCOPY_BACKEND", "rm", 1);
	atexit(check_rules);
}
