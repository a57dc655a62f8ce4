/* SPDX-License-Identifier: MIT */
/* The line on a terminal that tells how far a measurement is; nothing elsewhere. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/* A measurement begins: from now its time is taken. */
void progress_begin(void);

/*
 * done of total steps of what label names are made; size: bytes, 0 for none.
 * Cheap to call often: it prints five times a second at most, and only if stderr
 * is a terminal that can wipe a line out.
 */
void progress_show(const char *label, uint64_t size, double done, double total);

/* The step after done of total begins: told at once, since it may take long. */
void progress_step(const char *label, size_t done, size_t total);

/* Wipe the line out, before something else is printed. */
void progress_clear(void);

#endif
