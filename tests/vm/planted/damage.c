/* SPDX-License-Identifier: MIT */
/*
 * What a stale mapping does, done on purpose: write to memory of the simulated GPU
 * that was freed.  The way there is the PCI device's memory BAR, which needs a kernel
 * that was booted with iomem=relaxed.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../nvsim/nvsim.h"

#define PAGE 4096

int main(void)
{
	struct nvsim_alloc alloc = { .size = NVSIM_UNIT };
	struct nvsim_info info;
	struct nvsim_gpu gpu;
	char path[100];
	int sim, bar;
	void *p;

	memset(&gpu, 0, sizeof(gpu));
	memset(&info, 0, sizeof(info));
	sim = open(NVSIM_DEVICE_PATH, O_RDWR);
	if (sim < 0 || ioctl(sim, NVSIM_IOC_GPU, &gpu) || ioctl(sim, NVSIM_IOC_ALLOC, &alloc) ||
	    ioctl(sim, NVSIM_IOC_INFO, &info) || ioctl(sim, NVSIM_IOC_FREE)) {
		perror(NVSIM_DEVICE_PATH);
		return 1;
	}
	/* ivshmem's BAR 2 is the memory */
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%04x:%02x:%02x.%x/resource2",
		 gpu.domain, gpu.bus, gpu.device, gpu.function);
	bar = open(path, O_RDWR);
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, bar,
		 (off_t)(info.phys - gpu.phys));
	if (p == MAP_FAILED) {
		perror(path);
		return 1;
	}
	*(volatile uint64_t *)p = 1;
	return 0;
}
