/* SPDX-License-Identifier: MIT */
/*
 * Sequences of all calls of the interface with wild arguments, read from a
 * fuzzer's input, on a ground of tests/faults; and what holds for each call:
 *
 * an errno and a sentence for a failure, outputs untouched by it, EINVAL for what
 * is not open, pinned or mapped; a mapping shows the memory that was pinned; and
 * when all is closed nothing is held.
 */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include "gdrapi.h"
#include "gdrapi_ext.h"
#include "ground.h"
#include "input.h"

#define CALLS_CONTEXTS 4
#define CALLS_PINS     24

struct calls_pin {
	gdr_mh_t mh;                    /* 0: none */
	unsigned context;
	char *va;                       /* NULL: not mapped */
	size_t len;                     /* as asked for */
};

struct calls {
	const struct ground *ground;
	struct input *in;
	void (*special)(struct input *in);      /* a call of the target's own; may be NULL */
	gdr_t contexts[CALLS_CONTEXTS];         /* NULL: not open */
	gdr_t closed;                           /* the last that was */
	struct calls_pin pins[CALLS_PINS];
	gdr_mh_t unpinned;
};

/* The ground of a target, once a process; all memory tagged, and the library warm. */
struct ground *calls_start(const char *backend);

/* All of the input; then closes everything and looks at what is left. */
void calls_run(const struct ground *g, struct input *in, void (*special)(struct input *in));

/* For calls_copy.c: checks what a call returned; true if it failed. */
bool calls_failed(int ret);
/* A pin that the input picks: live, or one whose handle is not; *live says which. */
gdr_mh_t calls_pick(struct calls *c, struct calls_pin **live);

/* calls_copy.c: one of the copies. */
void calls_copy(struct calls *c);

/* faults.c: from now on one call of libc or CUDA fails. */
void faults_arm(struct input *in);

/* Bytes at the start of each page that say where it is: copies leave them alone. */
#define CALLS_TAG  64
#define CALLS_PAGE 4096

#endif
