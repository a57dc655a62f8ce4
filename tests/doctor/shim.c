/* SPDX-License-Identifier: MIT */
/*
 * Preloaded below gdrcopy_doctor: device files that are not there, that refuse,
 * or that misbehave; and a slow clock.
 *   SHIM_GDRDRV, SHIM_NVIDIACTL   an errno for open, 2 (ENOENT) if not set
 *   SHIM_GDRDRV=script            a gdrdrv behind which nothing is, see SHIM_SCRIPT
 *   SHIM_SCRIPT   old: says version 1.9; refuse: cannot pin; crash, hang: in a pin;
 *                 wrong: maps other memory
 *   SHIM_CLOCK    factor by which time runs faster
 *   SHIM_REAPED   somebody else waits for all children; a signal to one ends this program
 */
/* open and open64 are two functions here. */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "uapi/gdrdrv.h"

#define EXPORT __attribute__((visibility("default")))

static int script_fd = -1;
static uint64_t pinned_va, pinned_size;

static bool script_is(const char *name)
{
	const char *s = getenv("SHIM_SCRIPT");

	return s && !strcmp(s, name);
}

/* True if path is one of ours: then *result and errno are open's. */
static bool device(const char *path, int *result)
{
	const char *how = NULL;

	if (!strcmp(path, "/dev/gdrdrv"))
		how = getenv("SHIM_GDRDRV");
	else if (!strcmp(path, "/dev/nvidiactl"))
		how = getenv("SHIM_NVIDIACTL");
	else
		return false;
	if (how && !strcmp(how, "script")) {
		script_fd = memfd_create("gdrdrv", MFD_CLOEXEC);
		if (ftruncate(script_fd, 1 << 20))
			abort();
		*result = script_fd;
		return true;
	}
	errno = how ? atoi(how) : ENOENT;
	*result = -1;
	return true;
}

#define OPEN(name) \
	EXPORT int name(const char *path, int flags, ...); \
	EXPORT int name(const char *path, int flags, ...) \
	{ \
		int (*real)(const char *, int, ...); \
		int result, mode; \
		va_list ap; \
		\
		if (device(path, &result)) \
			return result; \
		va_start(ap, flags); \
		mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, int) : 0; \
		va_end(ap); \
		*(void **)&real = dlsym(RTLD_NEXT, #name); \
		return real(path, flags, mode); \
	}

OPEN(open)
OPEN(open64)

EXPORT int __open_2(const char *path, int flags);
EXPORT int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

static int refuse(void)
{
	errno = EINVAL;
	return -1;
}

static int pin(void *arg)
{
	struct gdrdrv_pin_buffer_v2 *p = arg;

	if (script_is("refuse"))
		return refuse();
	if (script_is("crash"))
		kill(getpid(), SIGKILL);
	while (script_is("hang"))
		pause();
	pinned_va = p->addr;
	pinned_size = p->size;
	p->handle = 0;
	return 0;
}

/* No device memory is behind it, so the doctor's comparison must notice. */
static int scripted(unsigned long cmd, void *arg)
{
	struct gdrdrv_get_version *v = arg;
	struct gdrdrv_get_info_v2 *i = arg;

	switch (cmd) {
	case GDRDRV_IOC_GET_VERSION:
		v->gdrdrv_version = script_is("old") ? GDRDRV_VERSION_OF(1, 9) : GDRDRV_VERSION;
		v->minimum_gdr_api_version = GDRDRV_MIN_API_VERSION;
		return 0;
	case GDRDRV_IOC_PIN_BUFFER_V2:
		return pin(arg);
	case GDRDRV_IOC_GET_INFO_V2:
		i->va = pinned_va;
		i->mapped_size = pinned_size;
		i->page_size = GDRDRV_GPU_PAGE_SIZE;
		i->mapping_type = GDRDRV_MAPPING_WC;
		return 0;
	case GDRDRV_IOC_REQ_MAPPING_TYPE:
	case GDRDRV_IOC_UNPIN_BUFFER:
		return 0;
	default:
		return refuse();
	}
}

EXPORT int ioctl(int fd, unsigned long cmd, ...);
EXPORT int ioctl(int fd, unsigned long cmd, ...)
{
	int (*real)(int, unsigned long, ...);
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (fd == script_fd && fd >= 0)
		return scripted(cmd, arg);
	*(void **)&real = dlsym(RTLD_NEXT, "ioctl");
	return real(fd, cmd, arg);
}

EXPORT int clock_gettime(clockid_t id, struct timespec *t)
{
	int (*real)(clockid_t, struct timespec *);
	const char *factor = getenv("SHIM_CLOCK");
	unsigned long long ns;
	int ret;

	*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	ret = real(id, t);
	if (ret || !factor || id != CLOCK_MONOTONIC)
		return ret;
	ns = ((unsigned long long)t->tv_sec % 10000 * 1000000000 + (unsigned long long)t->tv_nsec) *
		strtoull(factor, NULL, 10);
	t->tv_sec = (time_t)(ns / 1000000000);
	t->tv_nsec = (long)(ns % 1000000000);
	return 0;
}

EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
	pid_t (*real)(pid_t, int *, int), got;

	*(void **)&real = dlsym(RTLD_NEXT, "waitpid");
	got = real(pid, status, options);
	if (got <= 0 || !getenv("SHIM_REAPED"))
		return got;
	errno = ECHILD;
	return -1;
}

EXPORT int kill(pid_t pid, int sig)
{
	int (*real)(pid_t, int);

	if (getenv("SHIM_REAPED"))
		abort();
	*(void **)&real = dlsym(RTLD_NEXT, "kill");
	return real(pid, sig);
}
