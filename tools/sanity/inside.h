/* SPDX-License-Identifier: MIT */
/*
 * What three tests must know of the library's insides: the descriptor behind a
 * gdr_t, and how the kernel calls what was pinned.  Compiled into this program
 * from the library's own headers, so the two must be of one build; nothing of it
 * is exported.
 */
#ifndef SANITY_INSIDE_H
#define SANITY_INSIDE_H

#include <stdint.h>

#include "gdrapi.h"

/* Of a context and its newest pin, if it has one; can be sent to another process. */
struct inside {
	int fd;                 /* /dev/gdrdrv, or /dev/nvidiactl of the RM client; -1: none */
	uint64_t mh;            /* the library's handle, 0: no pin */
	/* rm */
	uint32_t client, parent, object;        /* RM's names; the last two are the pin's */
	uint32_t minor;                         /* /dev/nvidia<minor> */
	uint32_t ipc_word;      /* of an IPC handle: CUDA's client; its object is the next */
};

/* Look into g, an open context of this process. */
struct inside inside_look(gdr_t g);

/*
 * A gdr_t that was never opened: a copy of g's first bytes, with the descriptor
 * replaced.  Static; the next call overwrites it.
 */
gdr_t inside_forge(gdr_t g, int fd);

#endif
