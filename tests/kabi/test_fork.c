/* SPDX-License-Identifier: MIT */
/* A forked child on the gdrdrv backend: refused everything, and harmless to its parent. */
#include "fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define HANDLE 0x10ull

/* In a child cmocka's assertions would run the rest of the tests there. */
#define CHECK(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "child, line %d: %s\n", __LINE__, #cond); \
			_exit(1); \
		} \
	} while (0)

struct scene {
	gdr_t g;
	gdr_mh_t bare, mapped;
	void *va;
};

static struct scene make_scene(void)
{
	struct scene s;

	s.g = open_driver(V(2, 6));
	s.bare = pin(s.g, V(2, 6), HANDLE);
	s.mapped = pin(s.g, V(2, 6), HANDLE + 1);
	s.va = map(s.g, s.mapped, V(2, 6), HANDLE + 1);
	return s;
}

/* What the parent has is whole: it works, and closing it makes every call. */
static void end_scene(const struct scene *s)
{
	char buf[16] = "fifteen letters";

	assert_int_equal(gdr_copy_to_mapping(s->mapped, s->va, buf, sizeof(buf)), 0);
	assert_memory_equal(s->va, buf, sizeof(buf));
	will_munmap(SIZE, 0);
	will_unpin(HANDLE + 1, 0);
	will_unpin(HANDLE, 0);
	finish(s->g);
}

/* Run it in a child; returns the wait status. */
static int in_child(void (*run)(const struct scene *), const struct scene *s)
{
	int status = -1;
	pid_t pid = fork();

	assert_int_not_equal(pid, -1);
	if (pid == 0) {
		driver_forked();
		run(s);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void try_everything(const struct scene *s)
{
	gdr_mh_t mh = { 0x5a5a };
	gdr_info_v2_t info;
	void *va = &info;
	int v = 7, w = 7;

	CHECK(gdr_pin_buffer(s->g, ADDR, SIZE, 0, 0, &mh) == EACCES);
	CHECK(gdr_pin_buffer_v2(s->g, ADDR, SIZE, 0, &mh) == EACCES);
	CHECK(gdr_unpin_buffer(s->g, s->bare) == EACCES);
	CHECK(gdr_unpin_buffer(s->g, s->mapped) == EACCES);
	CHECK(gdr_map(s->g, s->bare, &va, SIZE) == EACCES);
	CHECK(gdr_unmap(s->g, s->mapped, s->va, SIZE) == EACCES);
	CHECK(gdr_get_info_v2(s->g, s->bare, &info) == EACCES);
	CHECK(gdr_get_callback_flag(s->g, s->bare, &v) == EACCES);
	CHECK(gdr_get_attribute(s->g, GDR_ATTR_USE_PERSISTENT_MAPPING, &v) == EACCES);
	CHECK(gdr_driver_get_version(s->g, &v, &w) == EACCES);
	CHECK(strstr(gdrx_last_error(), "open its own"));
	CHECK(gdr_copy_to_mapping(s->mapped, s->va, &v, sizeof(v)) == EINVAL);
	CHECK(gdr_copy_from_mapping(s->mapped, &v, s->va, sizeof(v)) == EINVAL);
	CHECK(mh.h == 0x5a5a && va == &info && v == 7 && w == 7);
	CHECK(!driver_trouble_so_far());
}

static void every_call_is_eacces_in_a_child(void **state)
{
	struct scene s = make_scene();

	assert_int_equal(in_child(try_everything, &s), 0);
	end_scene(&s);
}

/* D13: one call closes in the child, and the driver hears of the descriptor only. */
static void close_there(const struct scene *s)
{
	will_close();
	CHECK(gdr_close(s->g) == 0);
	CHECK(!driver_trouble());
	CHECK(gdr_close(s->g) == EINVAL);
	CHECK(gdr_unpin_buffer(s->g, s->bare) == EINVAL);
}

static void d13_closing_in_a_child_unpins_nothing(void **state)
{
	struct scene s = make_scene();

	assert_int_equal(in_child(close_there, &s), 0);
	end_scene(&s);
}

static void open_there(const struct scene *s)
{
	gdr_mh_t mh = { 0 };
	gdr_t g;

	driver_use(1);
	will_open(0);
	will_get_version(V(2, 6), V(2, 0), 0);
	g = gdr_open();
	CHECK(g);
	will_pin_v2(ADDR, SIZE, 0, 0, 0);
	CHECK(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh) == 0);
	CHECK(gdr_unpin_buffer(g, s->bare) == EINVAL);
	CHECK(gdr_unpin_buffer(s->g, mh) == EACCES);
	will_unpin(0, 0);
	will_close();
	CHECK(gdr_close(g) == 0);
	CHECK(!driver_trouble_so_far());
}

static void a_child_can_open_its_own(void **state)
{
	struct scene s = make_scene();

	assert_int_equal(in_child(open_there, &s), 0);
	end_scene(&s);
}

static void touch_there(const struct scene *s)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGSEGV, SIG_DFL);
	*(volatile char *)s->va = 1;
}

static void a_mapping_is_not_inherited(void **state)
{
	struct scene s = make_scene();
	int status = in_child(touch_there, &s);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
	end_scene(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_call_is_eacces_in_a_child, setup),
		cmocka_unit_test_setup(d13_closing_in_a_child_unpins_nothing, setup),
		cmocka_unit_test_setup(a_child_can_open_its_own, setup),
		cmocka_unit_test_setup(a_mapping_is_not_inherited, setup),
	};

	return cmocka_run_group_tests_name("kabi fork", tests, NULL, NULL);
}
