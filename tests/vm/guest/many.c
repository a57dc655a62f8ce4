/* SPDX-License-Identifier: MIT */
/* Several files, threads, pins and GPUs side by side: none knows of the other. */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)

/* The same memory through two files of one process: both windows show the same bytes. */
static void two_files_one_buffer(void)
{
	uint64_t va = sim_alloc(SIZE), h[2];
	int fds[2] = { dev_open(), dev_open() }, i;
	uint32_t value = 0;
	char *maps[2];

	for (i = 0; i < 2; i++) {
		h[i] = dev_must_pin(fds[i], va, SIZE);
		want_eq(h[i], 0);
		maps[i] = dev_must_map(fds[i], h[i], SIZE);
	}
	want_eq(poke(maps[0] + 8, 0x7777), 0);
	want_eq(peek(maps[1] + 8, &value), 0);
	want_eq(value, 0x7777);
	want_eq(dev_unpin(fds[0], h[0]), 0);
	want(is_dead_by_sigbus(maps[0], SIZE));
	want_eq(readable_pages(maps[1], SIZE), SIZE / HOST_PAGE);
	close(fds[0]);
	want_eq(readable_pages(maps[1], SIZE), SIZE / HOST_PAGE);
	want_eq(munmap(maps[0], SIZE), 0);
	want_eq(dev_unpin(fds[1], h[1]), 0);
	want(is_dead_by_sigbus(maps[1], SIZE));
	munmap(maps[1], SIZE);
	close(fds[1]);
	sim_free(va);
	want_eq(sim_damage(), 0);
}

/* Pinned twice on one file, overlapping, both mapped. */
static void two_pins_one_buffer(void)
{
	uint64_t va = sim_alloc(4 * GPU_PAGE), a, b;
	uint32_t value = 0;
	int fd = dev_open();
	char *ma, *mb;

	a = dev_must_pin(fd, va, 3 * GPU_PAGE);
	b = dev_must_pin(fd, va + GPU_PAGE, 3 * GPU_PAGE);
	want(a != b);
	mb = dev_must_map(fd, b, 3 * GPU_PAGE);
	ma = dev_must_map(fd, a, 3 * GPU_PAGE);
	want_eq(poke(ma + 2 * GPU_PAGE, 0x4242), 0);
	want_eq(peek(mb + GPU_PAGE, &value), 0);
	want_eq(value, 0x4242);
	want_eq(dev_unpin(fd, a), 0);
	want(is_dead_by_sigbus(ma, 3 * GPU_PAGE));
	want_eq(poke(mb, 1), 0);
	want_eq(munmap(mb, 3 * GPU_PAGE), 0);
	want_eq(dev_unpin(fd, b), 0);
	munmap(ma, 3 * GPU_PAGE);
	close(fd);
	sim_free(va);
	want_eq(sim_damage(), 0);
}

struct thread {
	pthread_t id;
	int fd;
	uint64_t va, handle;
	char *map;
};

static void *pin_thread(void *arg)
{
	struct thread *t = arg;

	t->handle = dev_must_pin(t->fd, t->va, SIZE);
	return NULL;
}

static void *map_thread(void *arg)
{
	struct thread *t = arg;

	t->map = dev_must_map(t->fd, t->handle, SIZE);
	return NULL;
}

static void *unpin_thread(void *arg)
{
	struct thread *t = arg;

	want_eq(dev_unpin(t->fd, t->handle), 0);
	return NULL;
}

static void run_both(struct thread t[2], void *(*fn)(void *))
{
	need(pthread_create(&t[0].id, NULL, fn, &t[0]) == 0);
	need(pthread_create(&t[1].id, NULL, fn, &t[1]) == 0);
	pthread_join(t[0].id, NULL);
	pthread_join(t[1].id, NULL);
}

/* Pinned in one thread, mapped in another, unpinned in a third: two at a time on one file. */
static void threads_share_a_file(void)
{
	struct thread t[2] = { { .fd = dev_open() } };

	t[0].va = sim_alloc(SIZE);
	t[1].va = t[0].va;
	t[1].fd = t[0].fd;
	run_both(t, pin_thread);
	want(t[0].handle != t[1].handle);
	run_both(t, map_thread);
	want_eq(poke(t[0].map, 77), 0);
	want_eq(sim_read(t[1].va, 0), 77);
	run_both(t, unpin_thread);
	want(is_dead_by_sigbus(t[0].map, SIZE));
	want(is_dead_by_sigbus(t[1].map, SIZE));
	munmap(t[0].map, SIZE);
	munmap(t[1].map, SIZE);
	close(t[0].fd);
	sim_free(t[0].va);
}

static void two_gpus(void)
{
	struct nvsim_alloc how = { .gpu = 1, .size = SIZE };
	uint64_t va[2], h[2];
	int fd = dev_open(), i;
	char *maps[2];

	if (sim_gpus() < 2) {
		guest_skip_case("one GPU");
		close(fd);
		return;
	}
	va[0] = sim_alloc(SIZE);
	va[1] = sim_alloc_with(&how, 0);
	need(va[1] != 0);
	for (i = 0; i < 2; i++) {
		h[i] = dev_must_pin(fd, va[i], SIZE);
		maps[i] = dev_must_map(fd, h[i], SIZE);
		want_eq(poke(maps[i], 100 + (uint32_t)i), 0);
		want_eq(sim_probe(maps[i], SIZE).type[NVSIM_TYPE_WC], SIZE);
	}
	want_eq(sim_read(va[0], 0), 100);
	want_eq(sim_read(va[1], 0), 101);
	want_eq(dev_unpin(fd, h[0]), 0);
	want(is_dead_by_sigbus(maps[0], SIZE));
	want_eq(readable_pages(maps[1], SIZE), SIZE / HOST_PAGE);
	close(fd);
	want_eq(poke(maps[1], 5), 0);
	munmap(maps[0], SIZE);
	munmap(maps[1], SIZE);
	sim_free(va[0]);
	sim_free(va[1]);
	want_eq(sim_damage(), 0);
}

/* A thousand pins on one file; each still finds its own. */
static void many_pins(void)
{
	enum { N = 1000 };
	static uint64_t handles[N];
	struct gdrdrv_get_info_v2 info = { 0 };
	uint64_t va = sim_alloc(16 * GPU_PAGE), pins = sim_pins();
	int fd = dev_open(), i;

	for (i = 0; i < N; i++)
		handles[i] = dev_must_pin(fd, va + (uint64_t)(i % 16) * GPU_PAGE, GPU_PAGE);
	want_eq(sim_pins(), pins + N);
	for (i = 0; i < N; i++) {
		want_eq(dev_info(fd, handles[i], &info), 0);
		want_eq(info.va, va + (uint64_t)(i % 16) * GPU_PAGE);
	}
	for (i = 0; i < N; i += 3)
		want_eq(dev_unpin(fd, handles[i]), 0);
	close(fd);
	want_eq(sim_pins(), pins);
	sim_free(va);
}

int main(void)
{
	RUN(two_files_one_buffer);
	RUN(two_pins_one_buffer);
	RUN(threads_share_a_file);
	RUN(two_gpus);
	RUN(many_pins);
	return guest_end();
}
