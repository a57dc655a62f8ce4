/* SPDX-License-Identifier: MIT */
/* Arguments and results of the public functions, on a model of a backend. */
#include "fixture.h"

#include <sys/mman.h>

#include "model.h"

#define ADDR 0x7f4000000000ul
#define SIZE 0x10000ul

static struct model *const m = &model[MODEL_GDRDRV];
static gdr_t g;
static gdr_mh_t mh;

static int setup(void **state)
{
	model_reset();
	g = gdr_open();
	return !g || gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh);
}

static int teardown(void **state)
{
	memset(m->err, 0, sizeof(m->err));
	return gdr_close(g) || model_pins();
}

/* D24: each pointer argument in turn; nothing is called. */
static void d24_null_is_refused_everywhere(void **state)
{
	int v = 5;
	void *va = &v;

	assert_int_equal(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, NULL), EINVAL);
	assert_error_names("handle is NULL");
	assert_int_equal(gdr_pin_buffer_v2(g, ADDR, SIZE, 0, NULL), EINVAL);
	assert_int_equal(gdr_get_callback_flag(g, mh, NULL), EINVAL);
	assert_error_names("flag is NULL");
	assert_int_equal(gdr_get_info_v2(g, mh, NULL), EINVAL);
	assert_error_names("info is NULL");
	assert_int_equal(info_v1(g, mh, NULL), EINVAL);
	assert_int_equal(gdr_map(g, mh, NULL, SIZE), EINVAL);
	assert_error_names("va is NULL");
	assert_int_equal(gdr_map_v2(g, mh, NULL, SIZE, 0), EINVAL);
	assert_int_equal(gdr_driver_get_version(g, NULL, &v), EINVAL);
	assert_int_equal(gdr_driver_get_version(g, &v, NULL), EINVAL);
	assert_error_names("major or minor is NULL");
	assert_int_equal(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, NULL), EINVAL);
	assert_error_names("v is NULL");
	assert_int_equal(gdr_get_mapping_type_string(GDR_MAPPING_TYPE_WC, NULL), EINVAL);
	assert_error_names("str is NULL");
	gdr_runtime_get_version(NULL, NULL);
	assert_int_equal(gdr_unmap(g, mh, NULL, SIZE), EINVAL);
	assert_int_equal(v, 5);
	assert_ptr_equal(va, &v);
	for (int op = MODEL_UNPIN; op < MODEL_OPS; op++)
		assert_int_equal(m->calls[op], 0);
	assert_int_equal(m->calls[MODEL_PIN], 1);
}

static void refuse_context(gdr_t bad)
{
	struct info_v1 v1 = { .va = 3 };
	gdr_info_t info = { .va = 3 };
	gdr_mh_t out = { 3 };
	int v = 3, w = 3;
	void *va = &v;

	assert_int_equal(gdr_pin_buffer(bad, ADDR, SIZE, 0, 0, &out), EINVAL);
	assert_int_equal(gdr_pin_buffer_v2(bad, ADDR, SIZE, 0, &out), EINVAL);
	assert_int_equal(gdr_unpin_buffer(bad, mh), EINVAL);
	assert_int_equal(gdr_get_callback_flag(bad, mh, &v), EINVAL);
	assert_int_equal(gdr_get_info(bad, mh, &info), EINVAL);
	assert_int_equal(info_v1(bad, mh, &v1), EINVAL);
	assert_int_equal(gdr_map(bad, mh, &va, SIZE), EINVAL);
	assert_int_equal(gdr_map_v2(bad, mh, &va, SIZE, 0), EINVAL);
	assert_int_equal(gdr_unmap(bad, mh, va, SIZE), EINVAL);
	assert_int_equal(gdr_driver_get_version(bad, &v, &w), EINVAL);
	assert_int_equal(gdr_get_attribute(bad, GDR_ATTR_USE_PERSISTENT_MAPPING, &v), EINVAL);
	assert_int_equal(gdr_close(bad), EINVAL);
	assert_error_names("is not open");
	assert_int_equal(out.h, 3);
	assert_int_equal(v, 3);
	assert_int_equal(w, 3);
	assert_int_equal(info.va, 3);
	assert_int_equal(v1.va, 3);
	assert_ptr_equal(va, &v);
}

/* NULL, closed, a forged copy of a real one, and addresses of nothing at all. */
static void a_context_that_is_not_open_is_refused(void **state)
{
	struct gdr forged = *g;
	gdr_t closed = gdr_open();

	assert_int_equal(gdr_close(closed), 0);
	refuse_context(NULL);
	refuse_context(closed);
	refuse_context(&forged);
	refuse_context((gdr_t)1);
	refuse_context((gdr_t)~0ul);
}

static void refuse_handle(gdr_mh_t bad)
{
	gdr_info_t info = { .va = 3 };
	int v = 3;
	void *va = &v;

	assert_int_equal(gdr_unpin_buffer(g, bad), EINVAL);
	assert_int_equal(gdr_get_callback_flag(g, bad, &v), EINVAL);
	assert_int_equal(gdr_get_info(g, bad, &info), EINVAL);
	assert_int_equal(gdr_map(g, bad, &va, SIZE), EINVAL);
	assert_error_names("never was, or was unpinned");
	assert_int_equal(gdr_unmap(g, bad, va, SIZE), EINVAL);
	assert_ptr_equal(va, &v);
	assert_int_equal(v, 3);
	assert_int_equal(info.va, 3);
}

/* D10: stale, made up, or of another context. */
static void d10_a_handle_that_is_not_pinned_here_is_refused(void **state)
{
	gdr_t other = gdr_open();
	gdr_mh_t there, stale, made_up = { (unsigned long)(uintptr_t)&there };
	char c = 0;

	assert_int_equal(gdr_pin_buffer(other, ADDR, SIZE, 0, 0, &there), 0);
	assert_int_equal(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &stale), 0);
	assert_int_equal(gdr_unpin_buffer(g, stale), 0);
	refuse_handle(stale);
	refuse_handle(there);
	refuse_handle(made_up);
	refuse_handle((gdr_mh_t){ 0 });
	refuse_handle((gdr_mh_t){ ~0ul });
	assert_int_equal(gdr_copy_to_mapping(stale, &c, &c, 1), EINVAL);
	assert_error_names("is not pinned");
	assert_int_equal(gdr_copy_from_mapping(made_up, &c, &c, 1), EINVAL);
	/* D30: the text has the handle whole */
	refuse_handle((gdr_mh_t){ 0x123456789abcdef0 });
	assert_int_equal(gdr_unpin_buffer(g, (gdr_mh_t){ 0x123456789abcdef0 }), EINVAL);
	assert_error_names("0x123456789abcdef0");
	assert_int_equal(gdr_close(other), 0);
}

/* D22, D23 */
static void d23_pin_checks_its_numbers(void **state)
{
	static const struct {
		unsigned long addr;
		size_t size;
		int err;
	} rows[] = {
		{ 0, SIZE, EINVAL },
		{ ADDR, 0, EINVAL },
		{ ADDR, SIZE_MAX, EINVAL },
		{ ADDR, SIZE_MAX - ADDR, EINVAL },
		{ ADDR, SIZE_MAX - ADDR - GPU_PAGE_SIZE, EINVAL },
		{ ~0ul, 1, EINVAL },
		{ ~0ul - GPU_PAGE_SIZE, GPU_PAGE_SIZE, EINVAL },
		{ ADDR, 1, 0 },
		{ 1, 1, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		gdr_mh_t out = { 3 };

		assert_int_equal(gdr_pin_buffer(g, rows[i].addr, rows[i].size, 0, 0, &out),
				 rows[i].err);
		assert_true(rows[i].err ? out.h == 3 : out.h != 3);
		assert_int_equal(m->calls[MODEL_PIN], 1 + (rows[i].err ? 0 : i - 6));
	}
}

static void d22_pin_refuses_flags_that_mean_nothing(void **state)
{
	gdr_mh_t out = { 3 };

	for (int bit = 1; bit < 32; bit++) {
		assert_int_equal(gdr_pin_buffer_v2(g, ADDR, SIZE, 1u << bit, &out), EINVAL);
		assert_int_equal(gdr_pin_buffer_v2(g, ADDR, SIZE, 1u << bit | 1, &out), EINVAL);
	}
	assert_error_names("only bit 0");
	assert_int_equal(out.h, 3);
	assert_int_equal(m->calls[MODEL_PIN], 1);
	assert_int_equal(gdr_pin_buffer_v2(g, ADDR, SIZE, GDR_PIN_FLAG_FORCE_PCIE, &out), 0);
	assert_int_equal(m->args.flags, GDR_PIN_FLAG_FORCE_PCIE);
	assert_int_equal(gdr_pin_buffer(g, ADDR, SIZE, 11, 12, &out), 0);
	assert_int_equal(m->args.p2p_token, 11);
	assert_int_equal(m->args.va_space, 12);
	assert_int_equal(m->args.flags, 0);
}

/* D3: 40 bytes, whatever stands behind them; and 48 of the other function. */
static void d3_the_old_info_function_writes_40_bytes(void **state)
{
	struct {
		struct info_v1 info;
		unsigned char canary[64];
	} v1;
	struct {
		gdr_info_v2_t info;
		unsigned char canary[64];
	} v2;
	void *va;

	for (int mapped = 0; mapped < 2; mapped++) {
		memset(&v1, 0xa5, sizeof(v1));
		memset(&v2, 0xa5, sizeof(v2));
		if (mapped)
			assert_int_equal(gdr_map(g, mh, &va, SIZE), 0);
		assert_int_equal(info_v1(g, mh, &v1.info), 0);
		assert_int_equal(gdr_get_info(g, mh, &v2.info), 0);
		for (size_t i = 0; i < sizeof(v1.canary); i++)
			assert_int_equal(v1.canary[i] & v2.canary[i], 0xa5);
		assert_int_equal(v1.info.va, ADDR);
		assert_int_equal(v1.info.mapped_size, SIZE);
		assert_int_equal(v1.info.page_size, 4096);
		assert_int_equal(v1.info.tm_cycles, 0x1122334455667788);
		assert_int_equal(v1.info.cycles_per_ms, 0x99aabbcc);
		assert_int_equal(v1.info.mapped, mapped);
		assert_int_equal(v1.info.wc_mapping, mapped);
		assert_int_equal(v2.info.mapped, mapped);
		assert_int_equal(v2.info.wc_mapping, mapped);
		assert_int_equal(v2.info.mapping_type,
				 mapped ? GDR_MAPPING_TYPE_WC : GDR_MAPPING_TYPE_NONE);
	}
}

/* What a backend says comes back as it is, and outputs stay as they were. */
static void backend_errors_pass_and_outputs_stay(void **state)
{
	gdr_info_t info = { .va = 3 };
	struct info_v1 v1 = { .va = 3 };
	gdr_mh_t out = { 3 };
	int v = 3, w = 3;
	void *va = &v;

	for (int op = MODEL_PIN; op < MODEL_OPS; op++)
		m->err[op] = 200 + op;
	assert_int_equal(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &out), 200 + MODEL_PIN);
	assert_int_equal(gdr_map(g, mh, &va, SIZE), 200 + MODEL_MAP);
	assert_int_equal(gdr_get_info(g, mh, &info), 200 + MODEL_INFO);
	assert_int_equal(info_v1(g, mh, &v1), 200 + MODEL_INFO);
	assert_int_equal(gdr_get_callback_flag(g, mh, &v), 200 + MODEL_FLAG);
	assert_int_equal(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &v),
			 200 + MODEL_ATTR);
	assert_int_equal(gdr_driver_get_version(g, &v, &w), 200 + MODEL_VERSION);
	assert_true(out.h == 3 && info.va == 3 && v1.va == 3 && v == 3 && w == 3 && va == &v);
	m->err[MODEL_MAP] = 0;
	assert_int_equal(gdr_map(g, mh, &va, SIZE), 0);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE), 200 + MODEL_UNMAP);
	/* still mapped, and usable */
	assert_int_equal(gdr_copy_to_mapping(mh, va, &v, sizeof(v)), 0);
	m->err[MODEL_UNMAP] = 0;
	assert_int_equal(gdr_unmap(g, mh, va, SIZE), 0);
	assert_int_equal(gdr_copy_to_mapping(mh, va, &v, sizeof(v)), EINVAL);
}

static void attributes_and_versions(void **state)
{
	int v = 3, major = 0, minor = 0;

	assert_int_equal(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &v), 0);
	assert_int_equal(v, 101);
	assert_int_equal(gdr_get_attribute(g, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &v), 0);
	assert_int_equal(v, 102);
	assert_int_equal(gdr_get_attribute(g, GDR_ATTR_USING_DMA_BUF_MMAP, &v), 0);
	assert_int_equal(v, 0);
	v = 3;
	assert_int_equal(gdr_get_attribute(g, (gdr_attr_t)0, &v), EINVAL);
	assert_int_equal(gdr_get_attribute(g, GDR_ATTR_MAX, &v), EINVAL);
	assert_int_equal(gdr_get_attribute(g, (gdr_attr_t)-1, &v), EINVAL);
	assert_error_names("is no attribute");
	assert_int_equal(v, 3);
	assert_int_equal(gdr_driver_get_version(g, &major, &minor), 0);
	assert_int_equal(major * 10 + minor, 78);
	gdr_runtime_get_version(&major, &minor);
	assert_int_equal(major, GDR_API_MAJOR_VERSION);
	assert_int_equal(minor, GDR_API_MINOR_VERSION);
	gdr_runtime_get_version(NULL, &v);
	assert_int_equal(v, 6);
	gdr_runtime_get_version(&v, NULL);
	assert_int_equal(v, 2);
}

static void mapping_types_have_names(void **state)
{
	static const char *const names[] = { "None", "Write Combining", "Caching", "Device" };
	const char *str = NULL;

	for (int t = 0; t < GDR_MAPPING_TYPE_MAX; t++) {
		assert_int_equal(gdr_get_mapping_type_string((gdr_mapping_type_t)t, &str), 0);
		assert_string_equal(str, names[t]);
	}
	assert_int_equal(gdr_get_mapping_type_string(GDR_MAPPING_TYPE_MAX, &str), EINVAL);
	assert_int_equal(gdr_get_mapping_type_string((gdr_mapping_type_t)-1, &str), EINVAL);
	assert_error_names("is no mapping type");
	assert_string_equal(str, names[3]);
}

/* D11: only the mapping itself, whole, is unmapped. */
static void d11_unmap_wants_the_mapping_itself(void **state)
{
	void *va, *neighbour = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_int_equal(gdr_unmap(g, mh, neighbour, SIZE), EINVAL);
	assert_error_names("is not mapped");
	assert_int_equal(gdr_map(g, mh, &va, SIZE - 5), 0);
	assert_int_equal(gdr_unmap(g, mh, neighbour, SIZE), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, (char *)va + page_size(), SIZE), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, (char *)va + 1, SIZE), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, va, page_size()), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE + 1), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, va, 0), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE_MAX), EINVAL);
	assert_error_names("is not that");
	assert_int_equal(*(volatile char *)neighbour, 0);
	assert_int_equal(m->calls[MODEL_UNMAP], 0);
	*(volatile char *)va = 1;
	/* any size that rounds to the same */
	assert_int_equal(gdr_unmap(g, mh, va, SIZE - page_size() + 1), 0);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE), EINVAL);
	munmap(neighbour, SIZE);
}

static void map_checks_before_it_asks(void **state)
{
	void *va = &va, *again = &va;

	assert_int_equal(gdr_map(g, mh, &va, 0), EINVAL);
	assert_int_equal(gdr_map(g, mh, &va, SIZE_MAX), EINVAL);
	assert_int_equal(gdr_map(g, mh, &va, SIZE_MAX - page_size() + 2), EINVAL);
	assert_int_equal(gdr_map_v2(g, mh, &va, SIZE, -1), EINVAL);
	assert_int_equal(gdr_map_v2(g, mh, &va, SIZE, 4), EINVAL);
	assert_int_equal(m->calls[MODEL_MAP], 0);
	assert_ptr_equal(va, &va);
	assert_int_equal(gdr_map_v2(g, mh, &va, 1, GDR_MAP_FLAG_REQ_DEVICE_MAPPING), 0);
	assert_int_equal(gdr_map(g, mh, &again, SIZE), EAGAIN);
	assert_int_equal(gdr_map_v2(g, mh, &again, SIZE, 4), EAGAIN);
	assert_error_names("is mapped already");
	assert_ptr_equal(again, &va);
	assert_int_equal(m->calls[MODEL_MAP], 1);
}

static void a_copy_wants_a_mapped_handle(void **state)
{
	char buf[32] = "some text", back[32] = "";
	void *va;

	/* the state is looked at before the size */
	assert_int_equal(gdr_copy_to_mapping(mh, buf, buf, 0), EINVAL);
	assert_int_equal(gdr_copy_from_mapping(mh, buf, buf, 0), EINVAL);
	assert_error_names("is not mapped");
	for (int type = GDR_MAPPING_TYPE_WC; type < GDR_MAPPING_TYPE_MAX; type++) {
		assert_int_equal(gdr_map_v2(g, mh, &va, SIZE, type), 0);
		assert_int_equal(gdr_copy_to_mapping(mh, va, buf, 0), 0);
		assert_int_equal(gdr_copy_from_mapping(mh, back, va, 0), 0);
		assert_int_equal(gdr_copy_to_mapping(mh, (char *)va + 3, buf, 10), 0);
		assert_int_equal(gdr_copy_from_mapping(mh, back, (char *)va + 3, 10), 0);
		assert_string_equal(back, "some text");
		memset(back, 0, sizeof(back));
		assert_int_equal(gdr_unmap(g, mh, va, SIZE), 0);
	}
}

static void copy_routines_have_names(void **state)
{
	assert_non_null(gdrx_copy_routine(0));
	assert_non_null(gdrx_copy_routine(1));
	assert_null(gdrx_copy_routine(2));
	assert_null(gdrx_copy_routine(-1));
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(d24_null_is_refused_everywhere),
		T(a_context_that_is_not_open_is_refused),
		T(d10_a_handle_that_is_not_pinned_here_is_refused),
		T(d23_pin_checks_its_numbers),
		T(d22_pin_refuses_flags_that_mean_nothing),
		T(d3_the_old_info_function_writes_40_bytes),
		T(backend_errors_pass_and_outputs_stay),
		T(attributes_and_versions),
		T(mapping_types_have_names),
		T(d11_unmap_wants_the_mapping_itself),
		T(map_checks_before_it_asks),
		T(a_copy_wants_a_mapped_handle),
		T(copy_routines_have_names),
	};
#undef T

	unsetenv("GDRCOPY_BACKEND");
	unsetenv("GDRCOPY_USE_DMABUF_MMAP");
	return cmocka_run_group_tests_name("core api", tests, NULL, NULL);
}
