/* SPDX-License-Identifier: MIT */
/* Expected faults; see fault.h. */
#include "fault.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "runner.h"
#include "session.h"

static sigjmp_buf back;
static volatile sig_atomic_t expecting;
static const volatile void *volatile expected_at;
static volatile int caught_signal;

static void caught(int sig, siginfo_t *info, void *context)
{
	if (!expecting || info->si_addr != expected_at) {
		/* Returning runs into it again, and this time it kills. */
		signal(sig, SIG_DFL);
		return;
	}
	expecting = 0;
	caught_signal = sig;
	siglongjmp(back, 1);
}

void fault_catch(void)
{
	struct sigaction sa = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO };

	sigemptyset(&sa.sa_mask);
	CHECK_SYS(sigaction(SIGBUS, &sa, NULL) == 0);
	CHECK_SYS(sigaction(SIGSEGV, &sa, NULL) == 0);
}

int fault_load(const volatile int *p, int *value)
{
	expected_at = p;
	if (sigsetjmp(back, 1))
		return caught_signal;
	expecting = 1;
	full_barrier();
	*value = *p;
	full_barrier();
	expecting = 0;
	full_barrier();
	return 0;
}

void fault_expect(const volatile int *p, int segv)
{
	int value = 0, sig = fault_load(p, &value);

	if (!sig)
		sanity_fail(__FILE__, __LINE__, "a load that must fault", "it gave 0x%x", value);
	sanity_say("the load raised %s", sanity_signal_name(sig));
	if (segv && sig != SIGSEGV)
		sanity_fail(__FILE__, __LINE__, "a load that must raise SIGSEGV", "it raised %s",
			    sanity_signal_name(sig));
}
