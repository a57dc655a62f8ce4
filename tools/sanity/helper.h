/* SPDX-License-Identifier: MIT */
/* A second process in a test: forking, talking, passing a descriptor, and its end. */
#ifndef SANITY_HELPER_H
#define SANITY_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Two pipes, one each way; made before the fork. */
struct talk {
	int to_helper[2], to_parent[2];
	bool helper;            /* on which side this process is */
};

void talk_make(struct talk *t);

/*
 * fork.  In the helper 0, and from now on failures end it without exit().  t may
 * be NULL; in both processes the ends that are not theirs are closed.
 */
pid_t helper_fork(struct talk *t);

/* The end of a helper that did what it should. */
void helper_done(void) __attribute__((noreturn));

/* Wait for the helper; it must have ended so.  Waives the test if the helper waived. */
void helper_join(pid_t pid);

/* Whole messages; the peer's end is a failure. */
void talk_send(const struct talk *t, const void *data, size_t len);
void talk_receive(const struct talk *t, void *data, size_t len);
void talk_send_int(const struct talk *t, int v);
int talk_receive_int(const struct talk *t);

/* False if the peer is gone. */
bool talk_try_receive_int(const struct talk *t, int *v);

/* One descriptor over a socket pair. */
void pass_descriptor(int socket, int fd);
int take_descriptor(int socket);

#endif
