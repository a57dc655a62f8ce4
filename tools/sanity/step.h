/* SPDX-License-Identifier: MIT */
/*
 * Watching a call instruction by instruction: how often it stores to one place,
 * and which fences it executes around its accesses.  x86-64 only.
 */
#ifndef SANITY_STEP_H
#define SANITY_STEP_H

#include <stdbool.h>
#include <stdint.h>

#define STEP_WORDS 2

struct step {
	/* In: the words that are watched, aligned to 8; how many. */
	volatile uint64_t *at;
	unsigned words;
	/* Out */
	unsigned instructions;
	unsigned stores;                /* instructions that changed any of the words */
	uint64_t seen[STEP_WORDS];      /* the words after the last store */
	bool fence_after;               /* a store fence, or more, followed the last store */
	unsigned load_fences;           /* LFENCE or MFENCE, in all */
};

/* False where this processor cannot do it. */
bool step_available(void);

/*
 * Call fn(arg), one instruction at a time.  After each store the words are set
 * back to what they were, so that a second store of the same value is seen too.
 */
void step_call(struct step *s, void (*fn)(void *arg), void *arg);

#endif
