/* SPDX-License-Identifier: MIT */
/* What a forked child has of its parent's contexts: nothing that reaches a device. */
#include "fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "model.h"

#define ADDR	0x7f4000000000ul
#define SIZE	0x10000ul
#define THREADS 4
#define FORKS	150

/*
 * ThreadSanitizer does not see that the child's fork lock is a new one, and
 * would report the next use of it.
 */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0:report_mutex_bugs=0";
}

#define CALLS(op) (model[MODEL_GDRDRV].calls[op])

struct scene {
	gdr_t g;
	gdr_mh_t bare, mapped;
	void *va;
	int fds;
};

static int setup(void **state)
{
	model_reset();
	return 0;
}

static struct scene make_scene(void)
{
	struct scene s = { .fds = count_fds() };

	s.g = gdr_open();
	assert_non_null(s.g);
	assert_int_equal(gdr_pin_buffer(s.g, ADDR, SIZE, 0, 0, &s.bare), 0);
	assert_int_equal(gdr_pin_buffer(s.g, ADDR, SIZE, 0, 0, &s.mapped), 0);
	assert_int_equal(gdr_map(s.g, s.mapped, &s.va, SIZE), 0);
	return s;
}

/* The parent's side is untouched, whatever the child did. */
static void end_scene(const struct scene *s)
{
	char buf[16] = "fifteen letters";

	assert_int_equal(CALLS(MODEL_UNPIN), 0);
	assert_int_equal(gdr_copy_to_mapping(s->mapped, s->va, buf, sizeof(buf)), 0);
	assert_memory_equal(s->va, buf, sizeof(buf));
	assert_int_equal(gdr_close(s->g), 0);
	assert_int_equal(CALLS(MODEL_UNMAP), 1);
	assert_int_equal(CALLS(MODEL_UNPIN), 2);
	assert_int_equal(CALLS(MODEL_FORGET), 0);
	assert_int_equal(count_fds(), s->fds);
}

static void try_everything(void *arg)
{
	struct scene *s = arg;
	gdr_mh_t mh = { 0x5a5a };
	struct info_v1 v1;
	gdr_info_v2_t info;
	void *va = &info;
	int v = 7, w = 7, calls = 0;

	CHECK(gdr_pin_buffer(s->g, ADDR, SIZE, 0, 0, &mh) == EACCES);
	CHECK(gdr_pin_buffer_v2(s->g, ADDR, SIZE, 0, &mh) == EACCES);
	CHECK(gdr_unpin_buffer(s->g, s->bare) == EACCES);
	CHECK(gdr_unpin_buffer(s->g, s->mapped) == EACCES);
	CHECK(gdr_map(s->g, s->bare, &va, SIZE) == EACCES);
	CHECK(gdr_map_v2(s->g, s->bare, &va, SIZE, 0) == EACCES);
	CHECK(gdr_unmap(s->g, s->mapped, s->va, SIZE) == EACCES);
	CHECK(gdr_get_info_v2(s->g, s->bare, &info) == EACCES);
	CHECK(info_v1(s->g, s->bare, &v1) == EACCES);
	CHECK(gdr_get_callback_flag(s->g, s->bare, &v) == EACCES);
	CHECK(gdr_get_attribute(s->g, GDR_ATTR_USE_PERSISTENT_MAPPING, &v) == EACCES);
	CHECK(gdr_get_attribute(s->g, GDR_ATTR_USING_DMA_BUF_MMAP, &v) == EACCES);
	CHECK(gdr_driver_get_version(s->g, &v, &w) == EACCES);
	CHECK(strstr(gdrx_last_error(), "open its own"));
	CHECK(gdr_copy_to_mapping(s->mapped, s->va, &v, sizeof(v)) == EINVAL);
	CHECK(gdr_copy_from_mapping(s->mapped, &v, s->va, sizeof(v)) == EINVAL);
	CHECK(mh.h == 0x5a5a && va == &info && v == 7 && w == 7);
	CHECK(!strcmp(gdrx_backend_name(s->g), "gdrdrv"));
	for (int op = 0; op < MODEL_OPS; op++)
		calls += CALLS(op);
	CHECK(calls == 4); /* the parent's */
}

static void every_call_is_eacces_in_a_child(void **state)
{
	struct scene s = make_scene();

	assert_int_equal(in_child(try_everything, &s), 0);
	end_scene(&s);
}

/* Run it as process 1 of a new pid namespace; the exit status, or 77 where that is not allowed. */
static int as_process_1(void (*run)(void))
{
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWPID) != 0)
		return 77;
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		CHECK(getpid() == 1);
		run();
		child_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static struct scene twin;       /* what process 1 made, for process 1 */

static void in_the_twin(void)
{
	int flag;

	CHECK(gdr_get_callback_flag(twin.g, twin.bare, &flag) == EACCES);
	CHECK(gdr_unpin_buffer(twin.g, twin.bare) == EACCES);
	CHECK(gdr_close(twin.g) == 0);
	CHECK(CALLS(MODEL_UNPIN) == 0 && CALLS(MODEL_FORGET) == 2);
}

static void make_a_twin(void)
{
	twin = make_scene();
	child_exit(as_process_1(in_the_twin));
}

static void be_twins(void *arg)
{
	child_exit(as_process_1(make_a_twin));
}

/* The number alone does not make a child its parent. */
static void a_child_with_its_parents_number_is_another(void **state)
{
	int status = in_child(be_twins, NULL);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* needs the right to make pid namespaces */
	assert_int_equal(status, 0);
}

static void close_there(void *arg)
{
	struct scene *s = arg;

	CHECK(gdr_close(s->g) == 0);
	CHECK(CALLS(MODEL_FORGET) == 2);
	CHECK(CALLS(MODEL_CLOSE) == 1);
	CHECK(CALLS(MODEL_UNPIN) == 0 && CALLS(MODEL_UNMAP) == 0);
	CHECK(model_pins() == 0);
	CHECK(count_fds() == s->fds);
	CHECK(gdr_close(s->g) == EINVAL);
	CHECK(gdr_unpin_buffer(s->g, s->bare) == EINVAL);
}

static void closing_in_a_child_frees_memory_and_descriptors(void **state)
{
	struct scene s = make_scene();

	assert_int_equal(in_child(close_there, &s), 0);
	end_scene(&s);
}

static void open_there(void *arg)
{
	struct scene *s = arg;
	gdr_t g = gdr_open();
	gdr_mh_t mh;
	char c = 5;
	void *va;

	CHECK(g && g != s->g);
	CHECK(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh) == 0);
	CHECK(gdr_map(g, mh, &va, SIZE) == 0);
	CHECK(gdr_copy_to_mapping(mh, va, &c, 1) == 0);
	CHECK(gdr_unpin_buffer(g, s->bare) == EINVAL);
	CHECK(gdr_unpin_buffer(s->g, mh) == EACCES);
	CHECK(gdr_close(s->g) == 0);
	CHECK(gdr_copy_from_mapping(mh, &c, va, 1) == 0 && c == 5);
	CHECK(gdr_close(g) == 0);
	CHECK(CALLS(MODEL_FORGET) == 2 && CALLS(MODEL_UNPIN) == 1);
	CHECK(count_fds() == s->fds);
}

static void a_child_can_open_its_own(void **state)
{
	struct scene s = make_scene();

	assert_int_equal(in_child(open_there, &s), 0);
	end_scene(&s);
}

/* The child's own context is in turn not the grandchild's. */
static void grandchild(void *arg)
{
	gdr_t *g = arg;
	int v;

	CHECK(gdr_get_attribute(g[0], GDR_ATTR_USE_PERSISTENT_MAPPING, &v) == EACCES);
	CHECK(gdr_get_attribute(g[1], GDR_ATTR_USE_PERSISTENT_MAPPING, &v) == EACCES);
	CHECK(gdr_close(g[1]) == 0 && gdr_close(g[0]) == 0);
}

static void fork_there(void *arg)
{
	struct scene *s = arg;
	gdr_t g[2] = { s->g, gdr_open() };
	int v;

	CHECK(g[1]);
	CHECK(in_child(grandchild, g) == 0);
	CHECK(gdr_get_attribute(g[1], GDR_ATTR_USE_PERSISTENT_MAPPING, &v) == 0);
	CHECK(gdr_close(g[1]) == 0);
}

static void a_grandchild_has_neither(void **state)
{
	struct scene s = make_scene();

	assert_int_equal(in_child(fork_there, &s), 0);
	end_scene(&s);
}

/* D14 */
static void d14_a_mapping_is_not_inherited(void **state)
{
	struct scene s = make_scene();

	/* what look_for_mappings looks for is there, in the parent */
	assert_true(has_mapping_named("gdr-model"));
	assert_true(faults_in_child(s.va));
	end_scene(&s);
}

/* A fork inside a call: the child finds the context's lock held by nobody who lives. */
static struct scene forked_scene;

static void fork_in_a_call(enum model_op op)
{
	if (op == MODEL_INFO)
		model[MODEL_GDRDRV].err[MODEL_INFO] = in_child(close_there, &forked_scene) != 0;
}

static void a_child_of_a_thread_inside_a_call_can_close(void **state)
{
	gdr_info_t info;

	forked_scene = make_scene();
	model[MODEL_GDRDRV].hook = fork_in_a_call;
	assert_int_equal(gdr_get_info(forked_scene.g, forked_scene.mapped, &info), 0);
	model[MODEL_GDRDRV].hook = NULL;
	end_scene(&forked_scene);
}

/* Mappings come and go in other threads; no child ever has one. */
static atomic_bool stop;
static atomic_int rounds;

static void *map_and_unmap(void *arg)
{
	gdr_t g = arg;
	gdr_mh_t mh;
	void *va;

	if (gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh))
		return arg;
	while (!atomic_load(&stop)) {
		if (gdr_map(g, mh, &va, SIZE))
			return arg;
		*(volatile char *)va = 1;
		if (gdr_unmap(g, mh, va, SIZE))
			return arg;
		atomic_fetch_add(&rounds, 1);
	}
	return gdr_unpin_buffer(g, mh) ? arg : NULL;
}

static void look_for_mappings(void *arg)
{
	CHECK(!has_mapping_named("gdr-model"));
}

static void d14_no_fork_falls_between_mmap_and_madvise(void **state)
{
	pthread_t threads[THREADS];
	gdr_t g[THREADS];

	for (int i = 0; i < THREADS; i++) {
		g[i] = gdr_open();
		assert_non_null(g[i]);
		pthread_create(&threads[i], NULL, map_and_unmap, g[i]);
	}
	while (atomic_load(&rounds) < 100)
		;
	for (int i = 0; i < FORKS; i++)
		assert_int_equal(in_child(look_for_mappings, NULL), 0);
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++) {
		void *ret;

		pthread_join(threads[i], &ret);
		assert_null(ret);
		assert_int_equal(gdr_close(g[i]), 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_call_is_eacces_in_a_child, setup),
		cmocka_unit_test_setup(a_child_with_its_parents_number_is_another, setup),
		cmocka_unit_test_setup(closing_in_a_child_frees_memory_and_descriptors, setup),
		cmocka_unit_test_setup(a_child_can_open_its_own, setup),
		cmocka_unit_test_setup(a_grandchild_has_neither, setup),
		cmocka_unit_test_setup(d14_a_mapping_is_not_inherited, setup),
		cmocka_unit_test_setup(a_child_of_a_thread_inside_a_call_can_close, setup),
		cmocka_unit_test_setup(d14_no_fork_falls_between_mmap_and_madvise, setup),
	};

	unsetenv("GDRCOPY_BACKEND");
	unsetenv("GDRCOPY_USE_DMABUF_MMAP");
	return cmocka_run_group_tests_name("core fork", tests, NULL, NULL);
}
