/* SPDX-License-Identifier: MIT */
/* Copies: within a mapping, and with handles that have none, where nothing may be touched. */
#include <errno.h>
#include <sched.h>

#include "calls.h"
#include "inject.h"

#define HOST_SIZE (3 * CALLS_PAGE)

static uint8_t host[HOST_SIZE];

struct range {
	char *dev;
	uint8_t *host;
	size_t size;
};

/* In one page of the mapping, behind its tag. */
static struct range in_page(struct calls *c, const struct calls_pin *p)
{
	size_t pages = (p->len + CALLS_PAGE - 1) / CALLS_PAGE;
	size_t page = input_number(c->in, 2) % pages;
	size_t from = CALLS_TAG + input_number(c->in, 2) % (CALLS_PAGE - CALLS_TAG);
	size_t size = input_number(c->in, 2) % (CALLS_PAGE - from + 1);

	return (struct range){
		.dev = p->va + page * CALLS_PAGE + from,
		.host = host + input_pick(c->in, 128),
		.size = size,
	};
}

static struct gdrx_copy_options options(struct calls *c, cpu_set_t *set)
{
	struct gdrx_copy_options o = { .size = sizeof(o) };

	if (input_pick(c->in, 8) == 0)
		o.size = input_wild(c->in) % sizeof(o);
	o.threads = input_pick(c->in, 4);
	o.min_bytes = input_byte(c->in);
	if (input_pick(c->in, 4) == 0) {
		CPU_ZERO(set);
		CPU_SET(input_pick(c->in, 8), set);
		o.cpus = set;
		o.cpus_size = input_pick(c->in, 4) ? sizeof(*set) : input_pick(c->in, 64);
	}
	return o;
}

/* Pointers that must not be followed. */
static void without_mapping(struct calls *c, gdr_mh_t mh)
{
	void *dev = (void *)(uintptr_t)input_wild(c->in), *mem = (void *)(uintptr_t)8;
	struct gdrx_copy_options o = { .size = sizeof(o) };
	struct gdrx_iov iov = { dev, mem, 64 };
	size_t size = input_wild(c->in);

	MUST(WATCH(gdr_copy_to_mapping(mh, dev, mem, size)) == EINVAL);
	MUST(WATCH(gdr_copy_from_mapping(mh, mem, dev, size)) == EINVAL);
	MUST(WATCH(gdrx_copy_to_mapping(mh, dev, mem, size, &o)) == EINVAL);
	MUST(WATCH(gdrx_copy_from_mapping(mh, mem, dev, size, &o)) == EINVAL);
	MUST(WATCH(gdrx_copy_iov(mh, input_pick(c->in, 2), &iov, 1)) == EINVAL);
}

static void pieces(struct calls *c, gdr_mh_t mh, const struct calls_pin *p)
{
	struct gdrx_iov iov[4] = { { 0 } };
	size_t i, n = input_pick(c->in, 5);
	int direction = (int)input_pick(c->in, 4) - 1;

	for (i = 0; i < n; i++) {
		struct range r = in_page(c, p);

		iov[i] = (struct gdrx_iov){ r.dev, r.host, r.size };
	}
	if (calls_failed(WATCH(gdrx_copy_iov(mh, direction, n ? iov : NULL, n))))
		MUST(direction != 0 && direction != 1);
}

static void there_and_back(struct calls *c, gdr_mh_t mh, const struct calls_pin *p)
{
	struct range r = in_page(c, p);
	uint8_t *back = host + 2 * CALLS_PAGE - CALLS_TAG;

	memset(host, input_byte(c->in), 2 * CALLS_PAGE - CALLS_TAG);
	MUST(WATCH(gdr_copy_to_mapping(mh, r.dev, r.host, r.size)) == 0);
	MUST(WATCH(gdr_copy_from_mapping(mh, back, r.dev, r.size)) == 0);
	MUST(memcmp(back, r.host, r.size) == 0);
}

static void by_threads(struct calls *c, gdr_mh_t mh, const struct calls_pin *p)
{
	cpu_set_t set;
	struct gdrx_copy_options o = options(c, &set);
	struct range r = in_page(c, p);

	calls_failed(WATCH(gdrx_copy_to_mapping(mh, r.dev, r.host, r.size, &o)));
	calls_failed(WATCH(gdrx_copy_from_mapping(mh, r.host, r.dev, r.size, &o)));
}

void calls_copy(struct calls *c)
{
	struct calls_pin *p;
	gdr_mh_t mh = calls_pick(c, &p);

	if (!p || !p->va) {
		without_mapping(c, mh);
		return;
	}
	switch (input_pick(c->in, 3)) {
	case 0:
		there_and_back(c, mh, p);
		break;
	case 1:
		by_threads(c, mh, p);
		break;
	default:
		pieces(c, mh, p);
	}
}
