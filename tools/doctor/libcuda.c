/* SPDX-License-Identifier: MIT */
/* Findings on CUDA: the library, whether it fits the kernel module, and cuInit. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_abi.h"
#include "doctor.h"
#include "root.h"

static void fix_hang(struct doctor *d)
{
	doctor_fix_gpu(d, "nvidia-smi; sudo dmesg | grep -i -e nvrm -e xid | tail   # a GPU or "
		       "driver that hangs needs a reset");
}

static void not_found(struct doctor *d)
{
	const char *caps = getenv("NVIDIA_DRIVER_CAPABILITIES");

	if (d->cuda.end.done)
		doctor_find(d, "library", -1, LEVEL_FAIL, "%s", d->cuda.why);
	else
		doctor_find(d, "library", -1, LEVEL_FAIL, "CUDA's library cannot be loaded: %s",
			    d->cuda.end.how);
	if (!d->cuda.end.done)
		fix_hang(d);
	else if (d->soft)
		doctor_fix(d, "install softcuda, or name it with GDRCOPY_SOFTCUDA_LIB");
	else if (!strstr(d->cuda.why, "No such file") && !strstr(d->cuda.why, "has no function"))
		doctor_fix(d, "ldconfig -p | grep libcuda   # reinstall the package that owns "
			   "it (dpkg -S, rpm -qf)");
	else if (!d->driver.version[0])
		doctor_fix(d, "load the NVIDIA driver%s first; or, without a GPU: "
			   "gdrcopy_doctor --soft", d->container[0] ? " on the host" : "");
	else if (d->container[0] && caps && *caps && !strstr(caps, "compute") &&
		 !strstr(caps, "all"))
		doctor_fix(d, "start the container with "
			   "NVIDIA_DRIVER_CAPABILITIES=compute,utility (it is %s)", caps);
	else if (d->container[0])
		doctor_fix(d, "start the container with the GPU: docker run --gpus all ...; in "
			   "Kubernetes request nvidia.com/gpu");
	else if (root_exists("/run/nvidia/driver/usr"))
		doctor_fix(d, "the driver is that of a container: run gdrcopy_doctor in a pod "
			   "that has a GPU");
	else
		doctor_fix(d, "install CUDA's driver library, version %s (package libcuda1, "
			   "libnvidia-compute or nvidia-driver-cuda-libs), then: sudo ldconfig",
			   d->driver.version);
}

static void found(struct doctor *d)
{
	const struct cuda_facts *c = &d->cuda;

	if (strstr(c->path, "/stubs/")) {
		doctor_find(d, "library", -1, LEVEL_FAIL, "%s is a stub of the CUDA toolkit, "
			    "for linking only", c->path);
		doctor_fix(d, "take the stubs directory out of LD_LIBRARY_PATH; see: ldconfig "
			   "-p | grep libcuda");
	} else if (c->soft && !d->soft) {
		doctor_find(d, "library", -1, LEVEL_WARN, "%s is softcuda: no GPU is used",
			    c->path);
		doctor_fix(d, "take its directory out of LD_LIBRARY_PATH, or say --soft");
	} else {
		doctor_find(d, "library", -1, LEVEL_OK, "%s, for CUDA %d.%d%s", c->path,
			    c->version / 1000, c->version % 1000 / 10,
			    c->soft ? " (softcuda: no GPU is used)" : "");
	}
}

/* Version in the library's file name; CUDA demands that it be the kernel module's. */
static void compare(struct doctor *d)
{
	static const char prefix[] = "libcuda.so.";
	char real[PATH_MAX], version[32];
	const char *base;
	unsigned major;

	if (!realpath(d->cuda.path, real) || !d->driver.version[0])
		return;
	base = strrchr(real, '/');
	base = base ? base + 1 : real;
	if (strncmp(base, prefix, strlen(prefix)) ||
	    !parse_version(base + strlen(prefix), version, sizeof(version), &major))
		return;
	if (!strcmp(version, d->driver.version)) {
		doctor_find(d, "match", -1, LEVEL_OK, "library and kernel module are of one "
			    "version, %s", version);
	} else if (strstr(real, "/compat/")) {
		doctor_find(d, "match", -1, LEVEL_NOTE, "library %s is a compatibility package "
			    "on kernel module %s", version, d->driver.version);
	} else {
		doctor_find(d, "match", -1, LEVEL_FAIL, "library %s does not fit kernel module "
			    "%s", version, d->driver.version);
		doctor_fix(d, d->container[0] ? "on the host: sudo nvidia-ctk cdi generate "
			   "--output=/etc/cdi/nvidia.yaml; then start the container anew" :
			   "sudo reboot   # the driver was updated, and the old module is still "
			   "loaded");
	}
}

static const struct {
	int result;
	const char *fix;
} fixes[] = {
	{ CUDA_ERROR_OUT_OF_MEMORY, "ulimit -v unlimited; nvidia-smi   # lift the limit, or end "
	  "programs that fill the GPU" },
	{ CUDA_ERROR_STUB_LIBRARY, "take the stubs directory out of LD_LIBRARY_PATH" },
	{ CUDA_ERROR_DEVICE_UNAVAILABLE, "sudo nvidia-smi -c DEFAULT   # another process "
	  "has the GPU for itself" },
	{ CUDA_ERROR_NO_DEVICE, "nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES   # no GPU is left "
	  "for this process" },
	{ CUDA_ERROR_SYSTEM_NOT_READY, "sudo systemctl restart nvidia-fabricmanager   # GPUs "
	  "behind NVSwitch wait for it" },
	{ CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "sudo reboot   # library and kernel module are of "
	  "different versions" },
	{ CUDA_ERROR_UNKNOWN, "sudo nvidia-modprobe -u -c 0; sudo dmesg | grep -i -e nvrm "
	  "-e xid | tail   # often /dev/nvidia-uvm" },
};

static void not_ready(struct doctor *d)
{
	const char *visible = d->soft ? NULL : getenv("CUDA_VISIBLE_DEVICES");
	size_t i;

	if (!d->cuda.end.done) {
		doctor_find(d, "start", -1, LEVEL_FAIL, "cuInit: %s", d->cuda.end.how);
		fix_hang(d);
		return;
	}
	doctor_find(d, "start", -1, LEVEL_FAIL, "cuInit: %s (%d)%s%s%s", d->cuda.result_name,
		    d->cuda.result, visible ? "; CUDA_VISIBLE_DEVICES is \"" : "",
		    visible ? visible : "", visible ? "\"" : "");
	if (d->cuda.result == CUDA_ERROR_NO_DEVICE && visible) {
		doctor_fix(d, "unset CUDA_VISIBLE_DEVICES");
		return;
	}
	doctor_fix_gpu(d, "nvidia-smi; sudo dmesg | grep -i -e nvrm -e xid | tail");
	for (i = 0; i < sizeof(fixes) / sizeof(fixes[0]); i++)
		if (fixes[i].result == d->cuda.result)
			doctor_fix_gpu(d, "%s", fixes[i].fix);
}

static void devices(struct doctor *d)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	const struct cuda_facts *c = &d->cuda;

	if (!c->n) {
		doctor_find(d, "devices", -1, LEVEL_FAIL, "%s", c->why);
		doctor_fix(d, "gdrcopy_doctor --device all");
		return;
	}
	if (!d->soft && (size_t)c->count < d->ngpus) {
		doctor_find(d, "devices", -1, LEVEL_NOTE, "CUDA shows %d of %zu GPUs%s%s%s",
			    c->count, d->ngpus, visible ? ": CUDA_VISIBLE_DEVICES is \"" : "",
			    visible ? visible : "", visible ? "\"" : "");
		return;
	}
	doctor_find(d, "devices", -1, LEVEL_OK, "%d device%s", c->count,
		    c->count == 1 ? "" : "s");
}

void doctor_cuda(struct doctor *d)
{
	d->area = "CUDA";
	if (!d->cuda.loaded) {
		not_found(d);
		return;
	}
	found(d);
	if (!d->cuda.soft || !d->soft)
		compare(d);
	if (d->cuda.ready && d->cuda.end.done)
		devices(d);
	else
		not_ready(d);
}
