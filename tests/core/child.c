/* SPDX-License-Identifier: MIT */
/* See child.h. */
#include "child.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef GDR_COVERAGE
void __gcov_dump(void);

/* Not by its name, which the compiler would replace by a fork that forgets its counts. */
static pid_t (*volatile plain_fork)(void) = fork;
#define fork() plain_fork()
#endif

/* Tests fork while threads run, on purpose. */
const char *__tsan_default_options(void);
__attribute__((weak)) const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

void child_exit(int status)
{
#ifdef GDR_COVERAGE
	__gcov_dump();
#endif
	_exit(status);
}

static void die(const char *what)
{
	perror(what);
	abort();
}

int in_child(void (*run)(void *), void *arg)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		run(arg);
		child_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	return status;
}

static void write_there(void *va)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGSEGV, SIG_DFL);
	*(volatile char *)va = 1;
}

bool faults_in_child(void *va)
{
	int status = in_child(write_there, va);

	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

static void apply_env(const char *const *env)
{
	extern char **environ;
	char name[256];
	char **e = environ;

	while (*e) {
		size_t n = strcspn(*e, "=");

		if (n < sizeof(name) && (!strncmp(*e, "GDRCOPY_", 8) ||
					 !strncmp(*e, "SOFTCUDA_", 9))) {
			memcpy(name, *e, n);
			name[n] = '\0';
			unsetenv(name);
			e = environ;
		} else {
			e++;
		}
	}
	for (; *env; env++) {
		const char *value = strchr(*env, '=');

		if (!value) {
			unsetenv(*env);
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(value - *env), *env);
		setenv(name, value + 1, 1);
	}
}

static void collect(struct pollfd *fd, char *buf, size_t size, size_t *used)
{
	char drop[4096];
	bool full = *used + 1 >= size;
	ssize_t n;

	if (!fd->revents)
		return;
	n = full ? read(fd->fd, drop, sizeof(drop)) :
		   read(fd->fd, buf + *used, size - 1 - *used);
	if (n <= 0) {
		close(fd->fd);
		fd->fd = -1;
	} else if (!full) {
		*used += (size_t)n;
	}
}

void run_program(struct output *o, const char *const *env, const char *const *argv)
{
	size_t nout = 0, nerr = 0;
	int out[2], err[2];
	struct pollfd fds[2];
	pid_t pid;

	if (pipe(out) || pipe(err))
		die("pipe");
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		for (int i = 0; i < 2; i++) {
			close(out[i]);
			close(err[i]);
		}
		apply_env(env);
		execv(argv[0], (char **)(uintptr_t)argv);
		die(argv[0]);
	}
	close(out[1]);
	close(err[1]);
	fds[0] = (struct pollfd){ .fd = out[0], .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = err[0], .events = POLLIN };
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (poll(fds, 2, -1) < 0)
			die("poll");
		collect(&fds[0], o->out, sizeof(o->out), &nout);
		collect(&fds[1], o->err, sizeof(o->err), &nerr);
	}
	o->out[nout] = '\0';
	o->err[nerr] = '\0';
	if (waitpid(pid, &o->status, 0) != pid)
		die("waitpid");
}

void run_self(struct output *o, const char *const *env, const char *mode)
{
	char self[4096];
	const char *argv[] = { self, mode, NULL };
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		die("/proc/self/exe");
	self[n] = '\0';
	run_program(o, env, argv);
}

int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	if (!d)
		die("/proc/self/fd");
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

bool has_mapping_named(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];
	bool found = false;

	if (!maps)
		die("/proc/self/maps");
	while (fgets(line, sizeof(line), maps))
		found |= strstr(line, name) != NULL;
	fclose(maps);
	return found;
}
