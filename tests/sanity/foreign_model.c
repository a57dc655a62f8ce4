/* SPDX-License-Identifier: MIT */
/*
 * The requests of a second process (tools/sanity/foreign_rm.c) against the model
 * of the driver: refused as the driver does it they pass, and where the model
 * lets them through the test fails.  The model knows processes, but a descriptor
 * cannot be passed; so here one process plays both, and the refusal of what only
 * another process would be refused is scripted.
 */
#include "fake_rm.h"
#include "foreign.h"
#include "helper.h"
#include "session.h"

#define INVALID_CLIENT 0x23

static struct mapped pin(const struct sanity_variant *v)
{
	struct mapped p;

	session_cuda(v, false);
	p.mem = session_alloc(v, SMALL, 0);
	p.g = session_open();
	p.mh = session_pin(p.g, v, p.mem.ptr, SMALL);
	return p;
}

static void done(const struct mapped *p)
{
	fake_rm_fail_none();
	GDR(gdr_close(p->g));
	session_free(&p->mem);
	session_end();
}

/* A forked child has the descriptors; the model compares the process of the client. */
static void map(const struct sanity_variant *v)
{
	struct mapped p = pin(v);
	struct inside owner = inside_look(p.g);
	pid_t pid = helper_fork(NULL);

	if (pid == 0) {
		foreign_rm_map(&owner);
		helper_done();
	}
	helper_join(pid);
	done(&p);
}

static void map_allowed(const struct sanity_variant *v)
{
	struct mapped p = pin(v);
	struct inside owner = inside_look(p.g);

	foreign_rm_map(&owner);
	done(&p);
}

static void pin_refused(const struct sanity_variant *v)
{
	struct mapped p = pin(v);
	struct inside owner = inside_look(p.g);
	struct fake_rm_counts before, after;

	fake_rm_counts(&before);
	fake_rm_fail(FAKE_RM_MAP, 1, 1, INVALID_CLIENT, 0);
	foreign_rm_pin(&owner, &p.mem);
	CHECK(fake_rm_failed());
	fake_rm_counts(&after);
	/* It got as far as a reference, with the owner's descriptor. */
	CHECK_INT(after.memories, before.memories + 1);
	CHECK_INT(after.windows, before.windows);
	CHECK_INT(after.ctl_files, before.ctl_files);
	CHECK_INT(after.gpu_files, before.gpu_files);
	done(&p);
}

static void pin_allowed(const struct sanity_variant *v)
{
	struct mapped p = pin(v);
	struct inside owner = inside_look(p.g);

	foreign_rm_pin(&owner, &p.mem);
	done(&p);
}

static const struct sanity_test foreign_model[] = {
	{ "model_map_cumemalloc", map, PLAIN, SANITY_MORE },
	{ "model_map_vmmalloc", map, VMM, SANITY_MORE },
	{ "model_map_allowed", map_allowed, PLAIN, SANITY_MORE },
	{ "model_pin_cumemalloc", pin_refused, PLAIN, SANITY_MORE },
	{ "model_pin_vmmalloc", pin_refused, VMM, SANITY_MORE },
	{ "model_pin_allowed_cumemalloc", pin_allowed, PLAIN, SANITY_MORE },
	{ "model_pin_allowed_vmmalloc", pin_allowed, VMM, SANITY_MORE },
};
SANITY_TABLE(foreign_model);
