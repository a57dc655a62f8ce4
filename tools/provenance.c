/* SPDX-License-Identifier: MIT */
/* Facts about host, GPU and library, from /proc, /sys and the libraries themselves. */
#include "provenance.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "bench.h"
#include "gdrapi_ext.h"

/* First line of a file without its end; false if there is none. */
static bool first_line(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(buf, (int)len, f) != NULL;
	fclose(f);
	if (ok)
		buf[strcspn(buf, "\n")] = '\0';
	return ok;
}

/* Value of the first "key : value" line of /proc/cpuinfo. */
static bool cpuinfo(const char *key, char *buf, size_t len)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512], *v;
	bool found = false;

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		v = strchr(line, ':');
		if (!v || strncmp(line, key, strlen(key)) ||
		    line + strlen(key) + strspn(line + strlen(key), " \t") != v)
			continue;
		v += 1 + strspn(v + 1, " \t");
		v[strcspn(v, "\n")] = '\0';
		snprintf(buf, len, "%s", v);
		found = true;
	}
	fclose(f);
	return found;
}

/* x86 and some Arm kernels name the model, POWER calls it cpu, Arm gives numbers. */
static void fact_cpu(struct report *r)
{
	char name[256], part[64];

	if (cpuinfo("model name", name, sizeof(name)) || cpuinfo("cpu", name, sizeof(name)))
		report_fact(r, "cpu_model", "%s", name);
	else if (cpuinfo("CPU implementer", name, sizeof(name)) &&
		 cpuinfo("CPU part", part, sizeof(part)))
		report_fact(r, "cpu_model", "implementer %s part %s", name, part);
	else
		report_fact(r, "cpu_model", "unknown");
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
	fact_cpu(r);
	report_fact(r, "nvidia_driver", "%s",
		    first_line("/proc/driver/nvidia/version", line, sizeof(line)) ? line : "none");
	if (cu.DriverGetVersion(&version) == CUDA_SUCCESS)
		report_fact(r, "cuda_driver", "%d.%d%s", version / 1000, version % 1000 / 10,
			    cu_is_soft() ? " (softcuda)" : "");
	report_fact(r, "libcuda", "%s", cu_path());
	gdr_runtime_get_version(&major, &minor);
	report_fact(r, "libgdrapi", "%d.%d", major, minor);
	report_fact(r, "clock_cost_us", "%.4f", bench_clock_cost_us());
}

/* The nodeN entry of a directory in sysfs, or -1. */
static int node_entry(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int node = -1;

	if (!d)
		return -1;
	while (node < 0 && (e = readdir(d))) {
		if (!strncmp(e->d_name, "node", 4) && e->d_name[4] >= '0' && e->d_name[4] <= '9')
			node = atoi(e->d_name + 4);
	}
	closedir(d);
	return node;
}

void provenance_gpu(struct report *r, const struct gpu *gpu)
{
	char path[96], line[32];
	int cpu = sched_getcpu(), node;

	report_fact(r, "gpu", "%d: %s", gpu->ordinal, gpu->name);
	report_fact(r, "gpu_pci", "%04x:%02x:%02x.0", gpu->domain, gpu->bus, gpu->slot);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%04x:%02x:%02x.0/numa_node",
		 gpu->domain, gpu->bus, gpu->slot);
	/* The kernel's -1 means that the platform does not tell. */
	if (!cu_is_soft() && first_line(path, line, sizeof(line)) && atoi(line) >= 0)
		report_fact(r, "gpu_numa_node", "%s", line);
	else
		report_fact(r, "gpu_numa_node", "unknown");
	if (cpu < 0)
		return;
	report_fact(r, "running_on_cpu", "%d", cpu);
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	node = node_entry(path);
	if (node >= 0)
		report_fact(r, "running_on_numa_node", "%d", node);
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
