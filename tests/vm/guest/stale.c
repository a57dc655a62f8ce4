/* SPDX-License-Identifier: MIT */
/*
 * Whatever was done to a mapping before: once the memory is unpinned or revoked,
 * nothing of it reaches the pages, wherever it lies by then; and what other pins
 * map is not touched.  Every attack is tried with every end.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define RW	(PROT_READ | PROT_WRITE)
#define BYSTANDER	0x600dda7a

struct scene {
	int fd;
	uint64_t va, handle;
	size_t size;
	char *map;
	char *moved;		/* where an attack put it; else NULL */
	uint64_t other_va, other_handle;
	char *other;		/* the bystander's mapping */
};

static size_t size_of_scene;

static void second_mmap(struct scene *s)
{
	void *again;

	want_eq(dev_map(s->fd, s->handle, s->size, &again), -EINVAL);
}

static void third_mmap(struct scene *s)
{
	second_mmap(s);
	second_mmap(s);
	want_eq(dev_mapping_type(s->fd, s->handle), GDRDRV_MAPPING_WC);
}

static void munmap_head(struct scene *s)
{
	want_in(munmap(s->map, HOST_PAGE) ? -errno : 0, 0, -EINVAL);
}

static void munmap_tail(struct scene *s)
{
	want_in(munmap(s->map + s->size - HOST_PAGE, HOST_PAGE) ? -errno : 0, 0, -EINVAL);
}

static void munmap_middle(struct scene *s)
{
	want_in(munmap(s->map + s->size / 2, HOST_PAGE) ? -errno : 0, 0, -EINVAL);
}

static void munmap_all_but_one(struct scene *s)
{
	size_t at;

	for (at = 0; at < s->size; at += HOST_PAGE)
		if (at != s->size / 2)
			munmap(s->map + at, HOST_PAGE);
}

static void mremap_move(struct scene *s)
{
	char *to = mmap(NULL, s->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *at;

	need(to != MAP_FAILED);
	at = mremap(s->map, s->size, s->size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (at == MAP_FAILED)
		munmap(to, s->size);
	else
		s->moved = at;
}

static void mremap_part(struct scene *s)
{
	char *to = mmap(NULL, s->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(to != MAP_FAILED);
	mremap(s->map + s->size / 2, HOST_PAGE, HOST_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	s->moved = to;
}

static void mremap_shrink(struct scene *s)
{
	mremap(s->map, s->size, HOST_PAGE, 0);
}

static void mremap_more(struct scene *s)
{
	want(mremap(s->map, s->size, s->size + HOST_PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	want(mremap(s->map, 0, s->size, MREMAP_MAYMOVE) == MAP_FAILED);
#ifdef MREMAP_DONTUNMAP
	want(mremap(s->map, s->size, s->size, MREMAP_MAYMOVE | MREMAP_DONTUNMAP) == MAP_FAILED);
#endif
}

static void mprotect_part(struct scene *s)
{
	mprotect(s->map, s->size / 2, PROT_READ);
}

static void mprotect_each_second_page(struct scene *s)
{
	size_t at;

	for (at = 0; at < s->size; at += 2 * HOST_PAGE)
		mprotect(s->map + at, HOST_PAGE, PROT_READ);
}

static void madvise_part(struct scene *s)
{
	madvise(s->map, HOST_PAGE, MADV_RANDOM);
	madvise(s->map + s->size / 2, HOST_PAGE, MADV_SEQUENTIAL);
	madvise(s->map + s->size / 2, s->size / 2, MADV_DONTDUMP);
	madvise(s->map, s->size, MADV_DONTNEED);
	want_eq(madvise(s->map, s->size, MADV_DOFORK), -1);
}

static void mlock_part(struct scene *s)
{
	mlock(s->map, HOST_PAGE);
	munlock(s->map, s->size);
}

static void mmap_over_the_middle(struct scene *s)
{
	void *at = mmap(s->map + s->size / 2, HOST_PAGE, RW,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	/* what lies there now is not the pin's; out of the way for the inspection */
	if (at != MAP_FAILED)
		mprotect(at, HOST_PAGE, PROT_NONE);
}

static void file_pages_of_another_offset(struct scene *s)
{
	syscall(SYS_remap_file_pages, s->map, HOST_PAGE, 0, s->other_handle, 0);
	syscall(SYS_remap_file_pages, s->map + HOST_PAGE, HOST_PAGE, 0, s->handle + 2, 0);
}

static void bogus_handles(struct scene *s)
{
	void *at;

	want_eq(dev_unpin(s->fd, NO_HANDLE), -EINVAL);
	want_eq(dev_unpin(s->fd, s->handle + 1), -EINVAL);
	want_eq(dev_map(s->fd, s->handle + 1, HOST_PAGE, &at), -EINVAL);
	want_eq(dev_request(s->fd, s->handle + 1, GDRDRV_MAPPING_WC), -EINVAL);
	want_eq(dev_cb_flag(s->fd, s->handle + 1), -EINVAL);
	want_eq(readable_pages(s->map, s->size), s->size / HOST_PAGE);
}

static void unpin_and_unmap_another(struct scene *s)
{
	uint64_t b = dev_must_pin(s->fd, s->other_va, GPU_PAGE);
	void *map = dev_must_map(s->fd, b, GPU_PAGE);

	want_eq(dev_unpin(s->fd, b), 0);
	want_eq(munmap(map, GPU_PAGE), 0);
	want_eq(dev_mapping_type(s->fd, s->handle), GDRDRV_MAPPING_WC);
}

static void private_mapping(struct scene *s)
{
	void *at = NULL;

	want_eq(dev_mmap(s->fd, s->handle, s->size, RW, MAP_PRIVATE, &at), -EINVAL);
	want_eq(dev_mmap(s->fd, s->handle, s->size, PROT_READ, MAP_PRIVATE, &at), -EINVAL);
}

/* Away with all of it, and back: the second mapping counts as much as the first. */
static void unmap_and_map_again(struct scene *s)
{
	void *before = s->map;

	want_eq(munmap(s->map, s->size), 0);
	want(is_dead(before, s->size));
	s->map = dev_must_map(s->fd, s->handle, s->size);
	want_eq(readable_pages(s->map, s->size), s->size / HOST_PAGE);
}

static void nothing_touched_yet(struct scene *s)
{
	want_eq(munmap(s->map, s->size), 0);
	s->map = dev_must_map(s->fd, s->handle, s->size);
}

#define ATTACK(fn)	{ #fn, fn }
static const struct attack {
	const char *name;
	void (*run)(struct scene *s);
} attacks[] = {
	ATTACK(second_mmap), ATTACK(third_mmap), ATTACK(munmap_head), ATTACK(munmap_tail),
	ATTACK(munmap_middle), ATTACK(munmap_all_but_one), ATTACK(mremap_move),
	ATTACK(mremap_part), ATTACK(mremap_shrink), ATTACK(mremap_more), ATTACK(mprotect_part),
	ATTACK(mprotect_each_second_page), ATTACK(madvise_part), ATTACK(mlock_part),
	ATTACK(mmap_over_the_middle), ATTACK(file_pages_of_another_offset),
	ATTACK(bogus_handles), ATTACK(unpin_and_unmap_another), ATTACK(private_mapping),
	ATTACK(unmap_and_map_again), ATTACK(nothing_touched_yet),
};

/* In one piece, on a boundary of 2 MiB: where the kernel can, in large entries. */
static void set_up(struct scene *s)
{
	struct nvsim_alloc how = { .size = size_of_scene, .align = MIB(2) };

	memset(s, 0, sizeof(*s));
	s->fd = dev_open();
	s->size = size_of_scene;
	s->va = sim_alloc_with(&how, 0);
	need(s->va != 0);
	s->other_va = sim_alloc(GPU_PAGE);
	s->handle = dev_must_pin(s->fd, s->va, s->size);
	s->other_handle = dev_must_pin(s->fd, s->other_va, GPU_PAGE);
	s->map = dev_must_map(s->fd, s->handle, s->size);
	s->other = dev_must_map(s->fd, s->other_handle, GPU_PAGE);
	want_eq(readable_pages(s->map, s->size), s->size / HOST_PAGE);
	want_eq(poke(s->other, BYSTANDER), 0);
}

static void want_bystander(const struct scene *s)
{
	uint32_t value = 0;

	want_eq(peek(s->other, &value), 0);
	want_eq(value, BYSTANDER);
	want_eq(sim_read(s->other_va, 0), BYSTANDER);
	want_eq(dev_mapping_type(s->fd, s->other_handle), GDRDRV_MAPPING_WC);
}

static void tear_down(struct scene *s, bool mapped_too)
{
	if (mapped_too) {
		munmap(s->map, s->size);
		if (s->moved)
			munmap(s->moved, s->size);
	}
	want_bystander(s);
	want_eq(munmap(s->other, GPU_PAGE), 0);
	want_eq(dev_unpin(s->fd, s->other_handle), 0);
	sim_free(s->other_va);
	close(s->fd);
}

/* What the attack left, after the end.  The bystander's page may have been put there. */
static void want_dead(const struct scene *s, const struct attack *attack)
{
	if (attack->run == file_pages_of_another_offset) {
		munmap(s->map, HOST_PAGE);
		munmap(s->map + HOST_PAGE, HOST_PAGE);
	}
	if (attack->run == mmap_over_the_middle)
		want(is_dead(s->map, s->size));
	else
		want(is_dead_by_sigbus(s->map, s->size));
	if (s->moved)
		want(is_dead(s->moved, attack->run == mremap_part ? HOST_PAGE : s->size));
}

static void end_by_unpin(const struct attack *attack)
{
	struct scene s;
	uint64_t pins = sim_pins();

	set_up(&s);
	attack->run(&s);
	want_eq(dev_unpin(s.fd, s.handle), 0);
	want_eq(sim_pins(), pins + 1);
	want_dead(&s, attack);
	sim_free(s.va);
	want_dead(&s, attack);
	tear_down(&s, true);
	want_eq(sim_pins(), pins);
	want_eq(sim_damage(), 0);
}

static void end_by_free(const struct attack *attack)
{
	struct scene s;
	uint64_t pins = sim_pins();
	bool persistent;

	set_up(&s);
	persistent = dev_persistent(s.fd);
	attack->run(&s);
	sim_free(s.va);
	want_eq(dev_cb_flag(s.fd, s.handle), !persistent);
	if (!persistent)
		want_dead(&s, attack);
	want_eq(dev_unpin(s.fd, s.handle), 0);
	want_dead(&s, attack);
	tear_down(&s, true);
	want_eq(sim_pins(), pins);
	want_eq(sim_damage(), 0);
}

/* The mapping is unmapped first, then the pin is mapped anew, which must work. */
static void end_by_munmap(const struct attack *attack)
{
	struct scene s;
	uint64_t pins = sim_pins();
	void *again = NULL;

	set_up(&s);
	attack->run(&s);
	munmap(s.map, s.size);
	if (s.moved)
		munmap(s.moved, s.size);
	want_eq(dev_mapping_type(s.fd, s.handle), GDRDRV_MAPPING_NONE);
	if (want_eq(dev_map(s.fd, s.handle, s.size, &again), 0)) {
		want_eq(readable_pages(again, s.size), s.size / HOST_PAGE);
		want_eq(dev_unpin(s.fd, s.handle), 0);
		want(is_dead_by_sigbus(again, s.size));
		munmap(again, s.size);
	}
	sim_free(s.va);
	tear_down(&s, false);
	want_eq(sim_pins(), pins);
	want_eq(sim_damage(), 0);
}

static const struct {
	const char *name;
	void (*run)(const struct attack *attack);
} ends[] = {
	{ "unpin", end_by_unpin }, { "free", end_by_free }, { "munmap", end_by_munmap },
};

static const struct attack *the_attack;
static size_t the_end;

static void run(void)
{
	ends[the_end].run(the_attack);
}

int main(int argc, char **argv)
{
	char name[96];
	size_t i;

	size_of_scene = number_arg(argc, argv, 1, 128) << 10;
	for (i = 0; i < COUNT_OF(attacks); i++) {
		the_attack = &attacks[i];
		for (the_end = 0; the_end < COUNT_OF(ends); the_end++) {
			snprintf(name, sizeof(name), "%s, then %s", attacks[i].name,
				 ends[the_end].name);
			guest_run(name, run);
		}
	}
	return guest_end();
}
