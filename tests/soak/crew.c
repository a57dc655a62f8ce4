/* SPDX-License-Identifier: MIT */
/*
 * The process and its threads: what they share, when they start and stop,
 * signals that come in between, and the watchdog that says where each thread is
 * when one does not get on.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif

#include "soak.h"

#define TICK_US 10000

/* ThreadSanitizer delivers signals late, and several as one. */
#if defined(__SANITIZE_THREAD__)
#define SIGNALS_MAY_MERGE 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIGNALS_MAY_MERGE 1
#endif
#endif
#ifndef SIGNALS_MAY_MERGE
#define SIGNALS_MAY_MERGE 0
#endif

struct soak_process soak;
_Thread_local struct soak_worker *soak_me;

static _Thread_local sigjmp_buf on_bus;
static _Thread_local volatile sig_atomic_t bus_expected;

static pthread_t threads[SOAK_THREADS_MAX];
static struct soak_worker workers[SOAK_THREADS_MAX];
static atomic_uint finished;

int64_t soak_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void soak_fail(const char *file, int line, const char *fmt, ...)
{
	const struct soak_worker *w = soak_me;
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fflush(stdout);
	if (w)
		fprintf(stderr, "process %u, thread %u, operation %lu (%s), --seed %llu: "
			"%s:%d: %s\n", soak.plan.process, w->number, w->done,
			soak_names[w->seen->doing], (unsigned long long)soak.plan.seed,
			file, line, text);
	else
		fprintf(stderr, "process %u, --seed %llu: %s:%d: %s\n", soak.plan.process,
			(unsigned long long)soak.plan.seed, file, line, text);
	_exit(1);
}

void soak_fill(struct soak_worker *w, void *buf, size_t size)
{
	unsigned char *p = buf;
	uint64_t r;
	size_t n;

	for (; size; size -= n, p += n) {
		n = size < sizeof(r) ? size : sizeof(r);
		r = soak_random(&w->random);
		memcpy(p, &r, n);
	}
}

void soak_compare(const void *got, const void *expected, size_t size, size_t where,
		  const char *what)
{
	const unsigned char *g = got, *e = expected;
	size_t i, wrong = 0, first = size;

	if (soak_me)
		soak_me->seen->bytes += size;
	if (!memcmp(got, expected, size))
		return;
	for (i = 0; i < size; i++) {
		if (g[i] != e[i] && !wrong++)
			first = i;
	}
	FAIL("%s: byte %zu is 0x%02x, not 0x%02x; %zu of the %zu from byte %zu on are wrong", what,
	     where + first, g[first], e[first], wrong, size, where);
}

bool soak_faults(const volatile unsigned char *byte, unsigned char *value)
{
	if (sigsetjmp(on_bus, 1)) {
		bus_expected = 0;
		return true;
	}
	bus_expected = 1;
	*value = *byte;
	bus_expected = 0;
	return false;
}

static void on_sigbus(int sig)
{
	static const char text[] = "a mapping raised SIGBUS that should not\n";

	if (bus_expected)
		siglongjmp(on_bus, 1);
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_signal(int sig)
{
	if (soak_me)
		soak_me->seen->signals++;
}

/* Where this thread is; the watchdog sends it. */
static void on_where(int sig)
{
#ifdef __GLIBC__
	void *frames[32];
	int n = backtrace(frames, 32);

	backtrace_symbols_fd(frames, n, STDERR_FILENO);
#endif
}

static void catch(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigemptyset(&sa.sa_mask);
	CHECK(sigaction(sig, &sa, NULL) == 0);
}

static void catch_all(void)
{
#ifdef __GLIBC__
	void *frame;

	backtrace(&frame, 1); /* the first one loads a library */
#endif
	catch(SIGBUS, on_sigbus, 0);
	catch(SIGUSR2, on_where, SA_RESTART);
	/* libcuda is not known to go on after EINTR; ours must */
	catch(SIGRTMIN, on_signal, cu_is_soft() ? 0 : SA_RESTART);
}

/* What depends on the backend; asked of it where it can be. */
static void find_promises(void)
{
	const char *name = gdrx_backend_name(soak.shared[0]);
	bool dmabuf = name && !strcmp(name, "dmabuf");
	struct gpu_mem mem;
	gdr_info_t info;
	gdr_mh_t mh;
	void *va;
	int v;

	GDR(gdr_get_attribute(soak.shared[0], GDR_ATTR_USE_PERSISTENT_MAPPING, &v));
	soak.persistent = v;
	/* softcuda/backing.c says why; a child of any thread's fork holds it for a while */
	soak.one_start = dmabuf && cu_is_soft();
	soak.within = !dmabuf;
	CU(gpu_allocators[0].alloc(&mem, 2 << 20, true, true));
	GDR(gdr_pin_buffer(soak.shared[0], mem.ptr, 2 << 20, 0, 0, &mh));
	GDR(gdr_map(soak.shared[0], mh, &va, 2 << 20));
	GDR(gdr_get_info(soak.shared[0], mh, &info));
	soak.type = info.mapping_type;
	GDR(gdr_unmap(soak.shared[0], mh, va, 2 << 20));
	GDR(gdr_unpin_buffer(soak.shared[0], mh));
	CU(gpu_allocators[0].free(&mem));
}

void soak_begin(const struct soak_plan *plan, struct soak_board *board)
{
	size_t i;

	soak.plan = *plan;
	soak.board = board;
	if (cu_load(cu_soft_wanted()) < 0 || cu.Init(0) != CUDA_SUCCESS) {
		printf("skipped: no CUDA driver here; GDRCOPY_SOFTCUDA=1 runs it without a GPU\n");
		exit(77);
	}
	CHECK(gpu_open(0, &soak.gpu) == 0);
	CU(cu.DevicePrimaryCtxRetain(&soak.context, soak.gpu.dev));
	/* a block that CUDA keeps or not; softcuda's would keep pages in files of their own */
	if (!cu_is_soft())
		CU(cu.MemAlloc(&soak.kept, 512));
	for (i = 0; i < sizeof(soak.shared) / sizeof(soak.shared[0]); i++) {
		soak.shared[i] = gdr_open();
		if (!soak.shared[i])
			FAIL("gdr_open: %s", gdrx_last_error());
	}
	find_promises();
	soak_stripes_make();
	catch_all();
}

void soak_end(void)
{
	size_t i;

	soak_stripes_end();
	for (i = 0; i < sizeof(soak.shared) / sizeof(soak.shared[0]); i++)
		GDR(gdr_close(soak.shared[i]));
	if (soak.kept)
		CU(cu.MemFree(soak.kept));
	CU(cu.DevicePrimaryCtxRelease(soak.gpu.dev));
	gpu_close(&soak.gpu);
}

static void *work(void *arg)
{
	struct soak_worker *w = arg;
	int64_t end;

	soak_me = w;
	w->seen->tid = (int)syscall(SYS_gettid);
	CU(cu.CtxSetCurrent(soak.context));
	w->host = malloc(soak.plan.size + 4 * SOAK_GUARD);
	CHECK(w->host);
	while (!soak.stop && (!soak.plan.operations || w->done < soak.plan.operations))
		soak_operation(w);
	soak_drop(w);
	free(w->host);
	w->seen->since = 0;
	finished++;
	/* Signals are sent as long as any thread works. */
	while (!soak.stop)
		usleep(1000);
	for (end = soak_ms() + 10000; !SIGNALS_MAY_MERGE && w->seen->signals != w->sent;
	     usleep(1000)) {
		if (soak_ms() > end)
			FAIL("%lu signals were sent, %lu came", (unsigned long)w->sent,
			     (unsigned long)w->seen->signals);
	}
	return NULL;
}

static void print_file(const char *what, int tid, const char *name)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f))
		fprintf(stderr, "    %s: %s%s", what, line, strchr(line, '\n') ? "" : "\n");
	if (f)
		fclose(f);
}

static void tell_where_all_are(void)
{
	int64_t now = soak_ms();
	unsigned i;

	for (i = 0; i < soak.plan.threads; i++) {
		struct soak_thread *t = &soak.board->threads[i];
		int64_t since = t->since;

		fprintf(stderr, "  thread %u, operation %lu: %s for %lld ms\n", i, workers[i].done,
			soak_names[t->doing], (long long)(since ? now - since : 0));
		print_file("system call", t->tid, "syscall");
		print_file("sleeps in", t->tid, "wchan");
		if (since) {
			pthread_kill(threads[i], SIGUSR2);
			usleep(50000); /* one after the other */
		}
	}
}

static void watch(void)
{
	int64_t now = soak_ms();
	unsigned i;

	for (i = 0; i < soak.plan.threads; i++) {
		int64_t since = soak.board->threads[i].since;

		if (!since || (double)(now - since) < soak.plan.hang * 1e3)
			continue;
		fprintf(stderr, "process %u: thread %u hangs, --seed %llu\n", soak.plan.process, i,
			(unsigned long long)soak.plan.seed);
		tell_where_all_are();
		_exit(1);
	}
}

static void interrupt_one(uint64_t *random)
{
	unsigned i = (unsigned)(soak_random(random) % soak.plan.threads);

	if (soak.plan.no_signals || !workers[i].seen->tid)
		return; /* or it does not count yet */
	if (pthread_sigqueue(threads[i], SIGRTMIN, (union sigval){ 0 }))
		return; /* its queue is full: next time */
	workers[i].sent++;
	soak.board->signals++;
}

void soak_run(double seconds, unsigned phase)
{
	int64_t end = soak_ms() + (int64_t)(seconds * 1e3);
	uint64_t random = soak.plan.seed;
	unsigned i;

	soak.stop = false;
	finished = 0;
	for (i = 0; i < soak.plan.threads; i++) {
		uint64_t r = soak.plan.seed + ((uint64_t)phase << 32) +
			((uint64_t)soak.plan.process << 16) + i;

		workers[i] = (struct soak_worker){ .number = i, .random = soak_random(&r),
						   .seen = &soak.board->threads[i] };
		workers[i].sent = workers[i].seen->signals;
		workers[i].seen->since = soak_ms();
		workers[i].seen->tid = 0;
		CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
	}
	if (soak.plan.say)
		CHECK(write(soak.plan.say, "r", 1) == 1);
	while ((seconds == 0 || soak_ms() < end) && finished < soak.plan.threads) {
		usleep(TICK_US);
		interrupt_one(&random);
		watch();
	}
	soak.stop = true;
	for (; finished < soak.plan.threads; usleep(TICK_US))
		watch();
	for (i = 0; i < soak.plan.threads; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}
