/* SPDX-License-Identifier: MIT */
/*
 * A program with rights that its user lacks, which the kernel tells it by
 * AT_SECURE, does not do what the user's environment says, and never gets
 * softcuda.  secure_probe.c is run plainly, with AT_SECURE set by a debugger's
 * means before its first instruction, and, by root, really set-uid.
 *
 * In the environment: SECURE_PROBE, SOFTCUDA.
 */
#include "fixture.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define NOBODY	 65534
#define CANNOT	 77

static struct output out;
static char usual[128];                 /* copy routines nobody chose */

static const char *probe_path(void)
{
	return getenv("SECURE_PROBE");
}

/* Where a process that was just started has its argument count; 0: it is not said. */
static off_t start_of_stack(pid_t pid)
{
	unsigned long long start = 0;
	char path[64], text[4096], *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	p = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	/* proc(5): field 28; field 3 follows the name */
	for (int field = 2; p && field < 28; field++)
		p = strchr(p + 1, ' ');
	if (p)
		start = strtoull(p, NULL, 10);
	fclose(f);
	return (off_t)start;
}

/* Set AT_SECURE of a stopped process. */
static bool mark_secure(pid_t pid)
{
	unsigned long word[2], one = 1;
	off_t at = start_of_stack(pid);
	bool marked = false;
	char path[64];
	int fd, ends = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || !at)
		return false;
	/* the count; arguments and a NULL; environment and a NULL; then pairs */
	for (at += (off_t)sizeof(one); ends < 2; at += (off_t)sizeof(one)) {
		if (pread(fd, word, sizeof(one), at) != (ssize_t)sizeof(one))
			goto close_fd;
		ends += !word[0];
	}
	for (; pread(fd, word, sizeof(word), at) == (ssize_t)sizeof(word) && word[0] != AT_NULL;
	     at += (off_t)sizeof(word))
		if (word[0] == AT_SECURE)
			marked = pwrite(fd, &one, sizeof(one), at + (off_t)sizeof(one)) ==
				 (ssize_t)sizeof(one);
close_fd:
	close(fd);
	return marked;
}

/* Become a parent that runs a program so; its status, or CANNOT. */
static int run_marked(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(CANNOT);
		execv(argv[0], argv);
		_exit(126);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 126;
	if (!WIFSTOPPED(status))
		return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
	if (!mark_secure(pid)) {
		kill(pid, SIGKILL);
		return CANNOT;
	}
	if (ptrace(PTRACE_DETACH, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid)
		return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

enum how { PLAINLY, MARKED, SET_UID };

/*
 * Copies of the probe, which belongs to somebody else, and of softcuda, which may be
 * where nobody else can read; where they can be made.
 */
static bool make_set_uid(char *dir, char *path, char *soft)
{
	char command[8192];

	if (geteuid() != 0)
		return false;
	strcpy(dir, "/tmp/gdrcopy-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	sprintf(path, "%s/probe", dir);
	sprintf(soft, "%s/libcuda.so.1", dir);
	snprintf(command, sizeof(command), "cp '%s' %s && cp '%s' %s", probe_path(), path,
		 getenv("SOFTCUDA"), soft);
	assert_int_equal(system(command), 0);
	assert_int_equal(chmod(dir, 0755), 0);
	return !chown(path, NOBODY, NOBODY) && !chmod(path, 04755);
}

/* False: it cannot be run that way here. */
static bool run(enum how how, const char *backend, const char *more)
{
	char self[4096] = "", dir[64], path[128], copy[128], paths[4200], soft[4200];
	const char *argv[] = { probe_path(), getenv("SOFTCUDA"), NULL };
	const char *marked[] = { self, "--marked", argv[0], argv[1], NULL };
	const char *env[] = { paths, soft, backend, more, "GDRCOPY_SOFTCUDA=1", NULL };
	bool able = true;

	snprintf(paths, sizeof(paths), "LD_LIBRARY_PATH=%.*s",
		 (int)(strrchr(argv[1], '/') - argv[1]), argv[1]);
	snprintf(soft, sizeof(soft), "GDRCOPY_SOFTCUDA_LIB=%s", argv[1]);
	if (how == MARKED) {
		assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
		run_program(&out, env, marked);
	} else if (how == SET_UID) {
		able = make_set_uid(dir, path, copy);
		argv[0] = path;
		argv[1] = copy;
		if (able)
			run_program(&out, env, argv);
		if (geteuid() == 0) {
			unlink(path);
			unlink(copy);
			rmdir(dir);
		}
		if (!able)
			return false;
		/* a file system without set-uid programs */
		able = strstr(out.out, "secure=1\n") != NULL;
	} else {
		run_program(&out, env, argv);
	}
	if (how == MARKED && WIFEXITED(out.status) && WEXITSTATUS(out.status) == CANNOT)
		return false;
	if (!WIFEXITED(out.status) || WEXITSTATUS(out.status))
		fail_msg("wait status 0x%x: %s%s", out.status, out.out, out.err);
	return able;
}

#define assert_found(text) \
	do { \
		if (!strstr(out.out, text)) \
			fail_msg("no \"%s\" in:\n%s%s", text, out.out, out.err); \
	} while (0)

static void keep_usual(void)
{
	const char *line;

	assert_true(run(PLAINLY, "GDRCOPY_BACKEND=gdrdrv", NULL));
	line = strstr(out.out, "copy=");
	assert_non_null(line);
	snprintf(usual, sizeof(usual), "%.*s\n", (int)strcspn(line, "\n"), line);
}

/* That the variables would do something is what the others stand on. */
static void every_variable_works_in_a_plain_program(void **state)
{
	assert_true(run(PLAINLY, "GDRCOPY_BACKEND=dmabuf", "GDRCOPY_COPY=generic"));
	assert_found("secure=0\n");
	assert_found("backend=dmabuf\n");
	assert_found("copy=generic generic\n");
	assert_found("softcuda=1\nwanted=1\nfound=/");
	assert_found("init=0\n");
	assert_true(run(PLAINLY, "GDRCOPY_USE_DMABUF_MMAP=1", NULL));
	assert_found("backend=dmabuf\nreport=dmabuf: in use\ncopy=");
	assert_true(run(PLAINLY, "GDRCOPY_BACKEND=nonsense", "GDRCOPY_ENABLE_LOGGING=1"));
	assert_found("report=nonsense: no backend of this name\n");
	assert_int_equal(strncmp(out.err, "ERR:  ", 6), 0);
	assert_true(run(PLAINLY, "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=1"));
	assert_non_null(strstr(out.err, "INFO: backend "));
}

/* Whatever backend a machine has: the order starts with gdrdrv, and is nobody's choice. */
static void nothing_of_it(void)
{
	assert_found("secure=1\n");
	assert_found("report=gdrdrv: ");
	assert_found(usual);
	assert_found("softcuda=0\nwanted=0\nfound=none\n");
	assert_null(strstr(out.out, "init=0\n"));
	assert_int_equal(strncmp(out.err, "--\n", 3), 0);
	assert_non_null(strstr(out.err, "ERROR: softcuda is not for programs with rights"));
	assert_non_null(strstr(out.err, "softcuda: not for programs with rights"));
}

static void no_variable_works(enum how how)
{
	static const char *const rows[][2] = {
		{ "GDRCOPY_BACKEND=dmabuf", "GDRCOPY_COPY=generic" },
		{ "GDRCOPY_BACKEND=nonsense", "GDRCOPY_ENABLE_LOGGING=1" },
		{ "GDRCOPY_USE_DMABUF_MMAP=1", "SOFTCUDA_DEVICES=2" },
		{ "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=1" },
	};

	keep_usual();
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (!run(how, rows[i][0], rows[i][1]))
			skip();
		nothing_of_it();
	}
}

static void none_works_where_the_kernel_says_so(void **state)
{
	no_variable_works(MARKED);
}

static void none_works_in_a_set_uid_program(void **state)
{
	no_variable_works(SET_UID);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_variable_works_in_a_plain_program),
		cmocka_unit_test(none_works_where_the_kernel_says_so),
		cmocka_unit_test(none_works_in_a_set_uid_program),
	};

	if (argc > 2 && !strcmp(argv[1], "--marked"))
		return run_marked(argv + 2);
	if (!probe_path() || !getenv("SOFTCUDA"))
		return 77;
	return cmocka_run_group_tests_name("core secure", tests, NULL, NULL);
}
