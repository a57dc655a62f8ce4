/* SPDX-License-Identifier: MIT */
/* Looking into a gdr_t; see inside.h. */
#include "inside.h"

#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "backend_rm.h"
#include "session.h"

static void look_rm(const struct gdr *g, struct inside *in)
{
	const struct rm_gdr *rm = (const struct rm_gdr *)g;
	const struct rm_memh *m = (const struct rm_memh *)g->memhs;
	const struct gdr_rm_gpu *gpu;

	/* The client is made for the first pin. */
	CHECK(rm->ngpus > 0);
	gpu = rm->gpus[0];
	in->fd = gpu->client.ctl;
	in->client = gpu->client.handle;
	in->minor = gpu->card.minor;
	in->ipc_word = gpu->layout.client;
	in->parent = gpu->device;
	if (m) {
		CHECK(m->range.nparts > 0);
		in->parent = m->range.parts[0].parent;
		in->object = m->range.parts[0].object;
	}
}

struct inside inside_look(gdr_t handle)
{
	const struct gdr *g = handle;
	struct inside in = { .fd = g->fd };

	/* Another build of the library would have other things in these places. */
	CHECK(g->owner.pid == getpid());
	CHECK(g->ops->name == gdrx_backend_name(handle));
	if (g->memhs) {
		CHECK(g->memhs->g == g);
		in.mh = g->memhs->id;
	}
	if (strcmp(g->ops->name, "rm") == 0)
		look_rm(g, &in);
	return in;
}

gdr_t inside_forge(gdr_t g, int fd)
{
	static struct gdr forged;

	memcpy(&forged, g, sizeof(forged));
	forged.fd = fd;
	return &forged;
}
