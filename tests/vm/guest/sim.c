/* SPDX-License-Identifier: MIT */
/* See sim.h. */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"

#define FIRST_ADDRESS	UINT64_C(0x7a0000000000)

/* Memory of this process, or of the one that it was forked from. */
static struct {
	uint64_t va;
	int fd;
} memories[4096];
static uint64_t next_va = FIRST_ADDRESS;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int control = -1;
static pid_t control_of;

static int open_sim(void)
{
	int fd = open(NVSIM_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	need(fd >= 0);
	return fd;
}

static int sim_fd(void)
{
	if (control_of != getpid()) {
		control = open_sim();
		control_of = getpid();
	}
	return control;
}

static void must_ioctl(int fd, unsigned long cmd, void *arg)
{
	need(ioctl(fd, cmd, arg) == 0);
}

static void remember(uint64_t va, int fd)
{
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < COUNT_OF(memories) && memories[i].va; i++)
		;
	need(i < COUNT_OF(memories));
	memories[i].va = va;
	memories[i].fd = fd;
	pthread_mutex_unlock(&lock);
}

static int find(uint64_t va, bool forget)
{
	int fd = -1;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = COUNT_OF(memories); i-- > 0;) {
		if (memories[i].va != va)
			continue;
		fd = memories[i].fd;
		if (forget)
			memories[i].va = 0;
		break;
	}
	pthread_mutex_unlock(&lock);
	need(fd >= 0);
	return fd;
}

static uint64_t new_va(uint64_t size)
{
	uint64_t va;

	pthread_mutex_lock(&lock);
	va = next_va;
	/* with a hole behind it, and as congruent as the driver of a GPU would have it */
	next_va = (va + size + GPU_PAGE + MIB(2) - 1) & ~(MIB(2) - 1);
	pthread_mutex_unlock(&lock);
	return va;
}

uint64_t sim_alloc_with(const struct nvsim_alloc *how, uint64_t va)
{
	struct nvsim_alloc alloc = *how;
	struct nvsim_register reg = { .va = va, .size = how->size };
	int fd = open_sim();

	if (ioctl(fd, NVSIM_IOC_ALLOC, &alloc) < 0) {
		need(errno == ENOMEM);
		close(fd);
		return 0;
	}
	if (!reg.va)
		reg.va = new_va(how->size);
	must_ioctl(fd, NVSIM_IOC_REGISTER, &reg);
	remember(reg.va, fd);
	return reg.va;
}

uint64_t sim_alloc_pieces(uint64_t size, uint64_t piece)
{
	struct nvsim_alloc how = { .size = size, .extent = piece };
	uint64_t va = sim_alloc_with(&how, 0);

	need(va != 0);
	return va;
}

uint64_t sim_alloc(uint64_t size)
{
	return sim_alloc_pieces(size, 0);
}

int sim_fd_of(uint64_t va)
{
	return find(va, false);
}

void sim_free(uint64_t va)
{
	int fd = find(va, true);

	must_ioctl(fd, NVSIM_IOC_FREE, NULL);
	close(fd);
}

void sim_unregister(uint64_t va)
{
	must_ioctl(find(va, false), NVSIM_IOC_UNREGISTER, &va);
}

void sim_leave(void)
{
	size_t i;

	for (i = 0; i < COUNT_OF(memories); i++) {
		if (!memories[i].va)
			continue;
		close(memories[i].fd);
		memories[i].va = 0;
	}
}

uint64_t sim_token(uint64_t va)
{
	uint64_t token = 0;

	must_ioctl(find(va, false), NVSIM_IOC_TOKEN, &token);
	return token;
}

/* Mapped for a moment only: a mapping of the file is a user of the memory. */
static void *window(uint64_t va, uint64_t offset)
{
	void *at = mmap(NULL, HOST_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, find(va, false),
			(off_t)(offset & ~(uint64_t)(HOST_PAGE - 1)));

	need(at != MAP_FAILED);
	return at;
}

uint32_t sim_read(uint64_t va, uint64_t offset)
{
	char *page = window(va, offset);
	uint32_t value = *(volatile uint32_t *)(page + offset % HOST_PAGE);

	munmap(page, HOST_PAGE);
	return value;
}

void sim_write(uint64_t va, uint64_t offset, uint32_t value)
{
	char *page = window(va, offset);

	*(volatile uint32_t *)(page + offset % HOST_PAGE) = value;
	munmap(page, HOST_PAGE);
}

struct nvsim_probe sim_probe(const void *addr, size_t len)
{
	struct nvsim_probe probe = { .va = (uintptr_t)addr, .size = len };

	must_ioctl(sim_fd(), NVSIM_IOC_PROBE, &probe);
	return probe;
}

struct nvsim_stats sim_stats(void)
{
	struct nvsim_stats stats;

	must_ioctl(sim_fd(), NVSIM_IOC_STATS, &stats);
	return stats;
}

uint64_t sim_pins(void)
{
	struct nvsim_stats stats = sim_stats();

	return stats.pins + stats.persistent_pins;
}

uint64_t sim_damage(void)
{
	struct nvsim_check check;

	must_ioctl(sim_fd(), NVSIM_IOC_CHECK, &check);
	return check.damaged;
}

unsigned sim_gpus(void)
{
	struct nvsim_gpu gpu = { .gpu = 0 };

	while (ioctl(sim_fd(), NVSIM_IOC_GPU, &gpu) == 0)
		gpu.gpu++;
	return gpu.gpu;
}

struct nvsim_gpu sim_gpu(unsigned n)
{
	struct nvsim_gpu gpu = { .gpu = n };

	must_ioctl(sim_fd(), NVSIM_IOC_GPU, &gpu);
	return gpu;
}

void sim_limit(uint64_t bytes)
{
	struct nvsim_limit limit = { .bar1 = bytes };

	must_ioctl(sim_fd(), NVSIM_IOC_LIMIT, &limit);
}

void sim_fault(enum nvsim_fault_kind kind, uint64_t value)
{
	struct nvsim_fault fault = { .kind = kind, .count = 1, .tgid = (uint32_t)getpid(),
				     .value = value };

	must_ioctl(sim_fd(), NVSIM_IOC_FAULT, &fault);
}

void sim_delay(enum nvsim_point point, unsigned ms)
{
	struct nvsim_delay delay = { .point = point, .ms = ms };

	must_ioctl(sim_fd(), NVSIM_IOC_DELAY, &delay);
}

void sim_release(void)
{
	must_ioctl(sim_fd(), NVSIM_IOC_RELEASE, NULL);
}

void sim_await(enum nvsim_point point, unsigned n)
{
	uint64_t start = now_us();

	while (sim_stats().at[point] < n) {
		need(now_us() - start < 10 * 1000000);
		usleep(1000);
	}
}

void sim_reset(void)
{
	must_ioctl(sim_fd(), NVSIM_IOC_RESET, NULL);
}
