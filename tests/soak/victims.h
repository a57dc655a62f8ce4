/* SPDX-License-Identifier: MIT */
/* Processes that work until they are killed, and one that holds a pin. */
#ifndef SOAK_VICTIMS_H
#define SOAK_VICTIMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "soak.h"

#define VICTIMS_MAX 64

struct victims_plan {
	uint64_t seed;                  /* of what they do and of when they die */
	unsigned threads;               /* of each */
	double window_ms;               /* they die so long after they began, or sooner */
};

/* Start n of them, kill each at its moment, and count in what their threads were then. */
void victims_kill(const struct victims_plan *plan, unsigned n, unsigned long in[SOAK_OPS]);

/*
 * Those whom the dead left behind end by themselves, and soon: true if one is
 * still there after so many ms.  This process is the one they come to.
 */
bool victims_left(int ms);

/* A process that does nothing yet; with holder_pin it holds a pin; then it ends. */
struct holder {
	pid_t pid;
	int tell, say;
};

void holder_start(struct holder *h);
void holder_pin(const struct holder *h);
void holder_end(const struct holder *h);

/* If the program was started as a child: does its work, and does not return. */
void victims_main(int argc, char **argv);

/* Ends this program: what, errno, and the seed. */
void victims_die(const char *what) __attribute__((noreturn));

#endif
