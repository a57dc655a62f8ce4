/* SPDX-License-Identifier: MIT */
/*
 * Description: another process gets the descriptor behind a gdr_t and the handle
 * of what is pinned there.  Neither the library nor the driver maps it for it.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "foreign.h"
#include "helper.h"
#include "session.h"
#include "sock.h"

static void in_helper(const struct talk *t, int socket, const struct sanity_variant *v)
{
	void *va = &va;
	struct inside owner;
	struct gpu_mem mem;
	gdr_mh_t mh;
	gdr_t g;

	session_cuda(v, true);
	mem = session_alloc(v, SMALL, SESSION_FILL);
	talk_receive(t, &owner, sizeof(owner));
	owner.fd = take_descriptor(socket);
	mh.h = owner.mh;
	g = session_open();
	REFUSED(gdr_map(inside_forge(g, owner.fd), mh, &va, SMALL), EINVAL);
	REFUSED(gdr_map(g, mh, &va, SMALL), EINVAL);
	CHECK(va == &va);
	if (session_is("rm"))
		foreign_rm_map(&owner);
	else
		foreign_gdrdrv_map(owner.fd);
	GDR(gdr_close(g));
	session_free(&mem);
	helper_done();
}

static void run(const struct sanity_variant *v)
{
	int sockets[2];
	struct mapped p;
	struct inside in;
	struct talk t;
	pid_t pid;

	sock_needs_descriptor();
	CHECK_SYS(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	talk_make(&t);
	pid = helper_fork(&t);
	close(sockets[pid ? 1 : 0]);
	if (pid == 0)
		in_helper(&t, sockets[1], v);

	session_cuda(v, true);
	p.mem = session_alloc(v, SMALL, SESSION_FILL);
	p.g = session_open();
	p.mh = session_pin(p.g, v, p.mem.ptr, SMALL);
	in = inside_look(p.g);
	CHECK(in.fd >= 0);
	CHECK(in.mh == p.mh.h);
	talk_send(&t, &in, sizeof(in));
	pass_descriptor(sockets[0], in.fd);
	helper_join(pid);
	/* For its owner it is still good. */
	session_map_pinned(&p);
	p.m[0] = 5;
	CHECK_INT(p.m[0], 5);
	session_unmap(&p);
	GDR(gdr_close(p.g));
	session_free(&p.mem);
	session_end();
}

static const struct sanity_test sock_map[] = {
	{ "invalidation_unix_sock_shared_fd_gdr_map_cumemalloc", run, PLAIN, SANITY_DEFAULT },
	{ "invalidation_unix_sock_shared_fd_gdr_map_vmmalloc", run, VMM, SANITY_DEFAULT },
};
SANITY_TABLE(sock_map);
