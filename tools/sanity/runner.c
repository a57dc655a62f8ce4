/* SPDX-License-Identifier: MIT */
/* A process per test, a process group per process, and its end on every path. */
#include "runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static sigset_t waited, inherited;
static int interrupted;

int sanity_interrupted(void)
{
	return interrupted;
}

void sanity_runner_init(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction old;
	size_t i;

	sigemptyset(&waited);
	sigaddset(&waited, SIGCHLD);
	/* nohup's stays ignored; blocked, it would be kept and seen. */
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends[i] != SIGHUP || sigaction(SIGHUP, NULL, &old) ||
		    old.sa_handler != SIG_IGN)
			sigaddset(&waited, ends[i]);
	sigprocmask(SIG_BLOCK, &waited, &inherited);
	/* Helpers that outlive their test are then reaped here, not by init. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void child(const struct sanity_job *job, int report)
{
	setpgid(0, 0);
	/* Should the runner die without a word. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, &inherited, NULL);
	signal(SIGPIPE, SIG_IGN);       /* a helper's end is to be seen, not to kill */
	sanity_report_to(report);
	if (job->stdout_to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	job->body(job->arg);
	exit(SANITY_PASSED);
}

static bool exists(pid_t group)
{
	return killpg(group, 0) == 0 || errno != ESRCH;
}

/*
 * Children that are not of the job to come: of the program that became this one by
 * exec, or of a test before that cannot be ended.
 */
static bool has_others(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0;
}

/*
 * Kill the group, whose leader nobody has waited for yet, and wait for all of it, and
 * for those who left it; not for these where others' children could be taken for them.
 * The wait status of the leader.
 */
static int clean_up(pid_t group, bool others)
{
	double end = now() + 10;
	struct timespec ms = { 0, 1000000 };
	bool reaped = false;
	int status, first = 0;
	pid_t pid;

	/*
	 * Once: no fork escapes a signal to its group, and as soon as the last of it is
	 * reaped, the number may become another's.
	 */
	killpg(group, SIGKILL);
	/* A process in the kernel's hands may take a while to die. */
	while (now() < end) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid == group) {
			first = status;
			reaped = true;
		}
		if (pid > 0)
			continue;
		if (pid < 0 || (others && reaped && !exists(group)))
			return first;
		nanosleep(&ms, NULL);
	}
	if (exists(group))
		fprintf(stderr, "WARNING: processes of group %d do not die\n", (int)group);
	else
		fprintf(stderr, "WARNING: a process that left group %d goes on\n", (int)group);
	return first;
}

/*
 * Wait for pid without reaping it, so that the number of its group cannot become
 * another's; false after the time limit or an interrupt.
 */
static bool wait_for(pid_t pid, double deadline)
{
	struct timespec t;
	double left;
	siginfo_t info;
	int sig;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
		    info.si_pid == pid)
			return true;
		left = deadline ? deadline - now() : 3600;
		if (left <= 0)
			return false;
		t.tv_sec = (time_t)left;
		t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
		sig = sigtimedwait(&waited, &info, &t);
		if (sig > 0 && sig != SIGCHLD) {
			interrupted = sig;
			return false;
		}
	}
}

static void decode(int status, struct sanity_outcome *out)
{
	int sig;

	if (WIFEXITED(status)) {
		if (WEXITSTATUS(status) == SANITY_PASSED)
			out->result = SANITY_PASS;
		else if (WEXITSTATUS(status) == SANITY_WAIVED)
			out->result = SANITY_WAIVE;
		else
			snprintf(out->reason, sizeof(out->reason), "exit status %d",
				 WEXITSTATUS(status));
		return;
	}
	sig = WTERMSIG(status);
	snprintf(out->reason, sizeof(out->reason), "killed by %s (signal %d, %s)%s",
		 sanity_signal_name(sig), sig, strsignal(sig),
		 WCOREDUMP(status) ? ", core dumped" : "");
}

static void add_note(struct sanity_outcome *out, const char *text)
{
	size_t len = strlen(out->reason);

	snprintf(out->reason + len, sizeof(out->reason) - len, "%s%s", len ? "; " : "", text);
}

/* The first message that says why, and notes where there is none such. */
static void take_messages(int fd, const struct sanity_job *job, bool exited,
			  struct sanity_outcome *out)
{
	static char buf[65536];
	char want = out->result == SANITY_FAIL ? SANITY_MSG_FAILED :
		    out->result == SANITY_WAIVE ? SANITY_MSG_WAIVED : SANITY_MSG_NOTE;
	size_t n = 0;
	ssize_t got;
	char *p, *end;
	bool found = false;

	while (n < sizeof(buf) - 1 && (got = read(fd, buf + n, sizeof(buf) - 1 - n)) > 0)
		n += (size_t)got;
	buf[n] = '\0';
	for (p = buf; p < buf + n; p = end + 1) {
		end = p + strlen(p);
		if (*p == want && want == SANITY_MSG_NOTE) {
			add_note(out, p + 1);
		} else if (*p == want && !found) {
			/* What a helper said does not hide that the test hung or crashed. */
			if (exited)
				out->reason[0] = '\0';
			add_note(out, p + 1);
			found = true;
		} else if (job->message) {
			job->message(*p, p + 1);
		}
	}
	if (out->result == SANITY_WAIVE && !found)
		snprintf(out->reason, sizeof(out->reason), "no reason given");
}

void sanity_run(const struct sanity_job *job, struct sanity_outcome *out)
{
	double start = now();
	int report[2], status;
	bool ended, others;
	pid_t pid;

	out->result = SANITY_FAIL;
	out->reason[0] = '\0';
	out->seconds = 0;
	if (pipe2(report, O_CLOEXEC) < 0) {
		snprintf(out->reason, sizeof(out->reason), "pipe: %s", strerror(errno));
		return;
	}
	fflush(NULL);
	others = has_others();
	pid = fork();
	if (pid == 0) {
		close(report[0]);
		child(job, report[1]);
	}
	close(report[1]);
	if (pid < 0) {
		snprintf(out->reason, sizeof(out->reason), "fork: %s", strerror(errno));
		goto close_report;
	}
	setpgid(pid, pid);      /* whoever comes first; both must be sure of it */
	ended = wait_for(pid, job->timeout ? start + job->timeout : 0);
	status = clean_up(pid, others);
	if (ended)
		decode(status, out);
	else if (interrupted)
		snprintf(out->reason, sizeof(out->reason), "interrupted by %s",
			 sanity_signal_name(interrupted));
	else
		snprintf(out->reason, sizeof(out->reason), "timed out after %u s", job->timeout);
	out->seconds = now() - start;
	fcntl(report[0], F_SETFL, O_NONBLOCK);
	take_messages(report[0], job, ended && WIFEXITED(status), out);
close_report:
	close(report[0]);
}
