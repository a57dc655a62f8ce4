/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side of the fake: descriptors and open files of /dev/nvidia*,
 * and the user mappings of windows.  Reference chains are the driver's: a user
 * mapping holds its GPU file, a GPU file the control file it is tied to.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_priv.h"

#define FDS 1024

struct mapping {
	uintptr_t start, end;
	struct fake_file *file;
	bool dontfork;
	struct mapping *next;
};

static struct fake_file *fds[FDS];
static struct fake_file *files;
static struct mapping *mappings;

int __real_open(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long req, void *arg);
int __real_madvise(void *addr, size_t len, int advice);

int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long req, void *arg);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *addr, size_t len);
int __wrap_close(int fd);
int __wrap_madvise(void *addr, size_t len, int advice);

struct fake_file *fake_file_find(int fd)
{
	return fd >= 0 && fd < FDS ? fds[fd] : NULL;
}

void fake_file_put(struct fake_file *f)
{
	struct fake_file **p;

	if (--f->refs)
		return;
	for (p = &files; *p != f; p = &(*p)->next)
		;
	*p = f->next;
	/* The kernel's file outlives the child's descriptors: the parent has it open. */
	if (f->pid == getpid()) {
		if (!f->gpu)
			fake_rm_ctl_closed(f);
		if (f->window)
			fake_window_put(f->window);
		if (f->ctl)
			fake_file_put(f->ctl);
	}
	free(f);
}

static int open_file(const char *path, int flags)
{
	const struct fake_rm_gpu *gpu = NULL;
	struct fake_file *f;
	unsigned minor;
	int err, fd;

	err = fake_script(strcmp(path, "/dev/nvidiactl") ? FAKE_RM_OPEN_GPU : FAKE_RM_OPEN_CTL,
			  NULL);
	if (!err && sscanf(path, "/dev/nvidia%u", &minor) == 1) {
		gpu = fake_gpu_by_minor(minor);
		if (!gpu)
			err = ENOENT;
	}
	if (err) {
		errno = err;
		return -1;
	}
	if (!(flags & O_CLOEXEC) || (flags & O_ACCMODE) != O_RDWR)
		fake_violation("%s opened with flags 0x%x", path, flags);
	fd = eventfd(0, EFD_CLOEXEC);
	f = calloc(1, sizeof(*f));
	if (fd < 0 || fd >= FDS || !f)
		abort();
	f->refs = 1;
	f->gpu = gpu;
	f->pid = getpid();
	f->next = files;
	files = f;
	fds[fd] = f;
	return fd;
}

static int open_any(const char *path, int flags, mode_t mode)
{
	int fd;

	if (strncmp(path, "/dev/nvidia", 11) != 0)
		return __real_open(path, flags, mode);
	pthread_mutex_lock(&fake_lock);
	fd = open_file(path, flags);
	pthread_mutex_unlock(&fake_lock);
	return fd;
}

#define MODE(flags, mode) \
	do { \
		va_list ap; \
		va_start(ap, flags); \
		mode = (flags) & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(ap, int) : 0; \
		va_end(ap); \
	} while (0)

int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode;

	MODE(flags, mode);
	return open_any(path, flags, mode);
}

int __wrap_open64(const char *path, int flags, ...)
{
	mode_t mode;

	MODE(flags, mode);
	return open_any(path, flags, mode);
}

int __wrap_close(int fd)
{
	pthread_mutex_lock(&fake_lock);
	if (fake_file_find(fd)) {
		struct fake_file *f = fds[fd];

		fds[fd] = NULL;
		fake_file_put(f);
	}
	pthread_mutex_unlock(&fake_lock);
	return __real_close(fd);
}

int __wrap_ioctl(int fd, unsigned long req, void *arg)
{
	struct fake_file *f;
	int err;

	pthread_mutex_lock(&fake_lock);
	f = fake_file_find(fd);
	if (!f) {
		pthread_mutex_unlock(&fake_lock);
		return __real_ioctl(fd, req, arg);
	}
	if (f->pid != getpid())
		fake_child_request();
	err = fake_rm_ioctl(f, req, arg);
	pthread_mutex_unlock(&fake_lock);
	if (!err)
		return 0;
	errno = -err;
	return -1;
}

/* Take [start, end) out of the list of mappings; the middle of one leaves two. */
static void forget(uintptr_t start, uintptr_t end)
{
	struct mapping **p = &mappings, *m;

	while ((m = *p)) {
		if (m->end <= start || m->start >= end) {
			p = &m->next;
		} else if (m->start < start && m->end > end) {
			struct mapping *tail = malloc(sizeof(*tail));

			*tail = *m;
			tail->start = end;
			tail->file->refs++;
			tail->file->window->mappings++;
			m->end = start;
			m->next = tail;
			p = &tail->next;
		} else if (m->start < start) {
			m->end = start;
			p = &m->next;
		} else if (m->end > end) {
			m->start = end;
			p = &m->next;
		} else {
			*p = m->next;
			m->file->window->mappings--;
			fake_file_put(m->file);
			free(m);
		}
	}
}

static void *map_window(struct fake_file *f, void *addr, size_t len, int prot, int flags,
			off_t offset)
{
	struct fake_window *w = f->window;
	int err = fake_script(FAKE_RM_MMAP, NULL);
	struct mapping *m;
	void *p;

	if (!err && (!w || offset))
		err = EINVAL;
	if (!err && w->len != len)
		err = ENXIO;
	if (err) {
		errno = err;
		return MAP_FAILED;
	}
	if (!w->live)
		fake_violation("mmap of a window that was given back: a stale window");
	if (!f->ctl)
		fake_violation("mmap of a GPU file that is tied to no control file");
	if ((flags & MAP_TYPE) != MAP_SHARED)
		fake_violation("mmap of a window with flags 0x%x", flags);
	p = fake_memory_map(w->memory, addr, len, prot, flags, w->offset);
	if (p == MAP_FAILED)
		return p;
	if (flags & MAP_FIXED)
		forget((uintptr_t)p, (uintptr_t)p + len);
	m = calloc(1, sizeof(*m));
	if (!m)
		abort();
	m->start = (uintptr_t)p;
	m->end = m->start + len;
	m->file = f;
	m->next = mappings;
	mappings = m;
	f->refs++;
	w->mappings++;
	return p;
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	struct fake_file *f;
	void *p;

	pthread_mutex_lock(&fake_lock);
	f = flags & MAP_ANONYMOUS ? NULL : fake_file_find(fd);
	if (f) {
		p = map_window(f, addr, len, prot, flags, offset);
	} else {
		p = __real_mmap(addr, len, prot, flags, fd, offset);
		if (p != MAP_FAILED && (flags & MAP_FIXED))
			forget((uintptr_t)p, (uintptr_t)p + len);
	}
	pthread_mutex_unlock(&fake_lock);
	return p;
}

void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return __wrap_mmap(addr, len, prot, flags, fd, offset);
}

/* Does the driver see that [start, end) goes? */
static bool shows_window(uintptr_t start, uintptr_t end)
{
	struct mapping *m;

	for (m = mappings; m && (m->end <= start || m->start >= end); m = m->next)
		;
	return m;
}

int __wrap_munmap(void *addr, size_t len)
{
	uintptr_t start = (uintptr_t)addr;
	int ret, err = 0;

	pthread_mutex_lock(&fake_lock);
	if (shows_window(start, start + len))
		err = fake_script(FAKE_RM_MUNMAP, NULL);
	ret = err ? -1 : __real_munmap(addr, len);
	if (!ret)
		forget(start, start + len);
	pthread_mutex_unlock(&fake_lock);
	if (err)
		errno = err;
	return ret;
}

void fake_rm_process_end(void)
{
	pthread_mutex_lock(&fake_lock);
	while (mappings) {
		uintptr_t start = mappings->start, end = mappings->end;

		__real_munmap((void *)start, end - start);
		forget(start, end);
	}
	pthread_mutex_unlock(&fake_lock);
	for (int fd = 0; fd < FDS; fd++) {
		if (fds[fd])
			__wrap_close(fd);
	}
}

int __wrap_madvise(void *addr, size_t len, int advice)
{
	uintptr_t start = (uintptr_t)addr;
	struct mapping *m;
	int err = 0;

	pthread_mutex_lock(&fake_lock);
	for (m = mappings; m && !err; m = m->next) {
		if (m->start < start || m->end > start + len || advice != MADV_DONTFORK)
			continue;
		err = fake_script(FAKE_RM_MADVISE, NULL);
		m->dontfork = !err;
	}
	pthread_mutex_unlock(&fake_lock);
	if (!err)
		return __real_madvise(addr, len, advice);
	errno = err;
	return -1;
}

static void before_fork(void)
{
	struct mapping *m;

	pthread_mutex_lock(&fake_lock);
	for (m = mappings; m; m = m->next) {
		if (!m->dontfork)
			fake_violation("fork with a window mapping that the child inherits");
	}
}

static void after_fork(void)
{
	pthread_mutex_unlock(&fake_lock);
}

static void in_child(void)
{
	struct mapping **p = &mappings, *m;

	while ((m = *p)) {
		if (!m->dontfork) {
			p = &m->next;
			continue;
		}
		*p = m->next;
		m->file->window->mappings--;
		m->file->refs--;        /* the parent's copy stays */
		free(m);
	}
	pthread_mutex_unlock(&fake_lock);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

void fake_wrap_count(struct fake_rm_counts *out)
{
	for (struct mapping *m = mappings; m; m = m->next)
		out->mappings++;
	for (struct fake_file *f = files; f; f = f->next) {
		if (f->gpu)
			out->gpu_files++;
		else
			out->ctl_files++;
	}
}

void fake_wrap_reset(void)
{
	if (mappings || files) {
		fprintf(stderr, "fake RM: reset with files or mappings left\n");
		abort();
	}
}
