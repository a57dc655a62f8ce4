/* SPDX-License-Identifier: MIT */
/* The table of outcomes: which errno a failing call becomes, and where it is made good. */
#include "expected.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cuda_abi.h"
#include "log.h"

#define ERRORS 4

/* What the failure does to the interface. */
enum effect {
	PASSED_ON,              /* an API call fails with it, or with one of others */
	MADE_GOOD,              /* none fails */
	EITHER,                 /* by where it happens */
};

static const struct row {
	enum inject_call call;
	enum effect effect;
	int errors[ERRORS];     /* what it is made to fail with */
	int others[ERRORS];     /* what that becomes, beside itself */
	bool for_good;          /* once it failed, later tries may fail as well */
} rows[] = {
	{ CALL_open, PASSED_ON, { EMFILE, ENFILE, EINTR } },
	{ CALL_close, MADE_GOOD, { EIO, EINTR } },
	/* rm: what a request says about a kind of memory stays a verdict on that kind. */
	{ CALL_ioctl, PASSED_ON, { ENOMEM, EIO, EINTR }, { ENOTSUP }, true },
	{ CALL_mmap, PASSED_ON, { ENOMEM, EPERM } },
	{ CALL_madvise, PASSED_ON, { ENOMEM, EINVAL } },
	/* rm: the check of a kind of memory, whose scratch memory then stays. */
	{ CALL_munmap, PASSED_ON, { ENOMEM }, { EIO } },
	{ CALL_fcntl, PASSED_ON, { EBADF } },
	{ CALL_malloc, PASSED_ON, { ENOMEM } },
	{ CALL_calloc, PASSED_ON, { ENOMEM } },
	{ CALL_realloc, PASSED_ON, { ENOMEM } },
	/* Asked for the name of another failure, of memory that CUDA lacks. */
	{ CALL_cuGetErrorName, PASSED_ON, { CUDA_ERROR_UNKNOWN }, { ENOMEM }, true },
	/* libcuda is looked for once a process. */
	{ CALL_dlopen, EITHER, { ENOENT }, { ENODEV }, true },
	{ CALL_dlsym, EITHER, { ENOENT }, { ENODEV, ENOTSUP }, true },
	{ CALL_getrandom, PASSED_ON, { ENOSYS }, { EIO } },
	{ CALL_nanosleep, MADE_GOOD, { EINTR } },
	{ CALL_write, MADE_GOOD, { EIO } },
	{ CALL_pthread_create, MADE_GOOD, { EAGAIN } },
	{ CALL_pthread_setname_np, MADE_GOOD, { ERANGE } },
	{ CALL_pthread_setaffinity_np, MADE_GOOD, { EINVAL } },
	{ CALL_sched_getaffinity, MADE_GOOD, { EINVAL } },
};

/* CUDA's: asking may be done without; then, what does not work is not there. */
static const struct row cuda_row = {
	.effect = EITHER,
	.errors = { CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN },
	.others = { ENODEV, ENOTSUP, EINVAL },
};

static const struct row *row_of(enum inject_call call)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].call == call)
			return &rows[i];
	return &cuda_row;
}

const int *expected_errors(enum inject_call call)
{
	return row_of(call)->errors;
}

static bool is_errno(const struct row *row, enum inject_call call, int err, int seen)
{
	int i;

	if (call >= INJECT_FIRST_CUDA)
		err = err == CUDA_ERROR_OUT_OF_MEMORY ? ENOMEM : EIO;
	if (seen == err)
		return true;
	for (i = 0; i < ERRORS && row->others[i]; i++)
		if (seen == row->others[i])
			return true;
	return false;
}

/* The sentence, or the report on the backends, names the call or what it said. */
static bool is_said(enum inject_call call, int err, const struct scenario *s)
{
	char name[64];
	const char *texts[] = { s->text, s->report }, *what = gdr_log_errstr(err);
	size_t i, n = strcspn(inject_names[call], "_");

	/* CUDA's functions are called by the names that programs call them by. */
	snprintf(name, sizeof(name), "%.*s",
		 call < INJECT_FIRST_CUDA ? 63 : (int)n, inject_names[call]);
	if (call == CALL_cuGetErrorName)
		snprintf(name, sizeof(name), "unknown error");
	for (i = 0; i < 2; i++)
		if (strstr(texts[i], name) || strstr(texts[i], "memory") ||
		    strstr(texts[i], "libcuda") || strstr(texts[i], "CUDA") ||
		    (call < INJECT_FIRST_CUDA && strstr(texts[i], what)))
			return true;
	return strstr(s->report, "may not be opened") != NULL;
}

bool expected_outcome(const struct ground *g, enum inject_call call, int err, bool once,
		      const struct scenario *s)
{
	const struct row *row = row_of(call);
	enum effect effect = err == EINTR && call < INJECT_FIRST_CUDA ? MADE_GOOD : row->effect;
	const char *what = NULL;

	if (!s->failures) {
		if (effect == PASSED_ON)
			what = "no API call failed";
	} else if (effect == MADE_GOOD) {
		what = "an API call failed";
	} else if (!is_errno(row, call, err, s->err)) {
		what = "the errno is another";
	} else if (!is_said(call, err, s)) {
		what = "nothing useful is said";
	} else if (once && !row->for_good && s->failures > 1) {
		what = "what could be tried again failed again";
	}
	if (!what)
		return true;
	fprintf(stderr, "%s; %u failures, the first of %s with %d: %s\n%s", what, s->failures,
		s->step, s->err, s->text, s->report);
	return false;
}
