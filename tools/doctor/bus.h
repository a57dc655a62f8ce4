/* SPDX-License-Identifier: MIT */
/* NVIDIA GPUs on the PCI bus, as sysfs below the root shows them. */
#ifndef DOCTOR_BUS_H
#define DOCTOR_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parse.h"

struct bus_gpu {
	char address[16];               /* "0000:c1:00.0" */
	struct parse_pci pci;
	unsigned device;                /* PCI device number */
	char driver[32];                /* bound kernel driver; "" if none */
	uint64_t bar1;                  /* bytes; 0: unknown */
	unsigned speed, max_speed;      /* tenths of GT/s; 0: unknown */
	unsigned width, max_width;      /* lanes; 0: unknown */
	int numa;                       /* -1: the platform does not tell */
	char iommu[32];                 /* type of its IOMMU group; "" if none */
};

/* At most max of them; how many. */
size_t bus_scan(struct bus_gpu *out, size_t max);

#endif
