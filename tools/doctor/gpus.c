/* SPDX-License-Identifier: MIT */
/* Findings on each GPU: what it can do, compute mode, MIG, vGPU. */
#include <string.h>

#include "cuda_abi.h"
#include "doctor.h"

/* nvmlGpuVirtualizationMode_t */
#define VIRTUALIZATION_VGPU 2

static const char *yes(int v)
{
	return v > 0 ? "yes" : v < 0 ? "unknown" : "no";
}

static void find_abilities(struct doctor *d, const struct cuda_gpu *g)
{
	doctor_find(d, "abilities", g->ordinal, LEVEL_OK, "%s: GPUDirect RDMA %s, VMM %s (with "
		    "RDMA %s, with file descriptors %s), dma-buf %s (mappable %s)%s", g->name,
		    yes(g->rdma), yes(g->vmm), yes(g->rdma_vmm), yes(g->posix_fd),
		    yes(g->dmabuf), yes(g->dmabuf_mmap > 0), g->coherent > 0 ? ", coherent with "
		    "the CPU" : "");
	if (!g->rdma && !g->integrated)
		doctor_find(d, "rdma", g->ordinal, LEVEL_NOTE, "this GPU has no GPUDirect RDMA, "
			    "so gdrdrv cannot pin its memory; the rm backend can");
	if (g->integrated > 0)
		doctor_find(d, "integrated", g->ordinal, LEVEL_NOTE, "this GPU shares the CPU's "
			    "memory: ordinary host memory serves better than GDRCopy here");
}

static void find_compute_mode(struct doctor *d, const struct cuda_gpu *g)
{
	switch (g->compute_mode) {
	case CU_COMPUTEMODE_PROHIBITED:
		doctor_find(d, "compute mode", g->ordinal, LEVEL_FAIL, "compute mode is "
			    "PROHIBITED: no program may use this GPU");
		doctor_fix_gpu(d, "sudo nvidia-smi -i %d -c DEFAULT", g->ordinal);
		break;
	case CU_COMPUTEMODE_EXCLUSIVE_PROCESS:
		doctor_find(d, "compute mode", g->ordinal, LEVEL_WARN, "compute mode is "
			    "EXCLUSIVE_PROCESS: only one process at a time may use this GPU");
		doctor_fix_gpu(d, "sudo nvidia-smi -i %d -c DEFAULT   # unless that is meant",
			       g->ordinal);
		break;
	case CU_COMPUTEMODE_DEFAULT:
		doctor_find(d, "compute mode", g->ordinal, LEVEL_OK, "DEFAULT");
		break;
	default:
		doctor_find(d, "compute mode", g->ordinal, LEVEL_SKIP, "the driver does not "
			    "tell");
	}
}

/* The backends work on whole GPUs; with MIG the rm backend has no way in. */
static void find_mig(struct doctor *d, const struct cuda_gpu *g, const struct nvml_gpu *n)
{
	bool on = n->has_mig ? n->mig : strstr(g->name, " MIG ") != NULL;

	if (on) {
		doctor_find(d, "mig", g->ordinal, LEVEL_WARN, "MIG is on: memory of a GPU "
			    "instance is not supported by the rm backend");
		doctor_fix(d, "sudo nvidia-smi -i %d -mig 0   # or use gdrdrv: sudo modprobe "
			   "gdrdrv", g->ordinal);
	} else {
		doctor_find(d, "mig", g->ordinal, LEVEL_OK, "MIG is off");
	}
}

static void find_vgpu(struct doctor *d, const struct cuda_gpu *g, const struct nvml_gpu *n)
{
	bool on = n->has_virtualization ? n->virtualization == VIRTUALIZATION_VGPU :
		!strncmp(g->name, "GRID ", 5);

	if (on) {
		doctor_find(d, "vgpu", g->ordinal, LEVEL_WARN, "this is a virtual GPU: pinning "
			    "depends on its profile, and BAR1 is small");
		doctor_fix(d, "give this virtual machine the whole GPU (passthrough), or a "
			   "profile with all of the memory");
	} else if (n->has_virtualization) {
		doctor_find(d, "vgpu", g->ordinal, LEVEL_OK, "no virtual GPU%s",
			    n->virtualization ? ", but one passed to a virtual machine" : "");
	}
}

static void find_cc(struct doctor *d)
{
	if (!d->nvml.ready || !d->nvml.has_cc)
		return;
	if (d->nvml.cc) {
		doctor_find(d, "confidential", -1, LEVEL_FAIL, "confidential computing is on: "
			    "the GPU's memory is protected from the CPU, so no mapping of it "
			    "exists");
		doctor_fix(d, "use a machine whose GPU is not in confidential computing mode "
			   "(nvidia-smi conf-compute -f)");
	} else {
		doctor_find(d, "confidential", -1, LEVEL_OK, "confidential computing is off");
	}
}

void doctor_gpus(struct doctor *d)
{
	int i;

	d->area = "GPUs";
	for (i = 0; i < d->cuda.n; i++)
		find_abilities(d, &d->cuda.gpus[i]);
	for (i = 0; i < d->cuda.n; i++)
		find_compute_mode(d, &d->cuda.gpus[i]);
	if (d->soft || !d->cuda.end.done)
		return;
	if (d->cuda.n && !d->nvml.ready)
		doctor_find(d, "nvml", -1, LEVEL_SKIP, "MIG, vGPU, BAR1 in use and confidential "
			    "computing cannot be asked for: %s",
			    d->nvml.end.done ? d->nvml.why : d->nvml.end.how);
	for (i = 0; i < d->cuda.n; i++)
		find_mig(d, &d->cuda.gpus[i], &d->nvml.gpus[i]);
	for (i = 0; i < d->cuda.n; i++)
		find_vgpu(d, &d->cuda.gpus[i], &d->nvml.gpus[i]);
	find_cc(d);
}
