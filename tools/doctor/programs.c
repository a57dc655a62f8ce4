/* SPDX-License-Identifier: MIT */
/* Findings on programs that use GDRCopy: what their variables say, and what they look for. */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "root.h"

static const struct {
	const char *name, *variable;
	bool list;              /* the value is one of a list of transports */
	const char *off;        /* value that switches GDRCopy off */
	const char *fix;
} switches[] = {
	{ "nvshmem", "NVSHMEM_DISABLE_GDRCOPY", false, "1", "unset NVSHMEM_DISABLE_GDRCOPY" },
	{ "libfabric", "FI_HMEM_CUDA_USE_GDRCOPY", false, "0",
	  "export FI_HMEM_CUDA_USE_GDRCOPY=1" },
	{ "ucx", "UCX_TLS", true, NULL, "unset UCX_TLS   # or put gdr_copy into it" },
	{ "mscclpp", "MSCCLPP_FORCE_DISABLE_GDR", false, "1", "unset MSCCLPP_FORCE_DISABLE_GDR" },
	{ "gpunetio", "DOCA_GPUNETIO_DISABLE_GDRCOPY", false, "1",
	  "unset DOCA_GPUNETIO_DISABLE_GDRCOPY" },
};

static void find_nccl(struct doctor *d)
{
	const char *v = getenv("NCCL_GDRCOPY_ENABLE");

	if (v && !strcmp(v, "1")) {
		doctor_find(d, "nccl", -1, LEVEL_OK, "NCCL_GDRCOPY_ENABLE=1 is set");
		return;
	}
	doctor_find(d, "nccl", -1, LEVEL_NOTE, "NCCL uses GDRCopy only where "
		    "NCCL_GDRCOPY_ENABLE=1 is set; %s%s", v ? "it is " : "it is not", v ? v :
		    "");
	doctor_fix(d, "export NCCL_GDRCOPY_ENABLE=1   # NCCL_DEBUG=INFO then shows: GDRCOPY "
		   "enabled");
}

/* A list of transports: those that it has, or with ^ those that it has not. */
static bool in_list(const char *list)
{
	bool named = strstr(list, "gdr_copy") != NULL;

	if (*list == '^')
		return !named;
	return named || strstr(list, "cuda") || strstr(list, "all");
}

static bool is_off(size_t i, const char *value)
{
	return switches[i].list ? *value && !in_list(value) : !strcmp(value, switches[i].off);
}

/* MSCCL++ looks for the node, the GPU Operator's probes for the module. */
static void find_node_users(struct doctor *d)
{
	if (!doctor_works(d) || d->cuda.soft || root_exists("/dev/gdrdrv"))
		return;
	doctor_find(d, "gdrdrv users", -1, LEVEL_NOTE, "MSCCL++ and the probes of the GPU "
		    "Operator look for gdrdrv itself, and see none here; others do not need "
		    "it");
}

void doctor_programs(struct doctor *d)
{
	const char *v;
	size_t i;

	d->area = "programs";
	find_nccl(d);
	for (i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
		v = getenv(switches[i].variable);
		if (!v || !is_off(i, v))
			continue;
		doctor_find(d, switches[i].name, -1, LEVEL_WARN, "%s=%s switches GDRCopy off",
			    switches[i].variable, v);
		doctor_fix(d, "%s", switches[i].fix);
	}
	find_node_users(d);
}
