/* SPDX-License-Identifier: MIT */
/* gdrcopy_pplat in parts: memory (pplat_memory.c), one measurement (pplat_run.c), the program. */
#ifndef TOOLS_PPLAT_H
#define TOOLS_PPLAT_H

#include "pplat_kernel.h"
#include "tool.h"
#include "window.h"

#define PPLAT_BLOCKS_MAX 16384

enum pplat_place {
	PPLAT_GPUMEM,           /* device memory; the CPU reaches it through the mapping */
	PPLAT_HOSTMEM,          /* page-locked host memory; the GPU reaches it over the bus */
};

/* Some memory as both sides see it. */
struct pplat_spot {
	enum pplat_place place;
	char *cpu;              /* in the mapping, if place is PPLAT_GPUMEM */
	CUdeviceptr gpu;
};

struct pplat_places {
	enum pplat_place gpu_flag, cpu_flags, data;
	size_t data_bytes;      /* of the largest data */
	uint32_t rounds;        /* most rounds of one kernel */
};

struct pplat_memory {
	struct gpu_mem dev;
	struct window window;
	char *host;                     /* page-locked */
	size_t size[2];                 /* bytes of dev and of host */
	CUdeviceptr reports, samples;   /* device memory that is not mapped, in one piece */
	struct pplat_spot gpu_flag, cpu_flags, data, stop;
	uint32_t *copy;                 /* what the CPU sends, or received; ordinary memory */
};

/* 0, or -errno with the reason on stderr and nothing to undo. */
int pplat_memory_alloc(struct pplat_memory *m, const struct pplat_places *places,
		       const struct tool_args *args, struct report *r);
/* Undoes it; announces the steps.  0 or the first -errno. */
int pplat_memory_free(struct pplat_memory *m, const struct report *r);
/* All flags, data and reports are 0, for the GPU and the CPU. */
int pplat_memory_clear(struct pplat_memory *m);

/* The words [at, at + n) of a spot.  0, or -errno with the reason on stderr. */
int pplat_put(struct pplat_memory *m, const struct pplat_spot *s, const uint32_t *words, size_t n);
int pplat_get(struct pplat_memory *m, const struct pplat_spot *s, size_t at, uint32_t *words,
	      size_t n);

/* One measurement: a kernel and its rounds. */
struct pplat_plan {
	bool gpu_produces;
	uint32_t bytes;                 /* of data; 0: only flags */
	unsigned blocks, threads;
	uint32_t warmup, rounds;        /* rounds: those that count */
	uint32_t verify_every;          /* rounds; 0: never */
	double timeout_us;              /* for one hand-off; 0: none */
};

/* Of one kernel, but for the samples, which are those of several. */
struct pplat_outcome {
	double *sample;                 /* us a round; room for n + plan.rounds */
	size_t n;
	uint32_t verified;              /* rounds whose data were compared, warm-up included */
	uint64_t mismatches;            /* wrong shares, or what the CPU got, a round each */
	bool stuck;                     /* the kernel may still run: free nothing that it uses */
};

/* The kernels; 0, or -errno with the reason on stderr. */
struct pplat_kernels {
	CUmodule module;
	CUfunction entry[2][2];         /* [gpu_produces][with data] */
};
int pplat_kernels_load(struct pplat_kernels *k);

/* Most blocks of the plan's kernel that the GPU runs at once; 0 or -errno. */
int pplat_resident(const struct pplat_kernels *k, const struct gpu *gpu,
		   const struct pplat_plan *plan, unsigned *out);

/*
 * Measure; samples are added.  0, also if a signal ended it, or -errno with the reason
 * on stderr; the outcome has what was measured in any case.
 */
int pplat_run(struct pplat_memory *m, const struct pplat_kernels *k, const struct pplat_plan *plan,
	      struct report *r, struct pplat_outcome *out);

/* The program, and what it prints (pplat_print.c). */
struct pplat_options {
	struct tool_args tool;
	uint64_t rounds, timeout, size, threads, verify_every;
	unsigned mode, gpu_flag, cpu_flags, data;
	bool size_given, no_verify;
	struct opt_sizes blocks;
};

/* All that was measured of one mode, size and number of blocks. */
struct pplat_result {
	struct pplat_plan plan;
	struct pplat_outcome outcome;   /* verified and mismatches: of all kernels */
	size_t room;                    /* of outcome.sample */
	unsigned kernels;
	double spread_percent;          /* of their medians; 0 for one */
	bool complete;
};

extern const char *const pplat_place_names[];
void pplat_print_parameters(struct report *r, const struct pplat_options *o);
void pplat_print_bus(struct report *r, const struct bench_stats *bus);
void pplat_print_plan(const struct report *r, const struct pplat_options *o,
		      const struct pplat_plan *plan);
/* Sorts the samples.  bus: of a load through the mapping, us. */
void pplat_print_result(struct report *r, const struct pplat_options *o, struct pplat_result *res,
			const struct bench_stats *bus);
extern const struct results pplat_results;

#endif
