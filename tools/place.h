/* SPDX-License-Identifier: MIT */
/*
 * On which CPUs a tool runs: those of the GPU's NUMA node unless told
 * otherwise.  Host memory follows, since it is allocated and touched after
 * that.  From sysfs and sched_setaffinity alone.
 */
#ifndef TOOLS_PLACE_H
#define TOOLS_PLACE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place_args {
	const char *cpus;       /* --cpu, a list as in 0-7,16; NULL: by node */
	uint64_t node;          /* --numa, if node_given */
	bool node_given;
	bool none;              /* --no-affinity: leave the process where it is */
};

struct place {
	cpu_set_t cpus;         /* where the process may run now */
	int node;               /* the one asked for, or the GPU's; -1: none */
	bool pinned;            /* false: nothing was changed */
	char why[160];          /* one clause for the header */
};

/* "0-3,8" as the kernel writes it, into a set; 0, -EINVAL, or -ERANGE beyond CPU_SETSIZE. */
int place_parse(const char *list, cpu_set_t *out);

/* The other way round; cut off with "..." if it does not fit. */
void place_format(const cpu_set_t *set, char *buf, size_t len);

/*
 * Choose and set the CPUs of this process; sys is "/sys", gpu_node the GPU's NUMA
 * node or -1.  CPUs that the process was not allowed to use are left out.  May be
 * called again for another GPU.  0, or -errno with the reason on stderr.
 */
int place_apply(const struct place_args *a, const char *sys, int gpu_node, struct place *out);

/* Have the calling thread run on the index-th CPU of the set, modulo their number. */
int place_thread(const struct place *p, unsigned index);

/* The NUMA node of a PCI device by sysfs, -1 if the platform does not tell. */
int place_pci_node(const char *sys, unsigned domain, unsigned bus, unsigned slot);

/* The NUMA node of a CPU, or -1. */
int place_cpu_node(const char *sys, int cpu);

#endif
