/* SPDX-License-Identifier: MIT */
/*
 * A mapping is write combining, however its memory is scattered, and what it costs:
 * against a plain remap of all pages at mmap.  Argument: MiB.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define REPEATS 5

static size_t size;

static const struct shape {
	const char *name;
	uint64_t extent, align, skew;
} shapes[] = {
	{ "in one piece", 0, MIB(2), 0 },
	{ "in one piece, askew", 0, MIB(2), KIB(64) },
	{ "in pieces of 2 MiB", MIB(2), MIB(2), 0 },
	{ "in pieces of 64 KiB", KIB(64), 0, 0 },
};

static const struct shape *shape;

struct cost {
	uint64_t map, touch, unmap; /* microseconds */
};

static uint64_t touch_all(const char *map)
{
	uint64_t start = now_us();
	size_t at;

	for (at = 0; at < size; at += HOST_PAGE)
		(void)*(const volatile uint32_t *)(map + at);
	return now_us() - start;
}

static void keep_least(struct cost *least, const struct cost *c)
{
	if (!least->map || c->map + c->touch + c->unmap < least->map + least->touch + least->unmap)
		*least = *c;
}

static struct cost measure(int fd, uint64_t offset)
{
	struct cost least = { 0, 0, 0 }, c;
	uint64_t start;
	char *map;
	int i;

	for (i = 0; i < REPEATS; i++) {
		start = now_us();
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
		c.map = now_us() - start;
		need(map != MAP_FAILED);
		c.touch = touch_all(map);
		start = now_us();
		munmap(map, size);
		c.unmap = now_us() - start;
		keep_least(&least, &c);
	}
	return least;
}

static void tell(const char *who, const struct cost *c)
{
	guest_note("%zu MiB %s, %s: mmap %llu us, first touch of all pages %llu us, munmap %llu us",
		   size >> 20, shape->name, who, (unsigned long long)c->map,
		   (unsigned long long)c->touch, (unsigned long long)c->unmap);
}

static void want_write_combining(const char *map)
{
	struct nvsim_probe p = sim_probe(map, size);

	want_eq(p.present, size);
	want_eq(p.type[NVSIM_TYPE_WC], size);
	guest_note("%s: %llu KiB in entries of 4 KiB, %llu of 2 MiB, %llu of 1 GiB", shape->name,
		   (unsigned long long)p.level_4k >> 10, (unsigned long long)p.level_2m >> 10,
		   (unsigned long long)p.level_1g >> 10);
}

static void one_shape(void)
{
	struct nvsim_alloc how = { .size = size, .extent = shape->extent, .align = shape->align,
				   .skew = shape->skew };
	uint64_t va = sim_alloc_with(&how, 0), handle;
	int fd = dev_open();
	struct cost ours, eager;
	char *map;

	if (!va) {
		guest_skip_case("the GPU has not so much memory");
		close(fd);
		return;
	}
	handle = dev_must_pin(fd, va, size);
	map = dev_must_map(fd, handle, size);
	want_eq(dev_mapping_type(fd, handle), GDRDRV_MAPPING_WC);
	touch_all(map);
	want_write_combining(map);
	want_eq(dev_mapping_type(fd, handle), GDRDRV_MAPPING_WC);

	/* each page is the right one */
	sim_write(va, size / 2 + GPU_PAGE + 4096, 0x123);
	want_eq(*(volatile uint32_t *)(map + size / 2 + GPU_PAGE + 4096), 0x123);
	*(volatile uint32_t *)(map + size - 4) = 0x321;
	want_eq(sim_read(va, size - 4), 0x321);
	munmap(map, size);

	ours = measure(fd, handle * HOST_PAGE);
	eager = measure(sim_fd_of(va), NVSIM_MMAP_EAGER);
	tell("gdrdrv", &ours);
	tell("plain remap", &eager);

	map = dev_must_map(fd, handle, size);
	touch_all(map);
	want_eq(dev_unpin(fd, handle), 0);
	want_eq(sim_probe(map, size).present, 0);
	munmap(map, size);
	close(fd);
	sim_free(va);
	want_eq(sim_damage(), 0);
}

/* A second pin of a part while the first is mapped, and after it is gone. */
static void types_outlive_neighbours(void)
{
	uint64_t va = sim_alloc_pieces(MIB(1), GPU_PAGE), a, b;
	int fd = dev_open();
	char *ma, *mb;

	a = dev_must_pin(fd, va, MIB(1));
	b = dev_must_pin(fd, va + 4 * GPU_PAGE, 4 * GPU_PAGE);
	ma = dev_must_map(fd, a, MIB(1));
	mb = dev_must_map(fd, b, 4 * GPU_PAGE);
	want_eq(readable_pages(mb, 2 * GPU_PAGE), 2 * GPU_PAGE / HOST_PAGE);
	want_eq(dev_unpin(fd, a), 0);
	munmap(ma, MIB(1));
	want_eq(readable_pages(mb, 4 * GPU_PAGE), 4 * GPU_PAGE / HOST_PAGE);
	want_eq(sim_probe(mb, 4 * GPU_PAGE).type[NVSIM_TYPE_WC], 4 * GPU_PAGE);
	want_eq(dev_mapping_type(fd, b), GDRDRV_MAPPING_WC);
	want_eq(dev_unpin(fd, b), 0);
	munmap(mb, 4 * GPU_PAGE);
	close(fd);
	sim_free(va);
}

/* Only where it is mounted: no entry of the driver stays in the kernel's list of types. */
static void nothing_stays_reserved(void)
{
	static char text[1 << 20];
	struct nvsim_gpu gpu = sim_gpu(0);
	uint64_t from, to;
	const char *line;
	unsigned left = 0;

	if (read_file("/sys/kernel/debug/x86/pat_memtype_list", text, sizeof(text)) <= 0) {
		guest_skip_case("no list of memory types here");
		return;
	}
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "PAT: [mem 0x%lx-0x%lx]", (unsigned long *)&from,
			   (unsigned long *)&to) == 2 &&
		    from >= gpu.phys && from < gpu.phys + gpu.size && strstr(line, "combining") &&
		    from != gpu.phys)
			left++;
	}
	want_eq(left, 0);
}

int main(int argc, char **argv)
{
	size_t i;

	size = MIB(number_arg(argc, argv, 1, 64));
	for (i = 0; i < COUNT_OF(shapes); i++) {
		shape = &shapes[i];
		guest_run(shape->name, one_shape);
	}
	RUN(types_outlive_neighbours);
	RUN(nothing_stays_reserved);
	return guest_end();
}
