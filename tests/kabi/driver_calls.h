/* SPDX-License-Identifier: MIT */
/* The wrapped system calls, and what a step of the script says about one; for driver.c. */
#ifndef KABI_DRIVER_CALLS_H
#define KABI_DRIVER_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum call {
	OPEN,
	CLOSE,
	MMAP,
	MADVISE,
	MUNMAP,
	IOCTL
};

struct step {
	enum call call;
	unsigned file; /* which descriptor, by order of opening */
	uint32_t cmd;
	size_t len;
	uint64_t offset;
	uint8_t in[48], out[48];
	int err;
};

struct mapping {
	uint8_t *addr;
	size_t len;
	unsigned file;
};

int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *addr, size_t len);
int __real_madvise(void *addr, size_t len, int advice);
int __real_ioctl(int fd, unsigned long cmd, ...);
void *__real_calloc(size_t n, size_t size);

int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_close(int fd);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *addr, size_t len);
int __wrap_madvise(void *addr, size_t len, int advice);
int __wrap_ioctl(int fd, unsigned long cmd, ...);
void *__wrap_calloc(size_t n, size_t size);

#endif
