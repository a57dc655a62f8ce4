/* SPDX-License-Identifier: MIT */
/*
 * gdrcopy_apiperf: what its parts share.  Times are microseconds; each sample
 * is one call, less what the clock shows around nothing.
 */
#ifndef TOOLS_APIPERF_H
#define TOOLS_APIPERF_H

#include <stdio.h>

#include "apiperf_samples.h"
#include "bench.h"
#include "gdrapi.h"
#include "tool.h"

/* In the order of apiperf_calls and of the tables. */
enum apiperf_call {
	CALL_OPEN,
	CALL_GET_ATTRIBUTE,
	CALL_DRIVER_VERSION,
	CALL_PIN,
	CALL_PIN_V2,
	CALL_MAP,
	CALL_GET_INFO,
	CALL_GET_INFO_V2,
	CALL_CALLBACK_FLAG,
	CALL_UNMAP,
	CALL_UNPIN,
	CALL_CLOSE,
	CALLS,
};

/* What the calls work on: an open context and one range of device memory. */
struct apiperf_buffer {
	gdr_t g;
	CUdeviceptr ptr;                /* aligned to a GPU page */
	size_t size;
	int map_flags;
	gdr_mh_t mh;
	void *map;
	gdr_info_t info;
};

struct apiperf_call_info {
	const char *name;
	int (*call)(struct apiperf_buffer *b);  /* 0 or an errno value */
	bool by_size;                           /* its time depends on the buffer's size */
};

extern const struct apiperf_call_info apiperf_calls[CALLS];

/* Samples of all calls of one measurement. */
struct apiperf_set {
	struct apiperf_samples of[CALLS];
	double timer_us;                /* bench_timer_us(), taken off each sample */
};

void apiperf_set_init(struct apiperf_set *set);
void apiperf_set_free(struct apiperf_set *set);
void apiperf_set_clear(struct apiperf_set *set);

/* One call into a set, or untimed where that is NULL.  0, or -errno told on stderr. */
int apiperf_call(enum apiperf_call c, struct apiperf_buffer *b, struct apiperf_set *set);

/* What apiperf_cycle checks; NULL: nothing. */
struct apiperf_verify {
	uint32_t seed;
	bool cuda;                      /* compare also what CUDA reads */
	unsigned mismatches;            /* counted up; each is told on stderr */
};

/*
 * pin, map, the queries, unmap, unpin, and gdr_pin_buffer_v2 with its unpin untimed.
 * Leaves nothing pinned, also when it fails.
 */
int apiperf_cycle(struct apiperf_buffer *b, struct apiperf_set *set, struct apiperf_verify *v);

/* The queries, which need a pin. */
int apiperf_queries(struct apiperf_buffer *b, struct apiperf_set *set);

/* Words at both ends of a mapped buffer, written and read back.  0 or -errno. */
int apiperf_verify(const struct apiperf_buffer *b, struct apiperf_verify *v);

/* The same words as CUDA sees them, mapped or not. */
int apiperf_verify_cuda(const struct apiperf_buffer *b, struct apiperf_verify *v);

struct apiperf_args {
	struct tool_args tool;
	uint64_t size, iterations, max_time;
	uint64_t first, fresh, buffers, threads, buffer_size, bins;
	bool size_given, fit, separate, no_verify;
	bool child;                     /* apiperf_first.c started this process */
	unsigned handles, log, histograms;
	const char *samples;            /* file for all of them, or NULL */
};

/* Whether done iterations that began at start (bench_now_us) are to be followed by more. */
bool apiperf_more(const struct apiperf_args *args, size_t done, double start);

/* Values of --handles and --histogram. */
enum apiperf_handles { HANDLES_BOTH, HANDLES_ONE, HANDLES_OWN };
enum apiperf_histograms { HISTOGRAMS_PIN, HISTOGRAMS_ALL, HISTOGRAMS_NONE };

/* What a row of results is about, besides the call. */
struct apiperf_case {
	const char *phase;              /* "first", "fresh", "warm", "context", "many", "threads" */
	size_t size;                    /* bytes of a buffer */
	size_t others_from, others_to;  /* buffers pinned besides the one at hand */
	size_t threads, handles;        /* threads that called, and their contexts */
	const double *spread;           /* CALLS: rounds are so many percent apart; or NULL */
	double cycles_per_s;            /* of all threads together; NAN: not measured */
	bool complete;                  /* false: a signal ended it */
};

struct apiperf {
	struct tool tool;
	const struct apiperf_args *args;
	FILE *raw;                      /* --samples, or NULL */
	struct sizes sizes;
	size_t buffer;                  /* bytes of dev */
	struct gpu_mem dev;
	struct apiperf_set set;         /* cleared by each measurement */
	struct apiperf_verify verify;
	/* For the summary: first calls; warm ones, of the smallest and the largest size. */
	struct bench_stats first[CALLS], small[CALLS], large[CALLS];
};

/* apiperf_print.c.  A title names what the rows after it are about. */
void apiperf_print_title(const struct apiperf *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Samples in the order of the calls, into the file of --samples. */
void apiperf_print_raw(const struct apiperf *a, const struct apiperf_case *k,
		       const struct apiperf_set *set);
/* A row, if there are samples; they get sorted, and *stats theirs, if it is not NULL. */
void apiperf_print_row(struct apiperf *a, const struct apiperf_case *k, enum apiperf_call c,
		       struct apiperf_samples *s, struct bench_stats *stats);
/* A row for each call; stats: NULL, or CALLS of them. */
void apiperf_print_set(struct apiperf *a, const struct apiperf_case *k, struct apiperf_set *set,
		       struct bench_stats *stats);
/* The means of the five classic calls. */
void apiperf_print_means(const struct apiperf *a, size_t size, const struct apiperf_set *set);
/* Text form: the bins; sorts the samples. */
void apiperf_print_histogram(const struct apiperf *a, enum apiperf_call c, size_t size,
			     struct apiperf_samples *s);
void apiperf_print_summary(const struct apiperf *a);

/* open, the calls of apiperf_cycle, close.  Leaves nothing open.  b->info is that of the map. */
int apiperf_life(struct apiperf_buffer *b, struct apiperf_set *set, struct apiperf_verify *v);

/* apiperf_first.c: the first calls of n processes, this one among them if it is one. */
int apiperf_first(struct apiperf *a, size_t size, gdr_info_t *info);
/* What a process does that apiperf_first started.  The exit status. */
int apiperf_first_child(const struct apiperf_args *args);

/* apiperf_warm.c: all sizes; contexts opened while g is, and while none is. */
int apiperf_warm(struct apiperf *a, gdr_t g);
int apiperf_contexts(struct apiperf *a);
int apiperf_fresh(struct apiperf *a, size_t size);

/* apiperf_fit.c: the buffer.  0, or -errno told on stderr, but for -ENOMEM if it may fail so. */
int apiperf_alloc(const struct apiperf *a, size_t size, bool may_fail, struct gpu_mem *out);
/* Replace it by the largest one that can be had, and the sizes by those up to that. */
int apiperf_fit(struct apiperf *a, gdr_t g);

/* apiperf_pool.c: n buffers of one size. */
struct apiperf_pool {
	size_t n;
	bool separate;
	struct gpu_mem *mem;            /* n of them if separate, else one for all */
	struct apiperf_buffer *buffers;
};

int apiperf_pool_alloc(struct apiperf_pool *p, const struct apiperf_args *args, size_t n);
int apiperf_pool_free(struct apiperf_pool *p);

/* apiperf_many.c: --buffers; apiperf_threads.c: --threads. */
int apiperf_many(struct apiperf *a, gdr_t g);
int apiperf_threads(struct apiperf *a, gdr_t g);

#endif
