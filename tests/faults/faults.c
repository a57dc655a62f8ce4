/* SPDX-License-Identifier: MIT */
/*
 * Every call of the library into libc and CUDA failing, at every place where a run
 * through the whole interface makes it: once, and from there on.  Each time in a
 * process of its own, so that what is done once a process fails as well.  No crash,
 * nothing left, the right errno, a sentence; then the counts of what was made to
 * fail, one line a call.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expected.h"
#include "fake_rm.h"
#include "inject.h"
#include "scenario.h"
#include "softcuda_hooks.h"

#define PLACES_MAX 2000

enum verdict {
	NOT_STRUCK,
	STRUCK,
	FAILED,
};

struct fault {
	const char *backend;
	enum inject_call call;          /* INJECT_CALLS: none */
	unsigned nth, times;
	int err;
};

static unsigned counts[INJECT_CALLS];
static unsigned failed;

/* Calls that are made because another failed. */
static bool is_provoked(enum inject_call call)
{
	return call == CALL_nanosleep || call == CALL_cuGetErrorName;
}

static void provoke(enum inject_call call)
{
	/* The driver is busy at first, so that there is a wait to be interrupted. */
	if (call == CALL_nanosleep)
		fake_rm_fail(FAKE_RM_CLIENT, 1, 3, 0, EAGAIN);
	if (call == CALL_cuGetErrorName)
		softcuda_set_faults("cuPointerGetAttribute:1:2,cuPointerGetAttributes:1:2");
}

/* In a process of its own. */
static enum verdict run(const struct fault *f)
{
	struct ground *g = ground_start(f->backend);
	struct scenario s;
	bool fine;

	if (!g)
		return FAILED;
	ground_reset(g);
	provoke(f->call);
	if (f->call != INJECT_CALLS)
		inject_fail(f->call, f->nth, f->times, f->err);
	scenario_run(g, &s);
	fine = ground_is_clean(g) && !s.wrong;
	if (s.context && f->call != CALL_cuCtxSetCurrent) {
		fprintf(stderr, "CUDA's context was left current\n");
		fine = false;
	}
	if (!inject_struck()) {
		if (s.failures && !is_provoked(f->call))
			fprintf(stderr, "%s failed with %d: %s\n%s", s.step, s.err, s.text,
				s.report);
		return fine && (!s.failures || is_provoked(f->call)) ? NOT_STRUCK : FAILED;
	}
	if (!expected_outcome(g, f->call, f->err, f->times == 1, &s))
		fine = false;
	return fine ? STRUCK : FAILED;
}

static enum verdict in_child(const struct fault *f)
{
	enum verdict v = FAILED;
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		alarm(60);
		exit(run(f));
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	    WEXITSTATUS(status) <= STRUCK)
		v = (enum verdict)WEXITSTATUS(status);
	if (v == FAILED) {
		fprintf(stderr, "FAILED (wait status 0x%x): %s, %s, call %u and %u more, "
			"error %d\n", (unsigned)status, f->backend,
			f->call == INJECT_CALLS ? "nothing" : inject_names[f->call], f->nth,
			f->times - 1, f->err);
		failed++;
	}
	if (v != NOT_STRUCK && f->call != INJECT_CALLS)
		counts[f->call]++;
	return v;
}

/* All places, with each error, once; and from each place on with the first of them. */
static void every_place(const char *backend, enum inject_call call)
{
	struct fault f = { .backend = backend, .call = call };
	const int *err;

	for (f.nth = 1; f.nth < PLACES_MAX; f.nth++) {
		for (err = expected_errors(call); *err; err++) {
			f.err = *err;
			f.times = 1;
			if (in_child(&f) == NOT_STRUCK)
				return;
			/* Calls that are made again until they are not interrupted. */
			f.times = *err == EINTR ? 3 : UINT_MAX;
			/* One function that is not there is as good as many. */
			if (call != CALL_dlsym && (err == expected_errors(call) || *err == EINTR))
				in_child(&f);
		}
	}
}

int main(int argc, char **argv)
{
	static const char *const backends[] = { "dmabuf", "gdrdrv", "rm" };
	const char *only = argc > 1 ? argv[1] : NULL;
	unsigned call, total = 0;
	size_t b;

	for (b = 0; b < sizeof(backends) / sizeof(backends[0]); b++) {
		struct fault none = { .backend = backends[b], .call = INJECT_CALLS, .times = 1 };

		if (in_child(&none) != NOT_STRUCK)
			return EXIT_FAILURE;
		for (call = 0; call < INJECT_CALLS; call++)
			if (!only || !strcmp(only, inject_names[call]))
				every_place(backends[b], (enum inject_call)call);
	}
	for (call = 0; call < INJECT_CALLS; call++) {
		printf("%-40s %u\n", inject_names[call], counts[call]);
		total += counts[call];
	}
	printf("%u failures injected, %u of them not as promised\n", total, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
