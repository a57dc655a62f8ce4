/* SPDX-License-Identifier: MIT */
/* Description: versions, names, and the two forms of gdr_get_info. */
#include <dlfcn.h>

#include "session.h"

static void versions(const struct sanity_variant *v)
{
	int major = -1, minor = -1;
	gdr_t g;

	gdr_runtime_get_version(&major, &minor);
	CHECK_INT(major, 2);
	CHECK(minor >= 6);
	session_cuda(v, false);
	g = session_open();
	major = minor = -1;
	GDR(gdr_driver_get_version(g, &major, &minor));
	CHECK_INT(major, 2);
	CHECK(minor >= 0);
	/* Where there is no gdrdrv, the version that clients look for. */
	if (!session_is("gdrdrv"))
		CHECK(minor >= 6);
	GDR(gdr_close(g));
	session_end();
}

static void names(const struct sanity_variant *v)
{
	static const char *const types[] = { "None", "Write Combining", "Caching", "Device" };
	const char *text;
	int value, i;
	gdr_t g;

	for (i = 0; i < GDR_MAPPING_TYPE_MAX; i++) {
		GDR(gdr_get_mapping_type_string((gdr_mapping_type_t)i, &text));
		CHECK(strcmp(text, types[i]) == 0);
	}
	session_cuda(v, false);
	g = session_open();
	CHECK(strcmp(gdrx_backend_name(g), sanity.backend) == 0);
	CHECK(strstr(gdrx_open_report(), "in use"));
	CHECK(gdrx_copy_routine(0) && gdrx_copy_routine(1) && !gdrx_copy_routine(2));
	GDR(gdr_get_attribute(g, GDR_ATTR_USING_DMA_BUF_MMAP, &value));
	CHECK_INT(value, session_is("dmabuf"));
	REFUSED(gdr_unpin_buffer(g, (gdr_mh_t){ 12345 }), EINVAL);
	CHECK(strstr(gdrx_last_error(), "gdr_unpin_buffer"));
	GDR(gdr_close(g));
	CHECK(!gdrx_backend_name(g));
	session_end();
}

static void check_info(const struct mapped *p, bool is_mapped)
{
	gdr_info_t info;

	memset(&info, 0xee, sizeof(info));
	GDR(gdr_get_info(p->g, p->mh, &info));
	CHECK(info.va == p->mem.ptr);
	CHECK(info.mapped_size >= p->mem.size && info.mapped_size < p->mem.size + GPU_PAGE_SIZE);
	CHECK(info.page_size >= 4096 && (info.page_size & (info.page_size - 1)) == 0);
	CHECK(info.mapped_size % info.page_size == 0);
	CHECK_INT(info.mapped, is_mapped);
	if (is_mapped)
		CHECK(info.mapping_type > GDR_MAPPING_TYPE_NONE &&
		      info.mapping_type < GDR_MAPPING_TYPE_MAX);
	else
		CHECK_INT(info.mapping_type, GDR_MAPPING_TYPE_NONE);
	CHECK_INT(info.wc_mapping, info.mapping_type == GDR_MAPPING_TYPE_WC);
}

/* The exported gdr_get_info of programs built against 2.0 to 2.3: 40 bytes, no more. */
static void check_info_v1(const struct mapped *p)
{
	struct {
		gdr_info_t info;        /* longer, and the same up to mapping_type */
		unsigned char guard[64];
	} v1;
	int (*get_info_v1)(gdr_t, gdr_mh_t, void *);
	const unsigned char *b = (const void *)&v1;
	size_t i;

	*(void **)&get_info_v1 = dlsym(RTLD_DEFAULT, "gdr_get_info");
	CHECK(get_info_v1);
	memset(&v1, 0xee, sizeof(v1));
	GDR(get_info_v1(p->g, p->mh, &v1));
	CHECK(v1.info.va == p->mem.ptr);
	CHECK(v1.info.mapped_size >= p->mem.size);
	CHECK(v1.info.mapped);
	for (i = 40; i < sizeof(v1); i++)
		CHECK_INT(b[i], 0xee);
}

static void info(const struct sanity_variant *v)
{
	struct mapped p;
	gdr_info_t info;

	session_cuda(v, false);
	p.mem = session_alloc(v, MEDIUM, 0);
	p.g = session_open();
	p.mh = session_pin(p.g, v, p.mem.ptr, MEDIUM);
	check_info(&p, false);
	session_map_pinned(&p);
	check_info(&p, true);
	check_info_v1(&p);
	GDR(gdr_unmap(p.g, p.mh, p.va, MEDIUM));
	check_info(&p, false);
	GDR(gdr_unpin_buffer(p.g, p.mh));
	memset(&info, 0xee, sizeof(info));
	REFUSED(gdr_get_info(p.g, p.mh, &info), EINVAL);
	CHECK(info.va == 0xeeeeeeeeeeeeeeee);
	GDR(gdr_close(p.g));
	session_free(&p.mem);
	session_end();
}

static const struct sanity_test more_query[] = {
	{ "query_versions", versions, PLAIN, SANITY_MORE },
	{ "query_names", names, PLAIN, SANITY_MORE },
	{ "query_info_cumemalloc", info, PLAIN, SANITY_MORE },
	{ "query_info_vmmalloc", info, VMM, SANITY_MORE },
};
SANITY_TABLE(more_query);
