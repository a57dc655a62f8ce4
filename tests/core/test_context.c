/* SPDX-License-Identifier: MIT */
/* Opening by trying the backends in order, and closing, on models of the backends. */
#include "fixture.h"

#include <pthread.h>

#include "handle.h"
#include "model.h"

#define ADDR 0x7f4000000000ul
#define SIZE 0x10000ul

static int setup(void **state)
{
	model_reset();
	unsetenv("GDRCOPY_BACKEND");
	unsetenv("GDRCOPY_USE_DMABUF_MMAP");
	return 0;
}

/* Whatever the test did, nothing is left of it. */
static int teardown(void **state)
{
	int opened = 0, closed = 0;

	for (int b = 0; b < MODEL_BACKENDS; b++) {
		if (!model[b].err[MODEL_OPEN])
			opened += model[b].calls[MODEL_OPEN];
		closed += model[b].calls[MODEL_CLOSE];
	}
	return model_pins() || opened != closed;
}

static gdr_mh_t pin(gdr_t g)
{
	gdr_mh_t mh = { 0 };

	assert_int_equal(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh), 0);
	return mh;
}

static void refuse(enum model_backend b, int err, const char *why)
{
	model[b].err[MODEL_OPEN] = err;
	model[b].why = why;
}

static void the_first_that_works_is_taken(void **state)
{
	static const char *const names[] = { "gdrdrv", "dmabuf", "rm" };
	static const char *const reports[] = {
		"gdrdrv: in use\n",
		"gdrdrv: no module\ndmabuf: in use\n",
		"gdrdrv: no module\ndmabuf: no CUDA\nrm: in use\n",
	};

	for (int b = 0; b < MODEL_BACKENDS; b++) {
		int value = -1;
		gdr_t g;

		model_reset();
		if (b > MODEL_GDRDRV)
			refuse(MODEL_GDRDRV, ENOENT, "no module");
		if (b > MODEL_DMABUF)
			refuse(MODEL_DMABUF, ENODEV, "no CUDA");
		g = gdr_open();
		assert_non_null(g);
		assert_string_equal(gdrx_backend_name(g), names[b]);
		assert_string_equal(gdrx_open_report(), reports[b]);
		for (int c = 0; c < MODEL_BACKENDS; c++)
			assert_int_equal(model[c].calls[MODEL_OPEN], c <= b);
		assert_int_equal(gdr_get_attribute(g, GDR_ATTR_USING_DMA_BUF_MMAP, &value), 0);
		assert_int_equal(value, b == MODEL_DMABUF);
		assert_int_equal(gdr_close(g), 0);
		assert_int_equal(model[b].calls[MODEL_CLOSE], 1);
	}
}

static void when_none_works_the_first_errno_is_the_answer(void **state)
{
	refuse(MODEL_GDRDRV, EACCES, "the file is not ours");
	refuse(MODEL_DMABUF, ENODEV, "no CUDA");
	refuse(MODEL_RM, ENOTSUP, NULL);
	errno = 0;
	assert_null(gdr_open());
	assert_int_equal(errno, EACCES);
	assert_string_equal(gdrx_open_report(), "gdrdrv: the file is not ours\n"
						"dmabuf: no CUDA\nrm: no reason given\n");
	assert_error_names("no backend works here");
	assert_error_names("the file is not ours");
	assert_error_names("no CUDA");
	assert_null(strstr(gdrx_last_error(), "the environment"));
}

static void the_environment_chooses(void **state)
{
	static const struct {
		const char *backend, *dmabuf;
		const char *want;
	} rows[] = {
		{ NULL, NULL, "gdrdrv" },
		{ "", NULL, "gdrdrv" },
		{ "gdrdrv", NULL, "gdrdrv" },
		{ "dmabuf", NULL, "dmabuf" },
		{ "rm", NULL, "rm" },
		{ NULL, "1", "dmabuf" },
		{ "", "1", "dmabuf" },
		{ NULL, "0", "gdrdrv" },
		{ NULL, "", "gdrdrv" },
		{ NULL, "yes", "gdrdrv" },
		{ NULL, "11", "gdrdrv" },
		{ "rm", "1", "rm" },
		{ "gdrdrv", "1", "gdrdrv" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int tried = 0;
		gdr_t g;

		setup(NULL);
		if (rows[i].backend)
			setenv("GDRCOPY_BACKEND", rows[i].backend, 1);
		if (rows[i].dmabuf)
			setenv("GDRCOPY_USE_DMABUF_MMAP", rows[i].dmabuf, 1);
		g = gdr_open();
		assert_non_null(g);
		assert_string_equal(gdrx_backend_name(g), rows[i].want);
		for (int b = 0; b < MODEL_BACKENDS; b++)
			tried += model[b].calls[MODEL_OPEN];
		assert_int_equal(tried, 1);
		assert_int_equal(gdr_close(g), 0);
	}
}

static void a_forced_backend_has_no_substitute(void **state)
{
	static const char *const vars[][2] = {
		{ "GDRCOPY_BACKEND", "dmabuf" },
		{ "GDRCOPY_USE_DMABUF_MMAP", "1" },
	};

	for (size_t i = 0; i < COUNT(vars); i++) {
		setup(NULL);
		refuse(MODEL_DMABUF, ENODEV, "no CUDA");
		setenv(vars[i][0], vars[i][1], 1);
		assert_null(gdr_open());
		assert_int_equal(errno, ENODEV);
		assert_string_equal(gdrx_open_report(), "dmabuf: no CUDA\n");
		assert_error_names("the environment asks for dmabuf");
		assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_OPEN], 0);
		assert_int_equal(model[MODEL_RM].calls[MODEL_OPEN], 0);
	}
}

static void an_unknown_name_is_an_error(void **state)
{
	static const char *const names[] = { "gdrdrv2", "DMABUF", "rm ", "1", "gdr" };

	for (size_t i = 0; i < COUNT(names); i++) {
		setenv("GDRCOPY_BACKEND", names[i], 1);
		assert_null(gdr_open());
		assert_int_equal(errno, EINVAL);
		assert_error_names(names[i]);
		assert_error_names("choose gdrdrv, dmabuf or rm");
		assert_non_null(strstr(gdrx_open_report(), "no backend of this name"));
	}
	for (int b = 0; b < MODEL_BACKENDS; b++)
		assert_int_equal(model[b].calls[MODEL_OPEN], 0);
}

/* Reasons and names of any length: cut, never overrun. */
static void long_reasons_are_cut(void **state)
{
	char *text = test_malloc(5000);

	memset(text, 'w', 4999);
	text[4999] = '\0';
	refuse(MODEL_GDRDRV, ENOENT, text);
	refuse(MODEL_DMABUF, ENODEV, text);
	refuse(MODEL_RM, ENOTSUP, text);
	assert_null(gdr_open());
	assert_int_equal(errno, ENOENT);
	assert_non_null(strstr(gdrx_open_report(), "\nrm: www"));
	setenv("GDRCOPY_BACKEND", text, 1);
	assert_null(gdr_open());
	assert_int_equal(errno, EINVAL);
	test_free(text);
}

static void *open_elsewhere(void *arg)
{
	gdr_t *g = arg;

	assert_string_equal(gdrx_open_report(), "");
	*g = gdr_open();
	return NULL;
}

static void the_report_is_the_threads_own(void **state)
{
	gdr_t g = gdr_open(), there;
	pthread_t thread;

	assert_string_equal(gdrx_open_report(), "gdrdrv: in use\n");
	setenv("GDRCOPY_BACKEND", "rm", 1);
	pthread_create(&thread, NULL, open_elsewhere, &there);
	pthread_join(thread, NULL);
	assert_string_equal(gdrx_open_report(), "gdrdrv: in use\n");
	/* but a context is everybody's */
	assert_string_equal(gdrx_backend_name(there), "rm");
	assert_int_equal(gdr_close(there), 0);
	assert_int_equal(gdr_close(g), 0);
}

static void close_releases_what_is_left(void **state)
{
	gdr_t g = gdr_open();
	gdr_mh_t mapped = pin(g), bare = pin(g);
	void *va;

	assert_int_equal(gdr_map(g, mapped, &va, SIZE), 0);
	assert_int_equal(gdr_close(g), 0);
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_UNMAP], 1);
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_UNPIN], 2);
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_FORGET], 0);
	assert_int_equal(gdr_copy_to_mapping(mapped, va, &va, 8), EINVAL);
	assert_int_equal(gdr_copy_from_mapping(bare, &va, va, 8), EINVAL);
}

/* D13: one call closes, whatever fails on the way, and says what failed first. */
static void d13_close_goes_on_after_a_failing_unpin(void **state)
{
	gdr_t g = gdr_open();

	for (int i = 0; i < 5; i++)
		pin(g);
	model[MODEL_GDRDRV].err[MODEL_UNPIN] = EIO;
	assert_int_equal(gdr_close(g), EIO);
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_UNPIN], 5);
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_CLOSE], 1);
	assert_int_equal(gdr_close(g), EINVAL);
}

static void a_failing_unmap_is_the_first_error_of_close(void **state)
{
	gdr_t g = gdr_open();
	gdr_mh_t mh = pin(g);
	void *va;

	assert_int_equal(gdr_map(g, mh, &va, SIZE), 0);
	model[MODEL_GDRDRV].err[MODEL_UNMAP] = ENOMEM;
	model[MODEL_GDRDRV].err[MODEL_UNPIN] = EIO;
	assert_int_equal(gdr_close(g), ENOMEM);
	assert_int_equal(model_pins(), 0);
}

static void a_handle_dies_with_its_unpin_even_if_that_fails(void **state)
{
	gdr_t g = gdr_open();
	gdr_mh_t mh = pin(g);

	model[MODEL_GDRDRV].err[MODEL_UNPIN] = EIO;
	assert_int_equal(gdr_unpin_buffer(g, mh), EIO);
	assert_int_equal(gdr_unpin_buffer(g, mh), EINVAL);
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_UNPIN], 1);
	assert_int_equal(gdr_close(g), 0);
}

static void closing_twice_is_refused(void **state)
{
	struct {
		uint64_t words[64];
	} made_up = { { 0 } };
	gdr_t g = gdr_open(), second = gdr_open();

	assert_int_equal(gdr_close(g), 0);
	assert_int_equal(gdr_close(g), EINVAL);
	assert_error_names("is not open");
	assert_int_equal(gdr_close(NULL), EINVAL);
	assert_int_equal(gdr_close((gdr_t)&made_up), EINVAL);
	assert_int_equal(gdr_close((gdr_t)8), EINVAL);
	assert_null(gdrx_backend_name(g));
	assert_null(gdrx_backend_name(NULL));
	assert_string_equal(gdrx_backend_name(second), "gdrdrv");
	assert_int_equal(gdr_close(second), 0);
}

static void many_contexts_close_in_any_order(void **state)
{
	static const int order[] = { 3, 0, 7, 5, 1, 6, 2, 4 };
	gdr_mh_t mh[8];
	gdr_t g[8];

	for (int i = 0; i < 8; i++) {
		g[i] = gdr_open();
		mh[i] = pin(g[i]);
	}
	for (int i = 0; i < 8; i++) {
		int flag;

		for (int k = 0; k < i; k++)
			assert_int_equal(gdr_get_callback_flag(g[order[k]], mh[order[k]], &flag),
					 EINVAL);
		for (int k = i; k < 8; k++)
			assert_int_equal(gdr_get_callback_flag(g[order[k]], mh[order[k]], &flag),
					 0);
		/* a handle of one is nothing to the other */
		if (i < 7)
			assert_int_equal(gdr_unpin_buffer(g[order[i]], mh[order[i + 1]]), EINVAL);
		assert_int_equal(gdr_close(g[order[i]]), 0);
	}
}

/* The registry's first chunk is looked up by a way of its own; most handles are not in it. */
static void handles_beyond_the_first_chunk_copy_as_well(void **state)
{
	static struct gdr_memh filler[GDR_HANDLE_FIRST];
	struct gdr nobody = { 0 };
	gdr_t g = gdr_open();
	char out[] = "text", in[sizeof(out)] = "";
	gdr_mh_t mh;
	void *va;

	for (size_t i = 0; i < COUNT(filler); i++)
		assert_int_equal(gdr_handle_new(&nobody, &filler[i]), 0);
	mh = pin(g);
	assert_true((uint32_t)mh.h > GDR_HANDLE_FIRST);
	assert_int_equal(gdr_copy_to_mapping(mh, in, out, sizeof(out)), EINVAL);
	assert_int_equal(gdr_map(g, mh, &va, SIZE), 0);
	assert_int_equal(gdr_copy_to_mapping(mh, va, out, sizeof(out)), 0);
	assert_int_equal(gdr_copy_from_mapping(mh, in, va, sizeof(in)), 0);
	assert_string_equal(in, out);
	assert_int_equal(gdr_unmap(g, mh, va, SIZE), 0);
	assert_int_equal(gdr_copy_from_mapping(mh, in, out, sizeof(in)), EINVAL);
	assert_int_equal(gdr_close(g), 0);
	for (size_t i = 0; i < COUNT(filler); i++)
		gdr_handle_delete(&filler[i]);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(the_first_that_works_is_taken),
		T(when_none_works_the_first_errno_is_the_answer),
		T(the_environment_chooses),
		T(a_forced_backend_has_no_substitute),
		T(an_unknown_name_is_an_error),
		T(long_reasons_are_cut),
		T(the_report_is_the_threads_own),
		T(close_releases_what_is_left),
		T(d13_close_goes_on_after_a_failing_unpin),
		T(a_failing_unmap_is_the_first_error_of_close),
		T(a_handle_dies_with_its_unpin_even_if_that_fails),
		T(closing_twice_is_refused),
		T(many_contexts_close_in_any_order),
		T(handles_beyond_the_first_chunk_copy_as_well),
	};
#undef T

	return cmocka_run_group_tests_name("core context", tests, NULL, NULL);
}
