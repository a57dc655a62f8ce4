/* SPDX-License-Identifier: MIT */
/*
 * Somebody else maps the GPU's memory uncached, which the kernel then keeps to for
 * everybody: the driver says that its mapping is not write combining.  Needs
 * iomem=relaxed, or the kernel gives nobody a mapping of memory that a driver has.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	MIB(1)

static uint64_t piece;

static void *map_uncached(size_t size)
{
	struct nvsim_gpu gpu = sim_gpu(0);
	char path[96];
	void *bar;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%04x:%02x:%02x.%x/resource2",
		 gpu.domain, gpu.bus, gpu.device, gpu.function);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return MAP_FAILED;
	bar = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return bar;
}

static void uncached_neighbour(void)
{
	size_t bar_size = sim_gpu(0).size;
	uint64_t va = sim_alloc_pieces(SIZE, piece), handle;
	void *bar = map_uncached(bar_size);
	int fd = dev_open();
	struct nvsim_probe p;
	char *map;

	need(bar != MAP_FAILED);
	handle = dev_must_pin(fd, va, SIZE);
	map = dev_must_map(fd, handle, SIZE);
	want_eq(dev_mapping_type(fd, handle), GDRDRV_MAPPING_DEVICE);
	want_eq(readable_pages(map, SIZE), SIZE / HOST_PAGE);
	p = sim_probe(map, SIZE);
	want_eq(p.present, SIZE);
	want_eq(p.type[NVSIM_TYPE_UC_MINUS], SIZE);

	/* once the other is gone, a new mapping is what it should be */
	munmap(map, SIZE);
	munmap(bar, bar_size);
	want_eq(dev_unpin(fd, handle), 0);
	handle = dev_must_pin(fd, va, SIZE);
	map = dev_must_map(fd, handle, SIZE);
	want_eq(dev_mapping_type(fd, handle), dev_default_type());
	want_eq(dev_unpin(fd, handle), 0);
	munmap(map, SIZE);
	close(fd);
	sim_free(va);
}

int main(void)
{
	void *bar = map_uncached(HOST_PAGE);

	if (bar == MAP_FAILED)
		guest_skip("no mapping of the GPU's memory through /sys: needs iomem=relaxed");
	munmap(bar, HOST_PAGE);
	piece = 0;
	RUN(uncached_neighbour);
	piece = GPU_PAGE;
	RUN(uncached_neighbour);
	return guest_end();
}
