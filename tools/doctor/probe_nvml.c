/* SPDX-License-Identifier: MIT */
/*
 * What NVIDIA's management library says of the GPUs that CUDA shows: BAR1 in
 * use, MIG, virtualization, PCIe link, confidential computing.  Prototypes and
 * numbers as in its public interface; each function may be missing.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "probe.h"

#define NVML_SUCCESS 0

struct nvml_device;

struct nvml_bar1 {
	unsigned long long total, free, used;
};

struct nvml_cc {
	unsigned environment, feature, dev_tools;
};

struct job {
	const struct cuda_facts *cuda;
};

static struct {
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error)(int);
	int (*driver)(char *, unsigned);
	int (*cc)(struct nvml_cc *);
	int (*by_pci)(const char *, struct nvml_device **);
	int (*bar1)(struct nvml_device *, struct nvml_bar1 *);
	int (*mig)(struct nvml_device *, unsigned *current, unsigned *pending);
	int (*virtualization)(struct nvml_device *, unsigned *);
	int (*gen)(struct nvml_device *, unsigned *);
	int (*max_gen)(struct nvml_device *, unsigned *);
	int (*width)(struct nvml_device *, unsigned *);
	int (*max_width)(struct nvml_device *, unsigned *);
} nvml;

static const struct {
	void *field;
	const char *symbol;
} functions[] = {
	{ &nvml.init, "nvmlInit_v2" },
	{ &nvml.shutdown, "nvmlShutdown" },
	{ &nvml.error, "nvmlErrorString" },
	{ &nvml.driver, "nvmlSystemGetDriverVersion" },
	{ &nvml.cc, "nvmlSystemGetConfComputeState" },
	{ &nvml.by_pci, "nvmlDeviceGetHandleByPciBusId_v2" },
	{ &nvml.bar1, "nvmlDeviceGetBAR1MemoryInfo" },
	{ &nvml.mig, "nvmlDeviceGetMigMode" },
	{ &nvml.virtualization, "nvmlDeviceGetVirtualizationMode" },
	{ &nvml.gen, "nvmlDeviceGetCurrPcieLinkGeneration" },
	{ &nvml.max_gen, "nvmlDeviceGetMaxPcieLinkGeneration" },
	{ &nvml.width, "nvmlDeviceGetCurrPcieLinkWidth" },
	{ &nvml.max_width, "nvmlDeviceGetMaxPcieLinkWidth" },
};

static bool load(char *why, size_t len)
{
	void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW), *symbol;
	size_t i;

	if (!lib) {
		snprintf(why, len, "%s", dlerror());
		return false;
	}
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		symbol = dlsym(lib, functions[i].symbol);
		memcpy(functions[i].field, &symbol, sizeof(symbol));
	}
	if (nvml.init && nvml.shutdown && nvml.by_pci)
		return true;
	snprintf(why, len, "libnvidia-ml.so.1 has no function nvmlInit_v2");
	return false;
}

static void ask_device(const struct cuda_gpu *c, struct nvml_gpu *g)
{
	struct nvml_device *dev;
	struct nvml_bar1 bar1;
	unsigned pending;
	char pci[32];

	snprintf(pci, sizeof(pci), "%08x:%02x:%02x.0", c->domain, c->bus, c->slot);
	if (nvml.by_pci(pci, &dev) != NVML_SUCCESS)
		return;
	g->found = true;
	if (nvml.bar1 && nvml.bar1(dev, &bar1) == NVML_SUCCESS) {
		g->has_bar1 = true;
		g->bar1_total = bar1.total;
		g->bar1_free = bar1.free;
	}
	g->has_mig = nvml.mig && nvml.mig(dev, &g->mig, &pending) == NVML_SUCCESS;
	g->has_virtualization = nvml.virtualization &&
		nvml.virtualization(dev, &g->virtualization) == NVML_SUCCESS;
	g->has_link = nvml.gen && nvml.max_gen && nvml.width && nvml.max_width &&
		nvml.gen(dev, &g->gen) == NVML_SUCCESS &&
		nvml.max_gen(dev, &g->max_gen) == NVML_SUCCESS &&
		nvml.width(dev, &g->width) == NVML_SUCCESS &&
		nvml.max_width(dev, &g->max_width) == NVML_SUCCESS;
}

static void body(void *result, void *arg)
{
	const struct job *job = arg;
	struct nvml_facts *f = result;
	struct nvml_cc cc;
	int i, ret;

	if (!load(f->why, sizeof(f->why)))
		return;
	f->loaded = true;
	ret = nvml.init();
	if (ret != NVML_SUCCESS) {
		snprintf(f->why, sizeof(f->why), "nvmlInit: %s (%d)",
			 nvml.error ? nvml.error(ret) : "error", ret);
		return;
	}
	f->ready = true;
	if (nvml.driver)
		nvml.driver(f->driver, sizeof(f->driver));
	f->has_cc = nvml.cc && nvml.cc(&cc) == NVML_SUCCESS;
	if (f->has_cc)
		f->cc = cc.feature;
	for (i = 0; i < job->cuda->n; i++)
		ask_device(&job->cuda->gpus[i], &f->gpus[i]);
	nvml.shutdown();
}

void probe_nvml(const struct cuda_facts *cuda, uint64_t seconds, struct nvml_facts *out)
{
	struct job job = { cuda };
	struct probe_end end;

	probe_run(body, &job, out, sizeof(*out), seconds, &end);
	out->end = end;
}
