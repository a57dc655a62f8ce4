/* SPDX-License-Identifier: MIT */
/* Calls that meet: closing under another thread's call, and everything at once. */
#include "fixture.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

#include "model.h"

#define ADDR	0x7f4000000000ul
#define SIZE	0x10000ul
#define THREADS 6
#define ROUNDS	400

/* A thread that sets this stops before its lock number n from there on. */
static __thread int locks_until_stop;
static sem_t stopped, go_on;

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
	if (locks_until_stop && --locks_until_stop == 0) {
		sem_post(&stopped);
		sem_wait(&go_on);
	}
	return __real_pthread_mutex_lock(m);
}

static void stop_in_info(enum model_op op)
{
	if (op == MODEL_INFO) {
		sem_post(&stopped);
		sem_wait(&go_on);
	}
}

static int setup(void **state)
{
	model_reset();
	sem_init(&stopped, 0, 0);
	sem_init(&go_on, 0, 0);
	return 0;
}

struct call {
	gdr_t g;
	gdr_mh_t mh;
	gdr_info_t info;
	int ret;
	char error[1024];
	bool stop; /* between finding the context and locking it */
};

static void *call_info(void *arg)
{
	struct call *c = arg;

	if (c->stop)
		locks_until_stop = 2; /* registry, context */
	c->ret = gdr_get_info(c->g, c->mh, &c->info);
	strcpy(c->error, gdrx_last_error());
	return NULL;
}

static void *call_close(void *arg)
{
	struct call *c = arg;

	c->ret = gdr_close(c->g);
	return NULL;
}

static struct call make_call(void)
{
	struct call c = { .g = gdr_open(), .ret = -1 };

	assert_non_null(c.g);
	assert_int_equal(gdr_pin_buffer(c.g, ADDR, SIZE, 0, 0, &c.mh), 0);
	return c;
}

static void short_sleep(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
}

/* Closing waits for the call; the call ends as if nothing happened. */
static void close_waits_for_a_call_under_way(void **state)
{
	struct call info = make_call(), closing = info;
	pthread_t info_thread, close_thread;
	int flag;

	model[MODEL_GDRDRV].hook = stop_in_info;
	pthread_create(&info_thread, NULL, call_info, &info);
	sem_wait(&stopped);
	pthread_create(&close_thread, NULL, call_close, &closing);
	/* once it is being closed, it is closed for everybody else */
	while (gdrx_backend_name(info.g))
		sched_yield();
	assert_int_equal(gdr_get_callback_flag(info.g, info.mh, &flag), EINVAL);
	assert_int_equal(gdr_close(info.g), EINVAL);
	short_sleep();
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_UNPIN], 0);
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_CLOSE], 0);
	sem_post(&go_on);
	pthread_join(info_thread, NULL);
	pthread_join(close_thread, NULL);
	assert_int_equal(info.ret, 0);
	assert_int_equal(info.info.va, ADDR);
	assert_int_equal(closing.ret, 0);
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_CLOSE], 1);
	assert_int_equal(model_pins(), 0);
}

/* A call that found the context, and is overtaken before it has the lock. */
static void a_call_that_close_overtakes_is_refused(void **state)
{
	struct call info = make_call();
	pthread_t thread;

	info.stop = true;
	pthread_create(&thread, NULL, call_info, &info);
	sem_wait(&stopped);
	assert_int_equal(gdr_close(info.g), 0);
	/* not yet: the other thread still stands on it */
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_CLOSE], 0);
	sem_post(&go_on);
	pthread_join(thread, NULL);
	assert_int_equal(info.ret, EINVAL);
	assert_non_null(strstr(info.error, "is not open"));
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_INFO], 0);
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_CLOSE], 1);
}

/* A copy that begins while the handle is being unpinned is refused. */
static gdr_mh_t copied;
static int copy_result;

static void copy_in_unpin(enum model_op op)
{
	char c = 0;

	if (op == MODEL_UNMAP || op == MODEL_UNPIN)
		copy_result |= gdr_copy_to_mapping(copied, &c, &c, 1) != EINVAL;
}

static void a_copy_during_unpin_is_refused(void **state)
{
	struct call c = make_call();
	void *va;

	copied = c.mh;
	copy_result = 0;
	assert_int_equal(gdr_map(c.g, c.mh, &va, SIZE), 0);
	model[MODEL_GDRDRV].hook = copy_in_unpin;
	assert_int_equal(gdr_unmap(c.g, c.mh, va, SIZE), 0);
	assert_int_equal(gdr_map(c.g, c.mh, &va, SIZE), 0);
	assert_int_equal(gdr_unpin_buffer(c.g, c.mh), 0);
	assert_int_equal(copy_result, 0);
	assert_int_equal(gdr_close(c.g), 0);
}

/* D9: all of a pin's life from several threads on one context. */
static void *live_a_pins_life(void *arg)
{
	gdr_t g = arg;
	char out[64], in[64];
	gdr_info_t info;
	gdr_mh_t mh;
	void *va;

	for (int i = 0; i < ROUNDS; i++) {
		memset(out, i, sizeof(out));
		if (gdr_pin_buffer(g, ADDR + (unsigned)i * SIZE, SIZE, 0, 0, &mh) ||
		    gdr_map(g, mh, &va, SIZE) ||
		    gdr_get_info(g, mh, &info) || info.va != ADDR + (unsigned)i * SIZE ||
		    !info.mapped ||
		    gdr_copy_to_mapping(mh, (char *)va + 100, out, sizeof(out)) ||
		    gdr_copy_from_mapping(mh, in, (char *)va + 100, sizeof(in)) ||
		    memcmp(in, out, sizeof(in)))
			return arg;
		if (i % 2 && gdr_unmap(g, mh, va, SIZE))
			return arg;
		if (gdr_unpin_buffer(g, mh) != 0 || gdr_unpin_buffer(g, mh) != EINVAL)
			return arg;
	}
	return NULL;
}

static void *open_and_close(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		gdr_t g = gdr_open();
		gdr_mh_t mh;

		if (!g || gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh) || gdr_close(g) ||
		    gdr_unpin_buffer(g, mh) != EINVAL)
			return arg;
	}
	return NULL;
}

static void d9_everything_from_every_thread(void **state)
{
	pthread_t threads[THREADS];
	gdr_t g = gdr_open();

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, i % 3 ? live_a_pins_life : open_and_close, g);
	for (int i = 0; i < THREADS; i++) {
		void *ret;

		pthread_join(threads[i], &ret);
		assert_null(ret);
	}
	assert_int_equal(model_pins(), 0);
	assert_int_equal(gdr_close(g), 0);
	assert_int_equal(model[MODEL_GDRDRV].calls[MODEL_OPEN],
			 model[MODEL_GDRDRV].calls[MODEL_CLOSE]);
}

/* D33: racing first copies log once, and later ones do not log at all. */
static pthread_barrier_t start;

static void *copy_a_lot(void *arg)
{
	gdr_mh_t mh;
	char buf[256];
	void *va;
	gdr_t g;

	pthread_barrier_wait(&start);
	g = gdr_open();
	if (!g || gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh) || gdr_map(g, mh, &va, SIZE))
		return arg;
	for (int i = 0; i < 1000; i++)
		if (gdr_copy_to_mapping(mh, va, buf, 1 + (unsigned)i % sizeof(buf)) ||
		    gdr_copy_from_mapping(mh, buf, va, 1 + (unsigned)i % sizeof(buf)))
			return arg;
	return gdr_close(g) ? arg : NULL;
}

static int race_of_first_copies(void)
{
	pthread_t threads[THREADS];
	int failed = 0;

	model_reset();
	pthread_barrier_init(&start, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, copy_a_lot, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++) {
		void *ret;

		pthread_join(threads[i], &ret);
		failed |= ret != NULL;
	}
	return failed;
}

static int count(const char *text, const char *needle)
{
	int n = 0;

	for (text = strstr(text, needle); text; text = strstr(text + 1, needle))
		n++;
	return n;
}

static void d33_copies_do_not_log(void **state)
{
	static const char *const env[] = { "GDRCOPY_ENABLE_LOGGING=1", "GDRCOPY_LOG_LEVEL=1",
					   NULL };
	static struct output out;

	for (int i = 0; i < 5; i++) {
		run_self(&out, env, "copies");
		assert_int_equal(out.status, 0);
		assert_int_equal(count(out.err, "copy routines: "), 1);
		assert_int_equal(count(out.err, "backend gdrdrv in use\n"), THREADS);
		assert_int_equal(count(out.err, "\n"), 1 + THREADS);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(close_waits_for_a_call_under_way, setup),
		cmocka_unit_test_setup(a_call_that_close_overtakes_is_refused, setup),
		cmocka_unit_test_setup(a_copy_during_unpin_is_refused, setup),
		cmocka_unit_test_setup(d9_everything_from_every_thread, setup),
		cmocka_unit_test_setup(d33_copies_do_not_log, setup),
	};

	unsetenv("GDRCOPY_BACKEND");
	unsetenv("GDRCOPY_USE_DMABUF_MMAP");
	if (argc > 1)
		return race_of_first_copies();
	return cmocka_run_group_tests_name("core race", tests, NULL, NULL);
}
