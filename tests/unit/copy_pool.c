/* SPDX-License-Identifier: MIT */
/*
 * The life of the helping threads: made when needed, not missed where they cannot
 * be had, awake for the next copy, asleep when there is none; callers that are cancelled, forks,
 * and the end of the process.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "parallel_fixture.h"

static bool fail_create;
int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg)
{
	return fail_create ? EAGAIN : __real_pthread_create(t, attr, run, arg);
}

static _Thread_local unsigned wakes;
int __real_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_signal(pthread_cond_t *cond);

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	wakes++;
	return __real_pthread_cond_signal(cond);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void idle_helpers_cost_nothing(void **state)
{
	double before;

	parallel_meet(4, NULL);
	usleep(50000);
	assert_true(parallel_task_count() >= 4);
	before = cpu_seconds();
	usleep(300000);
	/* a thread that polled would have used 0.3 s */
	assert_true(cpu_seconds() - before < 0.03);
}

static void a_helper_is_awake_for_the_next_copy(void **state)
{
	time_t end = time(NULL) + 20;
	unsigned without = 0;

	/* on a machine that is busy it may have to try again */
	while (without < 8 && time(NULL) < end) {
		without = 0;
		for (int i = 0; i < 10; i++) {
			wakes = 0;
			parallel_meet(2, NULL);
			without += !wakes;
		}
	}
	assert_true(without >= 8);
	/* but not for one long after, when it has had a CPU to notice */
	for (wakes = 0; !wakes && time(NULL) < end + 20;) {
		usleep(50000);
		parallel_meet(2, NULL);
	}
	assert_true(wakes > 0);
}

static void *cancelled(void *arg)
{
	while (!parallel_many_copies(arg))
		pthread_testcancel();
	return arg;
}

static void a_caller_may_be_cancelled(void **state)
{
	void *result;
	pthread_t t;

	for (int i = 0; i < 5; i++) {
		assert_int_equal(pthread_create(&t, NULL, cancelled, &parallel_wrong_bytes), 0);
		usleep(3000);
		pthread_cancel(t);
		assert_int_equal(pthread_join(t, &result), 0);
		assert_ptr_equal(result, PTHREAD_CANCELED);
		assert_null(parallel_many_copies(&parallel_wrong_bytes));
	}
}

/* Exit status of the child: 0 if it could copy, by helpers of its own. */
static int copy_in_child(void)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		int alone = parallel_task_count();

		if (alone != 1)
			_exit(2);
		parallel_meet(3, NULL);
		if (parallel_by_helpers < 2 || parallel_task_count() != 3)
			_exit(3);
		_exit(parallel_many_copies(&parallel_wrong_bytes) ? 4 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static atomic_bool stop_copying;

static void *copy_all_the_time(void *arg)
{
	while (!atomic_load(&stop_copying))
		if (parallel_many_copies(arg))
			return arg;
	return NULL;
}

static void a_forked_child_has_its_own_helpers(void **state)
{
	pthread_t t;
	void *wrong;

#ifdef __SANITIZE_THREAD__
	skip(); /* it does not follow a child of a process with threads */
#endif
	parallel_meet(4, NULL);
	assert_int_equal(copy_in_child(), 0);
	/* and while helpers are at work, and the pool's lock is in use */
	assert_int_equal(pthread_create(&t, NULL, copy_all_the_time, &parallel_wrong_bytes), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(copy_in_child(), 0);
	atomic_store(&stop_copying, true);
	assert_int_equal(pthread_join(t, &wrong), 0);
	assert_null(wrong);
	parallel_meet(4, NULL);
}

static void a_process_may_exit_while_others_copy(void **state)
{
	int status;
	pid_t pid;

#ifdef __SANITIZE_THREAD__
	skip();
#endif
	atomic_store(&stop_copying, false);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		pthread_t t[3];

		alarm(20);
		for (size_t i = 0; i < COUNT(t); i++)
			if (pthread_create(&t[i], NULL, copy_all_the_time, &parallel_wrong_bytes))
				_exit(2);
		usleep(20000);
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Must be the first test: there are no helpers yet. */
static void without_helpers_the_caller_copies_alone(void **state)
{
	unsigned char *dev = aligned_alloc(4096, ROOM), *host = aligned_alloc(4096, ROOM);

	assert_true(dev && host);
	assert_int_equal(parallel_task_count(), 1);
	fail_create = true;
	assert_true(parallel_copies_right(GDR_COPY_TO_MAPPING, GDR_MAPPING_TYPE_WC, dev + 100,
					  host + 100, 500000, 4));
	fail_create = false;
	assert_int_equal(parallel_task_count(), 1);
	/* nor are there any for a copy that does not need them */
	assert_true(parallel_copies_right(GDR_COPY_TO_MAPPING, GDR_MAPPING_TYPE_WC, dev + 100,
					  host + 100, 8191, 4));
	assert_int_equal(parallel_task_count(), 1);
	free(dev);
	free(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_helpers_the_caller_copies_alone),
		cmocka_unit_test(idle_helpers_cost_nothing),
		cmocka_unit_test(a_helper_is_awake_for_the_next_copy),
		cmocka_unit_test(a_caller_may_be_cancelled),
		cmocka_unit_test(a_forked_child_has_its_own_helpers),
		cmocka_unit_test(a_process_may_exit_while_others_copy),
	};

	parallel_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
