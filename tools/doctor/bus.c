/* SPDX-License-Identifier: MIT */
/* Findings on the way between CPU and GPU: BAR1, PCIe link, NUMA, IOMMU. */
#include "bus.h"

#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "root.h"

#define MIB (1ULL << 20)
#define SMALL_BAR1 (1024 * MIB)
#define LITTLE_LEFT (32 * MIB)

const struct bus_gpu *doctor_bus_gpu(const struct doctor *d, const struct cuda_gpu *g)
{
	size_t i;

	for (i = 0; i < d->ngpus; i++)
		if (d->gpus[i].pci.domain == g->domain && d->gpus[i].pci.bus == g->bus &&
		    d->gpus[i].pci.slot == g->slot)
			return &d->gpus[i];
	return NULL;
}

static void find_bar1(struct doctor *d, const struct cuda_gpu *g, const struct bus_gpu *b,
		      const struct nvml_gpu *n)
{
	uint64_t size = n->has_bar1 ? n->bar1_total : b ? b->bar1 : 0;
	unsigned long long mib = size / MIB, free_mib = n->bar1_free / MIB;
	char left[64] = "";

	if (!size) {
		doctor_find(d, "bar1", g->ordinal, LEVEL_SKIP, "its size is not shown");
		return;
	}
	if (n->has_bar1)
		snprintf(left, sizeof(left), ", %llu MiB free", free_mib);
	if (n->has_bar1 && n->bar1_free < LITTLE_LEFT) {
		doctor_find(d, "bar1", g->ordinal, LEVEL_FAIL, "of %llu MiB BAR1 only %llu MiB "
			    "are free: pins will fail", mib, free_mib);
		doctor_fix(d, "nvidia-smi -q -d MEMORY,PIDS -i %d   # end programs that map "
			   "this GPU's memory", g->ordinal);
	} else if (size < SMALL_BAR1 && g->coherent <= 0) {
		doctor_find(d, "bar1", g->ordinal, LEVEL_WARN, "BAR1 has %llu MiB%s: no more "
			    "than that can be mapped at a time, by all programs together", mib,
			    left);
		doctor_fix(d, "switch on \"Above 4G Decoding\" and \"Resizable BAR\" in the "
			   "firmware setup; else map less at a time");
	} else {
		doctor_find(d, "bar1", g->ordinal, LEVEL_OK, "%llu MiB%s", mib, left);
	}
}

/* sysfs, or what the management library says: generations and lanes. */
static void find_link(struct doctor *d, const struct cuda_gpu *g, const struct bus_gpu *b,
		      const struct nvml_gpu *n)
{
	unsigned gen = n->has_link ? n->gen : b ? parse_generation(b->speed) : 0;
	unsigned max_gen = n->has_link ? n->max_gen : b ? parse_generation(b->max_speed) : 0;
	unsigned width = n->has_link ? n->width : b ? b->width : 0;
	unsigned max_width = n->has_link ? n->max_width : b ? b->max_width : 0;

	if (!gen || !width || !max_width)
		doctor_find(d, "pcie", g->ordinal, LEVEL_SKIP, "the link is not shown (in a "
			    "virtual machine that is usual)");
	else if (width < max_width) {
		doctor_find(d, "pcie", g->ordinal, LEVEL_WARN, "PCIe gen %u with %u of %u "
			    "lanes: copies are that much slower", gen, width, max_width);
		doctor_fix(d, "seat the card anew, or in a slot with %u lanes; sudo lspci -vv "
			   "-s %02x:%02x.0 | grep LnkSta", max_width, g->bus, g->slot);
	} else if (gen < max_gen)
		doctor_find(d, "pcie", g->ordinal, LEVEL_NOTE, "PCIe gen %u of %u with %u "
			    "lanes: an idle GPU slows its link down, so look again under load",
			    gen, max_gen, width);
	else
		doctor_find(d, "pcie", g->ordinal, LEVEL_OK, "PCIe gen %u with %u lanes", gen,
			    width);
}

/* CPUs that this process may run on. */
static bool allowed_cpus(struct parse_list *out)
{
	char status[8192], list[2048];

	return root_read("/proc/self/status", status, sizeof(status)) &&
		parse_key(status, "Cpus_allowed_list", list, sizeof(list)) &&
		parse_list(list, out);
}

static void find_numa(struct doctor *d, const struct cuda_gpu *g, const struct bus_gpu *b)
{
	struct parse_list allowed, near;
	char text[2048];

	if ((!b || b->numa < 0) && root_exists("/sys/devices/system/node/node1")) {
		doctor_find(d, "numa", g->ordinal, LEVEL_NOTE, "this host has several nodes, "
			    "and does not tell which is the GPU's");
		return;
	}
	if (!b || b->numa < 0) {
		doctor_find(d, "numa", g->ordinal, LEVEL_OK, "this host has one node only");
		return;
	}
	if (!allowed_cpus(&allowed) ||
	    !root_readf(text, sizeof(text), "/sys/devices/system/node/node%d/cpulist", b->numa) ||
	    !parse_list(text, &near)) {
		doctor_find(d, "numa", g->ordinal, LEVEL_SKIP, "GPU on node %d, whose CPUs are "
			    "not shown", b->numa);
		return;
	}
	if (parse_list_overlap(&allowed, &near)) {
		doctor_find(d, "numa", g->ordinal, LEVEL_OK, "GPU on node %d, CPUs %.*s",
			    b->numa, (int)strcspn(text, "\n"), text);
		return;
	}
	doctor_find(d, "numa", g->ordinal, LEVEL_WARN, "GPU on node %d, but this process may "
		    "run on other nodes' CPUs only: each access takes a further hop", b->numa);
	doctor_fix(d, "numactl --cpunodebind=%d PROGRAM   # or give the container CPUs %.*s",
		   b->numa, (int)strcspn(text, "\n"), text);
}

/* CPU accesses to BAR1 are not translated; those of other devices are. */
static void find_iommu(struct doctor *d, const struct cuda_gpu *g, const struct bus_gpu *b)
{
	if (!b)
		doctor_find(d, "iommu", g->ordinal, LEVEL_SKIP, "the GPU is not in sysfs");
	else if (!b->iommu[0])
		doctor_find(d, "iommu", g->ordinal, LEVEL_OK, "off for this GPU");
	else if (!strcmp(b->iommu, "identity"))
		doctor_find(d, "iommu", g->ordinal, LEVEL_OK, "on, in pass-through mode");
	else
		doctor_find(d, "iommu", g->ordinal, LEVEL_NOTE, "on and translating (%s): "
			    "GDRCopy does not mind, peer-to-peer with network cards does; "
			    "iommu=pt on the kernel's command line ends it", b->iommu);
}

void doctor_bus(struct doctor *d)
{
	int i;

	d->area = "bus";
	if (!d->cuda.n || d->soft)
		return;
	for (i = 0; i < d->cuda.n; i++) {
		const struct cuda_gpu *g = &d->cuda.gpus[i];
		const struct bus_gpu *b = doctor_bus_gpu(d, g);
		const struct nvml_gpu *n = &d->nvml.gpus[i];

		find_bar1(d, g, b, n);
		find_link(d, g, b, n);
		find_numa(d, g, b);
		find_iommu(d, g, b);
	}
}
