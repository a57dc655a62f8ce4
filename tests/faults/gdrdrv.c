/* SPDX-License-Identifier: MIT */
/* The model of gdrdrv: files, pins and mappings; gdrdrv_ioctl.c has the commands. */
#include "gdrdrv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gdrdrv_state.h"

#define FILES    8

void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);

struct gdrdrv_setup gdrdrv_setup;
static struct gdrdrv_file files[FILES];
static struct mapping {
	char *addr;                     /* NULL: none */
	size_t len;
	struct gdrdrv_pin *pin;         /* NULL: unpinned before it was unmapped */
} mappings[GDRDRV_PINS];
static unsigned violations;
static char violation[160];

void gdrdrv_violate(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(violation, sizeof(violation), fmt, ap);
	va_end(ap);
	violations++;
	fprintf(stderr, "gdrdrv model: VIOLATION: %s\n", violation);
}

unsigned gdrdrv_violations(void)
{
	return violations;
}

const char *gdrdrv_violation(void)
{
	return violation;
}

void gdrdrv_reset(const struct gdrdrv_setup *setup)
{
	gdrdrv_setup = *setup;
	memset(files, 0, sizeof(files));
	memset(mappings, 0, sizeof(mappings));
	violations = 0;
}

static struct gdrdrv_file *file_of(int fd)
{
	unsigned i;

	for (i = 0; i < FILES; i++)
		if (files[i].open && files[i].fd == fd)
			return &files[i];
	return NULL;
}

bool gdrdrv_owns(int fd)
{
	return file_of(fd) != NULL;
}

int gdrdrv_open(int flags)
{
	unsigned i;

	for (i = 0; i < FILES && files[i].open; i++)
		;
	if (i == FILES)
		return -ENFILE;
	if (flags != (O_RDWR | O_CLOEXEC))
		gdrdrv_violate("open with flags 0%o", (unsigned)flags);
	files[i] = (struct gdrdrv_file){
		.fd = memfd_create("gdrdrv model", MFD_CLOEXEC),
		.next_handle = gdrdrv_setup.first_handle,
		.owner = getpid(),
	};
	if (files[i].fd < 0)
		return -errno;
	files[i].open = true;
	return files[i].fd;
}

static void forget_pin(const struct gdrdrv_pin *pin)
{
	unsigned i;

	for (i = 0; i < GDRDRV_PINS; i++)
		if (mappings[i].pin == pin)
			mappings[i].pin = NULL;
}

void gdrdrv_unpin(struct gdrdrv_pin *pin)
{
	forget_pin(pin);
	pin->live = false;
}

void gdrdrv_close(int fd)
{
	struct gdrdrv_file *f = file_of(fd);
	unsigned i;

	for (i = 0; i < GDRDRV_PINS; i++)
		if (f->pins[i].live)
			gdrdrv_unpin(&f->pins[i]);
	f->open = false;
}

int gdrdrv_ioctl(int fd, unsigned long cmd, void *arg)
{
	struct gdrdrv_file *f = file_of(fd);

	return f->owner == getpid() ? gdrdrv_command(f, (uint32_t)cmd, arg) : -EACCES;
}

/* The pin that starts at this handle, and may be mapped for len bytes; else *err. */
static struct gdrdrv_pin *pin_to_map(struct gdrdrv_file *f, uint64_t handle, size_t len, int *err)
{
	struct gdrdrv_pin *pin = gdrdrv_find(f, handle);

	*err = EINVAL;
	if (f->owner != getpid()) {
		*err = EACCES;
		return NULL;
	}
	if (!pin) {
		gdrdrv_violate("mmap of handle 0x%llx, which is no pin",
			       (unsigned long long)handle);
		return NULL;
	}
	if (pin->revoked || pin->mapped || pin->addr % GDRDRV_GPU_PAGE || len > pin->size)
		return NULL;
	return pin;
}

/* A view of the file at the pin's offset, grown if need be. */
static void *view(const struct gdrdrv_file *f, size_t len, off_t offset)
{
	struct stat st;

	if (fstat(f->fd, &st) != 0 || offset > INT64_MAX - (off_t)len ||
	    (st.st_size < offset + (off_t)len && ftruncate(f->fd, offset + (off_t)len) != 0)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, offset);
}

void *gdrdrv_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	struct gdrdrv_file *f = file_of(fd);
	int err;
	struct gdrdrv_pin *pin = pin_to_map(f, (uint64_t)offset / GDRDRV_PAGE, len, &err);
	unsigned i;
	void *at;

	if (!pin) {
		errno = err;
		return MAP_FAILED;
	}
	if (addr || prot != (PROT_READ | PROT_WRITE) || flags != MAP_SHARED || len % GDRDRV_PAGE)
		gdrdrv_violate("mmap at %p, 0x%zx bytes, flags 0x%x", addr, len, (unsigned)flags);
	for (i = 0; i < GDRDRV_PINS && mappings[i].addr; i++)
		;
	if (i == GDRDRV_PINS) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	at = view(f, len, offset);
	if (at == MAP_FAILED)
		return at;
	mappings[i] = (struct mapping){ .addr = at, .len = len, .pin = pin };
	pin->mapped = true;
	return at;
}

void gdrdrv_unmapped(void *addr, size_t len)
{
	char *start = addr;
	unsigned i;

	for (i = 0; i < GDRDRV_PINS; i++) {
		struct mapping *m = &mappings[i];

		if (!m->addr || start >= m->addr + m->len || start + len <= m->addr)
			continue;
		if (start > m->addr || start + len < m->addr + m->len)
			gdrdrv_violate("munmap of part of a mapping: the driver takes it for all");
		if (m->pin)
			m->pin->mapped = false;
		m->addr = NULL;
	}
}

void gdrdrv_revoke(uint64_t addr)
{
	unsigned i, k;

	if (!gdrdrv_setup.revokes)
		return;
	for (i = 0; i < FILES; i++) {
		for (k = 0; files[i].open && k < GDRDRV_PINS; k++) {
			struct gdrdrv_pin *p = &files[i].pins[k];

			if (p->live && addr >= p->va && addr - p->va < p->size)
				p->revoked = true;
		}
	}
}

void gdrdrv_count(struct gdrdrv_counts *out)
{
	unsigned i, k;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < FILES; i++) {
		out->files += files[i].open;
		for (k = 0; files[i].open && k < GDRDRV_PINS; k++)
			out->pins += files[i].pins[k].live;
	}
	for (i = 0; i < GDRDRV_PINS; i++)
		out->mappings += mappings[i].addr != NULL;
}
