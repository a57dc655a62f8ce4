/* SPDX-License-Identifier: MIT */
/*
 * Description: wrong arguments are refused with the right errno value, and
 * nothing is written to the outputs: NULL, sizes, addresses, flags.
 */
#include <limits.h>

#include "session.h"

#define UNTOUCHED 0x5ca1ab1e5ca1ab1eul

static void refuse_pin(gdr_t g, unsigned long ptr, size_t size, uint32_t flags, int err)
{
	gdr_mh_t mh = { UNTOUCHED };

	REFUSED(gdr_pin_buffer_v2(g, ptr, size, flags, &mh), err);
	CHECK(mh.h == UNTOUCHED);
	if (flags)
		return;
	REFUSED(gdr_pin_buffer(g, ptr, size, 0, 0, &mh), err);
	CHECK(mh.h == UNTOUCHED);
}

static void pin_arguments(const struct sanity_variant *v)
{
	struct gpu_mem mem;
	unsigned bit;
	gdr_t g;

	session_cuda(v, false);
	mem = session_alloc(v, SMALL, 0);
	g = session_open();
	refuse_pin(g, 0, SMALL, 0, EINVAL);
	refuse_pin(g, mem.ptr, 0, 0, EINVAL);
	refuse_pin(g, mem.ptr, SIZE_MAX, 0, EINVAL);
	refuse_pin(g, mem.ptr, SIZE_MAX - mem.ptr, 0, EINVAL);
	refuse_pin(g, mem.ptr, SIZE_MAX - SMALL, 0, EINVAL);
	refuse_pin(g, ULONG_MAX, 1, 0, EINVAL);
	refuse_pin(g, ULONG_MAX & ~GPU_PAGE_OFFSET, SMALL, 0, EINVAL);
	for (bit = 1; bit < 32; bit++)
		refuse_pin(g, mem.ptr, SMALL, 1u << bit, EINVAL);
	/* And after all that it still works. */
	GDR(gdr_unpin_buffer(g, session_pin(g, v, mem.ptr, SMALL)));
	GDR(gdr_close(g));
	session_free(&mem);
	session_end();
}

static void refuse_any(gdr_t g, unsigned long ptr, size_t size, const char *what)
{
	gdr_mh_t mh = { UNTOUCHED };
	int err = gdr_pin_buffer(g, ptr, size, 0, 0, &mh);

	if (err <= 0 || err >= 4096)
		sanity_fail(__FILE__, __LINE__, "what is no device memory cannot be pinned",
			    "%s: gdr_pin_buffer returned %d", what, err);
	CHECK(mh.h == UNTOUCHED);
	CHECK(*gdrx_last_error());
}

/* What is not, or not wholly, memory of a GPU.  The errno value is the driver's. */
static void pin_no_memory(const struct sanity_variant *v)
{
	static char on_host[2 * SMALL];
	struct gpu_mem mem;
	gdr_t g;

	session_cuda(v, false);
	mem = session_alloc(v, SMALL, 0);
	g = session_open();
	refuse_any(g, ((unsigned long)on_host + SMALL) & GPU_PAGE_MASK, 4096, "host memory");
	refuse_any(g, SMALL, SMALL, "an address that is nothing");
	refuse_any(g, mem.ptr, (size_t)1 << 40, "more than the allocation");
	session_free(&mem);
	GDR(gdr_close(g));
	session_end();
}

static void null_arguments(const struct sanity_variant *v)
{
	const char *text = "as before";
	struct mapped p;
	int number = 77;
	gdr_t g;

	session_cuda(v, false);
	g = session_open();
	p = session_map(g, v);
	REFUSED(gdr_pin_buffer(g, p.mem.ptr, SMALL, 0, 0, NULL), EINVAL);
	REFUSED(gdr_pin_buffer_v2(g, p.mem.ptr, SMALL, 0, NULL), EINVAL);
	REFUSED(gdr_map(g, p.mh, NULL, SMALL), EINVAL);
	REFUSED(gdr_map_v2(g, p.mh, NULL, SMALL, 0), EINVAL);
	REFUSED(gdr_unmap(g, p.mh, NULL, SMALL), EINVAL);
	REFUSED(gdr_get_info(g, p.mh, NULL), EINVAL);
	REFUSED(gdr_get_callback_flag(g, p.mh, NULL), EINVAL);
	REFUSED(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, NULL), EINVAL);
	REFUSED(gdr_driver_get_version(g, NULL, &number), EINVAL);
	REFUSED(gdr_driver_get_version(g, &number, NULL), EINVAL);
	REFUSED(gdr_get_mapping_type_string(GDR_MAPPING_TYPE_WC, NULL), EINVAL);
	gdr_runtime_get_version(NULL, NULL);
	REFUSED(gdr_close(NULL), EINVAL);
	REFUSED(gdr_get_attribute(NULL, GDR_ATTR_USE_PERSISTENT_MAPPING, &number), EINVAL);
	REFUSED(gdr_get_attribute(g, (gdr_attr_t)0, &number), EINVAL);
	REFUSED(gdr_get_attribute(g, GDR_ATTR_MAX, &number), EINVAL);
	REFUSED(gdr_get_attribute(g, (gdr_attr_t)-1, &number), EINVAL);
	REFUSED(gdr_get_mapping_type_string(GDR_MAPPING_TYPE_MAX, &text), EINVAL);
	REFUSED(gdr_get_mapping_type_string((gdr_mapping_type_t)-1, &text), EINVAL);
	CHECK_INT(number, 77);
	CHECK(strcmp(text, "as before") == 0);
	session_unmap(&p);
	GDR(gdr_close(g));
	session_free(&p.mem);
	session_end();
}

static const struct sanity_test more_arguments[] = {
	{ "arguments_null", null_arguments, PLAIN, SANITY_MORE },
	{ "arguments_pin_cumemalloc", pin_arguments, PLAIN, SANITY_MORE },
	{ "arguments_pin_vmmalloc", pin_arguments, VMM, SANITY_MORE },
	{ "arguments_pin_no_device_memory", pin_no_memory, PLAIN, SANITY_MORE },
};
SANITY_TABLE(more_arguments);
