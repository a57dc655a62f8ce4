/* SPDX-License-Identifier: MIT */
/*
 * Failures for the library's calls into libc and CUDA, and an account of what it
 * holds.  The linker sends the calls of a program's own objects to wraps.c
 * (--wrap), cuda.c takes the place of what dlsym finds; behind them are the
 * models of the drivers, and the real functions.
 *
 * A call counts only while the library is watched: inside WATCH.
 */
#ifndef FAULTS_INJECT_H
#define FAULTS_INJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda.h"

/* Calls of the C library that can fail, under the names that objects import. */
#define INJECT_LIBC(X) \
	X(open) X(close) X(ioctl) X(mmap) X(munmap) X(madvise) X(fcntl) \
	X(malloc) X(calloc) X(realloc) \
	X(dlopen) X(dlsym) X(getrandom) X(nanosleep) X(write) \
	X(pthread_create) X(pthread_setname_np) X(pthread_setaffinity_np) X(sched_getaffinity)

enum inject_call {
#define X(name) CALL_##name,
	INJECT_LIBC(X)
#undef X
#define X(field, symbol) CALL_##symbol,
	GDR_CUDA_REQUIRED(X)
	GDR_CUDA_OPTIONAL(X)
#undef X
	INJECT_CALLS
};
#define INJECT_FIRST_CUDA CALL_cuDriverGetVersion

extern const char *const inject_names[INJECT_CALLS];

/* The nth call from now on, and the times - 1 after it, fail with err: an errno, or a CUresult. */
void inject_fail(enum inject_call call, unsigned nth, unsigned times, int err);
void inject_none(void);
bool inject_struck(void);               /* since inject_fail */
unsigned inject_calls(enum inject_call call);   /* since inject_fail or inject_none */

extern atomic_bool inject_watching;
#define WATCH(expr) \
	({ \
		atomic_store(&inject_watching, true); \
		__typeof__(expr) watched = (expr); \
		atomic_store(&inject_watching, false); \
		watched; \
	})

/* For the wrappers: what this call fails with, or 0. */
int inject(enum inject_call call);

/* What the library has and has not given back. */
struct inject_held {
	unsigned blocks;                /* of the heap, but for the registry's, which stay */
	unsigned files;                 /* descriptors opened by it, or for it by CUDA */
	unsigned mappings;              /* made by it, and there */
	unsigned stuck;                 /* of those, the ones whose munmap was made to fail */
	int cuda[INJECT_CALLS];         /* things made by this call, less those let go */
};
void inject_held(struct inject_held *out);
/* But for stuck mappings, and then the files behind them; else says on stderr what. */
bool inject_holds_nothing(void);
unsigned inject_remove_stuck(void);     /* as the end of the process would; how many */

/* cuda.c: rewrites the words of every IPC handle that the library gets; NULL: leaves them. */
extern void (*inject_twist_ipc)(uint32_t words[16]);

/* wraps.c: sees every request that a driver took, and may change what it answered; or NULL. */
extern void (*inject_after_ioctl)(int fd, unsigned long req, void *arg);

/* For wraps.c and cuda.c: the account. */
void inject_note_block(void *p, size_t size);
void inject_note_free(void *p);
void inject_note_file(int fd, bool open);
void inject_note_mapping(void *addr, size_t len);
void inject_note_unmapped(void *addr, size_t len, bool failed);
void inject_note_cuda(enum inject_call made_by, int change);

#endif
