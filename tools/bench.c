/* SPDX-License-Identifier: MIT */
/* Timed loops, statistics, progress and signals. */
#include "bench.h"

#include <assert.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_PERIOD_US 200e3

static volatile sig_atomic_t stop_signal;
static struct timespec stop_time;       /* written once, by the handler */
static bool progress_shown;
static double progress_last;

double bench_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static double seconds_since(const struct timespec *then)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)(ts.tv_sec - then->tv_sec) + (double)(ts.tv_nsec - then->tv_nsec) / 1e9;
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

/*
 * The second signal is the user's impatience, unless it comes with the first:
 * timeout(1) and others signal a process and its group.
 */
static void on_signal(int sig)
{
	if (!stop_signal) {
		stop_signal = sig;
		clock_gettime(CLOCK_MONOTONIC, &stop_time);
		return;
	}
	if (seconds_since(&stop_time) < 1)
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

void bench_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	static const int signals[] = { SIGINT, SIGTERM };
	struct sigaction old;
	size_t i;

	/* One handler at a time. */
	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIGINT);
	sigaddset(&sa.sa_mask, SIGTERM);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* What the parent chose to ignore stays ignored. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
	}
}

int bench_stopped(void)
{
	return stop_signal;
}

static int compare_doubles(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

double bench_percentile(const double *sorted, size_t n, double percent)
{
	double rank = ceil(percent / 100.0 * (double)n);
	size_t i = rank < 1 ? 0 : (size_t)rank - 1;

	return sorted[i < n ? i : n - 1];
}

void bench_stats(double *sample, size_t n, struct bench_stats *out)
{
	double sum = 0, squares = 0, mean;
	size_t i;

	qsort(sample, n, sizeof(*sample), compare_doubles);
	for (i = 0; i < n; i++)
		sum += sample[i];
	mean = sum / (double)n;
	for (i = 0; i < n; i++)
		squares += (sample[i] - mean) * (sample[i] - mean);
	*out = (struct bench_stats){
		.n = n,
		.min = sample[0],
		.median = sample[n / 2],
		.max = sample[n - 1],
		.p90 = bench_percentile(sample, n, 90),
		.p99 = bench_percentile(sample, n, 99),
		.mean = mean,
		.stddev = n > 1 ? sqrt(squares / (double)(n - 1)) : 0,
	};
}

static void progress(const struct bench_plan *p, uint64_t done)
{
	double now = bench_now_us();

	if (now - progress_last < PROGRESS_PERIOD_US || !isatty(STDERR_FILENO))
		return;
	progress_last = now;
	progress_shown = true;
	fprintf(stderr, "\r%s, %llu bytes: %3.0f %%\033[K", p->label, (unsigned long long)p->size,
		100.0 * (double)done / (double)p->iterations);
	fflush(stderr);
}

static void progress_clear(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

/* Up to n calls; *done tells how many were made.  Ends early only if a signal came. */
static int batch(int (*call)(void *), void *arg, uint64_t n, uint64_t *done)
{
	uint64_t i;
	int err = 0;

	for (i = 0; i < n && !err && !stop_signal; i++)
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
	*us -= end - start;
	/* Cut short, the overhead is not that of all calls: the bucket says nothing. */
	if (again != *done)
		*done = 0;
	return err;
}

int bench_run(const struct bench_plan *p, struct bench_result *out)
{
	uint64_t done, begin, end;
	unsigned b;
	double us;
	size_t n = 0;
	int err;

	assert(p->buckets && p->buckets <= BENCH_BUCKETS && p->buckets <= p->iterations);
	memset(out, 0, sizeof(*out));
	progress_last = bench_now_us();
	err = batch(p->call, p->arg, p->warmup, &done);
	for (b = 0; b < p->buckets && !err && !stop_signal; b++) {
		/* 128 bits: iterations may be anything that fits 64. */
		begin = (uint64_t)((unsigned __int128)p->iterations * b / p->buckets);
		end = (uint64_t)((unsigned __int128)p->iterations * (b + 1) / p->buckets);
		err = bucket(p, end - begin, &done, &us);
		if (err || !done)
			break;
		out->sample[n++] = us / (double)done;
		out->iterations += done;
		out->elapsed_us += us;
		progress(p, out->iterations);
	}
	progress_clear();
	if (n)
		bench_stats(out->sample, n, &out->stats);
	out->complete = !err && out->iterations == p->iterations;
	return err;
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
