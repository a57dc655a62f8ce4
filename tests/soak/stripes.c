/* SPDX-License-Identifier: MIT */
/*
 * Memory that all threads write side by side: stripes of 1 to 150 bytes, each of
 * one thread, at all alignments.  Two threads then write to one line at a time,
 * and a byte that one writes outside of its stripe is missed by its neighbour.
 */
#include <string.h>

#include "soak.h"

#define SIZE ((size_t)2 << 20)
#define USED ((size_t)256 << 10)
#define STRIPES_MAX 8192
#define VIEWS 2

static struct {
	struct gpu_mem mem;
	gdr_mh_t mh[VIEWS];             /* the same memory, mapped in both shared contexts */
	char *map[VIEWS];
	unsigned char *shadow;          /* each stripe is its thread's */
} field[2];

static struct {
	size_t at, n;
} stripes[STRIPES_MAX];
static size_t nstripes;

static void draw(void)
{
	uint64_t random = soak.plan.seed;
	size_t at = 0, n;

	nstripes = 0;
	while (nstripes < STRIPES_MAX && at + 150 < USED) {
		n = 1 + soak_random(&random) % 150;
		stripes[nstripes].at = at;
		stripes[nstripes++].n = n;
		at += n;
	}
}

void soak_stripes_make(void)
{
	unsigned f, v;
	void *va;

	draw();
	for (f = 0; f < 2; f++) {
		CU(gpu_allocators[f].alloc(&field[f].mem, SIZE, true, true));
		field[f].shadow = calloc(1, USED);
		CHECK(field[f].shadow);
		CU(cu.MemcpyHtoD(field[f].mem.ptr, field[f].shadow, USED));
		CU(cu.CtxSynchronize());
		for (v = 0; v < VIEWS; v++) {
			GDR(gdr_pin_buffer(soak.shared[v], field[f].mem.ptr, SIZE, 0, 0,
					   &field[f].mh[v]));
			GDR(gdr_map(soak.shared[v], field[f].mh[v], &va, USED));
			field[f].map[v] = va;
		}
	}
}

void soak_stripes_end(void)
{
	unsigned char *back = malloc(USED);
	unsigned f, v;

	CHECK(back);
	for (f = 0; f < 2; f++) {
		CU(cu.MemcpyDtoH(back, field[f].mem.ptr, USED));
		soak_compare(back, field[f].shadow, USED, 0, "stripes, when all was done");
		for (v = 0; v < VIEWS; v++) {
			GDR(gdr_unmap(soak.shared[v], field[f].mh[v], field[f].map[v], USED));
			GDR(gdr_unpin_buffer(soak.shared[v], field[f].mh[v]));
		}
		CU(field[f].mem.how->free(&field[f].mem));
		free(field[f].shadow);
	}
	free(back);
}

/* One of the thread's own; consecutive ones are consecutive threads'. */
static size_t own_stripe(struct soak_worker *w)
{
	size_t rounds = nstripes / soak.plan.threads;

	return soak_below(w, rounds) * soak.plan.threads + w->number;
}

bool soak_op_write_stripe(struct soak_worker *w)
{
	size_t s = own_stripe(w), f = soak_below(w, 2), v = soak_below(w, VIEWS);
	unsigned char *shadow = field[f].shadow + stripes[s].at, *host;
	size_t from = soak_below(w, stripes[s].n), n = 1 + soak_below(w, stripes[s].n - from);

	soak_fill(w, shadow + from, n);
	host = w->host + soak_below(w, 64);
	memcpy(host, shadow + from, n);
	GDR(gdr_copy_to_mapping(field[f].mh[v], field[f].map[v] + stripes[s].at + from, host, n));
	/* all of the stripe, by the other mapping */
	v = VIEWS - 1 - v;
	GDR(gdr_copy_from_mapping(field[f].mh[v], host, field[f].map[v] + stripes[s].at,
				  stripes[s].n));
	soak_compare(host, shadow, stripes[s].n, stripes[s].at, "a stripe that was just written");
	return true;
}

bool soak_op_read_stripe(struct soak_worker *w)
{
	size_t s = own_stripe(w), f = soak_below(w, 2), v = soak_below(w, VIEWS);

	GDR(gdr_copy_from_mapping(field[f].mh[v], w->host, field[f].map[v] + stripes[s].at,
				  stripes[s].n));
	soak_compare(w->host, field[f].shadow + stripes[s].at, stripes[s].n, stripes[s].at,
		     "a stripe");
	return true;
}

bool soak_op_read_stripe_cuda(struct soak_worker *w)
{
	size_t s = own_stripe(w), f = soak_below(w, 2);

	CU(cu.MemcpyDtoH(w->host, field[f].mem.ptr + stripes[s].at, stripes[s].n));
	soak_compare(w->host, field[f].shadow + stripes[s].at, stripes[s].n, stripes[s].at,
		     "a stripe, read by CUDA");
	return true;
}
