/* SPDX-License-Identifier: MIT */
/*
 * Signals that reach two threads of a tool at once, as timeout(1) sends them to a
 * process and to its group: the first one counts, and a thread sanitizer sees no race.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench.h"

static double start;    /* of both threads */

/*
 * Raises the signals in itself, and waits for nobody: nothing orders the threads.  One
 * that came a second after the first would end the process: who is late raises none,
 * unless nobody has.
 */
static void *raise_both(void *arg)
{
	const int *sig = arg;

	for (int i = 0; i < 100 && (bench_now_us() - start < 2e5 || !bench_stopped()); i++) {
		pthread_kill(pthread_self(), sig[0]);
		pthread_kill(pthread_self(), sig[1]);
	}
	return bench_stopped() == sig[0] || bench_stopped() == sig[1] ? arg : NULL;
}

static void two_threads_at_once(void **state)
{
	int sig[] = { SIGINT, SIGTERM }, first;
	pthread_t t;
	void *seen;

	bench_catch_signals();
	assert_int_equal(bench_stopped(), 0);
	start = bench_now_us();
	assert_int_equal(pthread_create(&t, NULL, raise_both, sig), 0);
	assert_non_null(raise_both(sig));
	first = bench_stopped();
	assert_int_equal(pthread_join(t, &seen), 0);
	assert_non_null(seen);
	assert_int_equal(bench_stopped(), first);
}

static void one_of_a_second_later_ends_the_process(void **state)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		bench_catch_signals();
		raise(SIGINT);
		usleep(1100000);
		raise(SIGTERM);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_a_second_later_ends_the_process),
		cmocka_unit_test(two_threads_at_once),
	};

	signal(SIGINT, SIG_DFL);        /* ignored where a shell runs this in the background */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
