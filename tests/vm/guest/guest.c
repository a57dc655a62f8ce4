/* SPDX-License-Identifier: MIT */
/* Cases and expectations, children, small files; see guest.h. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned failures; /* atomic: threads expect things as well */
static unsigned cases_ok, cases_failed;
static const char *skipped_case;

bool guest_want(bool cond, const char *what, const char *file, int line)
{
	if (!cond) {
		__atomic_add_fetch(&failures, 1, __ATOMIC_SEQ_CST);
		printf("# %s:%d: expected %s\n", file, line, what);
		fflush(stdout);
	}
	return cond;
}

bool guest_want_eq(long long got, long long expected, const char *what, const char *file, int line)
{
	if (got == expected)
		return true;
	printf("# %s is %lld, %lld expected\n", what, got, expected);
	return guest_want(false, what, file, line);
}

bool guest_want_in(long long got, long long one, long long other, const char *what,
		   const char *file, int line)
{
	if (got == one || got == other)
		return true;
	printf("# %s is %lld, %lld or %lld expected\n", what, got, one, other);
	return guest_want(false, what, file, line);
}

void guest_need(bool cond, const char *what, const char *file, int line)
{
	if (cond)
		return;
	printf("not ok # %s:%d: needed %s (errno %d, %s)\n", file, line, what, errno,
	       strerror(errno));
	fflush(stdout);
	_exit(1);
}

unsigned guest_failures(void)
{
	return __atomic_load_n(&failures, __ATOMIC_SEQ_CST);
}

void guest_run(const char *name, void (*fn)(void))
{
	unsigned before = guest_failures();

	skipped_case = NULL;
	fn();
	if (guest_failures() != before) {
		cases_failed++;
		printf("not ok %s\n", name);
	} else if (skipped_case) {
		printf("ok %s # skip %s\n", name, skipped_case);
	} else {
		cases_ok++;
		printf("ok %s\n", name);
	}
	fflush(stdout);
}

int guest_end(void)
{
	printf("# %u ok, %u not ok\n", cases_ok, cases_failed);
	if (cases_failed || guest_failures())
		return 1;
	return cases_ok ? 0 : SKIP;
}

void guest_skip(const char *why, ...)
{
	va_list args;

	printf("# skipped: ");
	va_start(args, why);
	vprintf(why, args);
	va_end(args);
	printf("\n");
	exit(SKIP);
}

void guest_skip_case(const char *why)
{
	skipped_case = why;
}

__attribute__((constructor)) static void flush_lines(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
}

void guest_note(const char *fmt, ...)
{
	va_list args;

	printf("# ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

pid_t start_child(void (*fn)(void *arg), void *arg)
{
	unsigned before = guest_failures();
	pid_t pid;

	fflush(stdout);
	pid = fork();
	need(pid >= 0);
	if (pid == 0) {
		fn(arg);
		fflush(stdout);
		_exit(guest_failures() != before);
	}
	return pid;
}

int wait_child(pid_t pid)
{
	int status;
	pid_t got;

	do
		got = waitpid(pid, &status, 0);
	while (got < 0 && errno == EINTR);
	need(got == pid);
	return status;
}

int in_child(void (*fn)(void *arg), void *arg)
{
	return wait_child(start_child(fn, arg));
}

/* The control message is a union for its alignment. */
union fd_message {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

void send_fd(int sock, int fd)
{
	char byte = 'x';
	struct iovec iov = { &byte, 1 };
	union fd_message m = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
					 .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = &m, .msg_controllen = sizeof(m) };

	memcpy(CMSG_DATA(&m.head), &fd, sizeof(fd));
	need(sendmsg(sock, &msg, 0) == 1);
}

int receive_fd(int sock)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	union fd_message m;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = &m, .msg_controllen = sizeof(m) };
	int fd;

	need(recvmsg(sock, &msg, 0) == 1);
	need(CMSG_FIRSTHDR(&msg) != NULL);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

int read_file(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = 0;

	if (fd < 0)
		return -errno;
	while (n < room - 1 && (got = read(fd, text + n, room - 1 - n)) > 0)
		n += (size_t)got;
	if (got < 0)
		got = -errno;
	close(fd);
	text[n] = '\0';
	return got < 0 ? (int)got : (int)n;
}

long long number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	if (!at)
		return -1;
	at += strlen(key);
	at += strspn(at, ": \t=");
	return *at >= '0' && *at <= '9' ? strtoll(at, NULL, 10) : -1;
}

uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint32_t pseudo_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return (uint32_t)(x >> 32);
}

unsigned long number_arg(int argc, char **argv, int n, unsigned long otherwise)
{
	return argc > n ? strtoul(argv[n], NULL, 0) : otherwise;
}
