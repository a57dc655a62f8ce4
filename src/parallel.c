/* SPDX-License-Identifier: MIT */
/*
 * The pool.  A copy is a job on its caller's stack, cut into chunks that the
 * caller and the helpers take one after the other: a helper that is late, or
 * never comes, leaves more to the others, and none is waited for that has not
 * begun.  A helper that joins a job wakes the next ones, so that the caller pays
 * for few wake-ups; and it stays awake for a moment after a job, because programs
 * make one copy after the other and waking takes as long as storing 256 KiB.
 */
#include "parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "barrier.h"
#include "signals.h"

#define HELPERS_MAX     (GDR_PARALLEL_THREADS_MAX - 1)
#define CPUS_BYTES      1024            /* 8192 CPUs, what Linux can be built for */
#define CHUNK_ALIGN     4096            /* no line, and no page, is shared by two threads */
#define CHUNK_MAX       (64u << 10)
#define WAKES           2
#define SPINS           1000            /* pauses of the caller for helpers that finish */
#define LOCK_TRIES      100             /* pauses before a helper sleeps for the lock */
#define LINGER_NS       50000           /* a helper stays awake: two to four times a wake-up */
#define YIELD_AFTER     8               /* looks for a job */

/*
 * By direction; measured on an H200.  Stores of two threads saturate the bus
 * (34 GB/s; more threads are somewhat slower), and one thread has 256 KiB stored
 * before a sleeping helper is up.  Loads are slow, and scale.  A copy has so many
 * chunks a thread that nobody waits long for the last one.
 */
static const struct {
	size_t threads, min_bytes, chunks;
} defaults[] = {
	[GDR_COPY_TO_MAPPING] = { 2, 256u << 10, 16 },
	[GDR_COPY_FROM_MAPPING] = { 16, 32u << 10, 4 },
};

struct cpus {
	unsigned char bits[CPUS_BYTES];         /* the rest of a shorter cpu_set_t is 0 */
};

struct job {
	const struct gdr_parallel_copy *copy;
	const struct cpus *cpus;
	size_t chunk;                   /* bytes */
	size_t skew;                    /* by which the first chunk is shorter */
	atomic_size_t next;             /* chunk that nobody has taken */
	size_t wanted;                  /* helpers that may join still; pool lock */
	atomic_size_t joined;           /* helpers at work; written under the lock */
	pthread_cond_t left;            /* joined is 0 */
	struct job *prev, *after;       /* jobs with wanted > 0; pool lock */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work;            /* a job wants helpers, or quit */
	struct job *first, *last;
	atomic_uint posted;             /* jobs so far; written under the lock */
	size_t awake;                   /* helpers that watch posted */
	pthread_t helper[HELPERS_MAX];
	size_t helpers;
	bool quit;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER };

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* Bytes [from, from + n) of the copy. */
static void copy_range(const struct gdr_parallel_copy *c, size_t from, size_t n)
{
	void *dev = (void *)(c->dev + from), *host = (void *)(c->host + from);

	if (c->dir == GDR_COPY_TO_MAPPING)
		gdr_copy_to(c->type, dev, host, n);
	else
		gdr_copy_from(c->type, host, dev, n);
}

/* Take chunks until there are none. */
static void take_part(struct job *j)
{
	size_t n = j->copy->n, chunks = (n + j->skew + j->chunk - 1) / j->chunk, i;

	while ((i = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed)) < chunks) {
		size_t from = i ? i * j->chunk - j->skew : 0;
		size_t to = (i + 1) * j->chunk - j->skew;

		copy_range(j->copy, from, (to < n ? to : n) - from);
	}
}

/* The lock is held for moments; to sleep for it takes longer. */
static void lock_pool(void)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (pthread_mutex_trylock(&pool.lock) == 0)
			return;
		relax();
	}
	pthread_mutex_lock(&pool.lock);
}

/* Pool lock held, like the next three. */
static void enqueue(struct job *j)
{
	j->after = NULL;
	j->prev = pool.last;
	*(pool.last ? &pool.last->after : &pool.first) = j;
	pool.last = j;
	atomic_fetch_add_explicit(&pool.posted, 1, memory_order_relaxed);
}

/* j wants no more helpers. */
static void dequeue(struct job *j)
{
	j->wanted = 0;
	*(j->prev ? &j->prev->after : &pool.first) = j->after;
	*(j->after ? &j->after->prev : &pool.last) = j->prev;
}

/* Those that are awake come by themselves. */
static void wake(const struct job *j)
{
	for (size_t i = pool.awake; i < j->wanted && i < pool.awake + WAKES; i++)
		pthread_cond_signal(&pool.work);
}

static void help(struct job *j, struct cpus *mine)
{
	if (--j->wanted == 0)
		dequeue(j);
	else
		wake(j);
	atomic_fetch_add_explicit(&j->joined, 1, memory_order_relaxed);
	pthread_mutex_unlock(&pool.lock);

	/* A set that the process may not use leaves the helper where it is. */
	if (memcmp(mine, j->cpus, sizeof(*mine)) != 0 &&
	    pthread_setaffinity_np(pthread_self(), sizeof(*mine), (const void *)j->cpus) == 0)
		*mine = *j->cpus;
	take_part(j);

	lock_pool();
	/* The caller may free the job as soon as this is 0 and it has the lock. */
	if (atomic_fetch_sub_explicit(&j->joined, 1, memory_order_release) == 1)
		pthread_cond_signal(&j->left);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * Pool lock held on entry and return: until there is a job, or for LINGER_NS.  Who
 * else wants the CPU gets it, not least the caller whose copy is done.
 */
static void linger(void)
{
	unsigned seen = atomic_load_explicit(&pool.posted, memory_order_relaxed);
	int64_t end = now_ns() + LINGER_NS;

	pool.awake++;
	pthread_mutex_unlock(&pool.lock);
	for (unsigned i = 1; now_ns() < end; i++) {
		if (atomic_load_explicit(&pool.posted, memory_order_relaxed) != seen)
			break;
		if (i % YIELD_AFTER)
			relax();
		else
			sched_yield();
	}
	lock_pool();
	pool.awake--;
}

static void *helper(void *arg)
{
	struct cpus mine = { { 0 } };
	bool worked = false;

	pthread_mutex_lock(&pool.lock);
	for (;;) {
		if (pool.quit)  /* also if there is work: callers do without */
			break;
		if (pool.first) {
			help(pool.first, &mine);
			worked = true;
		} else if (worked) {
			linger();
			worked = false;
		} else {
			pthread_cond_wait(&pool.work, &pool.lock);
		}
	}
	pthread_mutex_unlock(&pool.lock);
	return arg;
}

/* Pool lock held.  As many helpers as can be made. */
static void grow(size_t helpers)
{
	sigset_t old;

	if (pool.helpers >= helpers || pool.quit)
		return;
	gdr_signals_leave(&old);
	while (pool.helpers < helpers) {
		pthread_t *t = &pool.helper[pool.helpers];

		if (pthread_create(t, NULL, helper, NULL) != 0)
			break;
		pthread_setname_np(*t, "gdrcopy");
		pool.helpers++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Pool lock held: when no helper is at work on j, also not in the critical sections. */
static void wait_until_left(struct job *j)
{
	while (atomic_load_explicit(&j->joined, memory_order_relaxed))
		pthread_cond_wait(&j->left, &pool.lock);
}

static void share(struct job *j, size_t threads)
{
	int cancel;

	/* The job must not vanish under the helpers. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&pool.lock);
	grow(threads - 1);
	j->wanted = threads - 1 < pool.helpers ? threads - 1 : pool.helpers;
	if (j->wanted) {
		enqueue(j);
		wake(j);
	}
	pthread_mutex_unlock(&pool.lock);

	take_part(j);
	for (int i = 0; i < SPINS && atomic_load_explicit(&j->joined, memory_order_acquire); i++)
		relax();

	pthread_mutex_lock(&pool.lock);
	if (j->wanted)
		dequeue(j);
	wait_until_left(j);
	pthread_mutex_unlock(&pool.lock);
	pthread_cond_destroy(&j->left);
	pthread_setcancelstate(cancel, NULL);
}

/* The set of a copy, zero-padded; without one the CPUs of the process's first thread. */
static void choose_cpus(const struct gdr_parallel *how, struct cpus *out)
{
	memset(out, 0, sizeof(*out));
	if (how->cpus)
		memcpy(out, how->cpus,
		       how->cpus_size < sizeof(*out) ? how->cpus_size : sizeof(*out));
	else
		sched_getaffinity(getpid(), sizeof(*out), (cpu_set_t *)(void *)out);
}

static size_t count_threads(const struct gdr_parallel_copy *c, const struct gdr_parallel *how,
			    const struct cpus *cpus)
{
	size_t min = how->min_bytes ? how->min_bytes : defaults[c->dir].min_bytes;
	size_t threads = how->threads;

	if (!threads) {
		const void *set = cpus;
		size_t n = (size_t)CPU_COUNT_S(sizeof(*cpus), (const cpu_set_t *)set);

		threads = n < defaults[c->dir].threads ? n : defaults[c->dir].threads;
	}
	if (threads > GDR_PARALLEL_THREADS_MAX)
		threads = GDR_PARALLEL_THREADS_MAX;
	if (threads > c->n / min)
		threads = c->n / min;
	return threads ? threads : 1;
}

size_t gdr_parallel_threads(const struct gdr_parallel_copy *c, const struct gdr_parallel *how)
{
	struct cpus cpus;

	choose_cpus(how, &cpus);
	return count_threads(c, how, &cpus);
}

/* Bytes of a chunk: whole pages of the device side. */
static size_t chunk_size(const struct gdr_parallel_copy *c, size_t threads)
{
	size_t chunk = c->n / (threads * defaults[c->dir].chunks);

	chunk = (chunk + CHUNK_ALIGN - 1) & ~(size_t)(CHUNK_ALIGN - 1);
	if (chunk < CHUNK_ALIGN)
		chunk = CHUNK_ALIGN;
	return chunk < CHUNK_MAX ? chunk : CHUNK_MAX;
}

/* Not inline: a copy that is too small to share would make room for all this. */
static __attribute__((noinline)) void copy_large(const struct gdr_parallel_copy *c,
						 const struct gdr_parallel *how)
{
	struct cpus cpus;
	struct job j = {
		.copy = c,
		.cpus = &cpus,
		.skew = c->dev & (CHUNK_ALIGN - 1),
		.left = PTHREAD_COND_INITIALIZER,
	};
	size_t threads;

	choose_cpus(how, &cpus);
	threads = count_threads(c, how, &cpus);
	if (threads == 1) {
		copy_range(c, 0, c->n);
		return;
	}
	j.chunk = chunk_size(c, threads);
	/*
	 * The lock hands the caller's past to the helpers and theirs to the caller.
	 * That does not include write-combining memory, hence the fences here; at
	 * the end of a chunk its thread has fenced already.
	 */
	if (c->dir == GDR_COPY_TO_MAPPING)
		gdr_fence_before_device_stores();
	else
		gdr_fence_before_device_loads();
	share(&j, threads);
	if (c->dir == GDR_COPY_FROM_MAPPING)
		gdr_fence_after_device_loads();
}

void gdr_parallel_copy(const struct gdr_parallel_copy *c, const struct gdr_parallel *how)
{
	if (c->n / 2 < (how->min_bytes ? how->min_bytes : defaults[c->dir].min_bytes))
		copy_range(c, 0, c->n);
	else
		copy_large(c, how);
}

void gdr_parallel_after_fork_child(void)
{
	memset(&pool, 0, sizeof(pool));
	pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	pool.work = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

/* When the library is unloaded, or the process exits: no helper may run its code any more. */
__attribute__((destructor)) static void dismiss_helpers(void)
{
	size_t n;

	pthread_mutex_lock(&pool.lock);
	n = pool.helpers;
	pool.helpers = 0;
	pool.quit = true;
	pthread_cond_broadcast(&pool.work);
	pthread_mutex_unlock(&pool.lock);
	while (n--)
		pthread_join(pool.helper[n], NULL);
}
