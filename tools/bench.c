/* SPDX-License-Identifier: MIT */
/* Timed loops, the clock and signals. */
#include "bench.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "progress.h"

#define TIMER_PAIRS 10001

/*
 * Of the first signal: when it came, in microseconds of CLOCK_MONOTONIC, and in the
 * lowest 8 bits its number; 0 before.  Handlers run in any threads, also two at once.
 */
static atomic_llong stop;
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a handler may take no lock");

double bench_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

double bench_clock_cost_us(void)
{
	const int n = 10000;
	double start = bench_now_us(), end = start;
	int i;

	for (i = 0; i < n; i++)
		end = bench_now_us();
	return (end - start) / n;
}

double bench_timer_us(void)
{
	static double cost = -1;
	struct bench_stats s;
	double *pair, start;
	int i;

	if (cost >= 0)
		return cost;
	pair = malloc(TIMER_PAIRS * sizeof(*pair));
	if (!pair)
		return 0;
	for (i = 0; i < TIMER_PAIRS; i++) {
		start = bench_now_us();
		pair[i] = bench_now_us() - start;
	}
	bench_stats(pair, TIMER_PAIRS, &s);
	cost = round(s.median * 1e3) / 1e3;
	free(pair);
	return cost;
}

/*
 * The second signal is the user's impatience, unless it comes with the first:
 * timeout(1) and others signal a process and its group.
 */
static void on_signal(int sig)
{
	int err = errno;
	long long now = (long long)bench_now_us(), first = 0;

	if (!atomic_compare_exchange_strong(&stop, &first, now << 8 | sig) &&
	    now - (first >> 8) >= 1000000) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	errno = err;
}

void bench_catch_signals(void)
{
	/* A write that waits for its reader goes on after it; stdio would lose what it has. */
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction old;
	size_t i;

	/* One handler at a time. */
	sigemptyset(&sa.sa_mask);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&sa.sa_mask, signals[i]);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* What the parent chose to ignore stays ignored. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
	}
}

int bench_stopped(void)
{
	return (int)(stop & 0xff);
}

/* A measurement under way. */
struct state {
	const struct bench_plan *p;
	struct bench_result *r;
	uint64_t iterations;    /* of a round, as raised for min_time_us */
	size_t n, room;         /* samples */
	double fastest, slowest;        /* medians of rounds */
	double start;           /* of the first round, by the clock */
};

/* Up to n calls; *done tells how many were made.  Ends early only if a signal came. */
static int batch(int (*call)(void *), void *arg, uint64_t n, uint64_t *done)
{
	uint64_t i;
	int err = 0;

	for (i = 0; i < n && !err && !stop; i++)
		err = call(arg);
	*done = i;
	return err;
}

static int bucket(const struct bench_plan *p, uint64_t n, uint64_t *done, double *us)
{
	uint64_t again;
	double start, end;
	int err;

	start = bench_now_us();
	err = batch(p->call, p->arg, n, done);
	end = bench_now_us();
	*us = end - start;
	if (err || !p->overhead)
		return err;
	start = bench_now_us();
	err = batch(p->overhead, p->arg, *done, &again);
	end = bench_now_us();
	/* The two vary, and no call takes less than no time. */
	*us = fmax(*us - (end - start), 0);
	/* Cut short, the overhead is not that of all calls: the bucket says nothing. */
	if (again != *done)
		*done = 0;
	return err;
}

static int make_room(struct state *s, size_t more)
{
	size_t want = s->n + more;
	double *p;

	if (want <= s->room)
		return 0;
	if (want < 2 * s->room)
		want = 2 * s->room;
	p = realloc(s->r->sample, want * sizeof(*p));
	if (!p)
		return ENOMEM;
	s->r->sample = p;
	s->room = want;
	return 0;
}

static void add_sample(struct state *s, double us, uint64_t calls)
{
	s->r->sample[s->n++] = us / (double)calls;
	s->r->iterations += calls;
	s->r->elapsed_us += us;
}

static int round_in_buckets(struct state *s)
{
	const struct bench_plan *p = s->p;
	uint64_t done, begin, end;
	unsigned b;
	double us;
	int err = 0;

	for (b = 0; b < p->buckets && !err && !stop; b++) {
		/* 128 bits: iterations may be anything that fits 64. */
		begin = (uint64_t)((unsigned __int128)s->iterations * b / p->buckets);
		end = (uint64_t)((unsigned __int128)s->iterations * (b + 1) / p->buckets);
		err = bucket(p, end - begin, &done, &us);
		if (err || !done)
			break;
		add_sample(s, us, done);
		progress_show(p->label, p->size, (double)s->r->iterations, (double)s->r->planned);
	}
	return err;
}

static int round_of_calls(struct state *s)
{
	const struct bench_plan *p = s->p;
	double timer = bench_timer_us(), start, us;
	uint64_t i;
	int err = 0;

	for (i = 0; i < s->iterations && !err && !stop; i++) {
		start = bench_now_us();
		err = p->call(p->arg);
		us = bench_now_us() - start - timer;
		if (err)
			break;
		/* The clock counts nanoseconds; below them is the rounding of large readings. */
		add_sample(s, us > 0 ? round(us * 1e3) / 1e3 : 0, 1);
		if (i % 1024 == 0)
			progress_show(p->label, p->size, (double)s->r->iterations,
				      (double)s->r->planned);
	}
	return err;
}

static int run_round(struct state *s)
{
	const struct bench_plan *p = s->p;
	size_t before = s->n;
	struct bench_stats stats;
	uint64_t done;
	int err;

	err = make_room(s, p->each ? s->iterations : p->buckets);
	if (!err)
		err = batch(p->call, p->arg, p->warmup, &done);
	if (!err)
		err = p->each ? round_of_calls(s) : round_in_buckets(s);
	if (err || stop || s->n == before)
		return err;
	bench_stats(s->r->sample + before, s->n - before, &stats);
	if (!s->r->rounds++)
		s->fastest = s->slowest = stats.median;
	s->fastest = fmin(s->fastest, stats.median);
	s->slowest = fmax(s->slowest, stats.median);
	return 0;
}

/* As many more calls a round as it takes, by the time of an untimed bucket. */
static int raise_iterations(struct state *s, uint64_t rounds)
{
	const struct bench_plan *p = s->p;
	uint64_t calls = p->iterations / p->buckets, done;
	double us, factor;
	int err;

	err = bucket(p, calls, &done, &us);
	if (err || !done)
		return err;
	us = fmax(us, 1e-3) * (double)p->iterations / (double)done * (double)rounds;
	factor = ceil(p->min_time_us / us);
	if (factor > 1)
		s->iterations = (uint64_t)((double)p->iterations * factor);
	if (p->each && s->iterations * rounds > BENCH_SAMPLES)
		s->iterations = BENCH_SAMPLES / rounds ? BENCH_SAMPLES / rounds : 1;
	return 0;
}

static int run_rounds(struct state *s, uint64_t rounds)
{
	uint64_t i;
	int err = 0;

	s->start = bench_now_us();
	for (i = 0; i < rounds && !err && !stop; i++)
		err = run_round(s);
	/* The untimed bucket was slower than what followed. */
	while (!err && !stop && s->n < BENCH_SAMPLES &&
	       bench_now_us() - s->start < s->p->min_time_us) {
		s->r->planned += s->iterations;
		err = run_round(s);
	}
	return err;
}

int bench_run(const struct bench_plan *p, struct bench_result *out)
{
	struct state s = { .p = p, .r = out, .iterations = p->iterations };
	uint64_t rounds = p->rounds ? p->rounds : 1;
	int err = 0;

	assert(p->buckets && p->buckets <= BENCH_BUCKETS && p->buckets <= p->iterations);
	assert(!p->each || (!p->overhead && p->iterations <= BENCH_SAMPLES));
	memset(out, 0, sizeof(*out));
	progress_begin();
	if (p->min_time_us > 0)
		err = raise_iterations(&s, rounds);
	out->planned = s.iterations * rounds;
	if (!err)
		err = run_rounds(&s, rounds);
	progress_clear();
	if (s.n)
		bench_stats(out->sample, s.n, &out->stats);
	if (out->rounds > 1 && s.fastest > 0)
		out->spread_percent = 100 * (s.slowest - s.fastest) / s.fastest;
	out->complete = !err && out->iterations == out->planned;
	return err;
}

void bench_free(struct bench_result *r)
{
	free(r->sample);
	r->sample = NULL;
}

size_t bench_sweep(uint64_t top, uint64_t *sizes, size_t max)
{
	size_t n = 0;
	uint64_t s;

	for (s = 1; s && s < top && n + 1 < max; s <<= 1)
		sizes[n++] = s;
	sizes[n++] = top;
	return n;
}
