/* SPDX-License-Identifier: MIT */
/* Other processes: forked children, and programs run with an environment of their own. */
#ifndef CORE_CHILD_H
#define CORE_CHILD_H

#include <stdbool.h>
#include <stdio.h>

/* In a child, where cmocka's assertions would run the rest of the tests there. */
#define CHECK(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "child, %s line %d: %s\n", __FILE__, __LINE__, #cond); \
			child_exit(1); \
		} \
	} while (0)

/* _exit, keeping what coverage has counted. */
void child_exit(int status) __attribute__((noreturn));

/* Run it in a forked child, which exits with 0 if it returns.  The wait status. */
int in_child(void (*run)(void *), void *arg);

/* Does a child that writes to va die of SIGSEGV? */
bool faults_in_child(void *va);

struct output {
	int status; /* wait status */
	char out[16 << 10];
	char err[256 << 10];
};

/*
 * Run a program to its end.  env: "NAME=value" sets, "NAME" unsets, NULL ends;
 * variables of GDRCOPY_ and SOFTCUDA_ are unset before.
 */
void run_program(struct output *o, const char *const *env, const char *const *argv);

/* The same for the test program itself. */
void run_self(struct output *o, const char *const *env, const char *mode);

/* Number of open descriptors of this process. */
int count_fds(void);

/* Does this process have a mapping with such a name in /proc/self/maps? */
bool has_mapping_named(const char *name);

#endif
