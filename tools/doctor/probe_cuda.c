/* SPDX-License-Identifier: MIT */
/* What CUDA says: the library, cuInit, and the attributes of its devices. */
#include <stdio.h>
#include <string.h>

#include "gpu.h"
#include "probe.h"
#include "probe_text.h"

static int attribute(CUdevice dev, CUdevice_attribute attr)
{
	int v;

	return cu.DeviceGetAttribute(&v, attr, dev) == CUDA_SUCCESS ? v : -1;
}

struct job {
	bool soft;
	const char *list;
};

static void describe(int ordinal, struct cuda_gpu *g)
{
	CUdevice dev;

	g->ordinal = ordinal;
	if (cu.DeviceGet(&dev, ordinal) != CUDA_SUCCESS)
		return;
	if (cu.DeviceGetName(g->name, sizeof(g->name), dev) != CUDA_SUCCESS)
		snprintf(g->name, sizeof(g->name), "unnamed");
	g->domain = (unsigned)attribute(dev, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
	g->bus = (unsigned)attribute(dev, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
	g->slot = (unsigned)attribute(dev, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
	g->rdma = attribute(dev, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
	g->rdma_vmm = attribute(dev, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
	g->vmm = attribute(dev, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
	g->posix_fd = attribute(dev,
		CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
	g->dmabuf = attribute(dev, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
	g->dmabuf_mmap = attribute(dev, GDR_CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED);
	g->coherent = attribute(dev,
		CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
	g->integrated = attribute(dev, CU_DEVICE_ATTRIBUTE_INTEGRATED);
	g->compute_mode = attribute(dev, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
}

static void body(void *result, void *arg)
{
	const struct job *job = arg;
	struct cuda_facts *f = result;
	CUresult res;
	int ordinals[PROBE_GPUS];
	size_t n, i;

	if (probe_load_cuda(job->soft, f->why, sizeof(f->why)))
		return;
	f->loaded = true;
	f->soft = cu_is_soft();
	snprintf(f->path, sizeof(f->path), "%s", cu_path());
	if (cu.DriverGetVersion(&f->version) != CUDA_SUCCESS)
		f->version = 0;
	res = cu.Init(0);
	if (res == CUDA_SUCCESS)
		res = cu.DeviceGetCount(&f->count);
	f->result = (int)res;
	snprintf(f->result_name, sizeof(f->result_name), "%s", cu_error_name(res));
	f->ready = res == CUDA_SUCCESS;
	if (f->ready && probe_select(job->list, ordinals, PROBE_GPUS, &n, f->why,
				     sizeof(f->why)) == 0)
		for (i = 0; i < n; i++)
			describe(ordinals[i], &f->gpus[f->n++]);
}

void probe_cuda(bool soft, const char *list, uint64_t seconds, struct cuda_facts *out)
{
	struct job job = { soft, list };
	struct probe_end end;

	probe_run(body, &job, out, sizeof(*out), seconds, &end);
	out->end = end;
}
