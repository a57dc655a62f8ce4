/* SPDX-License-Identifier: MIT */
/* The text of pplat.ptx, its kernels, and how many of their blocks run at once. */
#include <errno.h>
#include <stdio.h>

#include "pplat.h"

/* With the 0 at its end.  Under -flto this and the functions may be assembled apart. */
__asm__(".section .rodata\n"
	".globl pplat_ptx\n"
	".hidden pplat_ptx\n"
	"pplat_ptx: .incbin \"" PTX_FILE "\"\n"
	".byte 0\n"
	".previous");
extern const char pplat_ptx[];

int pplat_kernels_load(struct pplat_kernels *k)
{
	static const char *const names[2][2] = {
		{ "pplat_cpu_flag", "pplat_cpu_data" },
		{ "pplat_gpu_flag", "pplat_gpu_data" },
	};
	struct pplat_kernels n;
	int err = cu_check(cu.ModuleLoadData(&n.module, pplat_ptx), "cuModuleLoadData");

	if (err) {
		fprintf(stderr, "ERROR: the driver could not compile this program's kernels, which "
			"need a GPU of compute capability 7.0 or more; in a container, "
			"libnvidia-ptxjitcompiler.so.1\n");
		return err;
	}
	for (size_t i = 0; i < 4 && !err; i++)
		err = cu_check(cu.ModuleGetFunction(&n.entry[i / 2][i % 2], n.module,
						    names[i / 2][i % 2]), "cuModuleGetFunction");
	if (err)
		cu.ModuleUnload(n.module);
	else
		*k = n;
	return err;
}

int pplat_resident(const struct pplat_kernels *k, const struct gpu *gpu,
		   const struct pplat_plan *plan, unsigned *out)
{
	CUfunction f = k->entry[plan->gpu_produces][plan->bytes > 0];
	int each, sms;
	int err;

	err = cu_check(cu.DeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
					     gpu->dev), "cuDeviceGetAttribute");
	if (err)
		return err;
	err = cu_check(cu.OccupancyMaxActiveBlocks(&each, f, (int)plan->threads, 0),
		       "cuOccupancyMaxActiveBlocksPerMultiprocessor");
	if (err)
		return err;
	*out = (unsigned)each * (unsigned)sms;
	return 0;
}
