/* SPDX-License-Identifier: MIT */
/* The steps, and what holds for each that fails: an errno, a sentence, outputs untouched. */
#include "scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdrapi.h"
#include "gdrapi_ext.h"
#include "inject.h"

/* The struct of releases before 2.4, and the function that fills it. */
struct info_v1 {
	uint64_t words[5];
};
int info_v1(gdr_t g, gdr_mh_t handle, struct info_v1 *info) __asm__("gdr_get_info");

#define UNTOUCHED 0x5e5e5e5e
#define COPY_SIZE ((size_t)1 << 20)
#define TRIES     500

static struct scenario *now;

static void wrong(const char *step, const char *what)
{
	fprintf(stderr, "%s: %s\n", step, what);
	now->wrong = true;
}

/* A last error that no step can give. */
static void forget_error(void)
{
	WATCH(gdr_unpin_buffer(NULL, (gdr_mh_t){ 0 }));
}

static int note(const char *step, int ret)
{
	if (ret == 0)
		return 0;
	if (ret < 0 || ret >= 4096)
		wrong(step, "no errno");
	if (strlen(gdrx_last_error()) < 20 || !strncmp(gdrx_last_error(), "gdr_t (nil)", 11))
		wrong(step, "nothing was said about the failure");
	if (!now->failures++) {
		now->err = ret;
		snprintf(now->step, sizeof(now->step), "%s", step);
		snprintf(now->text, sizeof(now->text), "%s", gdrx_last_error());
	}
	forget_error();
	return ret;
}

static bool tried(bool worked)
{
	return worked;
}

#define ONCE(call) note(#call, WATCH(call))
/* True if the first or the second try worked. */
#define TWICE(call) tried(ONCE(call) == 0 || ONCE(call) == 0)
/* After a failure the output is what it was. */
#define KEEPS(ok, output, value) \
	do { \
		if (!(ok) && (output) != (value)) \
			wrong(#output, "written by a call that failed"); \
	} while (0)

static gdr_t try_open(void)
{
	gdr_t g = WATCH(gdr_open());

	if (!g) {
		if (!now->report[0])
			snprintf(now->report, sizeof(now->report), "%s", gdrx_open_report());
		note("gdr_open", errno);
	}
	return g;
}

static gdr_mh_t pin(gdr_t g, uint64_t addr, size_t size)
{
	gdr_mh_t mh = { UNTOUCHED };
	bool ok = TWICE(gdr_pin_buffer(g, addr, size, 0, 0, &mh));

	KEEPS(ok, mh.h, UNTOUCHED);
	return ok ? mh : (gdr_mh_t){ 0 };
}

static void *map(gdr_t g, gdr_mh_t mh, size_t size, int flags)
{
	void *va = now;
	bool ok = TWICE(gdr_map_v2(g, mh, &va, size, flags));

	KEEPS(ok, va, (void *)now);
	return ok ? va : NULL;
}

static void ask(gdr_t g, gdr_mh_t mh)
{
	int major = UNTOUCHED, minor = UNTOUCHED, v = UNTOUCHED, attr;
	struct info_v1 old = { { UNTOUCHED } };
	gdr_info_v2_t info = { .va = UNTOUCHED };
	bool ok;

	ok = TWICE(gdr_driver_get_version(g, &major, &minor));
	KEEPS(ok, major, UNTOUCHED);
	for (attr = GDR_ATTR_USE_PERSISTENT_MAPPING; attr < GDR_ATTR_MAX; attr++) {
		v = UNTOUCHED;
		ok = TWICE(gdr_get_attribute(g, (gdr_attr_t)attr, &v));
		KEEPS(ok, v, UNTOUCHED);
	}
	ok = TWICE(info_v1(g, mh, &old));
	KEEPS(ok, old.words[0], UNTOUCHED);
	ok = TWICE(gdr_get_info_v2(g, mh, &info));
	KEEPS(ok, info.va, UNTOUCHED);
	v = UNTOUCHED;
	ok = TWICE(gdr_get_callback_flag(g, mh, &v));
	KEEPS(ok, v, UNTOUCHED);
}

static void copy(gdr_mh_t mh, char *va)
{
	struct gdrx_copy_options three = { .size = sizeof(three), .threads = 3, .min_bytes = 4096 };
	struct gdrx_copy_options two = { .size = sizeof(two), .min_bytes = 4096 };
	char *host = calloc(2, COPY_SIZE);
	struct gdrx_iov iov[2] = { { va + 1, host, 5 }, { va + 64, host + COPY_SIZE, 640 } };
	int i;

	if (!host)
		abort();
	memset(host, 0x5a, COPY_SIZE);
	TWICE(gdr_copy_to_mapping(mh, va, host, COPY_SIZE));
	TWICE(gdr_copy_from_mapping(mh, host + COPY_SIZE, va, COPY_SIZE));
	TWICE(gdrx_copy_iov(mh, 0, iov, 2));
	TWICE(gdrx_copy_iov(mh, 1, iov, 2));
	/* Until a helper has come in time to do a part, which a busy machine may put off. */
	for (i = 0; i < 3 || (i < TRIES && !inject_calls(CALL_pthread_setaffinity_np)); i++) {
		TWICE(gdrx_copy_to_mapping(mh, va, host, COPY_SIZE, &three));
		memset(host + COPY_SIZE, 0, COPY_SIZE);
		TWICE(gdrx_copy_from_mapping(mh, host + COPY_SIZE, va, COPY_SIZE,
					     i ? &three : &two));
		if (memcmp(host, host + COPY_SIZE, COPY_SIZE) != 0)
			wrong("gdrx_copy", "other bytes came back");
	}
	free(host);
}

/* A child finds everything shut, and closes what it inherited; nothing of ours goes. */
static void fork_child(gdr_t g, gdr_mh_t mh)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		bool fine = WATCH(gdr_unpin_buffer(g, mh)) == EACCES && WATCH(gdr_close(g)) == 0;

		_exit(fine ? 0 : 1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		wrong("gdr_close", "not as promised in a forked child");
}

static void use(gdr_t g, const struct ground *ground)
{
	gdr_mh_t plain = pin(g, ground->plain, ground->plain_size);
	gdr_mh_t parts, small;
	void *va;

	if (plain.h) {
		ask(g, plain);
		va = map(g, plain, 1 << 16, GDR_MAP_FLAG_DEFAULT);
		if (va)
			TWICE(gdr_unmap(g, plain, va, 1 << 16));
		va = map(g, plain, ground->plain_size, GDR_MAP_FLAG_REQ_WC_MAPPING);
		if (va) {
			copy(plain, va);
			TWICE(gdr_unmap(g, plain, va, ground->plain_size));
		}
	}
	parts = pin(g, ground->parts, ground->parts_size);
	if (parts.h) {
		va = map(g, parts, ground->parts_size, GDR_MAP_FLAG_DEFAULT);
		if (va)
			TWICE(gdr_unmap(g, parts, va, ground->parts_size));
		map(g, parts, ground->parts_size, GDR_MAP_FLAG_DEFAULT);
	}
	/* In a thread without a context of CUDA's. */
	ground_context(ground, false);
	small = pin(g, ground->small, ground->small_size);
	now->context = !ground_no_context(ground);
	ground_context(ground, true);
	if (small.h)
		ONCE(gdr_unpin_buffer(g, small));
	fork_child(g, parts);
	if (plain.h)
		ONCE(gdr_unpin_buffer(g, plain));
}

void scenario_run(const struct ground *ground, struct scenario *s)
{
	const char *name = NULL;
	int major = 0, minor = 0;
	gdr_t g;

	memset(s, 0, sizeof(*s));
	now = s;
	forget_error();
	WATCH((gdr_runtime_get_version(&major, &minor), 0));
	TWICE(gdr_get_mapping_type_string(GDR_MAPPING_TYPE_WC, &name));
	if (major != 2 || !name || !WATCH(gdrx_copy_routine(0)))
		wrong("gdr_runtime_get_version", "no version, no names");
	g = try_open();
	if (!g)
		g = try_open();
	if (!g)
		return;
	name = WATCH(gdrx_backend_name(g));
	if (!name || strcmp(name, ground->backend) != 0)
		wrong("gdrx_backend_name", "another backend");
	use(g, ground);
	ONCE(gdr_close(g));
	if (WATCH(gdr_close(g)) != EINVAL)
		wrong("gdr_close", "closed twice");
}
