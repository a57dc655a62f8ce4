/* SPDX-License-Identifier: MIT */
/*
 * --threads: cycles by several threads at once, each with a buffer of its own, on
 * one context or on one each.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "apiperf.h"

/* Threads that start some microseconds apart should still run side by side for most of it. */
#define RUN_US 100e3

/* Where threads wait until all of them have warmed up. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t change;
	size_t ready;                   /* threads that wait */
	bool open;
	atomic_size_t busy;             /* threads that have not done their share */
};

struct worker {
	pthread_t thread;
	struct gate *gate;
	const struct apiperf_args *args;
	const struct place *place;
	unsigned index;
	CUcontext ctx;
	struct apiperf_buffer buffer;
	struct apiperf_set set;
	struct apiperf_verify verify;
	double start, end;
	size_t cycles;
	bool done;
	int err;
};

static void gate_pass(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->ready++;
	pthread_cond_broadcast(&gate->change);
	while (!gate->open)
		pthread_cond_wait(&gate->change, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

/* Wait for n threads, then let them go. */
static void gate_open(struct gate *gate, size_t n)
{
	pthread_mutex_lock(&gate->lock);
	while (gate->ready < n)
		pthread_cond_wait(&gate->change, &gate->lock);
	gate->open = true;
	pthread_cond_broadcast(&gate->change);
	pthread_mutex_unlock(&gate->lock);
}

/* To its share and a tenth of a second; then on, as a load on the others, to theirs. */
static bool goes_on(struct worker *w)
{
	double us = w->end - w->start;

	if (!w->done && us >= RUN_US && !apiperf_more(w->args, w->cycles, w->start)) {
		w->done = true;
		atomic_fetch_sub(&w->gate->busy, 1);
	}
	return !bench_stopped() && us < (double)w->args->max_time * 1e6 &&
		w->cycles < BENCH_SAMPLES && (!w->done || atomic_load(&w->gate->busy));
}

static void *work(void *arg)
{
	struct worker *w = arg;
	const struct apiperf_args *args = w->args;
	double start;
	size_t i;

	/* A CPU each, while there are enough. */
	if (!args->tool.place.none)
		place_thread(w->place, w->index);
	w->err = cu_check(cu.CtxSetCurrent(w->ctx), "cuCtxSetCurrent");
	start = bench_now_us();
	for (i = 0; i < args->tool.warmup && !w->err && !bench_stopped() &&
	     bench_now_us() - start < (double)args->max_time * 1e6; i++)
		w->err = apiperf_cycle(&w->buffer, NULL, NULL);
	gate_pass(w->gate);
	w->start = w->end = bench_now_us();
	while (!w->err && goes_on(w)) {
		w->err = apiperf_cycle(&w->buffer, &w->set, NULL);
		w->end = bench_now_us();
		w->cycles += !w->err;
	}
	if (!w->done)
		atomic_fetch_sub(&w->gate->busy, 1);
	if (!w->err && !args->no_verify)
		w->err = apiperf_cycle(&w->buffer, NULL, &w->verify);
	return NULL;
}

/* Starts what can be started, and waits for the end of it.  0 or -errno. */
static int run_workers(struct worker *workers, size_t n, struct gate *gate)
{
	size_t i, started;
	int err = 0;

	for (started = 0; started < n; started++) {
		err = pthread_create(&workers[started].thread, NULL, work, &workers[started]);
		if (err)
			break;
	}
	if (err)
		fprintf(stderr, "ERROR: thread %zu of %zu: %s; ask for fewer (--threads)\n",
			started + 1, n, strerror(err));
	atomic_fetch_sub(&gate->busy, n - started);
	gate_open(gate, started);
	for (i = 0; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	for (i = 0; i < started && !err; i++)
		err = -workers[i].err;
	return -err;
}

static int append(struct apiperf_samples *to, const struct apiperf_samples *from)
{
	size_t i;

	for (i = 0; i < from->n; i++) {
		if (apiperf_samples_reserve(to))
			return -ENOMEM;
		apiperf_samples_add(to, from->us[i]);
	}
	return 0;
}

/* The samples of all threads, one after the other. */
static int merge(struct apiperf *a, const struct worker *workers, size_t n)
{
	size_t i, c;

	apiperf_set_clear(&a->set);
	for (i = 0; i < n; i++) {
		for (c = 0; c < CALLS; c++) {
			if (append(&a->set.of[c], &workers[i].set.of[c])) {
				fprintf(stderr, "ERROR: no memory for all samples\n");
				return -ENOMEM;
			}
		}
	}
	return 0;
}

static void print_results(struct apiperf *a, const struct worker *workers, size_t n, bool own)
{
	struct apiperf_case k = {
		.phase = "threads", .size = workers[0].buffer.size, .threads = n,
		.handles = own ? n : 1, .others_to = n - 1,
	};
	double start = workers[0].start, end = workers[0].end;
	size_t i, cycles = 0;

	for (i = 0; i < n; i++) {
		start = workers[i].start < start ? workers[i].start : start;
		end = workers[i].end > end ? workers[i].end : end;
		cycles += workers[i].cycles;
	}
	if (!cycles)
		return;
	k.complete = !bench_stopped();
	k.cycles_per_s = end > start ? (double)cycles / (end - start) * 1e6 : NAN;
	apiperf_print_title(a, "%zu thread%s on %s, a buffer of %zu bytes each: %.0f cycles/s", n,
			    n > 1 ? "s" : "", own ? "a gdr_t each" : "one gdr_t", k.size,
			    k.cycles_per_s);
	apiperf_print_raw(a, &k, &a->set);
	apiperf_print_set(a, &k, &a->set, NULL);
}

static int verify_all(struct apiperf *a, struct worker *workers, size_t n)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		err = apiperf_verify_cuda(&workers[i].buffer, &workers[i].verify);
		a->verify.mismatches += workers[i].verify.mismatches;
	}
	return err;
}

static int open_handles(struct worker *workers, size_t n, gdr_t shared, size_t *opened)
{
	size_t i;
	int err = 0;

	*opened = 0;
	for (i = 0; i < n && !err; i++) {
		workers[i].buffer.g = shared;
		if (shared)
			continue;
		err = apiperf_call(CALL_OPEN, &workers[i].buffer, NULL);
		*opened += !err;
	}
	return err;
}

static int close_handles(struct worker *workers, size_t n)
{
	int err = 0;

	while (n-- > 0) {
		int e = apiperf_call(CALL_CLOSE, &workers[n].buffer, NULL);

		err = err ? err : e;
	}
	return err;
}

/* n threads; shared: the context for all of them, or NULL. */
static int measure(struct apiperf *a, struct worker *workers, size_t n, gdr_t shared)
{
	struct gate gate = {
		.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER,
		.busy = n,
	};
	size_t i, opened;
	int err, err_close;

	for (i = 0; i < n; i++) {
		workers[i].gate = &gate;
		workers[i].cycles = 0;
		workers[i].done = false;
		workers[i].verify = (struct apiperf_verify){ .seed = ++a->verify.seed };
		apiperf_set_clear(&workers[i].set);
	}
	err = open_handles(workers, n, shared, &opened);
	if (!err)
		err = run_workers(workers, n, &gate);
	if (!err && !a->args->no_verify)
		err = verify_all(a, workers, n);
	err_close = close_handles(workers, opened);
	err = err ? err : err_close;
	if (!err)
		err = merge(a, workers, n);
	if (!err)
		print_results(a, workers, n, !shared);
	return err;
}

static int measure_all(struct apiperf *a, struct worker *workers, size_t most, gdr_t g)
{
	unsigned handles = a->args->handles;
	size_t n = 1;
	int err = 0;

	while (!err && !bench_stopped()) {
		if (handles != HANDLES_OWN)
			err = measure(a, workers, n, g);
		/* One thread has one context either way. */
		if (!err && !bench_stopped() &&
		    (handles == HANDLES_OWN || (handles == HANDLES_BOTH && n > 1)))
			err = measure(a, workers, n, NULL);
		if (n == most)
			break;
		n = 2 * n < most ? 2 * n : most;
	}
	return err;
}

static int with_workers(struct apiperf *a, const struct apiperf_pool *pool, CUcontext ctx, gdr_t g)
{
	size_t i, n = pool->n;
	struct worker *workers = calloc(n, sizeof(*workers));
	int err;

	if (!workers) {
		fprintf(stderr, "ERROR: no memory for %zu threads\n", n);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		workers[i].args = a->args;
		workers[i].place = &a->tool.place;
		workers[i].index = (unsigned)i;
		workers[i].ctx = ctx;
		workers[i].buffer = pool->buffers[i];
		apiperf_set_init(&workers[i].set);
	}
	err = measure_all(a, workers, n, g);
	for (i = 0; i < n; i++)
		apiperf_set_free(&workers[i].set);
	free(workers);
	return err;
}

int apiperf_threads(struct apiperf *a, gdr_t g)
{
	struct apiperf_pool pool;
	CUcontext ctx;
	int err, err_free;

	if (!a->args->threads)
		return 0;
	err = cu_check(cu.DevicePrimaryCtxRetain(&ctx, a->tool.gpu.dev),
		       "cuDevicePrimaryCtxRetain");
	if (err)
		return err;
	err = apiperf_pool_alloc(&pool, a->args, a->args->threads);
	if (!err) {
		err = with_workers(a, &pool, ctx, g);
		err_free = apiperf_pool_free(&pool);
		err = err ? err : err_free;
	}
	cu.DevicePrimaryCtxRelease(a->tool.gpu.dev);
	return err;
}
