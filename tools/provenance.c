/* SPDX-License-Identifier: MIT */
/* Facts about host, GPU and library, from /proc, /sys and the libraries themselves. */
#include "provenance.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "bench.h"
#include "fact_file.h"
#include "gdrapi_ext.h"

#define SYS "/sys"

static bool cpuinfo(const char *key, char *buf, size_t len)
{
	return fact_file_value("/proc/cpuinfo", key, buf, len);
}

static void integer(struct report *r, const char *name, uint64_t v)
{
	report_fact_field(r, &(struct report_field)FIELD_INTEGER(name, v));
}

/* A string that may be NULL, not known. */
static void string(struct report *r, const char *name, const char *v)
{
	report_fact_field(r, &(struct report_field)FIELD_STRING(name, v));
}

/* A node's number; -1: not known. */
static void node_number(struct report *r, const char *name, int node)
{
	if (node < 0)
		string(r, name, NULL);
	else
		integer(r, name, (uint64_t)node);
}

/* x86 and some Arm kernels name the model, POWER calls it cpu, Arm gives numbers. */
void provenance_cpu(char *buf, size_t len)
{
	char implementer[64], part[64];

	if (cpuinfo("model name", buf, len) || cpuinfo("cpu", buf, len))
		return;
	if (cpuinfo("CPU implementer", implementer, sizeof(implementer)) &&
	    cpuinfo("CPU part", part, sizeof(part)))
		snprintf(buf, len, "implementer %s part %s", implementer, part);
	else
		snprintf(buf, len, "unknown");
}

static void fact_command(struct report *r, int argc, char **argv)
{
	char line[900];
	size_t at = 0;
	int i;

	line[0] = '\0';
	for (i = 0; i < argc && at < sizeof(line); i++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%s", i ? " " : "", argv[i]);
	report_fact(r, "command", "%s", line);
}

static void fact_date(struct report *r)
{
	time_t now = time(NULL);
	char text[32];
	struct tm tm;

	if (gmtime_r(&now, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		report_fact(r, "date", "%s", text);
}

void provenance_host(struct report *r, int argc, char **argv)
{
	struct utsname u;
	char line[512];
	int version, major, minor;

	provenance_warn_soft(r);
	report_fact(r, "tool", "%s %s", r->tool, GDRCOPY_VERSION);
	fact_command(r, argc, argv);
	fact_date(r);
	if (uname(&u) == 0) {
		report_fact(r, "host", "%s", u.nodename);
		report_fact(r, "kernel", "%s %s %s", u.sysname, u.release, u.machine);
	}
	provenance_cpu(line, sizeof(line));
	report_fact(r, "cpu_model", "%s", line);
	if (!fact_file_line("/proc/driver/nvidia/version", line, sizeof(line)))
		strcpy(line, "none");
	report_fact(r, "nvidia_driver", "%s", line);
	if (cu.DriverGetVersion(&version) == CUDA_SUCCESS)
		report_fact(r, "cuda_driver", "%d.%d%s", version / 1000, version % 1000 / 10,
			    cu_is_soft() ? " (softcuda)" : "");
	report_fact(r, "libcuda", "%s", cu_path());
	gdr_runtime_get_version(&major, &minor);
	report_fact(r, "libgdrapi", "%d.%d", major, minor);
	report_fact_field(r, &(struct report_field)FIELD_BOOL("softcuda", cu_is_soft()));
	report_fact_field(r, &(struct report_field)FIELD_REAL("clock_cost_us",
							      bench_clock_cost_us()));
}

/* An attribute of the GPU in sysfs; false where there is none, or no GPU. */
static bool pci_line(const struct gpu *gpu, const char *name, char *buf, size_t len)
{
	char path[128];

	snprintf(path, sizeof(path), SYS "/bus/pci/devices/%04x:%02x:%02x.0/%s", gpu->domain,
		 gpu->bus, gpu->slot, name);
	return !cu_is_soft() && fact_file_line(path, buf, len) && *buf;
}

/* BAR1 of the GPU: the second memory region, a line "start end flags" each. */
static void fact_bar1(struct report *r, const struct gpu *gpu)
{
	unsigned long long start, end;
	char path[128], line[128];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), SYS "/bus/pci/devices/%04x:%02x:%02x.0/resource",
		 gpu->domain, gpu->bus, gpu->slot);
	f = cu_is_soft() ? NULL : fopen(path, "re");
	ok = f && fgets(line, sizeof(line), f) && fgets(line, sizeof(line), f) &&
	     sscanf(line, "%llx %llx", &start, &end) == 2 && end > start;
	if (f)
		fclose(f);
	if (ok)
		integer(r, "gpu_bar1_bytes", end - start + 1);
}

static void fact_link(struct report *r, const struct gpu *gpu)
{
	char line[64];

	if (pci_line(gpu, "current_link_speed", line, sizeof(line)))
		report_fact(r, "gpu_link_speed", "%s", line);
	if (pci_line(gpu, "current_link_width", line, sizeof(line)))
		integer(r, "gpu_link_width", strtoull(line, NULL, 10));
}

static void fact_cpus(struct report *r, const struct place *place)
{
	char path[96], line[64], cpus[256];
	int cpu = sched_getcpu();

	place_format(&place->cpus, cpus, sizeof(cpus));
	report_fact(r, "cpus", "%s", cpus);
	report_fact(r, "cpus_chosen", "%s%s", place->pinned ? "" : "no: ", place->why);
	if (cpu < 0)
		return;
	integer(r, "running_on_cpu", (uint64_t)cpu);
	node_number(r, "running_on_numa_node", place_cpu_node(SYS, cpu));
	snprintf(path, sizeof(path), SYS "/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
	if (fact_file_line(path, line, sizeof(line)))
		report_fact(r, "cpu_governor", "%s", line);
}

void provenance_gpu(struct report *r, const struct gpu *gpu, const struct place *place)
{
	report_begin_gpu(r, gpu->ordinal);
	integer(r, "gpu_ordinal", (uint64_t)gpu->ordinal);
	report_fact(r, "gpu", "%s", gpu->name);
	if (*gpu->uuid)
		report_fact(r, "gpu_uuid", "%s", gpu->uuid);
	report_fact(r, "gpu_pci", "%04x:%02x:%02x.0", gpu->domain, gpu->bus, gpu->slot);
	fact_link(r, gpu);
	fact_bar1(r, gpu);
	node_number(r, "gpu_numa_node", gpu_numa_node(gpu));
	fact_cpus(r, place);
}

void provenance_gdr(struct report *r, gdr_t g)
{
	int major, minor;

	report_fact(r, "backend", "%s", gdrx_backend_name(g));
	/* The other backends report a version for the sake of clients; no driver has it. */
	if (strcmp(gdrx_backend_name(g), "gdrdrv") != 0)
		report_fact(r, "gdr_driver", "none");
	else if (gdr_driver_get_version(g, &major, &minor) == 0)
		report_fact(r, "gdr_driver", "%d.%d", major, minor);
	report_fact(r, "copy_routine_to_mapping", "%s", gdrx_copy_routine(0));
	report_fact(r, "copy_routine_from_mapping", "%s", gdrx_copy_routine(1));
}

void provenance_warn_soft(struct report *r)
{
	if (cu_is_soft())
		report_note(r, "SOFTCUDA: NO GPU IS USED. All numbers are those of host memory.");
}
