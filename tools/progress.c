/* SPDX-License-Identifier: MIT */
/* The progress line on stderr. */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define PERIOD_US 200e3

static bool shown;
static double began, last;

/* A terminal that can wipe a line out; TERM is unset or "dumb" where it cannot. */
static bool on_terminal(void)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0 && isatty(STDERR_FILENO);
}

void progress_begin(void)
{
	began = last = bench_now_us();
}

void progress_show(const char *label, uint64_t size, double done, double total)
{
	double now = bench_now_us(), left;

	if (now - last < PERIOD_US || !on_terminal())
		return;
	last = now;
	shown = true;
	fprintf(stderr, "\r%s", label);
	if (size)
		fprintf(stderr, ", %llu bytes", (unsigned long long)size);
	fprintf(stderr, ": %3.0f %%", 100 * done / total);
	left = done > 0 ? (now - began) * (total - done) / done / 1e6 : 0;
	if (left >= 1)
		fprintf(stderr, ", %.0f s left", left);
	fputs("\033[K", stderr);
	fflush(stderr);
}

void progress_step(const char *label, size_t done, size_t total)
{
	if (!on_terminal())
		return;
	shown = true;
	/* What others print meanwhile goes over it. */
	fprintf(stderr, "\r%zu of %zu: %s\033[K\r", done + 1, total, label);
	fflush(stderr);
}

void progress_clear(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}
