/* SPDX-License-Identifier: MIT */
/*
 * Description: memory of every GPU pinned and mapped at once on one gdr_t, from
 * a thread whose current context is of one of them; each mapping shows its own.
 */
#include "session.h"

#define GPUS 16

/* VMM memory is open to its own GPU's context only. */
static void make_current(const struct gpu *gpu)
{
	CUcontext ctx;

	CU(cu.DevicePrimaryCtxRetain(&ctx, gpu->dev));
	CU(cu.CtxSetCurrent(ctx));
	CU(cu.DevicePrimaryCtxRelease(gpu->dev));
}

static void run(const struct sanity_variant *v)
{
	struct mapped p[GPUS];
	struct gpu gpus[GPUS];
	int i, n, value;
	gdr_t g;

	session_cuda(v, false);
	n = gpu_count();
	if (n < 2)
		sanity_waive("there is one GPU");
	n = n < GPUS ? n : GPUS;
	g = session_open();
	for (i = 0; i < n; i++) {
		CHECK(gpu_open(i, &gpus[i]) == 0);
		p[i].g = g;
		p[i].mem = session_alloc(v, SMALL, 0);
	}
	for (i = 0; i < n; i++) {
		p[i].mh = session_pin(g, v, p[i].mem.ptr, SMALL);
		session_map_pinned(&p[i]);
		p[i].m[0] = 1000 + i;
	}
	full_barrier();
	for (i = 0; i < n; i++) {
		CHECK_INT(p[i].m[0], 1000 + i);
		make_current(&gpus[i]);
		CU(cu.MemcpyDtoH(&value, p[i].mem.ptr, sizeof(value)));
		CHECK_INT(value, 1000 + i);
	}
	for (i = 0; i < n; i++)
		session_unmap(&p[i]);
	GDR(gdr_close(g));
	for (i = 0; i < n; i++) {
		session_free(&p[i].mem);
		CU(cu.DevicePrimaryCtxRelease(gpus[i].dev));
	}
}

static const struct sanity_test more_gpus[] = {
	{ "several_gpus_cumemalloc", run, PLAIN, SANITY_MORE },
	{ "several_gpus_vmmalloc", run, VMM, SANITY_MORE },
};
SANITY_TABLE(more_gpus);
