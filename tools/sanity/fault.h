/* SPDX-License-Identifier: MIT */
/*
 * Touching memory that may not be there.  The fault is caught, compared with
 * the address, and the test goes on.  A fault that nobody expects kills the
 * process, as it does without a handler.
 */
#ifndef SANITY_FAULT_H
#define SANITY_FAULT_H

/* Catch SIGBUS and SIGSEGV in this process from now on. */
void fault_catch(void);

/* Load *p, between full barriers.  0 and *value, or the signal that it raised. */
int fault_load(const volatile int *p, int *value);

/* Must raise a signal.  SIGSEGV if segv: nothing is mapped; otherwise SIGBUS is right, too. */
void fault_expect(const volatile int *p, int segv);

#endif
