/* SPDX-License-Identifier: MIT */
/* The facts about a run that somebody needs who compares its numbers. */
#ifndef TOOLS_PROVENANCE_H
#define TOOLS_PROVENANCE_H

#include "gdrapi.h"
#include "gpu.h"
#include "place.h"
#include "report.h"

/* Host, CPU, kernel, NVIDIA driver, versions, date, command line. */
void provenance_host(struct report *r, int argc, char **argv);

/* The CPU's model in one line. */
void provenance_cpu(char *buf, size_t len);

/*
 * Begins the report's part on this GPU: its PCI address, link, BAR1, NUMA node, and the CPUs
 * that were chosen for it.
 */
void provenance_gpu(struct report *r, const struct gpu *gpu, const struct place *place);

/* Backend, its driver's version, and the copy routines. */
void provenance_gdr(struct report *r, gdr_t g);

/* "# ..." lines that say that softcuda's numbers are those of host memory, if it is in use. */
void provenance_warn_soft(struct report *r);

#endif
