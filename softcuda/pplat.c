/* SPDX-License-Identifier: MIT */
/*
 * The kernels of tools/pplat.cu as host functions: one thread does what a block
 * does, and both of the GPU's clocks are CLOCK_MONOTONIC.
 */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "../tools/pplat_kernel.h"
#include "softcuda.h"

/* What a block needs, at host addresses. */
struct side {
	struct pplat_args a;
	uint32_t *gpu_flag, *cpu_flag, *data, *stop;
	uint64_t *samples;
	struct pplat_report *rep;
	uint32_t lo, hi;                /* its share of data, words */
	uint32_t why;
};

_Static_assert(sizeof(struct pplat_args) == SC_PPLAT_ARGS, "the size in the table of kernels");

static uint64_t nanoseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* False: some address is not memory that the device may touch. */
static bool enter(struct side *s, struct sc_block *b, void *const *params)
{
	uint32_t blocks = b->op->grid[0], share;
	uint32_t *flags;
	struct pplat_report *reports;

	memset(s, 0, sizeof(*s));
	memcpy(&s->a, params[0], sizeof(s->a));
	share = PPLAT_SHARE(s->a.words, blocks);
	s->lo = b->index * share < s->a.words ? b->index * share : s->a.words;
	s->hi = s->a.words - s->lo < share ? s->a.words : s->lo + share;
	s->gpu_flag = sc_kernel_at(b, s->a.gpu_flag, 4, false);
	s->stop = sc_kernel_at(b, s->a.stop, 4, false);
	flags = sc_kernel_at(b, s->a.cpu_flags, 4ull * blocks, true);
	reports = sc_kernel_at(b, s->a.reports, sizeof(*reports) * blocks, true);
	if (!s->gpu_flag || !s->stop || !flags || !reports)
		return false;
	s->cpu_flag = flags + b->index;
	s->rep = reports + b->index;
	if (s->a.words)
		s->data = sc_kernel_at(b, s->a.data, 4ull * s->a.words, true);
	if (s->a.words && !s->data)
		return false;
	__atomic_store_n(s->cpu_flag, PPLAT_READY, __ATOMIC_RELEASE);
	return true;
}

static uint32_t await(struct side *s, uint32_t want)
{
	uint64_t since = 0;

	for (;;) {
		uint32_t v = __atomic_load_n(s->gpu_flag, __ATOMIC_ACQUIRE);

		if (v >= want)
			return v;
		/*
		 * With fewer CPUs than blocks, whoever sets the flag needs one.  Where many
		 * want them each takes a while: PPLAT_POLLS of these would be too many.
		 */
		sched_yield();
		if (__atomic_load_n(s->stop, __ATOMIC_RELAXED)) {
			s->why = PPLAT_STOPPED;
			return 0;
		}
		if (!since)
			since = nanoseconds();
		if (s->a.patience_ns && nanoseconds() - since > s->a.patience_ns) {
			s->why = PPLAT_PATIENCE;
			return 0;
		}
	}
}

static void begin(struct side *s)
{
	s->rep->begin_ns = s->rep->begin_ticks = nanoseconds();
}

static void end(struct side *s, uint32_t rounds)
{
	s->rep->put = __atomic_load_n(s->cpu_flag, __ATOMIC_RELAXED);
	s->rep->end_ns = s->rep->end_ticks = nanoseconds();
	s->rep->rounds = rounds;
	s->rep->why = s->why;
}

static void check(struct side *s, uint32_t round)
{
	uint32_t seed = PPLAT_SEED(round, s->a.verify_every), bad = 0;

	for (uint32_t w = s->lo; w < s->hi; w++) {
		uint32_t v = __atomic_load_n(&s->data[w], __ATOMIC_RELAXED);

		if (v == PPLAT_WORD(seed, w))
			continue;
		bad = 1;
		if (s->rep->bad_taken)
			continue;
		s->rep->bad_taken = 1;
		s->rep->bad_round = round;
		s->rep->bad_word = w;
		s->rep->bad_value = v;
	}
	s->rep->bad += bad;
}

void sc_pplat_cpu(struct sc_block *b, void *const *params)
{
	struct side s;
	uint32_t r;

	if (!enter(&s, b, params))
		return;
	for (r = 1; r <= s.a.rounds; r++) {
		if (r == s.a.warmup + 1)
			begin(&s);
		await(&s, r);
		if (s.why)
			break;
		check(&s, r);
		__atomic_store_n(s.cpu_flag, PPLAT_READY + r, __ATOMIC_RELEASE);
	}
	end(&s, r - 1);
}

void sc_pplat_gpu(struct sc_block *b, void *const *params)
{
	uint32_t seen = 0, r;
	uint64_t start;
	struct side s;

	if (!enter(&s, b, params))
		return;
	s.samples = sc_kernel_at(b, s.a.samples, 8ull * s.a.rounds, true);
	if (!s.samples)
		return;
	for (r = 1; r <= s.a.rounds; r++) {
		uint32_t seed = PPLAT_SEED(r, s.a.verify_every);

		if (seen < 2 * r - 1)
			await(&s, 2 * r - 1);
		if (s.why)
			break;
		if (r == s.a.warmup + 1)
			begin(&s);
		start = nanoseconds();
		for (uint32_t w = s.lo; w < s.hi; w++)
			__atomic_store_n(&s.data[w], PPLAT_WORD(seed, w), __ATOMIC_RELAXED);
		__atomic_store_n(s.cpu_flag, PPLAT_READY + r, __ATOMIC_RELEASE);
		seen = await(&s, 2 * r);
		if (s.why)
			break;
		if (!b->index)
			s.samples[r - 1] = nanoseconds() - start;
	}
	end(&s, r - 1);
}
