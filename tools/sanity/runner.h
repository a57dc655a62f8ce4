/* SPDX-License-Identifier: MIT */
/*
 * Running functions in processes of their own, with a time limit, and leaving
 * nothing of them behind.  The runner itself never touches CUDA or libgdrapi:
 * CUDA does not work in the child of a process that uses it.
 */
#ifndef SANITY_RUNNER_H
#define SANITY_RUNNER_H

#include "test.h"

#define SANITY_TEXT_MAX         768
#define SANITY_MESSAGE_MAX      (SANITY_TEXT_MAX + 512)

/* First byte of a message from a test process. */
enum sanity_message {
	SANITY_MSG_FAILED = 'F',
	SANITY_MSG_WAIVED = 'W',
	SANITY_MSG_NOTE = 'N',
	SANITY_MSG_FACT = 'P',          /* probe.c: "name\tvalue" */
};

enum sanity_result {
	SANITY_PASS,
	SANITY_FAIL,
	SANITY_WAIVE,
	SANITY_RESULTS,
};

struct sanity_outcome {
	const struct sanity_test *test;
	unsigned round;                 /* from 1 */
	enum sanity_result result;
	char reason[SANITY_MESSAGE_MAX];        /* why not passed; or a note */
	double seconds;
};

struct sanity_job {
	void (*body)(const void *arg);
	const void *arg;
	unsigned timeout;               /* seconds; 0: none */
	bool stdout_to_stderr;
	/* In the runner, for messages of other kinds than the three results; may be NULL. */
	void (*message)(char kind, const char *text);
};

/* Once, before the first job: signals, and orphans come to this process. */
void sanity_runner_init(void);

/* Run to the end, or to the time limit; then kill all that is left of the process group. */
void sanity_run(const struct sanity_job *job, struct sanity_outcome *out);

/* The signal that asked for the end of the run, or 0. */
int sanity_interrupted(void);

/* names.c: "EINVAL", or NULL; "SIGSEGV", or "a signal". */
const char *sanity_errno_name(int err);
const char *sanity_signal_name(int sig);

/* registry.c: all tests, by group and name.  -EEXIST if two have one name; says which. */
int sanity_registry(const struct sanity_test *const **tests, size_t *n);

/* Name of the fact that tells why there is no GPU to test. */
#define SANITY_NO_GPU   "no_gpu"

/* probe.c: fill sanity.backend, and give the facts about the run one by one. */
void sanity_probe(unsigned timeout, void (*fact)(const char *name, const char *value));

#endif
