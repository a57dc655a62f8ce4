/* SPDX-License-Identifier: MIT */
/* What the failure of a call may lead to. */
#ifndef FAULTS_EXPECTED_H
#define FAULTS_EXPECTED_H

#include <stdbool.h>

#include "inject.h"
#include "scenario.h"

/* What a call is made to fail with, one after the other; 0 ends. */
const int *expected_errors(enum inject_call call);

/*
 * After one failure of call with err: true if the interface said what it should.
 * once: the call failed a single time, so that what can be tried again must work.
 */
bool expected_outcome(const struct ground *g, enum inject_call call, int err, bool once,
		      const struct scenario *s);

#endif
