/* SPDX-License-Identifier: MIT */
/*
 * What the parts of gdrcopy_doctor share: the tries, made first and each in a
 * process of its own; and the findings, which the areas draw from the results
 * and from texts below the root.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus.h"
#include "parse.h"
#include "probe.h"

enum level {
	LEVEL_OK,
	LEVEL_NOTE,     /* worth knowing; nothing to mend */
	LEVEL_SKIP,     /* could not be looked at; why says why */
	LEVEL_WARN,     /* works, but badly or not for everybody */
	LEVEL_FAIL,     /* does not work */
};

struct finding {
	enum level level;
	const char *area, *name;
	int gpu;                        /* CUDA ordinal, or -1 */
	char why[512];
	char fix[320];                  /* a command, or what to do; "": nothing */
};

#define FINDINGS_MAX 512

struct doctor {
	bool soft;
	uint64_t timeout;               /* seconds a try may take */
	char container[64];             /* the kind of container this runs in; "": none */
	struct parse_driver driver;     /* the NVIDIA kernel module; version "" if not loaded */
	struct bus_gpu gpus[PROBE_GPUS];/* NVIDIA GPUs on the PCI bus */
	size_t ngpus;
	struct cuda_facts cuda;
	struct nvml_facts nvml;
	struct backend_facts backends[PROBE_BACKENDS];
	/* Areas write here, through the functions below. */
	const char *area;
	struct finding findings[FINDINGS_MAX];
	size_t n;
};

/* A finding of the current area; printable ASCII of what the format gives. */
void doctor_find(struct doctor *d, const char *name, int gpu, enum level level,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* How to mend the last one.  On softcuda a note has nothing to mend. */
void doctor_fix(struct doctor *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The same for what lies with a GPU or its driver.  On softcuda that lies with the
 * variables that say what it simulates: those that are set.
 */
void doctor_fix_gpu(struct doctor *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The name of the one backend that the environment allows, or NULL. */
const char *doctor_forced(const struct doctor *d);

/* The backend that gdr_open takes here: an index, or -1 if it fails. */
int doctor_chosen(const struct doctor *d);

/* That backend copied right on every GPU. */
bool doctor_works(const struct doctor *d);

/* A backend copied right on the GPU of an index, at least memory of one allocator. */
bool doctor_copies(const struct doctor *d, int backend, int gpu);

/* A backend that did so on all of them: the first, or -1. */
int doctor_alternative(const struct doctor *d);

/* What a missing part means: on softcuda, which needs no driver, nothing. */
static inline enum level doctor_need(const struct doctor *d)
{
	return d->soft ? LEVEL_NOTE : LEVEL_FAIL;
}

/* d's GPU on the bus at the PCI address of a CUDA device; NULL if it is not there. */
const struct bus_gpu *doctor_bus_gpu(const struct doctor *d, const struct cuda_gpu *g);

/* Prints, and the exit status: findings.c, summary.c. */
struct report;

void doctor_print(const struct doctor *d, struct report *r, bool problems_only);
int doctor_summary(const struct doctor *d, struct report *r);

/* The areas, in the order in which one thing rests on another. */
void doctor_driver(struct doctor *d);
void doctor_container(struct doctor *d);
void doctor_nodes(struct doctor *d);
void doctor_cuda(struct doctor *d);
void doctor_gpus(struct doctor *d);
void doctor_settings(struct doctor *d);
void doctor_module(struct doctor *d);
void doctor_backends(struct doctor *d);
void doctor_mapping(struct doctor *d);
void doctor_bus(struct doctor *d);
void doctor_library(struct doctor *d);
void doctor_programs(struct doctor *d);

#endif
