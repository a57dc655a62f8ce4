/* SPDX-License-Identifier: MIT */
/* Names of errno values and signals; glibc has functions for it only since 2.32. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "runner.h"

struct name {
	int number;
	const char *text;
};

#define NAME(n) { n, #n }

static const struct name errnos[] = {
	NAME(EPERM), NAME(ENOENT), NAME(EINTR), NAME(EIO), NAME(ENXIO), NAME(EBADF),
	NAME(EAGAIN), NAME(ENOMEM), NAME(EACCES), NAME(EFAULT), NAME(EBUSY), NAME(EEXIST),
	NAME(EXDEV), NAME(ENODEV), NAME(EINVAL), NAME(ENFILE), NAME(EMFILE), NAME(ENOTTY),
	NAME(ENOSPC), NAME(ERANGE), NAME(ENOSYS), NAME(EOVERFLOW), NAME(EOPNOTSUPP),
};

static const struct name signals[] = {
	NAME(SIGHUP), NAME(SIGINT), NAME(SIGQUIT), NAME(SIGILL), NAME(SIGTRAP), NAME(SIGABRT),
	NAME(SIGBUS), NAME(SIGFPE), NAME(SIGKILL), NAME(SIGUSR1), NAME(SIGSEGV), NAME(SIGUSR2),
	NAME(SIGPIPE), NAME(SIGALRM), NAME(SIGTERM), NAME(SIGXCPU), NAME(SIGSYS),
};

static const char *find(const struct name *names, size_t n, int number)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (names[i].number == number)
			return names[i].text;
	return NULL;
}

const char *sanity_errno_name(int err)
{
	return find(errnos, sizeof(errnos) / sizeof(errnos[0]), err);
}

const char *sanity_signal_name(int sig)
{
	const char *name = find(signals, sizeof(signals) / sizeof(signals[0]), sig);

	return name ? name : "a signal";
}
