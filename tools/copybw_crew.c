/* SPDX-License-Identifier: MIT */
/*
 * Bandwidth of several threads that copy at the same time, each its own piece
 * of the buffer, in one direction or in both: all start together, and for the
 * whole of the time that is measured all of them are at work.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "copybw.h"
#include "pattern.h"
#include "progress.h"

#define DEFAULT_MS  200
#define STRIDE      4096        /* pieces start on pages */
#define STEP_MS     10          /* how soon a signal is noticed */

struct worker {
	struct crew *crew;
	unsigned index;
	int direction;
	size_t piece;           /* offset of its bytes, the same on both sides */
	uint64_t calls;
	double start, end;
	double us;              /* from the start of the first worker to the end of this one */
	int err;
};

struct crew {
	struct copybw *bw;
	struct worker *worker;
	size_t n;               /* workers */
	pthread_barrier_t start;
	atomic_bool stop;
};

size_t copybw_workers(void)
{
	return (size_t)copybw_args.threads * (copybw_args.bidirectional ? 2 : 1);
}

size_t copybw_stride(size_t copy_size)
{
	return (copybw_args.offset + copy_size + STRIDE - 1) / STRIDE * STRIDE;
}

static int copy(const struct worker *w)
{
	const struct copies *c = &w->crew->bw->copies;
	char *map = c->window.ptr + w->piece + c->offset;

	if (w->direction == 0)
		return gdr_copy_to_mapping(c->window.mh, map, c->buffers.src.ptr, c->n);
	return gdr_copy_from_mapping(c->window.mh, (char *)c->buffers.dst.ptr + w->piece, map,
				     c->n);
}

/* A CPU each, near the GPU, where there are enough of them. */
static void settle(const struct worker *w)
{
	const struct place *p = &w->crew->bw->tool.place;

	if (p->pinned && (size_t)CPU_COUNT(&p->cpus) >= w->crew->n)
		place_thread(p, w->index);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t i;

	settle(w);
	for (i = 0; i < copybw_args.tool.warmup && !w->err && !bench_stopped(); i++)
		w->err = copy(w);
	pthread_barrier_wait(&w->crew->start);
	w->start = bench_now_us();
	while (!w->err && !atomic_load_explicit(&w->crew->stop, memory_order_relaxed)) {
		w->err = copy(w);
		w->calls++;
	}
	w->end = bench_now_us();
	return NULL;
}

/* From the start of all on; false: a signal came before the time was over. */
static bool wait_for_end(const struct crew *crew, const char *label)
{
	uint64_t ms = copybw_args.tool.min_time_ms ? copybw_args.tool.min_time_ms : DEFAULT_MS;
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	double start = bench_now_us(), us = 0;

	progress_begin();
	while (us < (double)ms * 1e3 && !bench_stopped()) {
		nanosleep(&step, NULL);
		us = bench_now_us() - start;
		progress_show(label, crew->bw->copies.n, us, (double)ms * 1e3);
	}
	progress_clear();
	return !bench_stopped();
}

/*
 * Who had to wait for a CPU is not the faster for it, so all begin with the first; and
 * nobody's figure suffers from a last call of somebody else that takes long.
 */
static void take_times(struct crew *crew)
{
	double first = crew->worker[0].start;
	size_t i;

	for (i = 1; i < crew->n; i++)
		first = fmin(first, crew->worker[i].start);
	for (i = 0; i < crew->n; i++)
		crew->worker[i].us = crew->worker[i].end - first;
}

/* 0, or the errno value of a call. */
static int run_threads(struct crew *crew, const char *label, bool *complete)
{
	pthread_t thread[2 * COPYBW_THREADS];
	size_t i, started;
	int err;

	atomic_store(&crew->stop, false);
	/* The barrier holds whoever was started until the last one is there. */
	err = pthread_barrier_init(&crew->start, NULL, (unsigned)crew->n + 1);
	for (started = 0; !err && started < crew->n; started++)
		err = pthread_create(&thread[started], NULL, work, &crew->worker[started]);
	if (err) {
		/* Those that wait can only be ended with the process. */
		fprintf(stderr, "ERROR: %zu threads: %s\n", crew->n, strerror(err));
		exit(1);
	}
	pthread_barrier_wait(&crew->start);
	*complete = wait_for_end(crew, label);
	atomic_store(&crew->stop, true);
	for (i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&crew->start);
	for (i = 0; i < crew->n && !err; i++)
		err = crew->worker[i].err;
	take_times(crew);
	return err;
}

/* Patterns into the memory that the workers read from, something else where they write. */
static int prepare(struct crew *crew)
{
	struct copies *c = &crew->bw->copies;
	size_t i;
	int err = 0;

	for (i = 0; i < crew->n && !err; i++) {
		c->verify.offset = crew->worker[i].piece + c->offset;
		if (crew->worker[i].direction)
			err = verify_prepare_read(&c->verify, c->n);
	}
	for (i = 0; i < crew->n && !err; i++) {
		c->verify.offset = crew->worker[i].piece + c->offset;
		if (!crew->worker[i].direction)
			err = verify_prepare_write(&c->verify, c->n);
	}
	return err;
}

/* Readers first: the check of a write uses their memory. */
static int verify(struct crew *crew)
{
	struct copies *c = &crew->bw->copies;
	size_t i;
	int err = 0;

	for (i = 0; i < crew->n; i++)
		if (crew->worker[i].direction)
			verify_read_at(&c->verify, c->n,
				       (char *)c->buffers.dst.ptr + crew->worker[i].piece);
	pattern_fill(c->buffers.src.ptr, c->n, 0);
	for (i = 0; i < crew->n && !err; i++) {
		c->verify.offset = crew->worker[i].piece + c->offset;
		if (!crew->worker[i].direction)
			err = verify_write(&c->verify, c->n);
	}
	return err;
}

static double rate(const struct crew *crew, const struct worker *w)
{
	return w->us > 0 ? (double)crew->bw->copies.n * (double)w->calls / w->us : 0;
}

/* What the threads of a direction did together, and each of them; the sum in MB/s. */
static double print_direction(struct crew *crew, int dir, bool complete, bool both)
{
	struct copybw_row all = {
		.test = &copies_gdr[dir], .complete = complete, .bidirectional = both,
		.median = NAN, .best = NAN, .worst = NAN, .spread_percent = NAN,
		/* Nothing that a thread does is timed by itself. */
		.stats = { .min = NAN, .median = NAN, .p90 = NAN, .p99 = NAN, .p999 = NAN,
			   .max = NAN, .mean = NAN, .ci95 = NAN, .stddev = NAN },
	}, one;
	const struct report *r = &crew->bw->tool.report;
	char text[32], gib[32], name[16];
	size_t i;

	for (i = 0; i < crew->n; i++) {
		const struct worker *w = &crew->worker[i];

		if (w->direction != dir)
			continue;
		all.iterations += w->calls;
		all.mb_per_s += rate(crew, w);
		all.elapsed_us = fmax(all.elapsed_us, w->us);
	}
	copybw_format_rate(text, sizeof(text), all.mb_per_s);
	copybw_format_rate(gib, sizeof(gib), all.mb_per_s * 1e6 / (1 << 30));
	report_line(r, "%s BW: %sMB/s (%s GiB/s)", dir ? "read" : "write", text, gib);
	copybw_report(crew->bw, &all);
	for (i = 0; i < crew->n && copybw_args.threads > 1; i++) {
		if (crew->worker[i].direction != dir)
			continue;
		snprintf(name, sizeof(name), "%u", crew->worker[i].index);
		one = all;
		one.thread = name;
		one.iterations = crew->worker[i].calls;
		one.elapsed_us = crew->worker[i].us;
		one.mb_per_s = rate(crew, &crew->worker[i]);
		copybw_format_rate(text, sizeof(text), one.mb_per_s);
		report_line(r, "  thread %s: %sMB/s", name, text);
		copybw_report(crew->bw, &one);
	}
	return all.mb_per_s;
}

/* The workers of a run; mask has a bit for each direction. */
static void assign(struct crew *crew, unsigned mask)
{
	size_t stride = copybw_stride(crew->bw->copies.n), i;
	unsigned threads = (unsigned)copybw_args.threads;

	crew->n = threads * (mask == 3 ? 2 : 1);
	for (i = 0; i < crew->n; i++)
		crew->worker[i] = (struct worker){
			.crew = crew, .index = (unsigned)i, .piece = i * stride,
			.direction = mask == 3 ? (int)(i / threads) : mask == 2,
		};
}

static int run_once(struct crew *crew, unsigned mask)
{
	static const char *const labels[] = { "", "writing", "reading", "writing and reading" };
	struct copies *c = &crew->bw->copies;
	struct report *r = &crew->bw->tool.report;
	bool complete, check = !copybw_args.no_verify;
	double sum = 0;
	char text[32];
	int err, dir;

	assign(crew, mask);
	report_line(r, "%s test, size=%zu offset=%zu threads=%llu", labels[mask], c->n, c->offset,
		    (unsigned long long)copybw_args.threads);
	err = check ? prepare(crew) : 0;
	if (err)
		return err;
	err = run_threads(crew, labels[mask], &complete);
	if (err)
		return window_error("copying by threads", err);
	for (dir = 0; dir < 2; dir++)
		if (mask & 1u << dir)
			sum += print_direction(crew, dir, complete, mask == 3);
	if (mask == 3) {
		copybw_format_rate(text, sizeof(text), sum);
		report_line(r, "both BW: %sMB/s", text);
	}
	return check && !bench_stopped() ? verify(crew) : 0;
}

int copybw_run_crew(struct copybw *bw)
{
	struct crew crew = { .bw = bw };
	uint64_t round;
	unsigned mask;
	int err = 0;

	crew.worker = calloc(copybw_workers(), sizeof(*crew.worker));
	if (!crew.worker) {
		fprintf(stderr, "ERROR: no memory for the threads\n");
		return -ENOMEM;
	}
	for (round = 0; round < copybw_args.tool.repeat && !err && !bench_stopped(); round++)
		for (mask = copybw_args.bidirectional ? 3 : 1;
		     mask <= (copybw_args.bidirectional ? 3u : 2u) && !err && !bench_stopped();
		     mask++)
			err = run_once(&crew, mask);
	free(crew.worker);
	return err;
}
