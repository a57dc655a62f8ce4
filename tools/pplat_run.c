/* SPDX-License-Identifier: MIT */
/*
 * One measurement: launch the kernel, play the CPU's part of pplat_kernel.h, see
 * the kernel end, and read its report.  However it goes, the kernel is told to end
 * and is given time for it; it ends by itself if no flag comes to it any more.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "fence.h"
#include "pplat.h"
#include "progress.h"

#define LOOK_MAX        16u             /* flags seen by one look: 64 bytes */
#define ENOUGH_US       0.2e6           /* for an undisturbed kernel to end */
#define STOP_US         5e6             /* for one that was told to */
#define PROGRESS_ROUNDS 256u
#define PATIENCE_US     2e6             /* that a kernel has beyond the CPU's */

struct run {
	struct pplat_memory *m;
	const struct pplat_kernels *k;
	const struct pplat_plan *plan;
	struct report *report;
	struct pplat_outcome *out;
	unsigned mask;                  /* failed looks between two at the clock, less 1 */
	uint32_t waited_for, seen;      /* flag of a block: what it should be, and is */
	double timer_us;
};

static int launch(struct run *run)
{
	const struct pplat_plan *p = run->plan;
	struct pplat_args a = {
		.gpu_flag = run->m->gpu_flag.gpu, .cpu_flags = run->m->cpu_flags.gpu,
		.data = run->m->data.gpu, .stop = run->m->stop.gpu,
		.reports = run->m->reports, .samples = run->m->samples,
		.patience_ns = p->timeout_us > 0 ?
			(unsigned long long)((p->timeout_us + PATIENCE_US) * 1e3) : 0,
		.rounds = p->warmup + p->rounds, .warmup = p->warmup,
		.words = p->bytes / 4, .verify_every = p->verify_every,
	};
	void *params[] = { &a };

	return cu_check(cu.LaunchKernel(run->k->entry[p->gpu_produces][p->bytes > 0], p->blocks, 1,
					1, p->threads, 1, 1, 0, NULL, params, NULL),
			"cuLaunchKernel");
}

/* -EIO if the kernel is not running any more, with the reason on stderr. */
static int still_running(void)
{
	CUresult res = cu.StreamQuery(NULL);

	if (res == CUDA_ERROR_NOT_READY)
		return 0;
	fprintf(stderr, "ERROR: the kernel ended before its time: %s\n", cu_error_name(res));
	return -EIO;
}

/*
 * After a look that did not see what it should; start: of the wait, 0 in the
 * beginning.  Sets *ended once the kernel does not run any more.
 */
static int keep_waiting(struct run *run, uint64_t looks, double *start, double *asked, bool *ended)
{
	double now;

	if (bench_stopped())
		return -EINTR;
	/* softcuda's blocks are threads, and want CPUs, too. */
	if (looks % 16 == 0 && cu_is_soft())
		sched_yield();
	if (looks & run->mask)
		return 0;
	now = bench_now_us();
	if (*start == 0)
		*start = *asked = now;
	if (run->plan->timeout_us > 0 && now - *start > run->plan->timeout_us)
		return -ETIMEDOUT;
	if (now - *asked < 50e3)
		return 0;
	*asked = now;
	*ended = cu.StreamQuery(NULL) != CUDA_ERROR_NOT_READY;
	return 0;
}

/* The number of flags from at on, up to LOOK_MAX, that are want. */
static int look(struct run *run, unsigned at, uint32_t want, unsigned *arrived)
{
	const struct pplat_spot *s = &run->m->cpu_flags;
	unsigned i, n = run->plan->blocks - at < LOOK_MAX ? run->plan->blocks - at : LOOK_MAX;
	uint32_t v[LOOK_MAX] = { 0 };
	int err = 0;

	if (s->place == PPLAT_GPUMEM)
		err = pplat_get(run->m, s, at, v, n);
	for (i = 0; i < n && !err; i++) {
		if (s->place == PPLAT_HOSTMEM)
			err = pplat_get(run->m, s, at + i, &v[i], 1);
		run->seen = v[i];
		if (v[i] != want)
			break;
	}
	*arrived = i;
	return err;
}

static void complain(const struct run *run, unsigned block, uint32_t want)
{
	const struct pplat_plan *p = run->plan;

	if (want == PPLAT_READY)
		fprintf(stderr, "ERROR: time-out after %g s: block %u of %u did not start, or the "
			"CPU does not see what it writes\n", p->timeout_us / 1e6, block, p->blocks);
	else
		fprintf(stderr, "ERROR: time-out after %g s: round %u: block %u of %u has not %s; "
			"the last heard of it was in round %u\n", p->timeout_us / 1e6,
			want - PPLAT_READY, block, p->blocks,
			p->gpu_produces ? "produced" : "answered",
			run->seen > PPLAT_READY ? run->seen - PPLAT_READY : 0);
	fprintf(stderr, "%s\n", cu_error_name(cu.StreamQuery(NULL)));
}

/* Until the flags of all blocks are want. */
static int await(struct run *run, uint32_t want)
{
	unsigned at = 0, arrived;
	double start = 0, asked = 0;
	uint64_t looks = 0;
	bool ended = false;
	int err;

	run->waited_for = want;
	for (;;) {
		err = look(run, at, want, &arrived);
		at += arrived;
		if (err || at == run->plan->blocks)
			break;
		/* In the last round the kernel may end between a look and the question. */
		if (!arrived)
			err = ended ? still_running() :
				keep_waiting(run, ++looks, &start, &asked, &ended);
		if (err)
			break;
	}
	fence_loads();
	if (err == -ETIMEDOUT)
		complain(run, at, want);
	return err;
}

static int put_flag(struct run *run, uint32_t value)
{
	return pplat_put(run->m, &run->m->gpu_flag, &value, 1);
}

/* Not while a round is timed. */
static void progress(const struct run *run, uint32_t r)
{
	const struct pplat_plan *p = run->plan;

	if (r % PROGRESS_ROUNDS == 0)
		progress_show(p->gpu_produces ? "GPU produces" : "CPU produces", p->bytes, r,
			      p->warmup + p->rounds);
}

static void fill(struct run *run, uint32_t seed)
{
	for (uint32_t w = 0; w < run->plan->bytes / 4; w++)
		run->m->copy[w] = PPLAT_WORD(seed, w);
}

/*
 * Stores to the mapping are posted.  A flag in host memory, which the GPU fetches,
 * could overtake them; a load from where they went cannot, nor can the flag overtake
 * the load.
 */
static int push_data(struct run *run)
{
	const struct pplat_memory *m = run->m;
	uint32_t last;

	if (m->data.place != PPLAT_GPUMEM || m->gpu_flag.place != PPLAT_HOSTMEM)
		return 0;
	return pplat_get(run->m, &m->data, run->plan->bytes / 4 - 1, &last, 1);
}

static int cpu_round(struct run *run, uint32_t r)
{
	uint32_t words = run->plan->bytes / 4, every = run->plan->verify_every;
	double start;
	int err = 0;

	if (words && (r == 1 || (every && r % every == 0)))
		fill(run, PPLAT_SEED(r, every));
	progress(run, r);
	start = bench_now_us();
	if (words)
		err = pplat_put(run->m, &run->m->data, run->m->copy, words);
	if (words && !err)
		err = push_data(run);
	if (!err)
		err = put_flag(run, r);
	if (!err)
		err = await(run, PPLAT_READY + r);
	if (!err && r > run->plan->warmup)
		run->out->sample[run->out->n++] = bench_now_us() - start - run->timer_us;
	return err;
}

static void mismatch(struct run *run, uint32_t round, uint32_t word, uint32_t value)
{
	uint32_t seed = PPLAT_SEED(round, run->plan->verify_every);

	fprintf(report_remarks(run->report), "MISMATCH: round %u, word %u of %u: 0x%08x, should be "
		"0x%08x\n", round, word, run->plan->bytes / 4, value, PPLAT_WORD(seed, word));
}

static void verify(struct run *run, uint32_t r)
{
	uint32_t seed = PPLAT_SEED(r, run->plan->verify_every), w = 0;

	while (w < run->plan->bytes / 4 && run->m->copy[w] == PPLAT_WORD(seed, w))
		w++;
	if (w < run->plan->bytes / 4 && !run->out->mismatches++)
		mismatch(run, r, w, run->m->copy[w]);
	run->out->verified++;
}

/* The GPU waits during the comparison and the progress line, and does not count the time. */
static int gpu_round(struct run *run, uint32_t r)
{
	uint32_t words = run->plan->bytes / 4, every = run->plan->verify_every;
	bool check = words && every && r % every == 0;
	int err = await(run, PPLAT_READY + r);

	if (!err && words)
		err = pplat_get(run->m, &run->m->data, 0, run->m->copy, words);
	if (err)
		return err;
	fence_loads();
	if (!check && r % PROGRESS_ROUNDS)
		return put_flag(run, 2 * r + 1);
	err = put_flag(run, 2 * r);
	if (err)
		return err;
	if (check)
		verify(run, r);
	progress(run, r);
	return put_flag(run, 2 * r + 1);
}

static int make_rounds(struct run *run)
{
	uint32_t r, rounds = run->plan->warmup + run->plan->rounds;
	int err = await(run, PPLAT_READY);

	if (!err && run->plan->gpu_produces)
		err = put_flag(run, 1);
	for (r = 1; r <= rounds && !err && !bench_stopped(); r++)
		err = run->plan->gpu_produces ? gpu_round(run, r) : cpu_round(run, r);
	return err;
}

/* Waits until the kernel has ended; CUDA_ERROR_NOT_READY: it has not. */
static CUresult wait_for_end(double us)
{
	double until = bench_now_us() + us;
	CUresult res;

	while ((res = cu.StreamQuery(NULL)) == CUDA_ERROR_NOT_READY && bench_now_us() < until)
		usleep(50);
	return res;
}

static int end_kernel(struct run *run, bool complete)
{
	CUresult res = complete ? wait_for_end(ENOUGH_US) : CUDA_ERROR_NOT_READY;
	uint32_t one = 1;

	if (res == CUDA_ERROR_NOT_READY) {
		pplat_put(run->m, &run->m->stop, &one, 1);
		res = wait_for_end(STOP_US);
	}
	if (res != CUDA_ERROR_NOT_READY)
		return cu_check(res, "the kernel");
	fprintf(stderr, "ERROR: the kernel did not end within %g s; it ends with this process\n",
		STOP_US / 1e6);
	run->out->stuck = true;
	return -EBUSY;
}

/* Why a hand-off was waited for in vain, by what the blocks say. */
static void diagnose(const struct run *run, const struct pplat_report *rep, uint32_t want)
{
	unsigned b, sent = 0;

	for (b = 0; b < run->plan->blocks; b++)
		sent += rep[b].put >= want;
	fprintf(stderr, "NOTE: %u of %u blocks had written the flag that the CPU waited for; the "
		"others did not see the CPU's\n", sent, run->plan->blocks);
}

/* The GPU's samples are of its fast clock, which the slow one gives the unit. */
static int take_samples(struct run *run, const struct pplat_report *rep)
{
	uint32_t n = rep->rounds < run->plan->warmup ? 0 : rep->rounds - run->plan->warmup;
	double ticks = (double)(rep->end_ticks - rep->begin_ticks);
	double us = (double)(rep->end_ns - rep->begin_ns) / 1e3;
	uint64_t raw[512];
	uint32_t i, piece;
	int err = 0;

	for (i = 0; i < n && !err; i += piece) {
		piece = n - i < 512 ? n - i : 512;
		err = cu_check(cu.MemcpyDtoH(raw, run->m->samples + 8ull * (run->plan->warmup + i),
					     8ull * piece), "cuMemcpyDtoH");
		for (uint32_t j = 0; j < piece && !err; j++)
			run->out->sample[run->out->n + i + j] = (double)raw[j] * us / ticks;
	}
	run->out->n += err ? 0 : n;
	return err;
}

static int collect(struct run *run, int failed)
{
	static struct pplat_report rep[PPLAT_BLOCKS_MAX];
	const struct pplat_plan *p = run->plan;
	int err = cu_check(cu.MemcpyDtoH(rep, run->m->reports, p->blocks * sizeof(rep[0])),
			   "cuMemcpyDtoH");
	unsigned b, tired = 0;

	if (err)
		return err;
	for (b = 0; b < p->blocks; b++)
		tired += rep[b].why == PPLAT_PATIENCE;
	if (tired)
		fprintf(stderr, "NOTE: %u of %u blocks had no flag from the CPU for %g s and gave "
			"up\n", tired, p->blocks, (p->timeout_us + PATIENCE_US) / 1e6);
	if (failed == -ETIMEDOUT)
		diagnose(run, rep, run->waited_for);
	if (p->gpu_produces)
		return take_samples(run, &rep[0]);
	if (p->bytes && p->verify_every)
		run->out->verified = rep[0].rounds / p->verify_every;
	for (b = 0; b < p->blocks; b++) {
		if (rep[b].bad_taken && !run->out->mismatches)
			mismatch(run, rep[b].bad_round, rep[b].bad_word, rep[b].bad_value);
		run->out->mismatches += rep[b].bad;
	}
	return 0;
}

int pplat_run(struct pplat_memory *m, const struct pplat_kernels *k, const struct pplat_plan *plan,
	      struct report *r, struct pplat_outcome *out)
{
	struct run run = { .m = m, .k = k, .plan = plan, .report = r, .out = out };
	int err, err_end;

	out->verified = 0;
	out->mismatches = 0;
	out->stuck = false;
	/*
	 * A look at the mapping takes about a microsecond, one at host memory far less;
	 * on softcuda each sixteenth, which yields, may take as long as others want the CPU.
	 */
	run.mask = cu_is_soft() ? 15 : m->cpu_flags.place == PPLAT_GPUMEM ? 255 : 4095;
	run.timer_us = bench_timer_us();
	err = pplat_memory_clear(m);
	if (!err)
		err = launch(&run);
	if (err)
		return err;
	/* The query also sends the kernel on its way at once, not when more work comes. */
	err = still_running();
	progress_begin();
	if (!err)
		err = make_rounds(&run);
	progress_clear();
	err_end = end_kernel(&run, !err && !bench_stopped());
	if (!err_end)
		err_end = collect(&run, err);
	if (err == -EINTR)
		err = 0;
	return err ? err : err_end;
}
