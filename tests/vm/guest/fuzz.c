/* SPDX-License-Identifier: MIT */
/*
 * Random calls with random and half-valid arguments, from several threads on several
 * files, for some seconds.  Afterwards nothing is left, and no free page was written.
 * Arguments: SECONDS [SEED [THREADS]].
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define FILES	4
#define MEMORIES 6
#define ARENA	MIB(1)

static uint64_t end_us;
static int files[FILES];		/* descriptors, -1: none; atomic */
static uint64_t memories[MEMORIES];	/* addresses, 0: none; atomic */
static uint64_t handles[16];		/* some that were answered, file << 32 | handle; atomic */
static char *arena;			/* where all mappings go, and all is tried */

enum call { IOCTL, MMAP, TOUCH, CALLS };
static const char *const call_names[] = { "ioctl", "mmap", "touch" };
static uint64_t calls[CALLS][2];	/* failed and succeeded; atomic */

static uint32_t below(uint64_t *random, uint32_t n)
{
	return pseudo_random(random) % n;
}

/* Often small, sometimes next to a power of two, sometimes anything. */
static uint64_t number(uint64_t *random)
{
	uint64_t n = (uint64_t)pseudo_random(random) << 32 | pseudo_random(random);

	switch (below(random, 5)) {
	case 0: return n;
	case 1: return (UINT64_C(1) << n % 64) + below(random, 3) - 1;
	case 2: return (n % 64) * GPU_PAGE;
	default: return n % 40;
	}
}

/* A handle, and mostly the file that it belongs to. */
static uint64_t some_handle(uint64_t *random, int *fd)
{
	uint64_t pair = __atomic_load_n(&handles[below(random, COUNT_OF(handles))],
					__ATOMIC_RELAXED);
	uint32_t file = below(random, 8) ? (uint32_t)(pair >> 32) : below(random, FILES);

	*fd = __atomic_load_n(&files[file], __ATOMIC_RELAXED);
	return below(random, 10) ? (uint32_t)pair : number(random);
}

static void remember_handle(uint64_t *random, uint32_t file, uint64_t handle)
{
	__atomic_store_n(&handles[below(random, COUNT_OF(handles))],
			 (uint64_t)file << 32 | handle, __ATOMIC_RELAXED);
}

static uint64_t some_address(uint64_t *random)
{
	uint64_t va = __atomic_load_n(&memories[below(random, MEMORIES)], __ATOMIC_RELAXED);

	switch (below(random, 8)) {
	case 0: return number(random);
	case 1: return va + number(random);
	case 2: return (uintptr_t)arena + below(random, ARENA);
	default: return va + below(random, 4) * GPU_PAGE;
	}
}

static uint64_t some_size(uint64_t *random)
{
	return below(random, 8) ? (1 + below(random, 8)) * GPU_PAGE : number(random);
}

static void *some_place(uint64_t *random)
{
	return arena + below(random, ARENA / HOST_PAGE) * HOST_PAGE;
}

static size_t some_length(uint64_t *random)
{
	return (1 + below(random, below(random, 4) ? 40 : 4)) * HOST_PAGE;
}

static void count(enum call call, int ret)
{
	__atomic_add_fetch(&calls[call][ret == 0], 1, __ATOMIC_RELAXED);
}

static void some_ioctl(uint64_t *random)
{
	static const unsigned commands[] = { /* more pins than unpins */
		GDRDRV_IOC_PIN_BUFFER, GDRDRV_IOC_PIN_BUFFER, GDRDRV_IOC_PIN_BUFFER_V2,
		GDRDRV_IOC_PIN_BUFFER_V2, GDRDRV_IOC_UNPIN_BUFFER, GDRDRV_IOC_GET_CB_FLAG,
		GDRDRV_IOC_GET_INFO, GDRDRV_IOC_GET_INFO_V2, GDRDRV_IOC_GET_ATTR,
		GDRDRV_IOC_PIN_BUFFER_V2, GDRDRV_IOC_REQ_MAPPING_TYPE, GDRDRV_IOC_GET_VERSION,
	};
	uint64_t words[8];
	unsigned cmd = commands[below(random, COUNT_OF(commands))];
	uint32_t file = below(random, FILES);
	void *arg = words;
	int fd, ret;
	size_t i;

	for (i = 0; i < COUNT_OF(words); i++)
		words[i] = number(random);
	words[0] = some_handle(random, &fd);
	if (cmd == GDRDRV_IOC_PIN_BUFFER || cmd == GDRDRV_IOC_PIN_BUFFER_V2) {
		fd = __atomic_load_n(&files[file], __ATOMIC_RELAXED);
		words[0] = some_address(random);
		words[1] = some_size(random);
		if (below(random, 4))
			words[2] = words[3] = 0;
	}
	if (cmd == GDRDRV_IOC_REQ_MAPPING_TYPE || cmd == GDRDRV_IOC_GET_ATTR)
		words[1] = below(random, 6);
	if (below(random, 50) == 0)
		cmd ^= 1u << below(random, 32);
	if (below(random, 50) == 0)
		arg = some_place(random);
	ret = dev_ioctl(fd, cmd, arg);
	count(IOCTL, ret);
	if (ret == 0 && (cmd == GDRDRV_IOC_PIN_BUFFER || cmd == GDRDRV_IOC_PIN_BUFFER_V2) &&
	    arg == words)
		remember_handle(random, file, words[cmd == GDRDRV_IOC_PIN_BUFFER ? 4 : 3]);
}

static void some_mmap(uint64_t *random)
{
	static const int shared[] = { MAP_SHARED, MAP_SHARED, MAP_SHARED, MAP_PRIVATE };
	void *at = some_place(random);
	size_t len = some_length(random);
	uint64_t handle;
	int fd;

	if ((char *)at + len > arena + ARENA)
		return;
	handle = some_handle(random, &fd);
	count(MMAP, dev_mmap(fd, handle, len, below(random, 3) ? 3 : (int)below(random, 8),
			     shared[below(random, COUNT_OF(shared))] | MAP_FIXED, &at));
}

static void some_memory_call(uint64_t *random)
{
	char *at = some_place(random), *to = some_place(random);
	size_t len = some_length(random), new_len = below(random, 4) ? len : some_length(random);

	if (at + len > arena + ARENA || to + new_len > arena + ARENA)
		return;
	switch (below(random, 5)) {
	case 0:
		/* reserved again at once, so that nobody else's mapping gets there */
		mmap(at, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
		     -1, 0);
		break;
	case 1:
		mprotect(at, len, (int)below(random, 4));
		break;
	case 2:
		mremap(at, len, new_len, MREMAP_MAYMOVE | MREMAP_FIXED, to);
		break;
	case 3:
		madvise(at, len, (int)below(random, 26));
		break;
	default:
		msync(at, len, MS_ASYNC);
	}
}

static void touch(uint64_t *random)
{
	char *at = some_place(random);
	unsigned i;

	for (i = 0; i < 8 && at + i * HOST_PAGE < arena + ARENA; i++)
		count(TOUCH, below(random, 2) ? peek_at(at, i * HOST_PAGE) :
						poke(at + i * HOST_PAGE, 0xf022f022));
}

static void other_file(uint64_t *random)
{
	uint32_t slot = below(random, FILES);
	int fd = __atomic_exchange_n(&files[slot], dev_open(), __ATOMIC_ACQ_REL);

	if (fd >= 0)
		close(fd);
}

static void other_memory(uint64_t *random)
{
	uint32_t slot = below(random, MEMORIES);
	struct nvsim_alloc how = { .size = (1 + below(random, 6)) * GPU_PAGE,
				   .extent = below(random, 2) ? GPU_PAGE : 0 };
	uint64_t va = sim_alloc_with(&how, 0);

	va = __atomic_exchange_n(&memories[slot], va, __ATOMIC_ACQ_REL);
	if (va)
		sim_free(va);
}

static void short_child(uint64_t *random)
{
	pid_t pid = fork();
	uint64_t handle;
	int fd;

	if (pid == 0) {
		handle = some_handle(random, &fd);
		peek_at(some_place(random), 0);
		dev_unpin(fd, handle);
		_exit(0);
	}
	if (pid > 0)
		wait_child(pid);
}

static void *fuzz(void *seed)
{
	uint64_t random = *(uint64_t *)seed;

	while (now_us() < end_us) {
		uint32_t dice = below(&random, 1000);

		if (dice < 450)
			some_ioctl(&random);
		else if (dice < 650)
			some_mmap(&random);
		else if (dice < 720)
			some_memory_call(&random);
		else if (dice < 984)
			touch(&random);
		else if (dice < 992)
			other_memory(&random);
		else if (dice < 997)
			other_file(&random);
		else
			short_child(&random);
	}
	return NULL;
}

static unsigned long seconds, seed, threads;

static void random_calls_leave_nothing(void)
{
	pthread_t ids[16];
	uint64_t seeds[16];
	unsigned i;

	/* calls with a random argument must not run into the program itself */
	arena = mmap(NULL, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	need(arena != MAP_FAILED);
	for (i = 0; i < FILES; i++)
		files[i] = dev_open();
	for (i = 0; i < MEMORIES; i++)
		memories[i] = sim_alloc((i + 1) * GPU_PAGE);
	guest_note("seed %lu, %lu threads, %lu s", seed, threads, seconds);
	end_us = now_us() + seconds * 1000000;
	for (i = 0; i < threads; i++) {
		seeds[i] = (seed + i + 1) * 0x9e3779b97f4a7c15;
		need(pthread_create(&ids[i], NULL, fuzz, &seeds[i]) == 0);
	}
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);

	for (i = 0; i < MEMORIES; i++)
		if (memories[i])
			sim_free(memories[i]);
	munmap(arena, ARENA);
	for (i = 0; i < FILES; i++)
		close(files[i]);
	for (i = 0; i < CALLS; i++) {
		guest_note("%s: %llu succeeded, %llu failed", call_names[i],
			   (unsigned long long)calls[i][1], (unsigned long long)calls[i][0]);
		want(calls[i][1] > 0 && calls[i][0] > 0);
	}
	want_eq(sim_pins(), 0);
	want_eq(sim_stats().memories, 0);
	want_eq(sim_stats().recursions, 0);
	want_eq(sim_damage(), 0);
}

int main(int argc, char **argv)
{
	seconds = number_arg(argc, argv, 1, 5);
	seed = number_arg(argc, argv, 2, (unsigned long)now_us() % 1000000);
	threads = number_arg(argc, argv, 3, 3);
	need(threads >= 1 && threads <= 16);
	RUN(random_calls_leave_nothing);
	return guest_end();
}
