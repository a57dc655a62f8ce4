/* SPDX-License-Identifier: MIT */
/* One backend, forced: open, and on each GPU pin, map, copy both ways, and compare. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fence.h"
#include "gdrapi_ext.h"
#include "gpu.h"
#include "probe.h"
#include "probe_text.h"

#define SIZE      ((size_t)256 << 10)
#define TIMED     ((size_t)128 << 10)   /* bytes of one timed row of stores */
#define ROWS      9

const char *const probe_backend_names[PROBE_BACKENDS] = {
	[PROBE_GDRDRV] = "gdrdrv", [PROBE_DMABUF] = "dmabuf", [PROBE_RM] = "rm",
};

const char *const probe_step_names[] = {
	"nothing", "cuDevicePrimaryCtxRetain", "allocation", "gdr_pin_buffer", "gdr_map",
	"copy to the mapping", "copy from the mapping", "gdr_unmap and gdr_unpin_buffer", "all",
};

struct job {
	unsigned which;
	bool soft;
	const struct cuda_facts *cuda;
};

struct pinned {
	gdr_t g;
	gdr_mh_t mh;
	gdr_info_t info;
	struct gpu_mem mem;
	void *map;
	char *ptr;              /* the memory's first byte */
};

static bool cuda_ok(struct backend_try *t, CUresult res, const char *call)
{
	if (res == CUDA_SUCCESS)
		return true;
	snprintf(t->why, sizeof(t->why), "%s: %s (%d)", call, cu_error_name(res), (int)res);
	return false;
}

static bool gdr_ok(struct backend_try *t, int err, const char *call)
{
	const char *why = gdrx_last_error();

	if (!err)
		return true;
	snprintf(t->why, sizeof(t->why), "%s: %s%s%s", call, strerror(err), *why ? ": " : "", why);
	return false;
}

/* Bytes that tell a wrong place from the right one. */
static void fill(unsigned char *p, unsigned seed)
{
	uint32_t v = seed * 2654435761U + 1;
	size_t i;

	for (i = 0; i < SIZE; i++) {
		v = v * 1664525 + 1013904223;
		p[i] = (unsigned char)(v >> 24);
	}
}

static bool same(struct backend_try *t, const unsigned char *a, const unsigned char *b)
{
	size_t i;

	for (i = 0; i < SIZE; i++) {
		if (a[i] == b[i])
			continue;
		snprintf(t->why, sizeof(t->why), "wrong data: byte %zu of %zu is 0x%02x, not "
			 "0x%02x", i, SIZE, b[i], a[i]);
		return false;
	}
	return true;
}

static bool copy_both_ways(struct pinned *p, struct backend_try *t)
{
	static unsigned char sent[SIZE], got[SIZE];

	t->step = STEP_WRITE;
	fill(sent, 1);
	if (!gdr_ok(t, gdr_copy_to_mapping(p->mh, p->ptr, sent, SIZE), "gdr_copy_to_mapping") ||
	    !cuda_ok(t, cu.MemcpyDtoH(got, p->mem.ptr, SIZE), "cuMemcpyDtoH") ||
	    !same(t, sent, got))
		return false;
	t->step = STEP_READ;
	fill(sent, 2);
	if (!cuda_ok(t, cu.MemcpyHtoD(p->mem.ptr, sent, SIZE), "cuMemcpyHtoD") ||
	    !cuda_ok(t, cu.CtxSynchronize(), "cuCtxSynchronize") ||
	    !gdr_ok(t, gdr_copy_from_mapping(p->mh, got, p->ptr, SIZE), "gdr_copy_from_mapping"))
		return false;
	return same(t, sent, got);
}

/*
 * Stores of 8 bytes, one after another.  Where the processor combines them they
 * leave as whole cache lines; in an uncached mapping each is a write of its own
 * on the bus (Intel SDM vol. 3, Memory Cache Control).
 */
static double time_stores(char *to)
{
	volatile uint64_t *p = (volatile uint64_t *)to;
	struct timespec a, b;
	size_t i;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < TIMED / 8; i++)
		p[i] = i;
	fence_stores();
	clock_gettime(CLOCK_MONOTONIC, &b);
	return (double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) * 1e-3;
}

/* The best of some rows: what disturbs only makes it longer. */
static void measure(struct pinned *p, struct backend_try *t)
{
	double us, best = 0;
	int i;

	for (i = 0; i < ROWS; i++) {
		us = time_stores(p->ptr);
		if (us > 0 && (!best || us < best))
			best = us;
	}
	t->timed = best > 0;
	if (t->timed)
		t->store_mb_per_s = (double)TIMED / best;
}

static bool use_pin(struct pinned *p, struct backend_try *t)
{
	bool ok;

	t->step = STEP_MAP;
	if (!gdr_ok(t, gdr_map(p->g, p->mh, &p->map, SIZE), "gdr_map"))
		return false;
	ok = gdr_ok(t, gdr_get_info(p->g, p->mh, &p->info), "gdr_get_info");
	if (ok) {
		t->type = p->info.mapping_type;
		p->ptr = (char *)p->map + (p->mem.ptr - p->info.va);
		ok = copy_both_ways(p, t);
	}
	if (ok)
		measure(p, t);
	if (!ok) {
		gdr_unmap(p->g, p->mh, p->map, SIZE);
		return false;
	}
	t->step = STEP_RELEASE;
	return gdr_ok(t, gdr_unmap(p->g, p->mh, p->map, SIZE), "gdr_unmap");
}

static void try_allocator(gdr_t g, const struct gpu_allocator *how, struct backend_try *t)
{
	struct pinned p = { .g = g };
	bool ok;

	t->step = STEP_ALLOC;
	if (!cuda_ok(t, how->alloc(&p.mem, SIZE, true, true), how->name))
		return;
	t->step = STEP_PIN;
	ok = gdr_ok(t, gdr_pin_buffer(g, p.mem.ptr, SIZE, 0, 0, &p.mh), "gdr_pin_buffer");
	if (ok) {
		ok = use_pin(&p, t);
		if (!ok)
			gdr_unpin_buffer(g, p.mh);
		else
			ok = gdr_ok(t, gdr_unpin_buffer(g, p.mh), "gdr_unpin_buffer");
	}
	if (!cuda_ok(t, how->free(&p.mem), "cuMemFree") || !ok)
		return;
	t->step = STEP_DONE;
}

static void try_gpu(gdr_t g, int ordinal, struct backend_try tries[PROBE_ALLOCATORS])
{
	CUcontext ctx;
	CUdevice dev;
	int i;

	tries[0].step = tries[1].step = STEP_CONTEXT;
	if (!cuda_ok(&tries[0], cu.DeviceGet(&dev, ordinal), "cuDeviceGet") ||
	    !cuda_ok(&tries[0], cu.DevicePrimaryCtxRetain(&ctx, dev), "cuDevicePrimaryCtxRetain") ||
	    !cuda_ok(&tries[0], cu.CtxSetCurrent(ctx), "cuCtxSetCurrent")) {
		tries[1] = tries[0];
		return;
	}
	for (i = 0; i < PROBE_ALLOCATORS; i++)
		try_allocator(g, &gpu_allocators[i], &tries[i]);
	cu.CtxSetCurrent(NULL);
	cu.DevicePrimaryCtxRelease(dev);
}

/* The reason in the report's line of this backend, or all of the report. */
static void why_not_open(const char *name, char *why, size_t len)
{
	const char *p = gdrx_open_report();
	size_t n = strlen(name);

	if (!strncmp(p, name, n) && p[n] == ':')
		p += n + 1 + strspn(p + n + 1, " ");
	snprintf(why, len, "%.*s", (int)strcspn(p, "\n"), p);
	if (!*why)
		snprintf(why, len, "gdr_open fails: %s", gdrx_last_error());
}

static void body(void *result, void *arg)
{
	const struct job *job = arg;
	const char *name = probe_backend_names[job->which];
	struct backend_facts *f = result;
	int i;
	gdr_t g;

	setenv("GDRCOPY_BACKEND", name, 1);
	f->loaded = probe_load_cuda(job->soft, f->why, sizeof(f->why)) == 0;
	g = gdr_open();
	if (!g) {
		why_not_open(name, f->why, sizeof(f->why));
		return;
	}
	f->opened = true;
	gdr_driver_get_version(g, &f->major, &f->minor);
	if (f->loaded && cu.Init(0) == CUDA_SUCCESS)
		for (i = 0; i < job->cuda->n; i++)
			try_gpu(g, job->cuda->gpus[i].ordinal, f->tries[i]);
	gdr_close(g);
}

void probe_backend(unsigned which, bool soft, const struct cuda_facts *cuda, uint64_t seconds,
		   struct backend_facts *out)
{
	struct job job = { which, soft, cuda };
	struct probe_end end;

	probe_run(body, &job, out, sizeof(*out), seconds, &end);
	out->end = end;
}
