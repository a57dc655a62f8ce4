/* SPDX-License-Identifier: MIT */
/*
 * How many instructions a small copy takes from the call to the return, the
 * check of the handle included: fewer than 60 for 8 bytes, than 80 for 64.
 * Counted by single-stepping a child, so that the processor's own choice of
 * routine is what is counted.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "copy.h"
#include "gdrapi.h"
#include "handle.h"

#define SKIP 77
#define STEPS_MAX 100000

struct counted {
	const char *name;
	enum gdr_copy_dir dir;
	size_t size;
	int limit;                      /* fewer than this */
};

static const struct counted cases[] = {
	{ "8 bytes to the mapping", GDR_COPY_TO_MAPPING, 8, 60 },
	{ "8 bytes from the mapping", GDR_COPY_FROM_MAPPING, 8, 60 },
	{ "64 bytes to the mapping", GDR_COPY_TO_MAPPING, 64, 80 },
	{ "64 bytes from the mapping", GDR_COPY_FROM_MAPPING, 64, 80 },
};

static _Alignas(64) unsigned char mapping[64], host[64];
static struct gdr g;
static struct gdr_memh m;

static uintptr_t entry(const struct counted *c)
{
	return c->dir == GDR_COPY_TO_MAPPING ? (uintptr_t)gdr_copy_to_mapping :
	       (uintptr_t)gdr_copy_from_mapping;
}

static int call(const struct counted *c, gdr_mh_t mh)
{
	if (c->dir == GDR_COPY_TO_MAPPING)
		return gdr_copy_to_mapping(mh, mapping, host, c->size);
	return gdr_copy_from_mapping(mh, host, mapping, c->size);
}

static _Noreturn void child(const struct counted *c)
{
	gdr_mh_t mh = { m.id };

	/* a fork unmaps */
	gdr_handle_publish(&m, GDR_MAPPING_TYPE_WC);
	/* nothing is bound for the first time while counting */
	if (call(c, mh))
		_exit(1);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(SKIP);
	raise(SIGSTOP);
	_exit(call(c, mh) ? 1 : 0);
}

/* Step pid until it is at an address.  Steps made, or -1. */
static long step_to(pid_t pid, uintptr_t address, struct user_regs_struct *regs)
{
	long steps = 0;
	int status;

	do {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) ||
		    waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
		    WSTOPSIG(status) != SIGTRAP || ptrace(PTRACE_GETREGS, pid, NULL, regs))
			return -1;
		steps++;
	} while (regs->rip != address && steps < STEPS_MAX);
	return steps < STEPS_MAX ? steps : -1;
}

/* Instructions from the first one of the function to the return, both included; or -1. */
static long trace(const struct counted *c, pid_t pid)
{
	struct user_regs_struct regs;
	long back;

	if (step_to(pid, entry(c), &regs) < 0)
		return -1;
	errno = 0;
	back = ptrace(PTRACE_PEEKDATA, pid, (void *)regs.rsp, NULL);
	if (errno)
		return -1;
	return step_to(pid, (uintptr_t)back, &regs);
}

static int check(const struct counted *c)
{
	int status;
	long steps;
	pid_t pid = fork();

	if (!pid)
		child(c);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	if (!WIFSTOPPED(status)) {
		printf("%s: %s\n", c->name, WIFEXITED(status) && WEXITSTATUS(status) == SKIP ?
		       "skipped: this process may not trace another" : "FAILED: the copy failed");
		return WIFEXITED(status) && WEXITSTATUS(status) == SKIP ? SKIP : 1;
	}
	steps = trace(c, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("%s: %ld instructions\n", c->name, steps);
	if (steps > 0 && steps < c->limit)
		return 0;
	printf("FAILED: not fewer than %d\n", c->limit);
	return 1;
}

int main(void)
{
	int failures = 0;
	gdr_mh_t stale;

#ifndef __OPTIMIZE__
	printf("skipped: this build is not optimised\n");
	return SKIP;
#endif
	/* valgrind among others, whose code it is that would be counted */
	if (getenv("LD_PRELOAD")) {
		printf("skipped: LD_PRELOAD is set\n");
		return SKIP;
	}
	gdr_copy_init();
	if (gdr_handle_new(&g, &m))
		return 1;
	stale.h = m.id;
	printf("routines: %s, %s\n", gdr_copy_name(GDR_COPY_TO_MAPPING),
	       gdr_copy_name(GDR_COPY_FROM_MAPPING));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret = check(&cases[i]);

		if (ret == SKIP)
			return SKIP;
		failures += ret;
	}
	gdr_handle_delete(&m);
	if (gdr_copy_to_mapping(stale, mapping, host, 8) != EINVAL ||
	    gdr_copy_from_mapping(stale, host, mapping, 8) != EINVAL) {
		printf("FAILED: a stale handle is accepted\n");
		failures++;
	}
	return failures ? 1 : 0;
}
