/* SPDX-License-Identifier: MIT */
/*
 * Description: the descriptor behind a gdr_t, passed over a socket, is of no use
 * to another process: it cannot pin its own memory through it.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "foreign.h"
#include "helper.h"
#include "session.h"
#include "sock.h"

void sock_needs_descriptor(void)
{
	if (session_is("dmabuf"))
		sanity_waive("the dmabuf backend has no descriptor of its own; a dma-buf is by "
			     "design the permission to map, for whoever holds it");
}

static void in_helper(const struct talk *t, int socket, const struct sanity_variant *v)
{
	gdr_mh_t mh = { 0 };
	struct inside owner;
	struct gpu_mem mem;
	gdr_t g;

	session_cuda(v, true);
	mem = session_alloc(v, SMALL, SESSION_FILL);
	talk_receive(t, &owner, sizeof(owner));
	owner.fd = take_descriptor(socket);
	g = session_open();
	REFUSED(gdr_pin_buffer(inside_forge(g, owner.fd), mem.ptr, SMALL, 0, 0, &mh), EINVAL);
	CHECK_INT(mh.h, 0);
	if (session_is("rm"))
		foreign_rm_pin(&owner, &mem);
	else
		foreign_gdrdrv_pin(owner.fd, &mem);
	/* Its own descriptor does serve it. */
	mh = session_pin(g, v, mem.ptr, SMALL);
	GDR(gdr_unpin_buffer(g, mh));
	GDR(gdr_close(g));
	session_free(&mem);
	helper_done();
}

static void run(const struct sanity_variant *v)
{
	int sockets[2];
	struct inside in;
	struct gpu_mem mem;
	struct talk t;
	gdr_mh_t mh;
	pid_t pid;
	gdr_t g;

	sock_needs_descriptor();
	CHECK_SYS(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	talk_make(&t);
	pid = helper_fork(&t);
	close(sockets[pid ? 1 : 0]);
	if (pid == 0)
		in_helper(&t, sockets[1], v);

	session_cuda(v, true);
	mem = session_alloc(v, SMALL, SESSION_FILL);
	g = session_open();
	/* The rm backend opens its descriptor with the first pin. */
	mh = session_pin(g, v, mem.ptr, SMALL);
	in = inside_look(g);
	CHECK(in.fd >= 0);
	talk_send(&t, &in, sizeof(in));
	pass_descriptor(sockets[0], in.fd);
	helper_join(pid);
	GDR(gdr_unpin_buffer(g, mh));
	GDR(gdr_close(g));
	session_free(&mem);
	session_end();
}

static const struct sanity_test sock_pin[] = {
	{ "invalidation_unix_sock_shared_fd_gdr_pin_buffer_cumemalloc", run, PLAIN,
	  SANITY_DEFAULT },
	{ "invalidation_unix_sock_shared_fd_gdr_pin_buffer_vmmalloc", run, VMM, SANITY_DEFAULT },
};
SANITY_TABLE(sock_pin);
