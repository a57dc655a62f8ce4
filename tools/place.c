/* SPDX-License-Identifier: MIT */
/* CPUs near a GPU, from sysfs; place.h has the contracts. */
#include "place.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fact_file.h"

int place_parse(const char *list, cpu_set_t *out)
{
	unsigned long first, last;
	cpu_set_t set;
	char *end;

	CPU_ZERO(&set);
	for (;;) {
		if (!isdigit((unsigned char)*list))
			return -EINVAL;
		first = last = strtoul(list, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				return -EINVAL;
			last = strtoul(end + 1, &end, 10);
		}
		if (last < first)
			return -EINVAL;
		if (last >= CPU_SETSIZE)
			return -ERANGE;
		for (; first <= last; first++)
			CPU_SET(first, &set);
		if (*end != ',')
			break;
		list = end + 1;
	}
	if (*end)
		return -EINVAL;
	*out = set;
	return 0;
}

void place_format(const cpu_set_t *set, char *buf, size_t len)
{
	size_t at = 0;
	int i, first;

	*buf = '\0';
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, set))
			continue;
		first = i;
		while (i + 1 < CPU_SETSIZE && CPU_ISSET(i + 1, set))
			i++;
		/* Room for two numbers of four digits, and what marks the end. */
		if (at + 16 > len) {
			snprintf(buf + at, len - at, "...");
			return;
		}
		at += (size_t)snprintf(buf + at, len - at, "%s%d", at ? "," : "", first);
		if (i > first)
			at += (size_t)snprintf(buf + at, len - at, "-%d", i);
	}
}

int place_pci_node(const char *sys, unsigned domain, unsigned bus, unsigned slot)
{
	char path[160], line[32];

	snprintf(path, sizeof(path), "%s/bus/pci/devices/%04x:%02x:%02x.0/numa_node", sys, domain,
		 bus, slot);
	if (!fact_file_line(path, line, sizeof(line)) || atoi(line) < 0)
		return -1;
	return atoi(line);
}

int place_cpu_node(const char *sys, int cpu)
{
	struct dirent *e;
	char path[160];
	int node = -1;
	DIR *d;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%d", sys, cpu);
	d = opendir(path);
	if (!d)
		return -1;
	while (node < 0 && (e = readdir(d))) {
		if (!strncmp(e->d_name, "node", 4) && isdigit((unsigned char)e->d_name[4]))
			node = atoi(e->d_name + 4);
	}
	closedir(d);
	return node;
}

static int complain(int err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int complain(int err, const char *fmt, ...)
{
	va_list ap;

	fputs("ERROR: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return err;
}

/* A set may be empty: a node of memory alone. */
static int node_cpus(const char *sys, int node, cpu_set_t *out)
{
	char path[160], line[1024];

	snprintf(path, sizeof(path), "%s/devices/system/node/node%d/cpulist", sys, node);
	if (!fact_file_line(path, line, sizeof(line)))
		return -ENOENT;
	CPU_ZERO(out);
	return *line ? place_parse(line, out) : 0;
}

/* Where the process was allowed to run when it started. */
static int allowed_cpus(cpu_set_t *out)
{
	static cpu_set_t first;
	static bool known;

	if (!known && sched_getaffinity(0, sizeof(first), &first))
		return complain(-errno, "sched_getaffinity: %s", strerror(errno));
	known = true;
	*out = first;
	return 0;
}

/* The CPUs that were asked for, in out->cpus; those the process must not use left out. */
static int choose_given(const struct place_args *a, const char *sys, const cpu_set_t *allowed,
			struct place *out)
{
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	if (a->cpus) {
		err = place_parse(a->cpus, &set);
		if (err)
			return complain(err, "option --cpu: \"%s\" is not a list of CPUs, as in "
					"0-7,16", a->cpus);
	} else {
		err = node_cpus(sys, (int)a->node, &set);
		if (err)
			return complain(err, "option --numa: this machine has no node %d",
					(int)a->node);
		out->node = (int)a->node;
	}
	CPU_AND(&out->cpus, &set, allowed);
	if (!CPU_COUNT(&out->cpus))
		return complain(-EINVAL, "option --%s: this process may use none of these CPUs",
				a->cpus ? "cpu" : "numa");
	snprintf(out->why, sizeof(out->why), "as asked for");
	return 0;
}

/* Near the GPU, or a reason why not in out->why.  True if there is something to set. */
static bool choose_near(const char *sys, int gpu_node, const cpu_set_t *allowed, struct place *out)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (gpu_node < 0) {
		snprintf(out->why, sizeof(out->why), "the GPU's NUMA node is not known");
		return false;
	}
	if (node_cpus(sys, gpu_node, &set)) {
		snprintf(out->why, sizeof(out->why), "the CPUs of node %d are not known", gpu_node);
		return false;
	}
	CPU_AND(&set, &set, allowed);
	if (!CPU_COUNT(&set)) {
		snprintf(out->why, sizeof(out->why), "this process may use no CPU of node %d, "
			 "the GPU's", gpu_node);
		return false;
	}
	out->cpus = set;
	out->node = gpu_node;
	snprintf(out->why, sizeof(out->why), "of node %d, the GPU's", gpu_node);
	return true;
}

int place_apply(const struct place_args *a, const char *sys, int gpu_node, struct place *out)
{
	struct place p = { .node = -1 };
	cpu_set_t allowed;
	int err;

	CPU_ZERO(&allowed);
	if (!!a->cpus + a->node_given + a->none > 1)
		return complain(-EINVAL, "--cpu, --numa and --no-affinity exclude each other");
	err = allowed_cpus(&allowed);
	if (err)
		return err;
	p.cpus = allowed;
	if (a->none) {
		snprintf(p.why, sizeof(p.why), "--no-affinity");
	} else if (a->cpus || a->node_given) {
		err = choose_given(a, sys, &allowed, &p);
		if (err)
			return err;
		p.pinned = true;
	} else {
		p.pinned = choose_near(sys, gpu_node, &allowed, &p);
	}
	/* Also where nothing was chosen: another GPU may have been before this one. */
	if (sched_setaffinity(0, sizeof(p.cpus), &p.cpus))
		return complain(-errno, "sched_setaffinity: %s", strerror(errno));
	*out = p;
	return 0;
}

int place_thread(const struct place *p, unsigned index)
{
	unsigned left = index % (unsigned)CPU_COUNT(&p->cpus);
	cpu_set_t one;
	int i;

	for (i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &p->cpus) && left-- == 0)
			break;
	CPU_ZERO(&one);
	CPU_SET(i, &one);
	return sched_setaffinity(0, sizeof(one), &one) ? -errno : 0;
}
