/* SPDX-License-Identifier: MIT */
/*
 * What the linker puts in the place of the C library's functions: a failure if
 * one is due; else the model of gdrdrv, the model of NVIDIA's driver
 * (tests/rm, compiled with its wrappers renamed to fake_*), or the real thing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "gdrdrv.h"
#include "inject.h"

/* Of every function the real one, and the one that takes its place. */
#define WRAPPED(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

void (*inject_after_ioctl)(int fd, unsigned long req, void *arg);

int fake_open(const char *path, int flags, ...);
int fake_close(int fd);
int fake_ioctl(int fd, unsigned long req, void *arg);
void *fake_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int fake_munmap(void *addr, size_t len);
int fake_madvise(void *addr, size_t len, int advice);

/* True if the call is to fail; then errno is set. */
static bool fails(enum inject_call call)
{
	int err = inject(call);

	if (err)
		errno = err;
	return err != 0;
}

int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;
	int fd;

	if (fails(CALL_open))
		return -1;
	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = (mode_t)va_arg(ap, int);
		va_end(ap);
	}
	if (strcmp(path, "/dev/gdrdrv") != 0) {
		fd = fake_open(path, flags, mode);
	} else {
		fd = gdrdrv_open(flags);
		if (fd < 0) {
			errno = -fd;
			fd = -1;
		}
	}
	inject_note_file(fd, true);
	return fd;
}

int __wrap_open64(const char *path, int flags, ...)
{
	return __wrap_open(path, flags);
}

/* Linux: the descriptor is gone, whatever close returns. */
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	int ret;

	inject_note_file(fd, false);
	if (gdrdrv_owns(fd))
		gdrdrv_close(fd);
	ret = fake_close(fd);
	return fails(CALL_close) ? -1 : ret;
}

static int model_ioctl(int fd, unsigned long cmd, void *arg)
{
	int ret;

	if (!gdrdrv_owns(fd))
		return fake_ioctl(fd, cmd, arg);
	ret = gdrdrv_ioctl(fd, cmd, arg);
	if (ret == 0)
		return 0;
	errno = -ret;
	return -1;
}

int __wrap_ioctl(int fd, unsigned long cmd, ...);
int __wrap_ioctl(int fd, unsigned long cmd, ...)
{
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (fails(CALL_ioctl))
		return -1;
	ret = model_ioctl(fd, cmd, arg);
	if (ret == 0 && inject_after_ioctl)
		inject_after_ioctl(fd, cmd, arg);
	return ret;
}

/* What was at a fixed address may be gone when Linux finds that it cannot map there. */
static void drop(void *addr, size_t len)
{
	int err = errno;

	inject_note_unmapped(addr, len, false);
	fake_munmap(addr, len);
	errno = err;
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	void *p;

	if (fails(CALL_mmap))
		p = MAP_FAILED;
	else if (fd >= 0 && gdrdrv_owns(fd))
		p = gdrdrv_mmap(addr, len, prot, flags, fd, offset);
	else
		p = fake_mmap(addr, len, prot, flags, fd, offset);
	if (p != MAP_FAILED)
		inject_note_mapping(p, len);
	else if (flags & MAP_FIXED)
		drop(addr, len);
	return p;
}

void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return __wrap_mmap(addr, len, prot, flags, fd, offset);
}

int __wrap_munmap(void *addr, size_t len);
int __wrap_munmap(void *addr, size_t len)
{
	bool fault = fails(CALL_munmap);
	int ret = fault ? -1 : fake_munmap(addr, len);

	inject_note_unmapped(addr, len, ret != 0);
	if (ret == 0)
		gdrdrv_unmapped(addr, len);
	return ret;
}

int __wrap_madvise(void *addr, size_t len, int advice);
int __wrap_madvise(void *addr, size_t len, int advice)
{
	return fails(CALL_madvise) ? -1 : fake_madvise(addr, len, advice);
}

int __real_fcntl(int fd, int cmd, ...);
int __wrap_fcntl(int fd, int cmd, long arg);
int __wrap_fcntl64(int fd, int cmd, long arg);
int __wrap_fcntl(int fd, int cmd, long arg)
{
	return fails(CALL_fcntl) ? -1 : __real_fcntl(fd, cmd, arg);
}

int __wrap_fcntl64(int fd, int cmd, long arg)
{
	return __wrap_fcntl(fd, cmd, arg);
}

static void *noted(void *p, size_t size)
{
	inject_note_block(p, size);
	return p;
}

WRAPPED(void *, malloc, size_t size)
{
	return fails(CALL_malloc) ? NULL : noted(__real_malloc(size), size);
}

WRAPPED(void *, calloc, size_t n, size_t size)
{
	return fails(CALL_calloc) ? NULL : noted(__real_calloc(n, size), n * size);
}

WRAPPED(void *, realloc, void *p, size_t size)
{
	if (fails(CALL_realloc))
		return NULL;
	inject_note_free(p);
	return noted(__real_realloc(p, size), size);
}

WRAPPED(void, free, void *p)
{
	inject_note_free(p);
	__real_free(p);
}

/* dlerror says something after a real failure alone. */
WRAPPED(void *, dlopen, const char *name, int flags)
{
	return fails(CALL_dlopen) ? __real_dlopen("/nonexistent/libcuda.so.1", flags) :
				    __real_dlopen(name, flags);
}

WRAPPED(ssize_t, getrandom, void *buf, size_t len, unsigned flags)
{
	return fails(CALL_getrandom) ? -1 : __real_getrandom(buf, len, flags);
}

/* Nobody sleeps here: a thousand tries of a millisecond each are no test. */
WRAPPED(int, nanosleep, const struct timespec *t, struct timespec *left)
{
	return fails(CALL_nanosleep) ? -1 : 0;
}

/* The library's log, all of which these programs make it write, is not shown. */
WRAPPED(ssize_t, write, int fd, const void *buf, size_t n)
{
	if (fails(CALL_write))
		return -1;
	return atomic_load(&inject_watching) ? (ssize_t)n : __real_write(fd, buf, n);
}

WRAPPED(int, sched_getaffinity, pid_t pid, size_t size, cpu_set_t *set)
{
	return fails(CALL_sched_getaffinity) ? -1 : __real_sched_getaffinity(pid, size, set);
}

/* These three return the error. */
WRAPPED(int, pthread_create, pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *),
	void *arg)
{
	int err = inject(CALL_pthread_create);

	return err ? err : __real_pthread_create(t, attr, run, arg);
}

WRAPPED(int, pthread_setname_np, pthread_t t, const char *name)
{
	int err = inject(CALL_pthread_setname_np);

	return err ? err : __real_pthread_setname_np(t, name);
}

WRAPPED(int, pthread_setaffinity_np, pthread_t t, size_t size, const cpu_set_t *set)
{
	int err = inject(CALL_pthread_setaffinity_np);

	return err ? err : __real_pthread_setaffinity_np(t, size, set);
}
