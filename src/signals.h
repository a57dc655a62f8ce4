/* SPDX-License-Identifier: MIT */
/* Which signals a thread of our own gets, in somebody else's program. */
#ifndef GDR_SIGNALS_H
#define GDR_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/*
 * Leave signals to the program's threads, all but those that the thread's own
 * instructions raise.  A thread that is created now inherits that; set *old again.
 */
static inline void gdr_signals_leave(sigset_t *old)
{
	static const int faults[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
	sigset_t programs;

	sigfillset(&programs);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&programs, faults[i]);
	pthread_sigmask(SIG_SETMASK, &programs, old);
}

#endif
