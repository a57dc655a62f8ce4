/* SPDX-License-Identifier: MIT */
/* Looking for GPUs in sysfs. */
#include <stdio.h>
#include <string.h>

#include "bus.h"
#include "root.h"

#define PCI         "/sys/bus/pci/devices"
#define VENDOR      0x10de
#define CLASS_VGA   0x0300
#define CLASS_3D    0x0302

struct scan {
	struct bus_gpu *out;
	size_t n, max;
};

static bool number(const char *address, const char *name, long long *out)
{
	char text[64];

	return root_readf(text, sizeof(text), PCI "/%s/%s", address, name) &&
		parse_number(text, out);
}

static unsigned speed(const char *address, const char *name)
{
	unsigned tenths;
	char text[64];

	if (root_readf(text, sizeof(text), PCI "/%s/%s", address, name) &&
	    parse_speed(text, &tenths))
		return tenths;
	return 0;
}

/* sysfs has 0 or 255 lanes where there is no link. */
static unsigned width(const char *address, const char *name)
{
	long long v;

	return number(address, name, &v) && v > 0 && v <= 32 ? (unsigned)v : 0;
}

static void look(void *arg, const char *address)
{
	struct scan *s = arg;
	struct bus_gpu g = { .numa = -1 };
	long long vendor, class, v;
	char text[4096];

	if (s->n == s->max || strlen(address) >= sizeof(g.address) ||
	    !parse_pci(address, &g.pci) ||
	    !number(address, "vendor", &vendor) || vendor != VENDOR ||
	    !number(address, "class", &class) ||
	    (class >> 8 != CLASS_VGA && class >> 8 != CLASS_3D))
		return;
	strcpy(g.address, address);
	if (number(address, "device", &v))
		g.device = (unsigned)v;
	if (!root_link(g.driver, sizeof(g.driver), PCI "/%s/driver", address))
		g.driver[0] = '\0';
	if (!root_readf(text, sizeof(text), PCI "/%s/resource", address) ||
	    !parse_resource(text, 1, &g.bar1))
		g.bar1 = 0;
	g.speed = speed(address, "current_link_speed");
	g.max_speed = speed(address, "max_link_speed");
	g.width = width(address, "current_link_width");
	g.max_width = width(address, "max_link_width");
	if (number(address, "numa_node", &v) && v >= 0 && v < 4096)
		g.numa = (int)v;
	if (root_readf(text, sizeof(text), PCI "/%s/iommu_group/type", address)) {
		text[strcspn(text, "\n")] = '\0';
		snprintf(g.iommu, sizeof(g.iommu), "%.31s", text);
	}
	s->out[s->n++] = g;
}

size_t bus_scan(struct bus_gpu *out, size_t max)
{
	struct scan s = { .out = out, .max = max };

	root_list(PCI, look, &s);
	return s.n;
}
