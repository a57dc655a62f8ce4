// SPDX-License-Identifier: MIT
/* Expectations and calls; see rig.h. */
#include "rig.h"

unsigned int rig_failures;
static int control = -1;

void rig_want(long long got, long long expected, const char *what, const char *file, int line)
{
	if (got == expected)
		return;
	rig_failures++;
	printf("%s:%d: %s: got %lld\n", file, line, what, got);
	fflush(stdout);
}

int rig_end(void)
{
	printf("%u failed\n", rig_failures);
	return rig_failures != 0;
}

int rig_open(void)
{
	int fd = open(NVSIM_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror(NVSIM_DEVICE_PATH);
		exit(1);
	}
	return fd;
}

static int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? -errno : 0;
}

static void must(unsigned long cmd, void *arg)
{
	if (control < 0)
		control = rig_open();
	if (ioctl(control, cmd, arg)) {
		perror("ioctl of /dev/nvsim");
		exit(1);
	}
}

int rig_alloc(int fd, uint64_t size, uint64_t extent)
{
	struct nvsim_alloc a = { .size = size, .extent = extent };

	return call(fd, NVSIM_IOC_ALLOC, &a);
}

int rig_attach(int fd, uint64_t id, uint64_t offset, uint64_t size)
{
	struct nvsim_attach a = { .id = id, .offset = offset, .size = size };

	return call(fd, NVSIM_IOC_ATTACH, &a);
}

int rig_register(int fd, uint64_t va, uint64_t offset, uint64_t size)
{
	struct nvsim_register r = { .va = va, .offset = offset, .size = size };

	return call(fd, NVSIM_IOC_REGISTER, &r);
}

int rig_unregister(int fd, uint64_t va)
{
	return call(fd, NVSIM_IOC_UNREGISTER, &va);
}

int rig_free(int fd)
{
	return call(fd, NVSIM_IOC_FREE, NULL);
}

struct nvsim_info rig_info(int fd, uint64_t offset)
{
	struct nvsim_info i = { .offset = offset };

	want(call(fd, NVSIM_IOC_INFO, &i), 0);
	return i;
}

struct nvsim_stats rig_stats(void)
{
	struct nvsim_stats s = { 0 };

	must(NVSIM_IOC_STATS, &s);
	return s;
}

struct nvsim_check rig_check(void)
{
	struct nvsim_check c = { 0 };

	must(NVSIM_IOC_CHECK, &c);
	return c;
}

struct nvsim_probe rig_probe(const void *at, uint64_t size)
{
	struct nvsim_probe p = { .va = (uintptr_t)at, .size = size };

	must(NVSIM_IOC_PROBE, &p);
	return p;
}

int rig_fault(enum nvsim_fault_kind kind, unsigned int skip, unsigned int count, uint64_t value)
{
	struct nvsim_fault f = { .kind = kind, .skip = skip, .count = count, .value = value };

	if (control < 0)
		control = rig_open();
	return call(control, NVSIM_IOC_FAULT, &f);
}

void rig_delay(enum nvsim_point point, unsigned int ms)
{
	struct nvsim_delay d = { .point = point, .ms = ms };

	must(NVSIM_IOC_DELAY, &d);
}

int rig_pin_as(int fd, const struct nvsim_pin *how, uint64_t *pin)
{
	struct nvsim_pin p = *how;

	want(call(fd, NVSIM_IOC_PIN, &p), 0);
	*pin = p.pin;
	return p.result;
}

int rig_pin(int fd, uint64_t va, uint64_t size, unsigned int flags, uint64_t *pin)
{
	struct nvsim_pin p = { .va = va, .size = size, .flags = flags };

	return rig_pin_as(fd, &p, pin);
}

struct nvsim_pinned rig_pinned(int fd, uint64_t pin, uint64_t index)
{
	struct nvsim_pinned p = { .pin = pin, .index = index };

	want(call(fd, NVSIM_IOC_PINNED, &p), 0);
	return p;
}

int rig_unpin(int fd, uint64_t pin)
{
	struct nvsim_unpin u = { .pin = pin };

	want(call(fd, NVSIM_IOC_UNPIN, &u), 0);
	return u.result;
}

uint64_t *rig_map(int fd, uint64_t offset, uint64_t size, uint64_t flags)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       (off_t)(offset | flags));

	return p == MAP_FAILED ? NULL : p;
}

void rig_child(void (*fn)(void *), void *arg)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		rig_failures = 0;
		fn(arg);
		_exit(rig_failures != 0);
	}
	want_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	want(status, 0);
}
