/* SPDX-License-Identifier: MIT */
/*
 * For the tests of the simulated GPU itself: expectations, and its ioctls as
 * functions that return 0 or -errno.
 */
#ifndef NVSIM_TEST_RIG_H
#define NVSIM_TEST_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../nvsim.h"

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)

extern unsigned int rig_failures;
void rig_want(long long got, long long expected, const char *what, const char *file, int line);
#define want(got, expected) \
	rig_want((long long)(got), (long long)(expected), #got " is " #expected, __FILE__, __LINE__)
#define want_true(cond) rig_want(!!(cond), 1, #cond, __FILE__, __LINE__)
/* Prints "N failed"; the exit status. */
int rig_end(void);

int rig_open(void);
int rig_alloc(int fd, uint64_t size, uint64_t extent);
int rig_attach(int fd, uint64_t id, uint64_t offset, uint64_t size);
int rig_register(int fd, uint64_t va, uint64_t offset, uint64_t size);
int rig_unregister(int fd, uint64_t va);
int rig_free(int fd);
struct nvsim_info rig_info(int fd, uint64_t offset);
struct nvsim_stats rig_stats(void);
struct nvsim_check rig_check(void);
struct nvsim_probe rig_probe(const void *at, uint64_t size);
int rig_fault(enum nvsim_fault_kind kind, unsigned int skip, unsigned int count, uint64_t value);
void rig_delay(enum nvsim_point point, unsigned int ms);

/* What get_pages returned; *pin then. */
int rig_pin_as(int fd, const struct nvsim_pin *how, uint64_t *pin);
int rig_pin(int fd, uint64_t va, uint64_t size, unsigned int flags, uint64_t *pin);
struct nvsim_pinned rig_pinned(int fd, uint64_t pin, uint64_t index);
int rig_unpin(int fd, uint64_t pin);

/* The memory of fd, mapped; NULL. */
uint64_t *rig_map(int fd, uint64_t offset, uint64_t size, uint64_t flags);
/* Runs fn in a child and waits: its failures count. */
void rig_child(void (*fn)(void *), void *arg);

#endif
