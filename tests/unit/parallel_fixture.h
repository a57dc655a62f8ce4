/* SPDX-License-Identifier: MIT */
/*
 * What the tests of parallel copies share: a routine that stands in for the
 * processor's and tells who copies, and copies that are checked byte by byte.
 */
#ifndef GDR_TEST_PARALLEL_FIXTURE_H
#define GDR_TEST_PARALLEL_FIXTURE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "parallel.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define ROOM (1u << 20)                 /* bytes of a buffer that is copied */

/* Of the last parallel_meet: calls of the routine, and those by helpers. */
extern atomic_int parallel_calls, parallel_by_helpers;
extern atomic_int parallel_signals_open;        /* calls in which SIGUSR1 was not blocked */
extern atomic_int parallel_faults_blocked;      /* calls in which SIGSEGV or SIGBUS was */
extern atomic_int parallel_helper_cpu;          /* where a helper was */

/* A copy by so many threads, each of which waits until all have begun; cpus may be NULL. */
void parallel_meet(unsigned threads, const cpu_set_t *cpus);

/* One copy, with what is left and right of the destination; false: something is wrong. */
bool parallel_copies_right(enum gdr_copy_dir dir, gdr_mapping_type_t type, unsigned char *dev,
			   unsigned char *host, size_t n, size_t threads);

/* A thread: 60 copies of many sizes, both ways.  arg if something was wrong, else NULL. */
void *parallel_many_copies(void *arg);

/* An address that is not NULL, for that. */
extern char parallel_wrong_bytes;

/* Threads of this process. */
int parallel_task_count(void);

/* Of a program linked with parallel_fixture.c, first. */
void parallel_init(void);

#endif
