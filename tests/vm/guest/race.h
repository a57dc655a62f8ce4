/* SPDX-License-Identifier: MIT */
/*
 * Two calls at the same time, over and over.  A kind of race says what each side
 * does; the engine starts both with a delay that it steers to where now the one,
 * now the other comes first.
 */
#ifndef RACE_H
#define RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RACE_NO_FD (-1)		/* the driver's file was closed by a side */

struct race {
	/* what the kinds share; before() sets what it needs, anew each time */
	int fd;
	uint64_t va, handle;
	size_t size;
	char *map;		/* NULL: not mapped */
	char *moved;
	int left_ret, right_ret;
	volatile int gone;	/* set by the right side once its call has taken the pages away */
	volatile int over;	/* and once its call is over */
	bool persistent;
	uint64_t random;	/* of the left side and before/after */
	/* counted over all tries */
	uint64_t stale;		/* accesses that should have failed */
	uint64_t left_first, right_first;
};

struct race_kind {
	const char *name;
	void (*before)(struct race *r);
	void (*left)(struct race *r);
	void (*right)(struct race *r);
	/* The verdict; true if the left side came first, as far as can be told. */
	bool (*after)(struct race *r);
};

/*
 * Each kind as a case.  Arguments: TRIES [SECONDS [KIND]]; so many seconds end a kind
 * before it had all its tries, 0 does not.
 */
int race_main(int argc, char **argv, const struct race_kind *kinds, size_t n);

/* Reads and writes until a signal or so many accesses; counts those after "gone". */
void race_touch(struct race *r, char *at, unsigned times);
/* After the pages were taken away: counts what can still be reached. */
void race_want_dead(struct race *r, const char *at, size_t len);

/* race_parts.c: for before().  A pin, and with a mapping; of memory where there is none yet. */
void race_pinned(struct race *r);
void race_mapped(struct race *r);

/* For left().  race_map: left_ret is what mmap said; is there a mapping? */
bool race_map(struct race *r);
void race_move(struct race *r);

/* For right(). */
void race_unpin(struct race *r);

/* For after(), of map and moved. */
void race_want_mappings_dead(struct race *r);
void race_unmap_all(struct race *r);
/* As after(): the unpin worked and left nothing; the left side was first if left_ret is 0. */
bool race_after_unpin(struct race *r);

#endif
