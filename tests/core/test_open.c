/* SPDX-License-Identifier: MIT */
/*
 * D25 to D28, D32: which libcuda is loaded, when, and what is said where there
 * is none.  Each case is a process of its own, open_probe.c, whose library path
 * begins with a directory made for it.
 *
 * In the environment: PROBE, the program; SOFTCUDA and STUB, two files.
 */
#include "fixture.h"

#include <sys/stat.h>
#include <sys/wait.h>

static struct output out;
static char dir[64];

static void path_of(char *path, const char *name)
{
	snprintf(path, 128, "%s/%s", dir, name);
}

/* What the library path has under that name. */
static void put(const char *name, const char *target)
{
	char path[128];

	path_of(path, name);
	assert_int_equal(symlink(target, path), 0);
}

/* A file that is no library ends the search, as a missing one would not on a GPU machine. */
static void put_rubbish(const char *name)
{
	char path[128];
	FILE *f;

	path_of(path, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("this is no library, and long enough to have the header of one: it has none.\n", f);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	strcpy(dir, "/tmp/gdrcopy-test-XXXXXX");
	return !mkdtemp(dir);
}

static int teardown(void **state)
{
	static const char *const names[] = { "libcuda.so", "libcuda.so.1" };
	char path[128];

	for (size_t i = 0; i < COUNT(names); i++) {
		path_of(path, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

static const char *softcuda(void)
{
	return getenv("SOFTCUDA");
}

static void probe(const char *backend, const char *a, const char *b)
{
	const char *argv[] = { getenv("PROBE"), NULL };
	char path[128], choice[64];
	const char *env[] = { path, choice, a, a ? b : NULL, NULL };

	snprintf(path, sizeof(path), "LD_LIBRARY_PATH=%s", dir);
	snprintf(choice, sizeof(choice), "GDRCOPY_BACKEND%s%s", *backend ? "=" : "", backend);
	run_program(&out, env, argv);
	if (!WIFEXITED(out.status) || WEXITSTATUS(out.status))
		fail_msg("wait status 0x%x: %s%s", out.status, out.out, out.err);
}

#define assert_found(text) \
	do { \
		if (!strstr(out.out, text)) \
			fail_msg("no \"%s\" in:\n%s", text, out.out); \
	} while (0)

#define assert_not_found(text) \
	do { \
		if (strstr(out.out, text)) \
			fail_msg("\"%s\" in:\n%s", text, out.out); \
	} while (0)

/* D26: a machine without the development package has the .1 only. */
static void d26_the_runtime_name_is_enough(void **state)
{
	put("libcuda.so.1", softcuda());
	probe("dmabuf", NULL, NULL);
	assert_found("errno=0\nbackend=dmabuf\n");
	assert_found("again=dmabuf\n");
}

static void d26_the_runtime_name_comes_first(void **state)
{
	put("libcuda.so.1", softcuda());
	put("libcuda.so", getenv("STUB"));
	probe("dmabuf", NULL, NULL);
	assert_found("backend=dmabuf\n");
	assert_not_found("/libcuda.so\n");
}

static void d26_the_development_name_will_do(void **state)
{
	put_rubbish("libcuda.so.1");
	put("libcuda.so", softcuda());
	probe("dmabuf", NULL, NULL);
	assert_found("backend=dmabuf\n");
}

static void no_libcuda_is_a_reason(void **state)
{
	static const char *const backends[] = { "dmabuf", "rm" };

	put_rubbish("libcuda.so.1");
	put_rubbish("libcuda.so");
	for (size_t i = 0; i < COUNT(backends); i++) {
		char report[128];

		/* that of the name that counts, also where the other is tried after it */
		snprintf(report, sizeof(report), "report=%s: no libcuda.so.1 (%s/libcuda.so.1: ",
			 backends[i], dir);
		probe(backends[i], NULL, NULL);
		assert_found("errno=19\nbackend=none\n"); /* ENODEV */
		assert_found(report);
		assert_found("install the NVIDIA driver");
		assert_found("error=gdr_open: no backend works here; the environment asks for ");
		assert_found("again=none\n");
	}
}

/* D25: a table that could not be filled is not used, also not the second time. */
static void d25_a_library_that_lacks_functions_is_a_reason(void **state)
{
	static const char *const backends[] = { "dmabuf", "rm" };

	put("libcuda.so.1", getenv("STUB"));
	for (size_t i = 0; i < COUNT(backends); i++) {
		probe(backends[i], NULL, NULL);
		assert_found("errno=19\nbackend=none\n");
		assert_found("libcuda.so.1 has no cuGetErrorName: the NVIDIA driver is too old");
		assert_found("again=none\n");
	}
}

static void an_old_driver_is_a_reason(void **state)
{
	put("libcuda.so.1", softcuda());
	/* D28: and CUDA is left alone: a cuInit would be noticed by its failing */
	probe("dmabuf", "SOFTCUDA_DRIVER_VERSION=13020", "SOFTCUDA_FAIL=cuInit:*:100");
	assert_found("errno=95\nbackend=none\n"); /* ENOTSUP */
	assert_found("report=dmabuf: needs a driver for CUDA 13.3 or later, "
		     "this one is for 13.2\n");
	probe("dmabuf", "SOFTCUDA_DRIVER_VERSION=13030", NULL);
	assert_found("backend=dmabuf\n");
	probe("dmabuf", "SOFTCUDA_DRIVER_VERSION=14000", NULL);
	assert_found("backend=dmabuf\n");
}

/* D4: 124 is for exporting, 152 for mapping what was exported; both are needed. */
static void d4_both_attributes_are_needed(void **state)
{
	static const char *const attrs[] = {
		"SOFTCUDA_ATTRS=152=0",
		"SOFTCUDA_ATTRS=124=0",
		"SOFTCUDA_ATTRS=124=0,152=0",
	};

	put("libcuda.so.1", softcuda());
	for (size_t i = 0; i < COUNT(attrs); i++) {
		probe("dmabuf", attrs[i], NULL);
		assert_found("errno=95\nbackend=none\n");
		assert_found("report=dmabuf: no device can map the dma-bufs it exports "
			     "(CUDA device attributes 124 and 152)\n");
	}
}

static void no_device_is_a_reason(void **state)
{
	put("libcuda.so.1", softcuda());
	probe("dmabuf", "SOFTCUDA_DEVICES=0", NULL);
	assert_found("errno=19\nbackend=none\n");
	assert_found("report=dmabuf: CUDA finds no device: see nvidia-smi");
}

/* D27: the driver stays, with what it has running, when the last context goes. */
static void d27_libcuda_is_never_unloaded(void **state)
{
	put("libcuda.so.1", softcuda());
	probe("dmabuf", NULL, NULL);
	assert_not_found("before=");
	assert_found("opened=");
	assert_found("closed=");
}

/* D28: whoever chose gdrdrv does not get CUDA loaded. */
static void d28_gdrdrv_does_without_cuda(void **state)
{
	put("libcuda.so.1", softcuda());
	probe("gdrdrv", NULL, NULL);
	assert_not_found("opened=");
	assert_not_found("closed=");
}

/* D32: backends that were passed over on the way to one that works are no errors. */
static void d32_falling_back_is_no_noise(void **state)
{
	if (!access("/dev/gdrdrv", F_OK))
		skip();
	put("libcuda.so.1", softcuda());
	probe("", "GDRCOPY_ENABLE_LOGGING=1", NULL);
	assert_found("backend=dmabuf\n");
	assert_found("report=gdrdrv: ");
	assert_found("\ndmabuf: in use\n");
	assert_string_equal(out.err, "");
	/* who wants to know is told */
	probe("", "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=2");
	assert_non_null(strstr(out.err, "INFO: backend gdrdrv skipped: "));
	assert_non_null(strstr(out.err, "INFO: backend dmabuf in use\n"));
	assert_null(strstr(out.err, "ERR:"));
}

static void copy_routines_can_be_chosen(void **state)
{
	static const char *const loud[] = {
		"GDRCOPY_BACKEND=gdrdrv",
		"GDRCOPY_COPY=nonsense,generic",
		"GDRCOPY_ENABLE_LOGGING=1",
		"GDRCOPY_LOG_LEVEL=3",
		NULL,
	};
	const char *argv[] = { getenv("PROBE"), NULL };
	char usual[256], choice[300], *end;

	put("libcuda.so.1", softcuda());
	probe("dmabuf", NULL, NULL);
	end = strstr(out.out, "copy=");
	assert_non_null(end);
	snprintf(usual, sizeof(usual), "%.*s", (int)strcspn(end, "\n"), end);
	probe("dmabuf", "GDRCOPY_COPY=generic", NULL);
	assert_found("copy=generic generic\n");
	/* what was chosen anyway may be named */
	snprintf(choice, sizeof(choice), "GDRCOPY_COPY=%s", usual + strlen("copy="));
	probe("dmabuf", choice, NULL);
	assert_found(usual);
	/* nothing but separators is no list */
	probe("dmabuf", "GDRCOPY_COPY= , ", NULL);
	assert_found(usual);
	assert_string_equal(out.err, "");
	run_program(&out, loud, argv);
	assert_found("copy=generic generic\n");
	assert_non_null(strstr(out.err,
			       "WARN: GDRCOPY_COPY: there is no copy routine \"nonsense\""));
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(d26_the_runtime_name_is_enough),
		T(d26_the_runtime_name_comes_first),
		T(d26_the_development_name_will_do),
		T(no_libcuda_is_a_reason),
		T(d25_a_library_that_lacks_functions_is_a_reason),
		T(an_old_driver_is_a_reason),
		T(d4_both_attributes_are_needed),
		T(no_device_is_a_reason),
		T(d27_libcuda_is_never_unloaded),
		T(d28_gdrdrv_does_without_cuda),
		T(d32_falling_back_is_no_noise),
		T(copy_routines_can_be_chosen),
	};
#undef T

	if (!getenv("PROBE") || !softcuda() || !getenv("STUB"))
		return 77;
	return cmocka_run_group_tests_name("core open", tests, NULL, NULL);
}
