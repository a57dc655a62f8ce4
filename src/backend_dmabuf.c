/* SPDX-License-Identifier: MIT */
/*
 * The dma-buf backend: CUDA exports the range as a descriptor that can be
 * mapped.  Needs CUDA 13.3 and a device that can both export and mmap.
 * Pins are persistent: the descriptor keeps the memory alive until unpin.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend.h"
#include "context.h"
#include "cuda.h"
#include "log.h"

#define MIN_CUDA_VERSION 13030

/* What is known of a CUDA device, by ordinal. */
struct dmabuf_dev {
	CUdevice dev;
	bool mappable;                  /* exports dma-bufs that can be mapped */
	bool coherent;                  /* memory is cached by the CPU unless PCIe is forced */
	CUcontext primary;              /* retained, or NULL; under the context's lock */
};

struct dmabuf_gdr {
	struct gdr base;
	const struct gdr_cuda *cu;
	int ndevs;
	struct dmabuf_dev devs[];
};

struct dmabuf_memh {
	struct gdr_memh base;
	int fd;
	uint64_t offset;                /* of the pinned address in its first page */
	uint64_t va;                    /* page-aligned start, bytes below likewise whole pages */
	uint64_t size;
	gdr_mapping_type_t type;
};

static struct dmabuf_gdr *to_gdr(struct gdr *g)
{
	return (struct dmabuf_gdr *)g;
}

static struct dmabuf_memh *to_memh(struct gdr_memh *m)
{
	return (struct dmabuf_memh *)m;
}

static int device_attribute(const struct gdr_cuda *cu, CUdevice dev, CUdevice_attribute attr)
{
	int value;

	/* Drivers that do not know the attribute do not have the feature. */
	return cu->DeviceGetAttribute(&value, attr, dev) == CUDA_SUCCESS ? value : 0;
}

static bool probe_device(const struct gdr_cuda *cu, int ordinal, struct dmabuf_dev *d)
{
	if (cu->DeviceGet(&d->dev, ordinal) != CUDA_SUCCESS)
		return false;
	d->mappable = device_attribute(cu, d->dev, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) &&
		device_attribute(cu, d->dev, GDR_CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED);
	d->coherent = device_attribute(cu, d->dev,
		CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
	return d->mappable;
}

static int dmabuf_open(struct gdr **out)
{
	const char *why;
	const struct gdr_cuda *cu = gdr_cuda_get(&why);
	struct dmabuf_gdr *g;
	bool usable = false;
	int version, n, i;

	if (!cu)
		return gdr_context_skip(ENODEV, "%s", why);
	if (cu->DriverGetVersion(&version) != CUDA_SUCCESS)
		return gdr_context_skip(ENODEV, "cuDriverGetVersion fails: is libcuda.so.1 a stub "
					"of the toolkit, or older than the kernel driver?");
	if (version < MIN_CUDA_VERSION || !cu->MemGetHandleForAddressRange)
		return gdr_context_skip(ENOTSUP, "needs a driver for CUDA 13.3 or later, this one "
					"is for %d.%d", version / 1000, version % 1000 / 10);
	if (cu->Init(0) != CUDA_SUCCESS || cu->DeviceGetCount(&n) != CUDA_SUCCESS || n < 1)
		return gdr_context_skip(ENODEV, "CUDA finds no device: see nvidia-smi, and "
					"CUDA_VISIBLE_DEVICES");
	g = calloc(1, sizeof(*g) + (size_t)n * sizeof(g->devs[0]));
	if (!g)
		return gdr_context_skip(ENOMEM, "out of memory");
	g->base.fd = -1;
	g->cu = cu;
	g->ndevs = n;
	for (i = 0; i < n; i++)
		usable |= probe_device(cu, i, &g->devs[i]);
	if (!usable) {
		free(g);
		return gdr_context_skip(ENOTSUP, "no device can map the dma-bufs it exports "
					"(CUDA device attributes 124 and 152)");
	}
	*out = &g->base;
	return 0;
}

static void dmabuf_close(struct gdr *base)
{
	struct dmabuf_gdr *g = to_gdr(base);
	int i;

	for (i = 0; i < g->ndevs && gdr_owner_is_self(&base->owner); i++)
		if (g->devs[i].primary)
			g->cu->DevicePrimaryCtxRelease(g->devs[i].dev);
	free(g);
}

static int find_device(struct dmabuf_gdr *g, uint64_t addr, struct dmabuf_dev **out)
{
	char about[80];
	int ordinal;
	CUresult res = g->cu->PointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
						  addr);

	if (res != CUDA_SUCCESS) {
		snprintf(about, sizeof(about), "for the address to pin, 0x%llx%s",
			 (unsigned long long)addr,
			 res == CUDA_ERROR_INVALID_VALUE ? ": it is no device memory" : "");
		return gdr_cuda_fail(g->cu, res, "cuPointerGetAttribute", about);
	}
	if (ordinal < 0 || ordinal >= g->ndevs)
		return gdr_log_fail(ENODEV, "gdr_pin_buffer: 0x%llx belongs to device %d, which "
				    "was not there at gdr_open", (unsigned long long)addr, ordinal);
	if (!g->devs[ordinal].mappable)
		return gdr_log_fail(ENOTSUP, "gdr_pin_buffer: device %d cannot map the dma-bufs "
				    "it exports; use another backend (GDRCOPY_BACKEND)", ordinal);
	*out = &g->devs[ordinal];
	return 0;
}

/* Which export failed, and what for where the error is about the memory. */
static const char *about_export(CUresult res, bool force_pcie)
{
	bool memory = res == CUDA_ERROR_INVALID_VALUE || res == CUDA_ERROR_NOT_SUPPORTED;

	if (force_pcie)
		return memory ? "with PCIe forced: only coherent platforms can" :
			"with PCIe forced";
	return memory ? "for the range to pin: it must lie in one allocation, of cuMemAlloc or of "
		"cuMemCreate with gpuDirectRDMACapable; managed and host memory cannot be pinned" :
		"for the range to pin";
}

/* A descriptor for m's range, close-on-exec, or -errno. */
static int export_range(struct dmabuf_gdr *g, struct dmabuf_dev *d, const struct dmabuf_memh *m,
			bool force_pcie)
{
	struct gdr_cuda_scope scope;
	CUresult res;
	int fd, err;
	int ret = gdr_cuda_enter(g->cu, d->dev, 0, &d->primary, &scope);

	if (ret < 0)
		return ret;
	res = g->cu->MemGetHandleForAddressRange(&fd, m->va, m->size,
		CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
		force_pcie ? GDR_CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE : 0);
	gdr_cuda_leave(g->cu, &scope);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(g->cu, res, "cuMemGetHandleForAddressRange",
				     about_export(res, force_pcie));
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
		return fd;
	err = errno;
	close(fd);
	return gdr_log_fail(err, "fcntl(FD_CLOEXEC) on the dma-buf: %s", gdr_log_errstr(err));
}

static int dmabuf_pin(struct gdr *base, const struct gdr_pin_args *args, struct gdr_memh **out)
{
	struct dmabuf_gdr *g = to_gdr(base);
	uint64_t page = gdr_page_size();
	bool force_pcie = args->flags & GDR_PIN_FLAG_FORCE_PCIE;
	struct dmabuf_memh *m;
	struct dmabuf_dev *d = NULL;
	int ret = find_device(g, args->addr, &d);

	if (ret < 0)
		return ret;
	m = calloc(1, sizeof(*m));
	if (!m)
		return gdr_log_fail(ENOMEM, "gdr_pin_buffer: out of memory");
	m->offset = args->addr & (page - 1);
	m->va = args->addr - m->offset;
	m->size = (m->offset + args->size + page - 1) & ~(page - 1);
	m->type = d->coherent && !force_pcie ? GDR_MAPPING_TYPE_CACHING : GDR_MAPPING_TYPE_WC;
	m->fd = export_range(g, d, m, force_pcie);
	if (m->fd < 0) {
		ret = m->fd;
		free(m);
		return ret;
	}
	*out = &m->base;
	return 0;
}

static void dmabuf_forget(struct gdr *g, struct gdr_memh *m)
{
	close(to_memh(m)->fd);
	free(m);
}

static int dmabuf_unpin(struct gdr *g, struct gdr_memh *m)
{
	/* A mapping that is left keeps the memory alive by itself. */
	dmabuf_forget(g, m);
	return 0;
}

static int dmabuf_map(struct gdr *g, struct gdr_memh *base, size_t len, int flags,
		      struct gdr_mapping *out)
{
	struct dmabuf_memh *m = to_memh(base);
	int ret;

	if (m->offset)
		return gdr_log_fail(EINVAL, "gdr_map: the pin starts 0x%llx bytes into a page; "
				    "only page-aligned pins can be mapped",
				    (unsigned long long)m->offset);
	if (len > m->size)
		return gdr_log_fail(EINVAL, "gdr_map: 0x%zx bytes are more than the 0x%llx that "
				    "are pinned", len, (unsigned long long)m->size);
	ret = gdr_mapping_check_flags(flags, m->type);
	if (ret < 0)
		return ret;
	ret = gdr_mapping_create(m->fd, 0, len, NULL, out, NULL);
	if (ret == -524) /* the kernel's ENOTSUPP, which is no errno of user space */
		ret = -ENOTSUP;
	if (ret < 0)
		return gdr_log_fail(-ret, "gdr_map: mmap of the dma-buf, 0x%zx bytes: %s", len,
				    gdr_log_errstr(-ret));
	out->type = m->type;
	return 0;
}

static int dmabuf_unmap(struct gdr *g, struct gdr_memh *m)
{
	return gdr_mapping_destroy(&m->mapping);
}

static int dmabuf_info(struct gdr *g, struct gdr_memh *base, gdr_info_v2_t *info)
{
	struct dmabuf_memh *m = to_memh(base);

	info->va = m->va;
	info->mapped_size = m->size;
	info->page_size = (uint32_t)gdr_page_size();
	gdr_mapping_describe(&base->mapping, info);
	return 0;
}

static int dmabuf_callback_flag(struct gdr *g, struct gdr_memh *m, int *flag)
{
	*flag = 0; /* nothing revokes a dma-buf */
	return 0;
}

static int dmabuf_attribute(struct gdr *base, gdr_attr_t attr, int *value)
{
	struct dmabuf_gdr *g = to_gdr(base);
	int i, coherent = 0;

	for (i = 0; i < g->ndevs; i++)
		coherent |= g->devs[i].coherent;
	/* Memory is persistent; PCIe can be forced where there is another way. */
	*value = attr == GDR_ATTR_USE_PERSISTENT_MAPPING ? 1 : coherent;
	return 0;
}

static int dmabuf_driver_version(struct gdr *g, int *major, int *minor)
{
	/* No gdrdrv here; clients gate features on the version that has them all. */
	*major = GDR_API_MAJOR_VERSION;
	*minor = GDR_API_MINOR_VERSION;
	return 0;
}

const struct gdr_backend_ops gdr_backend_dmabuf = {
	.name = "dmabuf",
	.open = dmabuf_open,
	.close = dmabuf_close,
	.pin = dmabuf_pin,
	.unpin = dmabuf_unpin,
	.forget = dmabuf_forget,
	.map = dmabuf_map,
	.unmap = dmabuf_unmap,
	.info = dmabuf_info,
	.callback_flag = dmabuf_callback_flag,
	.attribute = dmabuf_attribute,
	.driver_version = dmabuf_driver_version,
};
