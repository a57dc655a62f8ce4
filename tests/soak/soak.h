/* SPDX-License-Identifier: MIT */
/*
 * A process that does everything the library does, at random, in many threads,
 * and checks each byte: what `soak` runs for long and `killed` kills.
 *
 * Every thread has buffers, pins and contexts of its own, and for each buffer a
 * shadow: what the memory must hold.  It also has stripes of memory whose bytes
 * in between are its neighbours' (stripes.c).  What a thread does follows from
 * the seed, its process and its number alone.  A check that fails ends the
 * process: it says what, where, and with which seed.
 */
#ifndef SOAK_H
#define SOAK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "gdrapi.h"
#include "gdrapi_ext.h"
#include "gpu.h"

#define SOAK_THREADS_MAX 64
#define SOAK_PROCESSES_MAX 16

/* What a thread can be doing; the rows of the table in work.c. */
#define SOAK_OPERATIONS(X) \
	X(idle, 0) \
	X(open, 6) X(close, 4) X(attributes, 4) \
	X(allocate, 30) X(free, 8) X(free_pinned, 8) \
	X(pin, 40) X(pin_v2, 30) X(unpin, 40) X(refuse, 6) \
	X(map, 40) X(map_v2, 30) X(unmap, 25) X(info, 20) X(flag, 10) \
	X(write, 110) X(read, 110) X(write_cuda, 60) X(whole, 6) X(word, 40) \
	X(write_parallel, 12) X(read_parallel, 12) X(write_iov, 20) X(read_iov, 20) \
	X(write_stripe, 60) X(read_stripe, 40) X(read_stripe_cuda, 30) \
	X(fork, 2) X(fork_exec, 1)

enum soak_operation {
#define X(name, weight) OP_##name,
	SOAK_OPERATIONS(X)
#undef X
	SOAK_OPS
};

extern const char *const soak_names[SOAK_OPS];

/* What others see of a thread, in memory that processes share. */
struct soak_thread {
	atomic_int doing;               /* enum soak_operation */
	_Atomic int64_t since;          /* ms of CLOCK_MONOTONIC; 0: not running */
	atomic_ulong count[SOAK_OPS];   /* done */
	atomic_ulong no_room;           /* allocations that the GPU had no memory for */
	atomic_ulong bytes;             /* compared */
	atomic_ulong signals;           /* taken */
	atomic_int tid;
};

struct soak_board {
	struct soak_thread threads[SOAK_THREADS_MAX];
	atomic_ulong signals;           /* sent */
};

struct soak_plan {
	uint64_t seed;
	unsigned process, threads;
	unsigned long operations;       /* a thread's; 0: as many as there is time for */
	size_t size;                    /* of the largest buffer */
	unsigned buffers;               /* a thread */
	double hang;                    /* seconds after which an operation hangs */
	bool no_signals;
	int say;                        /* descriptor that gets a byte when they run; 0: none */
};

enum soak_kind {
	KIND_LARGE,                     /* cuMemAlloc, of all sizes */
	KIND_SMALL,                     /* shares a memory object, but no GPU page */
	KIND_WITHIN,                    /* shares a GPU page with others */
	KIND_VMM,
	KIND_SEGMENTS,                  /* VMM allocations side by side */
	SOAK_KINDS
};

#define SOAK_PINS 3
#define SOAK_SEGMENTS 3

struct soak_buffer;

struct soak_pin {
	struct soak_buffer *buffer;     /* NULL: free */
	gdr_t g;
	gdr_mh_t mh;
	CUdeviceptr va;                 /* of the first pinned byte */
	size_t size;                    /* from there on */
	char *map;                      /* NULL: not mapped */
	size_t len;
};

struct soak_buffer {
	enum soak_kind kind;
	CUdeviceptr ptr;                /* 0: there is none */
	size_t size;
	size_t start;                   /* where pins like to begin */
	unsigned char *shadow;
	bool own;                       /* a memory object that nobody else has a part of */
	bool freed;                     /* by CUDA; pins of it may be left */
	struct gpu_mem mem;             /* but for KIND_SEGMENTS */
	CUmemGenericAllocationHandle segment[SOAK_SEGMENTS];
	unsigned segments;
	struct soak_pin pins[SOAK_PINS];
};

#define SOAK_BUFFERS_MAX 8
#define SOAK_CONTEXTS 2
#define SOAK_GUARD 64

struct soak_worker {
	unsigned number;
	uint64_t random;
	struct soak_thread *seen;
	unsigned long done;
	atomic_ulong sent;              /* signals, in all */
	gdr_t own[SOAK_CONTEXTS];       /* NULL: closed */
	struct soak_buffer buffers[SOAK_BUFFERS_MAX];
	unsigned char *host;            /* size + 4 * SOAK_GUARD bytes */
};

/* The process. */
struct soak_process {
	struct soak_plan plan;
	struct soak_board *board;
	struct gpu gpu;
	CUcontext context;
	CUdeviceptr kept;               /* keeps CUDA's first block of small memory */
	gdr_t shared[2];
	bool persistent;                /* pins outlive the memory */
	bool one_start;                 /* all pins of a buffer must start at the same place */
	bool within;                    /* GPU pages that others share can be pinned */
	gdr_mapping_type_t type;        /* of mappings that ask for none */
	atomic_bool stop;
};

extern struct soak_process soak;
extern _Thread_local struct soak_worker *soak_me;

#define FAIL(...) soak_fail(__FILE__, __LINE__, __VA_ARGS__)
void soak_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
#define CHECK(cond) do { if (!(cond)) FAIL("%s", #cond); } while (0)
/* A gdr_ call that must return 0; one that must return err. */
#define GDR(call) do { \
	int err_ = (call); \
	if (err_) \
		FAIL("%s: %d, %s", #call, err_, gdrx_last_error()); \
} while (0)
#define GDR_IS(err, call) do { \
	int err_ = (call); \
	if (err_ != (err)) \
		FAIL("%s: %d, not %d; %s", #call, err_, (err), err_ ? gdrx_last_error() : ""); \
} while (0)
#define CU(call) do { \
	CUresult res_ = (call); \
	if (res_) \
		FAIL("%s: %s", #call, cu_error_name(res_)); \
} while (0)

/* splitmix64 */
static inline uint64_t soak_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* 0 to n - 1. */
static inline size_t soak_below(struct soak_worker *w, size_t n)
{
	return soak_random(&w->random) % n;
}

void soak_fill(struct soak_worker *w, void *buf, size_t size);
/* Ends the process at the first byte that differs; where is the offset of got in what. */
void soak_compare(const void *got, const void *expected, size_t size, size_t where,
		  const char *what);
int64_t soak_ms(void);

/* crew.c: load CUDA, open what threads share; exits 77 where there is no GPU. */
void soak_begin(const struct soak_plan *plan, struct soak_board *board);
void soak_end(void);
/* The threads, until seconds are over (0: for ever) and all of them have let everything go. */
void soak_run(double seconds, unsigned phase);
/* SIGBUS from *byte?  Else its value is read. */
bool soak_faults(const volatile unsigned char *byte, unsigned char *value);

/* work.c: one operation; and whatever the thread still has is let go. */
void soak_operation(struct soak_worker *w);
void soak_drop(struct soak_worker *w);

/* Operations.  False: there is nothing here to do it with; nothing was done. */
#define X(name, weight) bool soak_op_##name(struct soak_worker *w);
SOAK_OPERATIONS(X)
#undef X

/* buffers.c */
struct soak_buffer *soak_live_buffer(struct soak_worker *w);   /* not freed; NULL */
void soak_release(struct soak_buffer *b);                      /* CUDA's memory */
void soak_forget(struct soak_buffer *b);                       /* all but that */

/* pins.c: one at random; mapped: 1 yes, 0 no, -1 either.  NULL: none. */
struct soak_pin *soak_pick_pin(struct soak_worker *w, int mapped);
void soak_unpin(struct soak_pin *p);
/* Whether its bytes are what the shadow says, and stay so. */
bool soak_is_good(const struct soak_pin *p);

/* copies.c: read and compare a piece of b, by CUDA or through any mapping. */
void soak_look(struct soak_worker *w, struct soak_buffer *b, size_t at, size_t n);

/* stripes.c */
void soak_stripes_make(void);
void soak_stripes_end(void);

#endif
