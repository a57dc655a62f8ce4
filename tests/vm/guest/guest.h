/* SPDX-License-Identifier: MIT */
/*
 * What the programs that run in the guest share: cases and expectations, the
 * calls of /dev/gdrdrv as functions, accesses that survive a signal, children.
 * The simulated GPU is in sim.h.
 *
 * A program's cases are functions; RUN() calls one and prints "ok NAME" or
 * "not ok NAME".  An expectation that fails prints a line, fails its case and
 * lets it go on; a need that is not met ends the program.
 */
#ifndef GUEST_H
#define GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gdrdrv.h"

#define GPU_PAGE	((uint64_t)GDRDRV_GPU_PAGE_SIZE)
#define HOST_PAGE	((size_t)4096)
#define KIB(n)		((uint64_t)(n) << 10)
#define MIB(n)		((uint64_t)(n) << 20)
#define COUNT_OF(a)	(sizeof(a) / sizeof((a)[0]))

/* A handle and an address that no test ever gets. */
#define NO_HANDLE	UINT64_C(0x777777)

#define SKIP		77

#define RUN(fn)		guest_run(#fn, fn)
void guest_run(const char *name, void (*fn)(void));
/* The program's exit status; prints the counts.  main() returns it. */
int guest_end(void);
/* The program cannot run here: says why and ends it. */
void guest_skip(const char *why, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* This case does not apply here: "ok NAME # skip WHY"; the caller returns. */
void guest_skip_case(const char *why);
/* A remark: a measurement, a seed. */
void guest_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define want(cond)	guest_want((cond), #cond, __FILE__, __LINE__)
#define want_eq(got, expected) \
	guest_want_eq((long long)(got), (long long)(expected), #got, __FILE__, __LINE__)
#define want_in(got, one, other) \
	guest_want_in((long long)(got), (long long)(one), (long long)(other), #got, __FILE__, \
		      __LINE__)
#define need(cond)	guest_need((cond), #cond, __FILE__, __LINE__)

bool guest_want(bool cond, const char *what, const char *file, int line);
bool guest_want_eq(long long got, long long expected, const char *what, const char *file, int line);
bool guest_want_in(long long got, long long one, long long other, const char *what,
		   const char *file, int line);
void guest_need(bool cond, const char *what, const char *file, int line);
/* Expectations failed so far in this process. */
unsigned guest_failures(void);

/* /dev/gdrdrv.  0 or -errno, unless said otherwise. */
int dev_open(void);			/* a descriptor; a failure ends the program */
bool dev_persistent(int fd);
/* The major of "gdrdrv" in /proc/devices, as scripts that make nodes look for it. */
unsigned dev_listed_major(void);
int dev_ioctl(int fd, unsigned long cmd, void *arg);
int dev_pin(int fd, uint64_t va, uint64_t size, uint64_t *handle);
uint64_t dev_must_pin(int fd, uint64_t va, uint64_t size);
int dev_unpin(int fd, uint64_t handle);
int dev_cb_flag(int fd, uint64_t handle);	/* 0, 1 or -errno */
int dev_info(int fd, uint64_t handle, struct gdrdrv_get_info_v2 *info);
int dev_mapping_type(int fd, uint64_t handle);	/* type or -errno */
/* Of a mapping that was asked for nothing: there is no write combining under "nopat". */
int dev_default_type(void);
int dev_request(int fd, uint64_t handle, uint32_t type);
int dev_map(int fd, uint64_t handle, size_t len, void **addr);
void *dev_must_map(int fd, uint64_t handle, size_t len);
/* mmap with everything open to choice. */
int dev_mmap(int fd, uint64_t handle, size_t len, int prot, int flags, void **addr);

/* One access: 0, or the signal that it raised. */
int peek(const void *addr, uint32_t *value);
int poke(void *addr, uint32_t value);
int peek_at(const void *addr, size_t offset);
/* Every host page of the range: the number of those that could be read. */
size_t readable_pages(const void *addr, size_t len);
/* No byte of the range can be read or written, and no page-table entry is there. */
bool is_dead(const void *addr, size_t len);

/*
 * The same, and each page that still is mapped raises SIGBUS.  For a range that
 * may have been split, unmapped in part, and protected, but is still readable.
 */
bool is_dead_by_sigbus(const void *addr, size_t len);
bool page_is_mapped(const void *addr);

/* fn in a forked child, which exits 1 if an expectation failed there.  Wait status. */
int in_child(void (*fn)(void *arg), void *arg);
pid_t start_child(void (*fn)(void *arg), void *arg);
int wait_child(pid_t pid);

/* A descriptor over a socket, with one byte. */
void send_fd(int sock, int fd);
int receive_fd(int sock);

/* Whole small files; -errno where they cannot be read, else bytes. */
int read_file(const char *path, char *text, size_t room);
/* The number after "KEY" in text; -1 without one. */
long long number_after(const char *text, const char *key);

/* Wall clock, microseconds. */
uint64_t now_us(void);
/* xorshift, one state a thread. */
uint32_t pseudo_random(uint64_t *state);
/* Argument n as a number, or what stands for it. */
unsigned long number_arg(int argc, char **argv, int n, unsigned long otherwise);

#endif
