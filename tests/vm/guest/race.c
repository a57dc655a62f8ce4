/* SPDX-License-Identifier: MIT */
/* See race.h. */
#include "race.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define MOST_SPINS	100000
#define LEAST_TRIES	20
#define TOUCHED		0x70c4ed00u

static struct race state;
static const struct race_kind *kind;
static unsigned long tries, seconds;

static unsigned started, finished;	/* numbers of tries; atomic */
static unsigned right_spins;
static bool leave;

static void spin(unsigned n)
{
	volatile unsigned i;

	for (i = 0; i < n; i++)
		;
}

/* One CPU must do as well: the other side may be the one that is waited for. */
static void wait_for(unsigned *number, unsigned value)
{
	unsigned n = 0;

	while (__atomic_load_n(number, __ATOMIC_ACQUIRE) != value)
		if (++n % 1024 == 0)
			sched_yield();
}

static void *right_side(void *unused)
{
	unsigned n;

	(void)unused;
	for (n = 1;; n++) {
		wait_for(&started, n);
		if (leave)
			return NULL;
		spin(right_spins);
		kind->right(&state);
		state.over = 1;
		__atomic_store_n(&finished, n, __ATOMIC_RELEASE);
	}
}

static unsigned clamp(int spins)
{
	return spins < 0 ? 0 : spins > MOST_SPINS ? MOST_SPINS : (unsigned)spins;
}

/* One try, the left side so many spins late, or early; did it come first? */
static bool one_try(unsigned n, int late)
{
	state.gone = state.over = 0;
	state.map = state.moved = NULL;
	state.left_ret = state.right_ret = 0;
	if (kind->before)
		kind->before(&state);
	right_spins = clamp(-late);
	__atomic_store_n(&started, n, __ATOMIC_RELEASE);
	spin(clamp(late));
	kind->left(&state);
	wait_for(&finished, n);
	return kind->after(&state);
}

/* How late the left side starts, in spins: steered to where now one, now the other is first. */
struct aim {
	int offset, step;
	bool last_first;
};

/* Larger steps while the same side wins, smaller ones around the border. */
static void steer(struct aim *a, bool left_first)
{
	a->step = left_first == a->last_first ? a->step * 2 : a->step / 4;
	a->step = a->step < 16 ? 16 : a->step > 4096 ? 4096 : a->step;
	a->last_first = left_first;
	a->offset += left_first ? a->step : -a->step;
	if (a->offset > MOST_SPINS || a->offset < -MOST_SPINS)
		a->offset = 0;
}

/* All tries; the number of the one that is not made any more. */
static unsigned make_tries(void)
{
	uint64_t end = now_us() + seconds * 1000000;
	struct aim aim = { .step = 64 };
	unsigned n;

	for (n = 1; n <= tries && guest_failures() < 20; n++) {
		int jitter = (int)(pseudo_random(&state.random) % 1024) - 512;
		bool left_first;

		if (seconds && n > LEAST_TRIES && now_us() > end)
			break;
		left_first = one_try(n, aim.offset + jitter);
		if (left_first)
			state.left_first++;
		else
			state.right_first++;
		steer(&aim, left_first);
		if (n % 1000 == 0)
			want_eq(sim_damage(), 0);
	}
	return n;
}

static void one_kind(void)
{
	uint64_t pins = sim_pins();
	pthread_t thread;
	unsigned n;

	memset(&state, 0, sizeof(state));
	state.random = 0x9e3779b97f4a7c15 ^ now_us();
	state.size = GPU_PAGE;
	state.fd = dev_open();
	state.persistent = dev_persistent(state.fd);
	started = finished = 0;
	leave = false;
	need(pthread_create(&thread, NULL, right_side, NULL) == 0);
	n = make_tries();
	leave = true;
	__atomic_store_n(&started, n, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	if (state.fd >= 0)
		close(state.fd);
	want_eq(state.stale, 0);
	want_eq(sim_pins(), pins);
	want_eq(sim_damage(), 0);
	want_eq(sim_stats().recursions, 0);
	guest_note("%s: %u tries, %llu left first, %llu right first, %llu stale accesses",
		   kind->name, n - 1, (unsigned long long)state.left_first,
		   (unsigned long long)state.right_first, (unsigned long long)state.stale);
}

int race_main(int argc, char **argv, const struct race_kind *kinds, size_t n)
{
	size_t i;

	tries = number_arg(argc, argv, 1, 300);
	seconds = number_arg(argc, argv, 2, 0);
	for (i = 0; i < n; i++) {
		if (argc > 3 && strcmp(argv[3], kinds[i].name) != 0)
			continue;
		kind = &kinds[i];
		guest_run(kind->name, one_kind);
	}
	return guest_end();
}

void race_touch(struct race *r, char *at, unsigned times)
{
	uint32_t value;
	unsigned i;
	int gone;

	for (i = 0; i < times; i++) {
		char *word = at + (i * 5 % (r->size / HOST_PAGE)) * HOST_PAGE;

		gone = __atomic_load_n(&r->gone, __ATOMIC_ACQUIRE);
		if (poke(word, TOUCHED | i) != 0 || peek(word, &value) != 0)
			return;
		if (gone)
			r->stale++;
	}
}

/* Signals are dear in a simulated CPU: the page tables tell of all pages, three are tried. */
void race_want_dead(struct race *r, const char *at, size_t len)
{
	size_t some = pseudo_random(&r->random) % (len / HOST_PAGE) * HOST_PAGE;

	if (sim_probe(at, len).present != 0)
		r->stale++;
	r->stale += peek_at(at, 0) == 0;
	r->stale += peek_at(at, some) == 0;
	r->stale += peek_at(at, len - HOST_PAGE) == 0;
	if (sim_probe(at, len).present != 0)
		r->stale++;
}
