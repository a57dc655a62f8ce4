/* SPDX-License-Identifier: MIT */
/*
 * Description: fork in every state of a context.  In the child every control
 * call says EACCES, nothing is mapped, copies are refused, gdr_close works; and
 * whatever the child does, the parent's mapping stays.  Descriptors do not
 * survive exec.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault.h"
#include "helper.h"
#include "session.h"

enum state {
	OPENED,
	PINNED,
	MAPPED,
	UNMAPPED,
	UNPINNED,
	CLOSED,
	STATES,
};

static void reach(struct mapped *p, const struct sanity_variant *v, enum state state)
{
	switch (state) {
	case OPENED:
		p->g = session_open();
		break;
	case PINNED:
		p->mh = session_pin(p->g, v, p->mem.ptr, SMALL);
		break;
	case MAPPED:
		session_map_pinned(p);
		p->m[0] = 99;
		break;
	case UNMAPPED:
		GDR(gdr_unmap(p->g, p->mh, p->va, SMALL));
		break;
	case UNPINNED:
		GDR(gdr_unpin_buffer(p->g, p->mh));
		break;
	default:
		GDR(gdr_close(p->g));
		break;
	}
}

static void in_child(const struct mapped *p, enum state state)
{
	int err = state == CLOSED ? EINVAL : EACCES;
	char host[8] = "nothing";
	gdr_mh_t mh = { 0 };
	void *va = &va;
	gdr_info_t info;
	int value = 77;

	REFUSED(gdr_pin_buffer(p->g, p->mem.ptr, SMALL, 0, 0, &mh), err);
	REFUSED(gdr_pin_buffer_v2(p->g, p->mem.ptr, SMALL, 0, &mh), err);
	REFUSED(gdr_map(p->g, p->mh, &va, SMALL), err);
	REFUSED(gdr_unmap(p->g, p->mh, p->va, SMALL), err);
	REFUSED(gdr_get_info(p->g, p->mh, &info), err);
	REFUSED(gdr_get_callback_flag(p->g, p->mh, &value), err);
	REFUSED(gdr_get_attribute(p->g, GDR_ATTR_USE_PERSISTENT_MAPPING, &value), err);
	REFUSED(gdr_driver_get_version(p->g, &value, &value), err);
	REFUSED(gdr_unpin_buffer(p->g, p->mh), err);
	CHECK(mh.h == 0 && va == &va && value == 77);
	REFUSED(gdr_copy_from_mapping(p->mh, host, p->va, sizeof(host)), EINVAL);
	REFUSED(gdr_copy_to_mapping(p->mh, p->va, host, sizeof(host)), EINVAL);
	CHECK(strcmp(host, "nothing") == 0);
	if (state >= MAPPED)
		fault_expect(p->m, 1);
	REFUSED(gdr_close(p->g), state == CLOSED ? EINVAL : 0);
	REFUSED(gdr_close(p->g), EINVAL);
}

static void every_state(const struct sanity_variant *v)
{
	struct mapped p = { .mh = { 1 } };
	enum state state;
	pid_t pid;

	session_cuda(v, false);
	p.mem = session_alloc(v, SMALL, 0);
	p.va = &p;
	for (state = OPENED; state < STATES; state++) {
		reach(&p, v, state);
		pid = helper_fork(NULL);
		if (pid == 0) {
			fault_catch();
			in_child(&p, state);
			helper_done();
		}
		helper_join(pid);
		if (state != MAPPED)
			continue;
		/* What the child closed was its own. */
		CHECK_INT(p.m[0], 99);
		p.m[0] = 100;
		CU(cu.MemsetD8(p.mem.ptr, 0x11, 4));
		CU(cu.CtxSynchronize());
		CHECK_INT(p.m[0], 0x11111111);
	}
	session_free(&p.mem);
	session_end();
}

/* A child that forks a child, and one that just ends. */
static void generations(const struct sanity_variant *v)
{
	struct mapped p;
	pid_t pid, next;
	gdr_t g;

	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	p.m[0] = 55;
	pid = helper_fork(NULL);
	if (pid == 0) {
		next = helper_fork(NULL);
		if (next == 0) {
			in_child(&p, PINNED);
			helper_done();
		}
		helper_join(next);
		helper_done();
	}
	helper_join(pid);
	CHECK_INT(p.m[0], 55);
	session_unmap(&p);
	GDR(gdr_close(g));
	session_free(&p.mem);
	session_end();
}

#define FILES 1024

static void list_files(bool *open)
{
	int fd;

	for (fd = 0; fd < FILES; fd++)
		open[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* A shell that looks for the descriptors of the list in its own table. */
static void execute(const char *list)
{
	static const char script[] =
		"for fd in $0; do [ ! -e /proc/self/fd/$fd ] || exit 3; done; exit 0";

	execl("/bin/sh", "sh", "-c", script, list, (char *)NULL);
	sanity_fail(__FILE__, __LINE__, "execl(\"/bin/sh\")", "%s", strerror(errno));
}

static void exec_inherits_nothing(const struct sanity_variant *v)
{
	bool before[FILES], now[FILES];
	char list[4096] = "";
	size_t used = 0;
	struct mapped p;
	int fd;
	gdr_t g;
	pid_t pid;

	session_cuda(v, false);
	/* Once before, for whatever CUDA opens only once. */
	g = session_open();
	p = session_map(g, v);
	session_unmap(&p);
	session_free(&p.mem);
	GDR(gdr_close(g));

	p.mem = session_alloc(v, SMALL, 0);
	list_files(before);
	p.g = session_open();
	p.mh = session_pin(p.g, v, p.mem.ptr, SMALL);
	session_map_pinned(&p);
	list_files(now);
	for (fd = 0; fd < FILES; fd++)
		if (now[fd] && !before[fd])
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%d ", fd);
	CHECK(*list);
	sanity_say("descriptors of the library: %s", list);
	pid = helper_fork(NULL);
	if (pid == 0)
		execute(list);
	helper_join(pid);
	session_unmap(&p);
	GDR(gdr_close(p.g));
	session_free(&p.mem);
	session_end();
}

static const struct sanity_test more_fork[] = {
	{ "fork_in_every_state_cumemalloc", every_state, PLAIN, SANITY_MORE },
	{ "fork_in_every_state_vmmalloc", every_state, VMM, SANITY_MORE },
	{ "fork_generations", generations, PLAIN, SANITY_MORE },
	{ "exec_inherits_nothing_cumemalloc", exec_inherits_nothing, PLAIN, SANITY_MORE },
	{ "exec_inherits_nothing_vmmalloc", exec_inherits_nothing, VMM, SANITY_MORE },
};
SANITY_TABLE(more_fork);
