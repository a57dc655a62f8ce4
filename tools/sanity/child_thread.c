/* SPDX-License-Identifier: MIT */
/*
 * Description: threads without a CUDA context pin, map, unmap and unpin: one by
 * itself, one what another made, two at once on one gdr_t; and one closes and
 * frees everything.
 */
#include <pthread.h>
#include <string.h>

#include "session.h"

#define SIZE ((size_t)16 << 16)

struct work {
	struct mapped p;
	pthread_barrier_t *barrier;
};

static void pin_and_map(struct mapped *p)
{
	static const struct sanity_variant v1 = { .pin = PIN_V1 };

	p->mh = session_pin(p->g, &v1, p->mem.ptr, SIZE);
	session_map_pinned(p);
}

static void *all(void *arg)
{
	struct work *w = arg;

	pin_and_map(&w->p);
	session_unmap(&w->p);
	return NULL;
}

static void *make(void *arg)
{
	struct work *w = arg;

	pin_and_map(&w->p);
	pthread_barrier_wait(w->barrier);
	return NULL;
}

static void *undo(void *arg)
{
	struct work *w = arg;

	pthread_barrier_wait(w->barrier);
	session_unmap(&w->p);
	return NULL;
}

static void *at_once(void *arg)
{
	struct work *w = arg;
	int i;

	pthread_barrier_wait(w->barrier);
	for (i = 0; i < 50; i++)
		all(w);
	return NULL;
}

static void *close_and_free(void *arg)
{
	struct work *w = arg;

	GDR(gdr_close(w->p.g));
	session_free(&w->p.mem);
	return NULL;
}

static void start(pthread_t *t, void *(*fn)(void *), struct work *w)
{
	CHECK_INT(pthread_create(t, NULL, fn, w), 0);
}

static void join(pthread_t t)
{
	CHECK_INT(pthread_join(t, NULL), 0);
}

static void run(const struct sanity_variant *v)
{
	pthread_barrier_t barrier;
	struct work one = { .barrier = &barrier }, two;
	pthread_t a, b;

	session_cuda(v, false);
	one.p.mem = session_alloc(v, SIZE, 0xa5);
	one.p.g = session_open();
	CHECK_INT(pthread_barrier_init(&barrier, NULL, 2), 0);

	sanity_say("one thread");
	start(&a, all, &one);
	join(a);

	sanity_say("one thread undoes what another made");
	start(&a, make, &one);
	start(&b, undo, &one);
	join(a);
	join(b);

	sanity_say("two threads at once");
	two = one;
	start(&a, at_once, &one);
	start(&b, at_once, &two);
	join(a);
	join(b);

	sanity_say("one thread closes and frees");
	start(&a, close_and_free, &one);
	join(a);
	pthread_barrier_destroy(&barrier);
	session_end();
}

static const struct sanity_test child_thread[] = {
	{ "basic_child_thread_pins_buffer_cumemalloc", run, PLAIN, SANITY_DEFAULT },
	{ "basic_child_thread_pins_buffer_vmmalloc", run, VMM, SANITY_DEFAULT },
};
SANITY_TABLE(child_thread);
