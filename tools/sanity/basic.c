/* SPDX-License-Identifier: MIT */
/* Description: pin and unpin, with each allocator and each way to pin. */
#include "session.h"

static void run(const struct sanity_variant *v)
{
	struct gpu_mem mem;
	gdr_mh_t mh;
	gdr_t g;

	session_cuda(v, false);
	mem = session_alloc(v, MEDIUM, 0);
	g = session_open();
	if (v->pin == PIN_FORCE_PCIE)
		session_needs_force_pcie(g);
	mh = session_pin(g, v, mem.ptr, MEDIUM);
	GDR(gdr_unpin_buffer(g, mh));
	REFUSED(gdr_unpin_buffer(g, mh), EINVAL);
	GDR(gdr_close(g));
	session_free(&mem);
	session_end();
}

static const struct sanity_test basic[] = {
	{ "basic_cumemalloc", run, WITH(ALLOC, PIN_V1), SANITY_DEFAULT },
	{ "basic_vmmalloc", run, WITH(CREATE, PIN_V1), SANITY_DEFAULT },
	{ "basic_v2_cumemalloc", run, WITH(ALLOC, PIN_V2), SANITY_DEFAULT },
	{ "basic_v2_vmmalloc", run, WITH(CREATE, PIN_V2), SANITY_DEFAULT },
	{ "basic_v2_forcepci_cumemalloc", run, WITH(ALLOC, PIN_FORCE_PCIE), SANITY_DEFAULT },
	{ "basic_v2_forcepci_vmmalloc", run, WITH(CREATE, PIN_FORCE_PCIE), SANITY_DEFAULT },
};
SANITY_TABLE(basic);
