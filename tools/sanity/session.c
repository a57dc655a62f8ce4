/* SPDX-License-Identifier: MIT */
/* Bringing up CUDA and the library in a test process; see session.h. */
#include "session.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ATTR(name) CU_DEVICE_ATTRIBUTE_##name

static struct gpu gpu;

int session_attribute(CUdevice_attribute attr)
{
	int v;

	return cu.DeviceGetAttribute(&v, attr, gpu.dev) == CUDA_SUCCESS ? v : 0;
}

static void needs_vmm(void)
{
	if (gpu.driver < 11000)
		sanity_waive("the driver is older than CUDA 11.0, the first with cuMemCreate");
	if (!session_attribute(ATTR(GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED)))
		sanity_waive("this GPU cannot share cuMemCreate memory (device attribute 110 "
			     "is 0)");
}

const struct gpu *session_cuda(const struct sanity_variant *v, bool several)
{
	int mode;

	CHECK(cu_load(sanity.soft) == 0);
	CU(cu.Init(0));
	CU(cu.DeviceGet(&gpu.dev, sanity.device));
	if (several) {
		CU(cu.DeviceGetAttribute(&mode, ATTR(COMPUTE_MODE), gpu.dev));
		if (mode != CU_COMPUTEMODE_DEFAULT)
			sanity_waive("the GPU's compute mode is not DEFAULT, so that two processes "
				     "cannot use it at once");
	}
	CHECK(gpu_open(sanity.device, &gpu) == 0);
	if (v && v->alloc == &gpu_allocators[GPU_MEM_CREATE])
		needs_vmm();
	return &gpu;
}

void session_end(void)
{
	CU(cu.CtxSetCurrent(NULL));
	CU(cu.DevicePrimaryCtxRelease(gpu.dev));
}

gdr_t session_open(void)
{
	gdr_t g = gdr_open();

	if (!g) {
		fprintf(stderr, "gdr_open failed; is the gdrdrv module loaded, or does another "
			"backend work here?\n%s", gdrx_open_report());
		sanity_fail(__FILE__, __LINE__, "gdr_open()", "%s", gdrx_last_error());
	}
	/* What gdrdrv is made of; the other backends have their own conditions. */
	if (gpu.driver >= 11030 && strcmp(gdrx_backend_name(g), "gdrdrv") == 0 &&
	    !session_attribute(ATTR(GPU_DIRECT_RDMA_SUPPORTED)))
		sanity_waive("this GPU has no GPUDirect RDMA, which gdrdrv needs (device attribute "
			     "116 is 0)");
	return g;
}

void session_needs_coherent(void)
{
	if (!session_attribute(ATTR(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES)))
		sanity_waive("not a coherent platform: the CPU cannot cache this GPU's memory "
			     "(device attribute 100 is 0)");
}

bool session_is(const char *backend)
{
	return strcmp(sanity.backend, backend) == 0;
}

bool session_persistent(gdr_t g)
{
	int v;

	GDR(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &v));
	CHECK(v == 0 || v == 1);
	return v;
}

void session_needs_force_pcie(gdr_t g)
{
	int v;

	session_needs_coherent();
	if (session_attribute(ATTR(COMPUTE_CAPABILITY_MAJOR)) < 10)
		sanity_waive("GPUs before compute capability 10 cannot force PCIe");
	GDR(gdr_get_attribute(g, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &v));
	if (!v)
		sanity_waive("the %s backend cannot force PCIe here", gdrx_backend_name(g));
}

void session_fill(const struct gpu_mem *mem, int fill)
{
	CU(cu.MemsetD8(mem->ptr, (unsigned char)fill, mem->size));
	CU(cu.CtxSynchronize());
}

struct gpu_mem session_alloc(const struct sanity_variant *v, size_t size, int fill)
{
	struct gpu_mem mem;

	CU(v->alloc->alloc(&mem, size, true, true));
	CHECK((mem.ptr & GPU_PAGE_OFFSET) == 0);
	session_fill(&mem, fill);
	return mem;
}

void session_free(const struct gpu_mem *mem)
{
	CU(mem->how->free(mem));
}

gdr_mh_t session_pin(gdr_t g, const struct sanity_variant *v, CUdeviceptr ptr, size_t size)
{
	gdr_mh_t mh = { 0 };

	switch (v->pin) {
	case PIN_V1:
		GDR(gdr_pin_buffer(g, ptr, size, 0, 0, &mh));
		break;
	case PIN_V2:
		GDR(gdr_pin_buffer_v2(g, ptr, size, GDR_PIN_FLAG_DEFAULT, &mh));
		break;
	case PIN_FORCE_PCIE:
		GDR(gdr_pin_buffer_v2(g, ptr, size, GDR_PIN_FLAG_FORCE_PCIE, &mh));
		break;
	}
	CHECK(mh.h != 0);
	return mh;
}

void session_map_pinned(struct mapped *p)
{
	gdr_info_t info;

	GDR(gdr_map(p->g, p->mh, &p->va, p->mem.size));
	GDR(gdr_get_info(p->g, p->mh, &info));
	CHECK(info.mapped);
	CHECK(info.va <= p->mem.ptr && p->mem.ptr + p->mem.size <= info.va + info.mapped_size);
	p->m = (volatile int *)((char *)p->va + (p->mem.ptr - info.va));
}

struct mapped session_map(gdr_t g, const struct sanity_variant *v)
{
	struct mapped p = { .g = g };

	p.mem = session_alloc(v, SMALL, SESSION_FILL);
	p.mh = session_pin(g, v, p.mem.ptr, SMALL);
	session_map_pinned(&p);
	return p;
}

void session_unmap(const struct mapped *p)
{
	GDR(gdr_unmap(p->g, p->mh, p->va, p->mem.size));
	GDR(gdr_unpin_buffer(p->g, p->mh));
}

int session_number(void)
{
	static unsigned calls;
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int)(((unsigned)t.tv_nsec * 2654435761u ^ (unsigned)getpid() * 40503u ^
		      calls++ << 20) >> 8) + 1;
}

int session_open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = -3;     /* ".", "..", and the directory itself */

	CHECK_SYS(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}
