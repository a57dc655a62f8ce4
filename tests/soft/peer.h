/* SPDX-License-Identifier: MIT */
/*
 * A second process: a child made before this one touched CUDA, with a socket to it
 * and turns that the two take.
 */
#ifndef TEST_SOFT_PEER_H
#define TEST_SOFT_PEER_H

#include <sys/socket.h>

#include "soft.h"

static int peer_socket = -1;    /* this side's end, in both */
static pid_t peer;

/* The child runs this; what it returns is its exit status. */
static inline void peer_start(int (*run)(void))
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	peer = fork();
	assert_int_not_equal(peer, -1);
	close(ends[peer ? 1 : 0]);
	peer_socket = ends[peer ? 0 : 1];
	if (peer)
		return;
	signal(SIGABRT, SIG_DFL);
	_exit(run());
}

/* The other side may go on. */
static inline void peer_step(void)
{
	char c = 's';

	assert_int_equal(write(peer_socket, &c, 1), 1);
}

static inline void peer_await(void)
{
	char c;

	assert_int_equal(read(peer_socket, &c, 1), 1);
}

/* In the parent: all went well there. */
static inline void peer_end(void)
{
	int status;

	assert_int_equal(waitpid(peer, &status, 0), peer);
	assert_int_equal(status, 0);
}

#endif
