/* SPDX-License-Identifier: MIT */
/*
 * fcntl and pwrite as softcuda calls them in a test that includes this: they stop a
 * process while it holds the lock of an IPC table, and tell what becomes of its calls.
 */
#ifndef TEST_SOFT_IPC_CALLS_H
#define TEST_SOFT_IPC_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "peer.h"

enum on_write {
	GO_ON,
	HAND_OVER,      /* the other side has a turn first */
	FORK,           /* a child that lives until end_child */
};

static atomic_int on_write;             /* what the next pwrite does before it writes */
static atomic_int lock_error;           /* taking a lock fails so */
static atomic_int never_wait;           /* a lock that cannot be had at once is an error */
static atomic_int stalled;              /* that happened */
static atomic_int waits, interrupted;   /* calls to take a lock; those that a signal ended */
static int child_pipe[2];
static pid_t child;

static void start_child(void)
{
	char c;

	assert_int_equal(pipe(child_pipe), 0);
	child = fork();
	assert_int_not_equal(child, -1);
	if (child) {
		close(child_pipe[0]);
		return;
	}
	close(peer_socket);
	close(child_pipe[1]);
	_exit(read(child_pipe[0], &c, 1) != 0);
}

static void end_child(void)
{
	int status;

	close(child_pipe[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t off)
{
	switch (atomic_exchange(&on_write, GO_ON)) {
	case HAND_OVER:
		peer_step();
		peer_await();
		break;
	case FORK:
		start_child();
		break;
	}
	return syscall(SYS_pwrite64, fd, buf, n, off);
}

static int take_lock(int fd, struct flock *l)
{
	int ret;

	if (atomic_load(&lock_error)) {
		errno = atomic_load(&lock_error);
		return -1;
	}
	if (atomic_load(&never_wait)) {
		ret = (int)syscall(SYS_fcntl, fd, F_OFD_SETLK, l);
		if (ret)
			atomic_store(&stalled, 1);
		return ret;
	}
	atomic_fetch_add(&waits, 1);
	ret = (int)syscall(SYS_fcntl, fd, F_OFD_SETLKW, l);
	if (ret && errno == EINTR)
		atomic_fetch_add(&interrupted, 1);
	return ret;
}

int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (cmd == F_OFD_SETLKW && ((struct flock *)arg)->l_type != F_UNLCK)
		return take_lock(fd, arg);
	return (int)syscall(SYS_fcntl, fd, cmd, arg);
}

#endif
