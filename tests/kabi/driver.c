/* SPDX-License-Identifier: MIT */
/* The scripted driver: wrapped system calls against a list of steps. */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver_calls.h"

static const char *const call_names[] = { "open",    "close",  "mmap",
					  "madvise", "munmap", "ioctl" };

#define FILES	 4
#define MAPPINGS 16

static struct step steps[256];
static unsigned made, next;
static unsigned current_file;

static int files[FILES]; /* -1: closed */
static unsigned opened;
static struct mapping mappings[MAPPINGS]; /* addr NULL: none */

static unsigned lacking; /* allocations until one fails, 0: none will */

static char trouble[512];

/* Keeps the first; a test asserts later, since the library may hold locks now. */
__attribute__((format(printf, 1, 2))) static void complain(const char *fmt, ...)
{
	va_list ap;

	if (trouble[0])
		return;
	va_start(ap, fmt);
	vsnprintf(trouble, sizeof(trouble), fmt, ap);
	va_end(ap);
	fprintf(stderr, "scripted driver, step %u: %s\n", next, trouble);
}

static int fail(int err)
{
	errno = err;
	return -1;
}

void driver_reset(void)
{
	unsigned i;

	for (i = 0; i < MAPPINGS; i++)
		if (mappings[i].addr)
			__real_munmap(mappings[i].addr, mappings[i].len);
	for (i = 0; i < opened; i++)
		if (files[i] >= 0)
			__real_close(files[i]);
	memset(mappings, 0, sizeof(mappings));
	made = next = current_file = opened = lacking = 0;
	trouble[0] = '\0';
}

void driver_forked(void)
{
	memset(mappings, 0, sizeof(mappings));
}

const char *driver_trouble_so_far(void)
{
	if (next < made)
		complain(
			"the script goes on with %s 0x%x, but the library called nothing more",
			call_names[steps[next].call], steps[next].cmd);
	if (lacking)
		complain("no allocation failed, %u more are waited for", lacking);
	return trouble[0] ? trouble : NULL;
}

const char *driver_trouble(void)
{
	unsigned i;

	driver_trouble_so_far();
	for (i = 0; i < opened; i++)
		if (files[i] >= 0)
			complain("descriptor %u was left open", i);
	for (i = 0; i < MAPPINGS; i++)
		if (mappings[i].addr)
			complain("a mapping of 0x%zx bytes was left", mappings[i].len);
	return trouble[0] ? trouble : NULL;
}

void driver_use(unsigned n)
{
	current_file = n;
}

static struct step *add(enum call call, int err)
{
	struct step *s = &steps[made];

	if (made == sizeof(steps) / sizeof(steps[0])) {
		complain("the script is too long");
		return s - 1;
	}
	made++;
	memset(s, 0, sizeof(*s));
	s->call = call;
	s->file = current_file;
	s->err = err;
	return s;
}

void will_open(int err)
{
	add(OPEN, err);
}

void will_close(void)
{
	add(CLOSE, 0);
}

void will_mmap(size_t len, uint64_t offset, int err)
{
	struct step *s = add(MMAP, err);

	s->len = len;
	s->offset = offset;
}

void will_dontfork(size_t len, int err)
{
	add(MADVISE, err)->len = len;
}

void will_munmap(size_t len, int err)
{
	add(MUNMAP, err)->len = len;
}

void will_lack_memory(unsigned n)
{
	lacking = n;
}

void will_ioctl(uint32_t cmd, size_t len, const void *in, const void *out, int err)
{
	struct step *s = add(IOCTL, err);

	s->cmd = cmd;
	s->len = len;
	memcpy(s->in, in, len);
	memcpy(s->out, out, len);
}

/* The next step if it is this call on this descriptor, else NULL. */
static const struct step *take(enum call call, unsigned file)
{
	const struct step *s = &steps[next];

	if (next == made) {
		complain("%s after the end of the script", call_names[call]);
		return NULL;
	}
	if (s->call != call || s->file != file) {
		complain("%s on descriptor %u instead of %s on %u", call_names[call],
			 file, call_names[s->call], s->file);
		return NULL;
	}
	next++;
	return s;
}

/* FILES if fd is not the device. */
static unsigned file_of(int fd)
{
	unsigned i;

	for (i = 0; i < opened; i++)
		if (fd >= 0 && files[i] == fd)
			return i;
	return FILES;
}

/* The mapping that [addr, addr + len) touches, or NULL. */
static struct mapping *mapping_of(const uint8_t *addr, size_t len)
{
	unsigned i;

	for (i = 0; i < MAPPINGS; i++) {
		struct mapping *m = &mappings[i];

		if (m->addr && addr < m->addr + m->len && m->addr < addr + len)
			return m;
	}
	return NULL;
}

static int device_open(int flags)
{
	const struct step *s = take(OPEN, opened);

	if (!s)
		return fail(ENOANO);
	if (flags != (O_RDWR | O_CLOEXEC))
		complain("open with flags 0%o", (unsigned)flags);
	if (s->err)
		return fail(s->err);
	if (opened == FILES) {
		complain("too many descriptors");
		return fail(ENOANO);
	}
	files[opened] = memfd_create("gdrdrv", MFD_CLOEXEC);
	return files[opened++];
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;
	unsigned mode;

	if (strcmp(path, "/dev/gdrdrv") == 0)
		return device_open(flags);
	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, unsigned) : 0;
	va_end(ap);
	return __real_open(path, flags, mode);
}

int __wrap_close(int fd)
{
	unsigned file = file_of(fd);

	if (file == FILES)
		return __real_close(fd);
	if (!take(CLOSE, file))
		return fail(ENOANO);
	files[file] = -1;
	return __real_close(fd);
}

/* Memory at an offset keeps its contents from one mapping to the next. */
static void *device_mmap(const struct step *s, int fd, unsigned file)
{
	off_t end = (off_t)(s->offset + s->len);
	struct stat st;
	unsigned i;
	void *addr;

	if (fstat(fd, &st) != 0 || (st.st_size < end && ftruncate(fd, end) != 0))
		return MAP_FAILED;
	addr = __real_mmap(NULL, s->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   (off_t)s->offset);
	if (addr == MAP_FAILED)
		return addr;
	for (i = 0; mappings[i].addr; i++)
		if (i == MAPPINGS - 1) {
			complain("too many mappings");
			break;
		}
	mappings[i] = (struct mapping){ .addr = addr, .len = s->len, .file = file };
	return addr;
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	unsigned file = file_of(fd);
	const struct step *s;

	if (file == FILES)
		return __real_mmap(addr, len, prot, flags, fd, offset);
	s = take(MMAP, file);
	if (!s) {
		errno = ENOANO;
		return MAP_FAILED;
	}
	if (addr || prot != (PROT_READ | PROT_WRITE) || flags != MAP_SHARED)
		complain("mmap at %p, prot %d, flags 0x%x", addr, prot, (unsigned)flags);
	if (len != s->len || (uint64_t)offset != s->offset)
		complain("mmap of 0x%zx at 0x%llx instead of 0x%zx at 0x%llx", len,
			 (unsigned long long)offset, s->len,
			 (unsigned long long)s->offset);
	if (s->err) {
		errno = s->err;
		return MAP_FAILED;
	}
	return device_mmap(s, fd, file);
}

int __wrap_munmap(void *addr, size_t len)
{
	struct mapping *m = mapping_of(addr, len);
	const struct step *s;

	if (!m)
		return __real_munmap(addr, len);
	s = take(MUNMAP, m->file);
	if (!s)
		return fail(ENOANO);
	if (addr != m->addr || len != m->len || len != s->len)
		complain(
			"munmap of 0x%zx at %p; the mapping is 0x%zx at %p, the script has 0x%zx",
			len, addr, m->len, (void *)m->addr, s->len);
	if (s->err)
		return fail(s->err);
	__real_munmap(m->addr, m->len);
	m->addr = NULL;
	return 0;
}

int __wrap_madvise(void *addr, size_t len, int advice)
{
	struct mapping *m = mapping_of(addr, len);
	const struct step *s;

	if (!m)
		return __real_madvise(addr, len, advice);
	s = take(MADVISE, m->file);
	if (!s)
		return fail(ENOANO);
	if (addr != m->addr || len != m->len || len != s->len || advice != MADV_DONTFORK)
		complain("madvise %d of 0x%zx at %p", advice, len, addr);
	return s->err ? fail(s->err) : __real_madvise(addr, len, advice);
}

static void compare(const struct step *s, const uint8_t *arg)
{
	size_t i;

	for (i = 0; i < s->len; i++)
		if (arg[i] != s->in[i])
			complain("ioctl 0x%x: byte %zu is 0x%02x instead of 0x%02x",
				 s->cmd, i, arg[i], s->in[i]);
}

int __wrap_ioctl(int fd, unsigned long cmd, ...)
{
	unsigned file = file_of(fd);
	const struct step *s;
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (file == FILES)
		return __real_ioctl(fd, cmd, arg);
	s = take(IOCTL, file);
	if (!s)
		return fail(ENOANO);
	if (cmd != s->cmd) {
		complain("ioctl 0x%lx instead of 0x%x", cmd, s->cmd);
		return fail(ENOANO);
	}
	compare(s, arg);
	if (s->err == 0) {
		memcpy(arg, s->out, s->len);
		return 0;
	}
	/* So that it shows if anybody reads what a failed call left there. */
	if (s->err != EINTR)
		memset(arg, 0xEE, s->len);
	return fail(s->err);
}

void *__wrap_calloc(size_t n, size_t size)
{
	if (lacking && --lacking == 0) {
		errno = ENOMEM;
		return NULL;
	}
	return __real_calloc(n, size);
}

/* With 64-bit file offsets the C library's headers rename these two. */
int __wrap_open64(const char *path, int flags, ...) __attribute__((alias("__wrap_open")));
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
	__attribute__((alias("__wrap_mmap")));
