/* SPDX-License-Identifier: MIT */
/* A function in a child process, with a time limit. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* 0 once it has ended, -ETIMEDOUT if it has not when the time is over, or why nobody knows. */
static int wait_until(pid_t pid, double deadline, int *status)
{
	struct timespec pause = { 0, 2000000 };
	pid_t got;

	for (;;) {
		got = waitpid(pid, status, WNOHANG);
		if (got == pid)
			return 0;
		if (got < 0)
			return -errno;
		if (now() > deadline)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}

static void describe(int status, struct probe_end *end)
{
	if (WIFSIGNALED(status))
		snprintf(end->how, sizeof(end->how), "the process was killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		snprintf(end->how, sizeof(end->how), "the process ended with exit status %d",
			 WEXITSTATUS(status));
	else
		end->done = true;
}

/* Of one that has not been waited for: until then its number is its own. */
static void end_late(pid_t pid, uint64_t seconds, struct probe_end *end)
{
	int status;

	kill(pid, SIGKILL);
	snprintf(end->how, sizeof(end->how), "it did not end within %llu s",
		 (unsigned long long)seconds);
	if (wait_until(pid, now() + 5, &status) == -ETIMEDOUT)
		snprintf(end->how, sizeof(end->how), "process %d hangs in the kernel and "
			 "cannot be killed", (int)pid);
}

/* Wait for it; what became of it. */
static void await_end(pid_t pid, uint64_t seconds, struct probe_end *end)
{
	int status = 0, err = wait_until(pid, now() + (double)seconds, &status);

	if (err == -ETIMEDOUT)
		end_late(pid, seconds, end);
	else if (err)
		snprintf(end->how, sizeof(end->how), "the process cannot be waited for: %s",
			 strerror(-err));
	else
		describe(status, end);
}

/* Libraries may print; what they say is in the results, too. */
static void be_quiet(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
}

void probe_run(void (*body)(void *result, void *arg), void *arg, void *out, size_t size,
	       uint64_t seconds, struct probe_end *end)
{
	struct probe_end e = { 0 };
	void *shared;
	pid_t pid;

	fflush(NULL);
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		snprintf(e.how, sizeof(e.how), "it could not be started: %s", strerror(errno));
		*end = e;
		return;
	}
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be_quiet();
		body(shared, arg);
		_exit(0);
	}
	if (pid < 0)
		snprintf(e.how, sizeof(e.how), "it could not be started: %s", strerror(errno));
	else
		await_end(pid, seconds, &e);
	memcpy(out, shared, size);
	munmap(shared, size);
	*end = e;
}
