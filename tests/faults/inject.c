/* SPDX-License-Identifier: MIT */
/* Counting and failing of calls, and the account of what is held; see inject.h. */
#include "inject.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdrdrv.h"
#include "handle.h"

#define BLOCKS   1024
#define MAPPINGS 256
#define FILES    1024

const char *const inject_names[INJECT_CALLS] = {
#define X(name) [CALL_##name] = #name,
	INJECT_LIBC(X)
#undef X
#define X(field, symbol) [CALL_##symbol] = #symbol,
	GDR_CUDA_REQUIRED(X)
	GDR_CUDA_OPTIONAL(X)
#undef X
};

atomic_bool inject_watching;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned calls[INJECT_CALLS];
static struct {
	enum inject_call call;
	unsigned nth, times;            /* times 0: none */
	int err;
	bool struck;
} script;

static void *blocks[BLOCKS];            /* NULL: free entry */
static struct {
	char *addr;                     /* NULL: free entry */
	size_t len;
	bool stuck;
} mappings[MAPPINGS];
static bool files[FILES];                /* by descriptor */
static int cuda[INJECT_CALLS];

void inject_fail(enum inject_call call, unsigned nth, unsigned times, int err)
{
	pthread_mutex_lock(&lock);
	memset(calls, 0, sizeof(calls));
	script.call = call;
	script.nth = nth;
	script.times = times;
	script.err = err;
	script.struck = false;
	pthread_mutex_unlock(&lock);
}

void inject_none(void)
{
	inject_fail(CALL_open, 1, 0, 0);
}

bool inject_struck(void)
{
	bool struck;

	pthread_mutex_lock(&lock);
	struck = script.struck;
	pthread_mutex_unlock(&lock);
	return struck;
}

unsigned inject_calls(enum inject_call call)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = calls[call];
	pthread_mutex_unlock(&lock);
	return n;
}

int inject(enum inject_call call)
{
	unsigned n;
	int err = 0;

	if (!atomic_load(&inject_watching))
		return 0;
	pthread_mutex_lock(&lock);
	n = ++calls[call];
	if (call == script.call && n >= script.nth && n - script.nth < script.times) {
		script.struck = true;
		err = script.err;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

/* What is not watched is the program's own.  The registry's chunks stay for good. */
void inject_note_block(void *p, size_t size)
{
	unsigned i;

	if (!p || !atomic_load(&inject_watching) ||
	    size >= GDR_HANDLE_FIRST * sizeof(struct gdr_handle_slot))
		return;
	pthread_mutex_lock(&lock);
	for (i = 0; i < BLOCKS && blocks[i]; i++)
		;
	if (i == BLOCKS)
		abort();
	blocks[i] = p;
	pthread_mutex_unlock(&lock);
}

void inject_note_free(void *p)
{
	unsigned i;

	pthread_mutex_lock(&lock);
	for (i = 0; p && i < BLOCKS; i++)
		if (blocks[i] == p)
			blocks[i] = NULL;
	pthread_mutex_unlock(&lock);
}

/* Replaces what it covers: MAP_FIXED over a reservation. */
void inject_note_mapping(void *addr, size_t len)
{
	char *start = addr;
	unsigned i;

	if (!atomic_load(&inject_watching))
		return;
	pthread_mutex_lock(&lock);
	for (i = 0; i < MAPPINGS; i++)
		if (mappings[i].addr && start >= mappings[i].addr &&
		    start + len <= mappings[i].addr + mappings[i].len)
			goto unlock;    /* part of a range that is counted */
	for (i = 0; i < MAPPINGS && mappings[i].addr; i++)
		;
	if (i == MAPPINGS)
		abort();
	mappings[i].addr = addr;
	mappings[i].len = len;
	mappings[i].stuck = false;
unlock:
	pthread_mutex_unlock(&lock);
}

/* All of a mapping, or a part at one of its ends. */
void inject_note_unmapped(void *addr, size_t len, bool failed)
{
	char *start = addr;
	unsigned i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < MAPPINGS; i++) {
		char *end;

		if (!mappings[i].addr)
			continue;
		end = mappings[i].addr + mappings[i].len;
		if (start >= end || start + len <= mappings[i].addr)
			continue;
		if (failed) {
			mappings[i].stuck = true;
			continue;
		}
		if (start <= mappings[i].addr && start + len >= end) {
			mappings[i].addr = NULL;
		} else if (start <= mappings[i].addr) {
			mappings[i].addr = start + len;
			mappings[i].len = (size_t)(end - mappings[i].addr);
		} else {
			mappings[i].len = (size_t)(start - mappings[i].addr);
		}
	}
	pthread_mutex_unlock(&lock);
}

void inject_note_file(int fd, bool open)
{
	if (fd < 0 || (open && !atomic_load(&inject_watching)))
		return;
	if (fd >= FILES)
		abort();
	pthread_mutex_lock(&lock);
	files[fd] = open;
	pthread_mutex_unlock(&lock);
}

void inject_note_cuda(enum inject_call made_by, int change)
{
	pthread_mutex_lock(&lock);
	cuda[made_by] += change;
	pthread_mutex_unlock(&lock);
}

void inject_held(struct inject_held *out)
{
	unsigned i;

	memset(out, 0, sizeof(*out));
	pthread_mutex_lock(&lock);
	for (i = 0; i < BLOCKS; i++)
		out->blocks += blocks[i] != NULL;
	for (i = 0; i < MAPPINGS; i++) {
		out->mappings += mappings[i].addr != NULL;
		out->stuck += mappings[i].addr && mappings[i].stuck;
	}
	for (i = 0; i < FILES; i++)
		out->files += files[i];
	memcpy(out->cuda, cuda, sizeof(cuda));
	pthread_mutex_unlock(&lock);
}

bool inject_holds_nothing(void)
{
	struct inject_held h;
	bool nothing = true;
	unsigned i;

	inject_held(&h);
	if (h.blocks || h.mappings != h.stuck || (h.files && !h.stuck)) {
		fprintf(stderr, "left: %u blocks of memory, %u descriptors, %u mappings, %u of "
			"which may be\n", h.blocks, h.files, h.mappings, h.stuck);
		nothing = false;
	}
	for (i = 0; i < INJECT_CALLS; i++) {
		if (!h.cuda[i])
			continue;
		fprintf(stderr, "left: %d made by %s\n", h.cuda[i], inject_names[i]);
		nothing = false;
	}
	return nothing;
}

int fake_munmap(void *addr, size_t len);

unsigned inject_remove_stuck(void)
{
	unsigned i, n = 0;

	for (i = 0; i < MAPPINGS; i++) {
		if (!mappings[i].addr || !mappings[i].stuck)
			continue;
		fake_munmap(mappings[i].addr, mappings[i].len);
		gdrdrv_unmapped(mappings[i].addr, mappings[i].len);
		mappings[i].addr = NULL;
		n++;
	}
	if (n)
		memset(files, 0, sizeof(files));
	return n;
}
