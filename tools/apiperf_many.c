/* SPDX-License-Identifier: MIT */
/* --buffers: how the calls behave while more and more buffers stay pinned and mapped. */
#include <math.h>

#include "apiperf.h"
#include "progress.h"

#define GROUPS 10

/* As many as can be, up to all; *done of them are pinned and mapped. */
static int pile_up(struct apiperf *a, struct apiperf_pool *p, gdr_t g, size_t *done)
{
	struct apiperf_buffer *b;
	size_t i;
	int err = 0;

	progress_begin();
	for (i = 0; i < p->n && !bench_stopped(); i++) {
		b = &p->buffers[i];
		b->g = g;
		err = apiperf_call(CALL_PIN, b, &a->set);
		if (err)
			break;
		err = apiperf_call(CALL_MAP, b, &a->set);
		if (err) {
			gdr_unpin_buffer(g, b->mh);
			break;
		}
		err = apiperf_queries(b, &a->set);
		if (err) {
			gdr_unmap(g, b->mh, b->map, b->size);
			gdr_unpin_buffer(g, b->mh);
			break;
		}
		progress_show("buffers", b->size, (double)i, (double)p->n);
	}
	progress_clear();
	*done = i;
	if (err && i)
		fprintf(stderr, "NOTE: %zu of %zu buffers were pinned and mapped; what limits them "
			"are descriptors (ulimit -n), mappings (sysctl vm.max_map_count) and BAR1 "
			"(nvidia-smi -q -d MEMORY)\n", i, p->n);
	return err;
}

/* Every buffer is written before the first one is looked at by CUDA. */
static int verify_all(struct apiperf *a, const struct apiperf_pool *p, size_t n)
{
	struct apiperf_verify *v = &a->verify;
	size_t i;
	int err = 0;

	v->seed++;
	v->cuda = false;
	for (i = 0; i < n && !err; i++)
		err = apiperf_verify(&p->buffers[i], v);
	v->cuda = true;
	for (i = 0; i < n && !err; i++)
		err = apiperf_verify_cuda(&p->buffers[i], v);
	return err;
}

/* All of them, whatever fails; a signal does not end this.  The first error. */
static int take_down(struct apiperf *a, const struct apiperf_pool *p, size_t n)
{
	int err, first = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		err = apiperf_call(CALL_UNMAP, &p->buffers[i], &a->set);
		first = first ? first : err;
		err = apiperf_call(CALL_UNPIN, &p->buffers[i], &a->set);
		first = first ? first : err;
	}
	return first;
}

/* How many others of n were pinned when sample i was taken. */
static size_t others_at(enum apiperf_call c, size_t i, size_t n)
{
	return c == CALL_UNMAP || c == CALL_UNPIN ? n - i - 1 : i;
}

static void print_call(struct apiperf *a, struct apiperf_case *k, enum apiperf_call c,
		       size_t pinned)
{
	struct apiperf_samples *all = &a->set.of[c], part;
	size_t g, from, to, first, last;
	size_t groups = all->n < GROUPS ? all->n : GROUPS;

	for (g = 0; g < groups; g++) {
		from = all->n * g / groups;
		to = all->n * (g + 1) / groups;
		part = (struct apiperf_samples){ .us = all->us + from, .n = to - from };
		first = others_at(c, from, pinned);
		last = others_at(c, to - 1, pinned);
		k->others_from = first < last ? first : last;
		k->others_to = first < last ? last : first;
		apiperf_print_row(a, k, c, &part, NULL);
	}
}

static void print_results(struct apiperf *a, const struct apiperf_pool *p, size_t pinned)
{
	struct apiperf_case k = {
		.phase = "many", .size = p->buffers[0].size, .threads = 1, .handles = 1,
		.cycles_per_s = NAN, .complete = pinned == p->n,
	};
	size_t c;

	if (!pinned)
		return;
	apiperf_print_title(a, "%zu buffers of %zu bytes pinned and mapped at once, %s", pinned,
			    k.size, p->separate ? "an allocation each" : "of one allocation");
	apiperf_print_raw(a, &k, &a->set);
	for (c = 0; c < CALLS; c++)
		print_call(a, &k, (enum apiperf_call)c, pinned);
	report_blank(&a->tool.report);
	if (!k.complete && bench_stopped())
		report_note(&a->tool.report, "interrupted: %zu of %zu buffers", pinned, p->n);
}

int apiperf_many(struct apiperf *a, gdr_t g)
{
	size_t n = a->args->buffers, pinned;
	struct apiperf_pool pool;
	int err, err_down;

	if (!n)
		return 0;
	err = apiperf_pool_alloc(&pool, a->args, n);
	if (err)
		return err;
	apiperf_set_clear(&a->set);
	err = pile_up(a, &pool, g, &pinned);
	if (!err && !a->args->no_verify)
		err = verify_all(a, &pool, pinned);
	err_down = take_down(a, &pool, pinned);
	err = err ? err : err_down;
	print_results(a, &pool, pinned);
	err_down = apiperf_pool_free(&pool);
	return err ? err : err_down;
}
