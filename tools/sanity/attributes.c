/* SPDX-License-Identifier: MIT */
/* Description: the two attributes that every backend answers, without CUDA in the caller. */
#include "session.h"

static void run(const struct sanity_variant *v)
{
	int value;
	gdr_t g;

	/* softcuda must be there before the library looks for libcuda; nothing is initialised. */
	CHECK(cu_load(sanity.soft) == 0);
	g = session_open();
	value = -1;
	GDR(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &value));
	CHECK(value == 0 || value == 1);
	value = -1;
	GDR(gdr_get_attribute(g, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &value));
	CHECK(value == 0 || value == 1);
	GDR(gdr_close(g));
}

static const struct sanity_test attributes[] = {
	{ "attributes_sanity", run, { 0 }, SANITY_DEFAULT },
};
SANITY_TABLE(attributes);
