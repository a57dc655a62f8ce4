/* SPDX-License-Identifier: MIT */
/*
 * Tests that behave badly on purpose, for the tests of the runner.  They take
 * the place of the real ones.  PLANTED_DIR: where helpers leave their pids.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fault.h"
#include "helper.h"
#include "test.h"

static void pass(const struct sanity_variant *v)
{
}

static void note(const struct sanity_variant *v)
{
	sanity_note("first note");
	sanity_note("second\n& <last> note");
}

static void fail(const struct sanity_variant *v)
{
	CHECK_INT(1 + 1, 3);
}

static void fail_to_stdout(const struct sanity_variant *v)
{
	printf("a table of differences\n");
	CHECK(0 == 1);
}

static void waive(const struct sanity_variant *v)
{
	sanity_waive("this \"is\" <the> reason & no other");
}

static void exit_3(const struct sanity_variant *v)
{
	_exit(3);
}

static void exit_2(const struct sanity_variant *v)
{
	_exit(2);
}

static void dies(const struct sanity_variant *v)
{
	raise(SIGABRT);
}

/* A fault that nobody waits for, with the handler of the probes in place. */
static void faults(const struct sanity_variant *v)
{
	volatile int *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	fault_catch();
	*nowhere = 1;
}

/* One at another address than the probe's. */
static void faults_elsewhere(const struct sanity_variant *v)
{
	volatile int *nowhere = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int value;

	fault_catch();
	CHECK_INT(fault_load(nowhere, &value), SIGSEGV);
	(void)nowhere[1024];
}

/* The file's end is a bus error; what is not mapped a segmentation fault. */
static void probes(const struct sanity_variant *v)
{
	volatile int *p;
	FILE *f = tmpfile();
	int value = 0;

	CHECK_SYS(f && ftruncate(fileno(f), 4096) == 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
	CHECK_SYS(p != MAP_FAILED);
	fault_catch();
	p[3] = 33;
	CHECK_INT(fault_load(p + 3, &value), 0);
	CHECK_INT(value, 33);
	CHECK_SYS(ftruncate(fileno(f), 0) == 0);
	CHECK_INT(fault_load(p + 3, &value), SIGBUS);
	fault_expect(p, 0);
	CHECK_SYS(munmap((void *)(uintptr_t)p, 4096) == 0);
	CHECK_INT(fault_load(p + 3, &value), SIGSEGV);
	fault_expect(p, 1);
	fclose(f);
}

/* Its pid, for the test of the runner to look for: once the file is there it is written. */
static void leave_pid(const char *name)
{
	char path[512], begun[520];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", getenv("PLANTED_DIR"), name);
	snprintf(begun, sizeof(begun), "%s.begun", path);
	f = fopen(begun, "w");
	CHECK_SYS(f);
	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
	CHECK_SYS(rename(begun, path) == 0);
}

static void sleep_on(const char *name)
{
	signal(SIGTERM, SIG_IGN);
	leave_pid(name);
	for (;;)
		pause();
}

static void hang(const struct sanity_variant *v)
{
	if (helper_fork(NULL) == 0)
		sleep_on("hang.helper");
	if (helper_fork(NULL) == 0) {
		if (helper_fork(NULL) == 0)
			sleep_on("hang.orphan");
		leave_pid("hang.parent");
		helper_done();
	}
	sleep_on("hang.test");
}

static void wait_for_pid(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", getenv("PLANTED_DIR"), name);
	while (access(path, R_OK) != 0)
		usleep(1000);
}

/* Tests that end while a helper of theirs goes on. */
static void leave_helper(const struct sanity_variant *v)
{
	if (helper_fork(NULL) == 0)
		sleep_on("left.helper");
	wait_for_pid("left.helper");
}

static void die_and_leave_helper(const struct sanity_variant *v)
{
	if (helper_fork(NULL) == 0)
		sleep_on("died.helper");
	wait_for_pid("died.helper");
	raise(SIGKILL);
}

/* One that leaves the group. */
static void leave_escaped(const struct sanity_variant *v)
{
	if (helper_fork(NULL) == 0) {
		CHECK_SYS(setsid() > 0);
		sleep_on("escaped.helper");
	}
	wait_for_pid("escaped.helper");
}

static void helper_fails(const struct sanity_variant *v)
{
	pid_t pid = helper_fork(NULL);

	if (pid == 0) {
		CHECK(2 < 1);
		helper_done();
	}
	helper_join(pid);
}

static void helper_dies(const struct sanity_variant *v)
{
	pid_t pid = helper_fork(NULL);

	if (pid == 0)
		raise(SIGILL);
	helper_join(pid);
}

static void helper_silent(const struct sanity_variant *v)
{
	struct talk t;

	talk_make(&t);
	if (helper_fork(&t) == 0)
		_exit(0);
	talk_receive_int(&t);
}

static const struct sanity_test planted[] = {
	{ "planted_pass", pass, { 0 }, SANITY_DEFAULT },
	{ "planted_fail", fail, { 0 }, SANITY_DEFAULT },
	{ "planted_waive", waive, { 0 }, SANITY_DEFAULT },
	{ "planted_another_pass", pass, { 0 }, SANITY_DEFAULT },
	{ "extended_pass", pass, { 0 }, SANITY_EXTENDED },
	{ "more_note", note, { 0 }, SANITY_MORE },
	{ "more_fail_stdout", fail_to_stdout, { 0 }, SANITY_MORE },
	{ "more_exit_3", exit_3, { 0 }, SANITY_MORE },
	{ "more_exit_2", exit_2, { 0 }, SANITY_MORE },
	{ "more_dies", dies, { 0 }, SANITY_MORE },
	{ "more_faults", faults, { 0 }, SANITY_MORE },
	{ "more_faults_elsewhere", faults_elsewhere, { 0 }, SANITY_MORE },
	{ "more_probes", probes, { 0 }, SANITY_MORE },
	{ "more_hang", hang, { 0 }, SANITY_MORE },
	{ "more_leave_helper", leave_helper, { 0 }, SANITY_MORE },
	{ "more_die_and_leave_helper", die_and_leave_helper, { 0 }, SANITY_MORE },
	{ "more_leave_escaped", leave_escaped, { 0 }, SANITY_MORE },
	{ "more_helper_fails", helper_fails, { 0 }, SANITY_MORE },
	{ "more_helper_dies", helper_dies, { 0 }, SANITY_MORE },
	{ "more_helper_silent", helper_silent, { 0 }, SANITY_MORE },
};
SANITY_TABLE(planted);
