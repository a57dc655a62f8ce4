/* SPDX-License-Identifier: MIT */
/* The line on a terminal that tells how far a measurement is; nothing elsewhere. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdint.h>

/* A measurement begins: from now its time is taken. */
void progress_begin(void);

/*
 * done of total steps of what label names are made; size: bytes, 0 for none.
 * Cheap to call often: it prints five times a second at most, and only if stderr
 * is a terminal.
 */
void progress_show(const char *label, uint64_t size, double done, double total);

/* Wipe the line out, before something else is printed. */
void progress_clear(void);

#endif
