/* SPDX-License-Identifier: MIT */
/* Second processes of tests; see helper.h. */
#include "helper.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"

void talk_make(struct talk *t)
{
	t->helper = false;
	CHECK_SYS(pipe(t->to_helper) == 0);
	CHECK_SYS(pipe(t->to_parent) == 0);
}

pid_t helper_fork(struct talk *t)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	CHECK_SYS(pid >= 0);
	if (pid == 0)
		sanity_become_helper();
	if (t) {
		t->helper = pid == 0;
		/* So that the end of one process is the end of file of the other. */
		close(t->helper ? t->to_helper[1] : t->to_helper[0]);
		close(t->helper ? t->to_parent[0] : t->to_parent[1]);
	}
	return pid;
}

void helper_done(void)
{
	fflush(NULL);
	_exit(SANITY_PASSED);
}

void helper_join(pid_t pid)
{
	int status;
	pid_t got;

	do {
		got = waitpid(pid, &status, 0);
	} while (got < 0 && errno == EINTR);
	CHECK_SYS(got == pid);
	if (WIFSIGNALED(status))
		sanity_fail(__FILE__, __LINE__, "the helper process ends well",
			    "it was killed by %s", sanity_signal_name(WTERMSIG(status)));
	if (WEXITSTATUS(status) == SANITY_WAIVED)
		sanity_waive("the helper process could not run");
	if (WEXITSTATUS(status) != SANITY_PASSED)
		sanity_fail(__FILE__, __LINE__, "the helper process ends well",
			    "its exit status is %d", WEXITSTATUS(status));
}

void talk_send(const struct talk *t, const void *data, size_t len)
{
	int fd = t->helper ? t->to_parent[1] : t->to_helper[1];
	const char *p = data;
	ssize_t n;

	while (len) {
		n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		CHECK_SYS(n > 0);
		p += n;
		len -= (size_t)n;
	}
}

static bool receive(const struct talk *t, void *data, size_t len)
{
	int fd = t->helper ? t->to_helper[0] : t->to_parent[0];
	char *p = data;
	ssize_t n;

	while (len) {
		n = read(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

void talk_receive(const struct talk *t, void *data, size_t len)
{
	if (!receive(t, data, len))
		sanity_fail(__FILE__, __LINE__, "a message from the other process",
			    "it ended without one");
}

void talk_send_int(const struct talk *t, int v)
{
	talk_send(t, &v, sizeof(v));
}

int talk_receive_int(const struct talk *t)
{
	int v;

	talk_receive(t, &v, sizeof(v));
	return v;
}

bool talk_try_receive_int(const struct talk *t, int *v)
{
	return receive(t, v, sizeof(*v));
}

union control {
	char buf[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static void one_byte(struct msghdr *msg, struct iovec *iov, char *byte, union control *control)
{
	memset(control, 0, sizeof(*control));
	*iov = (struct iovec){ byte, 1 };
	*msg = (struct msghdr){
		.msg_iov = iov, .msg_iovlen = 1,
		.msg_control = control->buf, .msg_controllen = sizeof(control->buf),
	};
}

void pass_descriptor(int socket, int fd)
{
	struct cmsghdr *cmsg;
	union control control;
	struct msghdr msg;
	struct iovec iov;
	char byte = 'd';

	one_byte(&msg, &iov, &byte, &control);
	cmsg = CMSG_FIRSTHDR(&msg);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	CHECK_SYS(sendmsg(socket, &msg, 0) == 1);
}

int take_descriptor(int socket)
{
	struct cmsghdr *cmsg;
	union control control;
	struct msghdr msg;
	struct iovec iov;
	char byte;
	int fd;

	one_byte(&msg, &iov, &byte, &control);
	CHECK_SYS(recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) == 1);
	cmsg = CMSG_FIRSTHDR(&msg);
	CHECK(cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}
