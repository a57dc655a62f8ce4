/* SPDX-License-Identifier: MIT */
/*
 * Description: 16 threads on one gdr_t, each with a buffer of its own, pin, map,
 * copy, compare, query, unmap and unpin, while others open and close contexts.
 */
#include <pthread.h>
#include <stdlib.h>

#include "session.h"

#define THREADS 16
#define ROUNDS  40

struct worker {
	pthread_t thread;
	const struct sanity_variant *v;
	struct mapped p;
	int number;
	pthread_barrier_t *start;
};

static void check_copies(const struct worker *w, int round)
{
	unsigned char out[300], in[300];
	size_t i, n = 1 + (size_t)(w->number * 37 + round * 11) % sizeof(out);
	char *at = (char *)(uintptr_t)w->p.m + (size_t)(round * 101 + w->number) % 4096;

	for (i = 0; i < n; i++)
		out[i] = (unsigned char)(w->number * 16 + round + (int)i);
	memset(in, 0, sizeof(in));
	GDR(gdr_copy_to_mapping(w->p.mh, at, out, n));
	GDR(gdr_copy_from_mapping(w->p.mh, in, at, n));
	CHECK(memcmp(out, in, n) == 0);
}

static void open_and_close(void)
{
	int major, minor;
	gdr_t g = session_open();

	GDR(gdr_driver_get_version(g, &major, &minor));
	GDR(gdr_close(g));
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int round, flag;

	pthread_barrier_wait(w->start);
	for (round = 0; round < ROUNDS; round++) {
		w->p.mh = session_pin(w->p.g, w->v, w->p.mem.ptr, SMALL);
		session_map_pinned(&w->p);
		w->p.m[5000] = w->number;
		check_copies(w, round);
		GDR(gdr_get_callback_flag(w->p.g, w->p.mh, &flag));
		CHECK_INT(flag, 0);
		if (round % 8 == w->number % 8)
			open_and_close();
		CHECK_INT(w->p.m[5000], w->number);
		/* Half of them leave the unmapping to unpin. */
		if (w->number % 2)
			GDR(gdr_unpin_buffer(w->p.g, w->p.mh));
		else
			session_unmap(&w->p);
	}
	return NULL;
}

static void sixteen(const struct sanity_variant *v)
{
	static struct worker w[THREADS];
	pthread_barrier_t start;
	int i;
	gdr_t g;

	session_cuda(v, false);
	g = session_open();
	CHECK_INT(pthread_barrier_init(&start, NULL, THREADS), 0);
	for (i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ .v = v, .number = i, .start = &start };
		w[i].p.g = g;
		w[i].p.mem = session_alloc(v, SMALL, 0);
	}
	for (i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	for (i = 0; i < THREADS; i++)
		CHECK_INT(pthread_join(w[i].thread, NULL), 0);
	pthread_barrier_destroy(&start);
	GDR(gdr_close(g));
	for (i = 0; i < THREADS; i++)
		session_free(&w[i].p.mem);
	session_end();
}

static const struct sanity_test more_threads[] = {
	{ "threads_16_cumemalloc", sixteen, PLAIN, SANITY_MORE },
	{ "threads_16_vmmalloc", sixteen, VMM, SANITY_MORE },
};
SANITY_TABLE(more_threads);
