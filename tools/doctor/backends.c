/* SPDX-License-Identifier: MIT */
/* Findings on the backends: what became of each try. */
#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "gpu.h"
#include "root.h"

/*
 * What does not work is a failure where it is what gdr_open takes, or where nothing
 * else works that it might take.
 */
static enum level failed(const struct doctor *d, unsigned which)
{
	const char *only = doctor_forced(d);

	if (doctor_works(d) || !d->cuda.n)
		return LEVEL_NOTE;
	if (only)
		return strcmp(only, probe_backend_names[which]) ? LEVEL_NOTE : LEVEL_FAIL;
	return doctor_alternative(d) < 0 || doctor_chosen(d) == (int)which ? LEVEL_FAIL :
		LEVEL_NOTE;
}

/* The first try that did not get to its end, where a child died. */
static const struct backend_try *last_try(const struct doctor *d, const struct backend_facts *f,
					  int *gpu, int *how)
{
	int g, a;

	for (g = d->cuda.n - 1; g >= 0; g--) {
		for (a = PROBE_ALLOCATORS - 1; a >= 0; a--) {
			if (f->tries[g][a].step > STEP_CONTEXT) {
				*gpu = g;
				*how = a;
				return &f->tries[g][a];
			}
		}
	}
	return NULL;
}

static void died(struct doctor *d, unsigned which)
{
	const struct backend_facts *f = &d->backends[which];
	const char *step = "the choice of GPUs";
	const struct backend_try *t;
	int gpu = -1, how, other = doctor_alternative(d);

	t = last_try(d, f, &gpu, &how);
	if (t)
		step = probe_step_names[t->step];
	else if (!f->opened)
		step = "gdr_open";
	doctor_find(d, probe_backend_names[which], gpu < 0 ? -1 : d->cuda.gpus[gpu].ordinal,
		    failed(d, which) == LEVEL_FAIL ? LEVEL_FAIL : LEVEL_WARN, "%s, in: %s",
		    f->end.how, step);
	if (other >= 0 && other != (int)which)
		doctor_fix(d, "export GDRCOPY_BACKEND=%s   # and report this, with: sudo dmesg "
			   "| tail", probe_backend_names[other]);
	else
		doctor_fix_gpu(d, "sudo dmesg | tail   # and report what it says of %s",
			       which == PROBE_GDRDRV ? "gdrdrv" : "NVRM and Xid");
}

static void fix_try(struct doctor *d, unsigned which, const struct cuda_gpu *g,
		    enum backend_step step)
{
	int other = doctor_alternative(d);

	if (doctor_works(d))
		return;
	if (other >= 0)
		doctor_fix(d, "export GDRCOPY_BACKEND=%s", probe_backend_names[other]);
	else if (step <= STEP_ALLOC)
		doctor_fix_gpu(d, "nvidia-smi -i %d   # end the programs that have this GPU or "
			       "its memory", g->ordinal);
	else if (which == PROBE_GDRDRV && !g->rdma)
		doctor_fix_gpu(d, "use a data-centre or workstation GPU: gdrdrv needs GPUDirect "
			       "RDMA");
	else
		doctor_fix_gpu(d, "sudo dmesg | tail   # the driver says more");
}

static void found_on_gpu(struct doctor *d, unsigned which, int i)
{
	const struct backend_try *t = d->backends[which].tries[i];
	const struct cuda_gpu *g = &d->cuda.gpus[i];
	const char *name = probe_backend_names[which];
	int good = t[0].step == STEP_DONE ? 0 : 1, bad = 1 - good;

	if (t[0].step == STEP_DONE && t[1].step == STEP_DONE) {
		doctor_find(d, name, g->ordinal, LEVEL_OK, "pinned, mapped, copied both ways "
			    "and compared, with cuMemAlloc and with cuMemCreate");
	} else if (t[good].step == STEP_DONE && t[bad].step <= STEP_ALLOC) {
		doctor_find(d, name, g->ordinal, LEVEL_OK, "pinned, mapped, copied both ways "
			    "and compared, with %s; there is no memory of %s: %s",
			    gpu_allocator_names[good], gpu_allocator_names[bad], t[bad].why);
	} else if (t[good].step == STEP_DONE) {
		doctor_find(d, name, g->ordinal, LEVEL_WARN, "works for memory of %s, not of "
			    "%s: %s", gpu_allocator_names[good], gpu_allocator_names[bad],
			    t[bad].why);
		doctor_fix(d, "allocate with %s what is to be mapped%s",
			   gpu_allocator_names[good], good == GPU_MEM_ALLOC ? "; for NCCL: export "
			   "NCCL_CUMEM_ENABLE=0" : "");
	} else if (t[0].step == STEP_NONE) {
		doctor_find(d, name, g->ordinal, failed(d, which), "opens, but CUDA did not "
			    "start in the try");
	} else {
		doctor_find(d, name, g->ordinal, failed(d, which), "%s", t[0].why);
		fix_try(d, which, g, t[0].step);
	}
}

static void not_open(struct doctor *d, unsigned which)
{
	const struct backend_facts *f = &d->backends[which];
	enum level level = failed(d, which);

	/* No node or module that the library misses would make these take softcuda's memory. */
	doctor_find(d, probe_backend_names[which], -1, level, "%s", d->soft &&
		    which != PROBE_DMABUF && !root_exists("/dev/nvsim") ?
		    "needs a GPU and its driver" : f->why);
	if (level == LEVEL_FAIL && which == PROBE_DMABUF)
		doctor_fix_gpu(d, "update the NVIDIA driver to one for CUDA 13.3 or later");
}

void doctor_backends(struct doctor *d)
{
	unsigned i;
	int g;

	d->area = "backends";
	for (i = 0; i < PROBE_BACKENDS; i++) {
		if (!d->cuda.end.done) {
			doctor_find(d, probe_backend_names[i], -1, LEVEL_SKIP, "not tried: CUDA "
				    "does not even start");
		} else if (!d->backends[i].end.done) {
			died(d, i);
		} else if (!d->backends[i].opened) {
			not_open(d, i);
		} else if (!d->cuda.n) {
			doctor_find(d, probe_backend_names[i], -1, LEVEL_SKIP, "opens; there is "
				    "no GPU to try it on");
		} else {
			for (g = 0; g < d->cuda.n; g++)
				found_on_gpu(d, i, g);
		}
	}
}
