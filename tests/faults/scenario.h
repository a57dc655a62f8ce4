/* SPDX-License-Identifier: MIT */
/* A run through the whole interface that goes on after failures. */
#ifndef FAULTS_SCENARIO_H
#define FAULTS_SCENARIO_H

#include <stdbool.h>

#include "ground.h"

struct scenario {
	unsigned failures;              /* calls that failed, second tries among them */
	int err;                        /* of the first failure */
	char step[64];                  /* its call */
	char text[1024];                /* what was said about it */
	char report[2048];              /* of the first gdr_open that failed */
	bool context;                   /* a thread without a context of CUDA's got one */
	bool wrong;                     /* a promise was broken: said on stderr */
};

/* Every function of the interface; each that fails is tried a second time. */
void scenario_run(const struct ground *g, struct scenario *s);

#endif
