/* SPDX-License-Identifier: MIT */
/* Findings on the NVIDIA kernel driver: the GPUs on the bus, and who drives them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "installed.h"
#include "root.h"

/* The oldest driver whose interface the rm backend knows. */
#define OLDEST_MAJOR 515

static void find_gpus(struct doctor *d)
{
	char list[160] = "";
	size_t used = 0, i;

	if (d->ngpus) {
		for (i = 0; i < d->ngpus && used < sizeof(list); i++)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 i ? ", " : "", d->gpus[i].address);
		doctor_find(d, "gpu", -1, LEVEL_OK, "%zu NVIDIA GPU%s on the PCI bus: %s",
			    d->ngpus, d->ngpus > 1 ? "s" : "", list);
	} else if (root_exists("/dev/dxg")) {
		doctor_find(d, "gpu", -1, doctor_need(d), "this is WSL2: its GPU is driven by "
			    "Windows, and the Linux driver that GDRCopy needs is not there");
		doctor_fix(d, "run on Linux itself; here only --soft works");
	} else if (!root_exists("/sys/bus/pci/devices")) {
		doctor_find(d, "gpu", -1, LEVEL_SKIP, "there is no /sys/bus/pci/devices to look "
			    "at");
	} else if (d->driver.version[0]) {
		doctor_find(d, "gpu", -1, LEVEL_SKIP, "sysfs shows no NVIDIA GPU, but the "
			    "driver is loaded: the PCI bus is hidden from here");
	} else {
		doctor_find(d, "gpu", -1, doctor_need(d), "no NVIDIA GPU is on the PCI bus of "
			    "this machine");
		doctor_fix(d, "lspci -d 10de:   # must list one: seat the card, or pass it to "
			   "this virtual machine");
	}
}

static const struct bus_gpu *bound_to(const struct doctor *d, const char *driver)
{
	size_t i;

	for (i = 0; i < d->ngpus; i++)
		if (!strcmp(d->gpus[i].driver, driver))
			return &d->gpus[i];
	return NULL;
}

static void not_loaded(struct doctor *d)
{
	const struct bus_gpu *g;

	if ((g = bound_to(d, "nouveau"))) {
		doctor_find(d, "module", -1, doctor_need(d), "the nouveau driver has GPU %s; "
			    "CUDA needs NVIDIA's", g->address);
		doctor_fix(d, "echo blacklist nouveau | sudo tee /etc/modprobe.d/nouveau.conf; "
			   "install the NVIDIA driver; sudo reboot");
	} else if ((g = bound_to(d, "vfio-pci"))) {
		doctor_find(d, "module", -1, doctor_need(d), "GPU %s is bound to vfio-pci, that "
			    "is passed to a virtual machine", g->address);
		doctor_fix(d, "run gdrcopy_doctor in the virtual machine that has the GPU");
	} else if (installed_module("nvidia.ko")) {
		doctor_find(d, "module", -1, doctor_need(d), "the NVIDIA driver is installed "
			    "but not loaded");
		doctor_fix(d, "sudo modprobe nvidia && sudo modprobe nvidia-uvm   # if that "
			   "fails: sudo dmesg | tail");
	} else {
		doctor_find(d, "module", -1, doctor_need(d), "the NVIDIA driver is not loaded: "
			    "there is no /proc/driver/nvidia/version");
		doctor_fix(d, "%sinstall the NVIDIA driver for this kernel (packages nvidia-open "
			   "or cuda-drivers), then: sudo modprobe nvidia",
			   d->ngpus ? "" : "once the GPU is seen, ");
	}
}

void doctor_driver(struct doctor *d)
{
	d->area = "NVIDIA driver";
	find_gpus(d);
	if (!d->driver.version[0]) {
		not_loaded(d);
		return;
	}
	if (d->driver.major < OLDEST_MAJOR) {
		doctor_find(d, "module", -1, LEVEL_WARN, "%s, %s kernel module: older than %d, "
			    "with which the rm backend is not known to work", d->driver.version,
			    d->driver.open ? "open" : "proprietary", OLDEST_MAJOR);
		doctor_fix(d, "update the NVIDIA driver, or use gdrdrv");
		return;
	}
	doctor_find(d, "module", -1, LEVEL_OK, "%s, %s kernel module", d->driver.version,
		    d->driver.open ? "open" : "proprietary");
}
