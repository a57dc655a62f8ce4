/* SPDX-License-Identifier: MIT */
/* The calls but for copies, and what is known of contexts and pins; see calls.h. */
#include "calls.h"

#include <errno.h>

#include "cuda_abi.h"
#include "cuda_funcs.h"
#include "inject.h"

struct info_v1 {
	uint64_t words[5];
	uint64_t behind;                /* not the function's */
};
int info_v1(gdr_t g, gdr_mh_t handle, struct info_v1 *info) __asm__("gdr_get_info");

#define UNTOUCHED 0x5e5e5e5e5e5e5e5e

bool calls_failed(int ret)
{
	MUST(ret >= 0 && ret < 4096);
	MUST(!ret || strlen(gdrx_last_error()) > 10);
	return ret != 0;
}

/* Every page says in its first bytes which it is. */
static void tag(uint64_t at, uint64_t size)
{
	uint64_t *pages = calloc(1, size), i;

	MUST(pages);
	for (i = 0; i < size; i += CALLS_PAGE)
		pages[i / sizeof(*pages)] = at + i;
	MUST(cuMemcpyHtoD_v2(at, pages, size) == CUDA_SUCCESS);
	free(pages);
}

struct ground *calls_start(const char *backend)
{
	struct ground *g = ground_start(backend);
	gdr_t warm;

	MUST(g);
	if (g->cuda) {
		tag(g->plain, g->plain_size);
		tag(g->parts, g->parts_size);
		tag(g->inner, g->inner_size);
	}
	ground_reset(g);
	warm = WATCH(gdr_open());
	MUST(warm && !WATCH(gdr_close(warm)));
	return g;
}

static bool is_tagged(const struct ground *g, uint64_t at)
{
	return at - g->plain < g->plain_size || at - g->parts < g->parts_size ||
	       at - g->inner < g->inner_size;
}

/*
 * The first, a middle and the last page of a new mapping are those that were pinned.
 * The page that small memory lies in is not tagged: it begins in memory of CUDA's.
 */
static void check_memory(const struct ground *g, gdr_t context, const struct calls_pin *p)
{
	size_t pages = (p->len + CALLS_PAGE - 1) / CALLS_PAGE, i;
	const size_t some[] = { 0, pages / 2, pages - 1 };
	gdr_info_v2_t info;
	uint64_t seen;

	if (!g->cuda || WATCH(gdr_get_info_v2(context, p->mh, &info)) != 0)
		return;
	for (i = 0; i < 3; i++) {
		uint64_t at = info.va + some[i] * CALLS_PAGE;

		memcpy(&seen, p->va + some[i] * CALLS_PAGE, sizeof(seen));
		MUST(seen == at || !is_tagged(g, at));
	}
}

/* A context: open, closed, or none at all. */
static gdr_t pick_context(struct calls *c, unsigned *n)
{
	unsigned which = input_pick(c->in, 16);

	*n = c->contexts[which % CALLS_CONTEXTS] ? which % CALLS_CONTEXTS : 0;
	if (which < 12)
		return c->contexts[*n];
	*n = CALLS_CONTEXTS;
	if (which == 12)
		return (gdr_t)(uintptr_t)input_wild(c->in);
	return which == 13 ? c->closed : NULL;
}

/* Is it open?  An address may be given out anew. */
static bool is_open(const struct calls *c, gdr_t g, unsigned *n)
{
	for (*n = 0; g && *n < CALLS_CONTEXTS; ++*n)
		if (c->contexts[*n] == g)
			return true;
	return false;
}

static struct calls_pin *find(struct calls *c, gdr_mh_t mh)
{
	unsigned i;

	for (i = 0; mh.h && i < CALLS_PINS; i++)
		if (c->pins[i].mh.h == mh.h)
			return &c->pins[i];
	return NULL;
}

gdr_mh_t calls_pick(struct calls *c, struct calls_pin **live)
{
	unsigned which = input_pick(c->in, 32), i;
	gdr_mh_t mh = { 0 };

	for (i = 0; which < CALLS_PINS && !mh.h && i < CALLS_PINS; i++)
		mh = c->pins[(which + i) % CALLS_PINS].mh;
	if (which == 31)
		mh = c->unpinned;
	else if (which >= CALLS_PINS)
		mh.h = input_wild(c->in) << (which % 2 ? 32 : 0);
	mh.h |= which >= CALLS_PINS && which < 31 ? input_pick(c->in, 4) : 0;
	*live = find(c, mh);
	return mh;
}

/* A context and a handle; true if the one owns the other. */
static bool pick(struct calls *c, gdr_t *g, gdr_mh_t *mh, struct calls_pin **p)
{
	unsigned n;

	*mh = calls_pick(c, p);
	*g = *p && input_pick(c->in, 8) ? c->contexts[(*p)->context] : pick_context(c, &n);
	return is_open(c, *g, &n) && *p && (*p)->context == n;
}

static void do_open(struct calls *c)
{
	unsigned n = input_pick(c->in, CALLS_CONTEXTS);

	if (c->contexts[n])
		return;
	errno = 0;
	c->contexts[n] = WATCH(gdr_open());
	if (c->contexts[n])
		MUST(!strcmp(gdrx_backend_name(c->contexts[n]), c->ground->backend));
	else
		MUST(calls_failed(errno) && strlen(gdrx_open_report()) > 10);
}

static void do_close(struct calls *c)
{
	unsigned n, i;
	gdr_t g = pick_context(c, &n);
	bool open = is_open(c, g, &n);
	int ret = WATCH(gdr_close(g));

	calls_failed(ret);
	if (!open) {
		MUST(ret == EINVAL);
		return;
	}
	for (i = 0; i < CALLS_PINS; i++)
		if (c->pins[i].context == n)
			c->pins[i] = (struct calls_pin){ 0 };
	c->contexts[n] = NULL;
	c->closed = g;
}

static void pick_range(struct calls *c, uint64_t *addr, uint64_t *size)
{
	const struct ground *g = c->ground;
	const uint64_t known[][2] = {
		{ g->plain, g->plain_size }, { g->parts, g->parts_size },
		{ g->small, g->small_size }, { g->inner, g->inner_size },
	};
	unsigned which = input_pick(c->in, 6), shape = input_byte(c->in);

	if (which >= 4) {
		*addr = input_wild(c->in);
		*size = input_wild(c->in);
		return;
	}
	*addr = known[which][0];
	*size = known[which][1];
	if (shape & 1)
		*addr += shape & 2 ? input_number(c->in, 3) : (uint64_t)input_byte(c->in) << 16;
	if (shape & 4)
		*size = input_wild(c->in);
}

static void do_pin(struct calls *c)
{
	gdr_mh_t mh = { UNTOUCHED };
	uint64_t addr, size, token;
	unsigned n, i, flags;
	gdr_t g = pick_context(c, &n);
	bool open = is_open(c, g, &n), none = input_pick(c->in, 64) == 0;
	int ret;

	pick_range(c, &addr, &size);
	flags = input_pick(c->in, 8);
	if (flags < 4) {
		ret = WATCH(gdr_pin_buffer_v2(g, addr, size, flags, none ? NULL : &mh));
	} else {
		token = input_wild(c->in);
		ret = WATCH(gdr_pin_buffer(g, addr, size, token, (uint32_t)input_wild(c->in),
					   none ? NULL : &mh));
	}
	if (calls_failed(ret)) {
		MUST(mh.h == UNTOUCHED);
		return;
	}
	MUST(open && !none && mh.h && mh.h != UNTOUCHED && !find(c, mh));
	for (i = 0; i < CALLS_PINS && c->pins[i].mh.h; i++)
		;
	if (i < CALLS_PINS)
		c->pins[i] = (struct calls_pin){ .mh = mh, .context = n };
	else
		calls_failed(WATCH(gdr_unpin_buffer(g, mh)));
}

static void do_unpin(struct calls *c)
{
	struct calls_pin *p;
	gdr_mh_t mh;
	gdr_t g;
	bool right = pick(c, &g, &mh, &p);
	int ret = WATCH(gdr_unpin_buffer(g, mh));

	calls_failed(ret);
	if (!right) {
		MUST(ret == EINVAL);
		return;
	}
	*p = (struct calls_pin){ 0 };
	c->unpinned = mh;
	MUST(WATCH(gdr_unpin_buffer(g, mh)) == EINVAL);
}

static size_t pick_size(struct calls *c)
{
	switch (input_pick(c->in, 5)) {
	case 0:
		return input_wild(c->in);
	case 1:
		return (input_byte(c->in) + 1u) * CALLS_PAGE;
	case 2:
		return c->ground->plain_size;
	case 3:
		return c->ground->parts_size;
	default:
		return c->ground->inner_size;
	}
}

static void do_map(struct calls *c)
{
	struct calls_pin *p;
	void *va = c;
	gdr_mh_t mh;
	gdr_t g;
	bool right = pick(c, &g, &mh, &p), none = input_pick(c->in, 64) == 0;
	size_t size = pick_size(c);
	int flags = input_pick(c->in, 8) ? 0 : (int)input_wild(c->in);
	int ret = WATCH(gdr_map_v2(g, mh, none ? NULL : &va, size, flags));

	if (calls_failed(ret)) {
		MUST(va == c);
		return;
	}
	MUST(right && !none && !p->va && va && va != c);
	p->va = va;
	p->len = size;
	check_memory(c->ground, g, p);
}

static void do_unmap(struct calls *c)
{
	struct calls_pin *p;
	gdr_mh_t mh;
	gdr_t g;
	bool right = pick(c, &g, &mh, &p);
	uintptr_t va = p ? (uintptr_t)p->va : 0;
	size_t len = p ? p->len : input_wild(c->in);
	int ret;

	if (input_pick(c->in, 4) == 0)
		va += input_wild(c->in);
	if (input_pick(c->in, 4) == 0)
		len = input_wild(c->in);
	ret = WATCH(gdr_unmap(g, mh, (void *)va, len));
	if (calls_failed(ret))
		return;
	MUST(right && p->va && va == (uintptr_t)p->va);
	p->va = NULL;
}

static void do_ask(struct calls *c)
{
	struct info_v1 old = { { UNTOUCHED }, UNTOUCHED };
	gdr_info_v2_t info = { .va = UNTOUCHED };
	struct calls_pin *p;
	gdr_mh_t mh;
	gdr_t g;
	bool right = pick(c, &g, &mh, &p);
	int flag = 77;

	if (calls_failed(WATCH(gdr_get_info_v2(g, mh, &info))))
		MUST(info.va == UNTOUCHED);
	else
		MUST(right && info.mapping_type < GDR_MAPPING_TYPE_MAX);
	if (calls_failed(WATCH(info_v1(g, mh, &old))))
		MUST(old.words[0] == UNTOUCHED);
	MUST(old.behind == UNTOUCHED);
	if (calls_failed(WATCH(gdr_get_callback_flag(g, mh, &flag))))
		MUST(flag == 77);
	else
		MUST(right && (flag == 0 || flag == 1));
	MUST(calls_failed(WATCH(gdr_get_info_v2(g, mh, NULL))));
	MUST(calls_failed(WATCH(info_v1(g, mh, NULL))));
	MUST(calls_failed(WATCH(gdr_get_callback_flag(g, mh, NULL))));
}

static void do_ask_context(struct calls *c)
{
	int major = 77, minor = 77, v = 77, attr = (int)input_wild(c->in);
	const char *text = NULL;
	unsigned n;
	gdr_t g = pick_context(c, &n);
	bool open = is_open(c, g, &n);

	if (calls_failed(WATCH(gdr_driver_get_version(g, &major, &minor))))
		MUST(major == 77 && minor == 77);
	else
		MUST(open && major != 77 && minor != 77);
	MUST(calls_failed(WATCH(gdr_driver_get_version(g, NULL, &minor))));
	if (calls_failed(WATCH(gdr_get_attribute(g, (gdr_attr_t)attr, &v))))
		MUST(v == 77);
	else
		MUST(open && attr >= 1 && attr < GDR_ATTR_MAX);
	MUST(calls_failed(WATCH(gdr_get_attribute(g, (gdr_attr_t)attr, NULL))));
	if (calls_failed(WATCH(gdr_get_mapping_type_string((gdr_mapping_type_t)attr, &text))))
		MUST(!text);
	else
		MUST(attr >= 0 && attr < GDR_MAPPING_TYPE_MAX && *text);
	MUST((gdrx_backend_name(g) != NULL) == open);
	MUST((gdrx_copy_routine(attr) != NULL) == (attr == 0 || attr == 1));
	gdr_runtime_get_version(attr & 1 ? &major : NULL, attr & 2 ? &minor : NULL);
}

static void one_call(struct calls *c)
{
	static void (*const calls[])(struct calls *c) = {
		do_open, do_close, do_pin, do_pin, do_unpin, do_map, do_map, do_unmap, do_ask,
		do_ask_context, calls_copy, calls_copy,
	};
	unsigned n = sizeof(calls) / sizeof(calls[0]), which = input_pick(c->in, n + 4);

	if (which < n)
		calls[which](c);
	else if (which < n + 2)
		faults_arm(c->in);
	else if (c->special)
		c->special(c->in);
}

void calls_run(const struct ground *g, struct input *in, void (*special)(struct input *in))
{
	struct calls c = { .ground = g, .in = in, .special = special };
	unsigned i;

	c.contexts[0] = WATCH(gdr_open());      /* most inputs would do nothing without */
	while (input_left(in))
		one_call(&c);
	inject_none();
	for (i = 0; i < CALLS_CONTEXTS; i++)
		if (c.contexts[i])
			calls_failed(WATCH(gdr_close(c.contexts[i])));
	MUST(ground_is_clean(g));
}
