/* SPDX-License-Identifier: MIT */
/*
 * Counters of gdrdrv and of the simulated GPU, NVML's figures for memory and
 * BAR1, and what a process has open and mapped; see left.h.
 */
#include "left.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cu.h"
#include "nvsim.h"

#define SETTLE_TRIES 1000
#define SETTLE_US 10000

static void look_at_gdrdrv(struct left_machine *m)
{
	FILE *f = fopen("/proc/driver/gdrdrv/counters", "re");
	char name[64];
	long long v;

	if (!f)
		return;
	while (fscanf(f, "%63[^:]: %lld ", name, &v) == 2) {
#define X(field, text) if (!strcmp(name, #field)) m->field = v;
		LEFT_MACHINE(X)
#undef X
	}
	fclose(f);
}

static void look_at_nvsim(struct left_machine *m)
{
	struct nvsim_stats s = { 0 };
	struct nvsim_check check = { 0 };
	int fd = open(NVSIM_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	/* The check counts what it finds as damaged; s.damaged is all that was ever found. */
	if (!ioctl(fd, NVSIM_IOC_CHECK, &check) && !ioctl(fd, NVSIM_IOC_STATS, &s)) {
		m->sim_pins = (long long)s.pins;
		m->sim_persistent = (long long)s.persistent_pins;
		m->sim_memories = (long long)s.memories;
		m->sim_registrations = (long long)s.registrations;
		m->sim_damage = (long long)s.damaged;
	}
	close(fd);
}

/* nvmlMemory_t and nvmlBAR1Memory_t, nvml.h of the CUDA toolkit. */
struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml {
	int (*init)(void);
	int (*count)(unsigned *n);
	int (*device)(unsigned index, void **dev);
	int (*memory)(void *dev, struct nvml_memory *out);
	int (*bar1)(void *dev, struct nvml_memory *out);
};

static bool load_nvml(struct nvml *n)
{
	void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	if (!lib)
		return false;
	*(void **)&n->init = dlsym(lib, "nvmlInit_v2");
	*(void **)&n->count = dlsym(lib, "nvmlDeviceGetCount_v2");
	*(void **)&n->device = dlsym(lib, "nvmlDeviceGetHandleByIndex_v2");
	*(void **)&n->memory = dlsym(lib, "nvmlDeviceGetMemoryInfo");
	*(void **)&n->bar1 = dlsym(lib, "nvmlDeviceGetBAR1MemoryInfo");
	return n->init && n->count && n->device && n->memory && n->bar1 && n->init() == 0;
}

/* Of all GPUs together. */
static void look_at_nvml(struct left_machine *m)
{
	static struct nvml n;
	static int loaded = -1;
	struct nvml_memory mem, bar1;
	unsigned i, count = 0;
	void *dev;

	if (loaded < 0)
		loaded = load_nvml(&n);
	if (!loaded || n.count(&count))
		return;
	for (i = 0; i < count; i++) {
		if (n.device(i, &dev) || n.memory(dev, &mem) || n.bar1(dev, &bar1))
			return;
		m->gpu_used = (i ? m->gpu_used : 0) + (long long)mem.used;
		m->bar1_used = (i ? m->bar1_used : 0) + (long long)bar1.used;
	}
}

void left_machine_look(bool soft, struct left_machine *out)
{
	struct left_machine m;

	memset(&m, 0xff, sizeof(m));
	look_at_gdrdrv(&m);
	look_at_nvsim(&m);
	if (!soft)
		look_at_nvml(&m);
	*out = m;
}

static bool is_more(long long before, long long now, long long slack, const char *text,
		    const char *who, bool quiet)
{
	if (now - before <= slack)
		return false;
	if (!quiet)
		fprintf(stderr, "%s: %lld %s, %lld more than before\n", who, now, text,
			now - before);
	return true;
}

int left_machine_more(const struct left_machine *before, const struct left_machine *now,
		      long long slack, const char *who, bool quiet)
{
	int bad = 0;

#define X(field, text) \
	bad += is_more(before->field, now->field, &now->field == &now->gpu_used || \
		       &now->field == &now->bar1_used ? slack : 0, text, who, quiet);
	LEFT_MACHINE(X)
#undef X
	return bad;
}

/* What a process held goes when its exit is done, which may be after it was reaped. */
int left_machine_settled(bool soft, const struct left_machine *before, long long slack,
			 const char *who, struct left_machine *now)
{
	int i;

	for (i = 0; i < SETTLE_TRIES; i++) {
		left_machine_look(soft, now);
		if (!left_machine_more(before, now, slack, who, true))
			return 0;
		usleep(SETTLE_US);
	}
	return left_machine_more(before, now, slack, who, false);
}

void left_machine_print(const char *label, const struct left_machine *m)
{
	const char *separator = "";

	printf("%s: ", label);
#define X(field, text) \
	if (m->field >= 0) { \
		printf("%s%lld %s", separator, m->field, text); \
		separator = ", "; \
	}
	LEFT_MACHINE(X)
#undef X
	printf("%s\n", *separator ? "" : "nothing of it can be read here");
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = -3; /* ".", ".." and the directory itself */

	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Mappings of files that are memory of a GPU. */
static int count_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	int n = 0;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "/dev/nv") || strstr(line, "/dev/gdrdrv") ||
		     strstr(line, "memfd:softcuda") || strstr(line, "dmabuf");
	fclose(f);
	return n;
}

void left_process_look(struct left_process *out)
{
	size_t free_bytes, total;

	out->descriptors = count_descriptors();
	out->maps = count_maps();
	out->free_bytes = cu.MemGetInfo(&free_bytes, &total) ? -1 : (long long)free_bytes;
}

int left_process_more(const struct left_process *before, const struct left_process *now,
		      long long bytes, int files, const char *who)
{
	int bad = 0;

	if (now->descriptors > before->descriptors + files && ++bad)
		fprintf(stderr, "%s: %d open descriptors, %d before\n", who, now->descriptors,
			before->descriptors);
	if (now->maps > before->maps + files && ++bad)
		fprintf(stderr, "%s: %d mappings of device memory, %d before\n", who, now->maps,
			before->maps);
	if (now->free_bytes < before->free_bytes - bytes && ++bad)
		fprintf(stderr, "%s: %lld bytes of GPU memory free, %lld before\n", who,
			now->free_bytes, before->free_bytes);
	return bad;
}
