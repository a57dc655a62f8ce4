/* SPDX-License-Identifier: MIT */
/*
 * Copies of all sizes, offsets and alignments: what goes in through a mapping is
 * read by CUDA with what is around it, and the other way.
 */
#include <string.h>

#include "soak.h"

#define READ_MOST ((size_t)1 << 20)     /* loads from a GPU are slow */
#define PIECES 8

/* Bytes [lo, hi) of the pin's buffer show in its mapping. */
struct range {
	struct soak_pin *p;
	size_t lo, hi;
};

static bool range_of(struct soak_pin *p, struct range *r)
{
	const struct soak_buffer *b = p->buffer;
	CUdeviceptr end = p->va + p->len;

	if (!p->map || !soak_is_good(p))
		return false;
	r->p = p;
	r->lo = p->va > b->ptr ? p->va - b->ptr : 0;
	r->hi = end < b->ptr + b->size ? end - b->ptr : b->size;
	return r->hi > r->lo;
}

static char *in_map(const struct soak_pin *p, size_t at)
{
	return p->map + (p->buffer->ptr + at - p->va);
}

/* Mostly small, up to all there is. */
static size_t some_length(struct soak_worker *w, size_t most)
{
	static const size_t up_to[] = { 16, 64, 64, 300, 4096, 4096, 65536, SIZE_MAX };
	size_t n = up_to[soak_below(w, sizeof(up_to) / sizeof(up_to[0]))];

	return 1 + soak_below(w, n < most ? n : most);
}

/* A piece of a mapping: at and n; often aligned, often at either end. */
static bool some_piece(struct soak_worker *w, struct range *r, size_t *at, size_t *n)
{
	struct soak_pin *p = soak_pick_pin(w, 1);
	size_t room, start;

	if (!p || !range_of(p, r))
		return false;
	room = r->hi - r->lo;
	*n = some_length(w, room < READ_MOST ? room : READ_MOST);
	start = soak_below(w, room - *n + 1);
	switch (soak_below(w, 4)) {
	case 0:
		start = 0;
		break;
	case 1:
		start = room - *n;
		break;
	case 2:
		start &= ~(size_t)63;
		break;
	}
	*at = r->lo + start;
	return true;
}

/* Room for n bytes at any alignment, with a guard on both sides. */
static unsigned char *guarded(struct soak_worker *w, size_t n)
{
	unsigned char *host = w->host + SOAK_GUARD + soak_below(w, SOAK_GUARD);

	memset(host - SOAK_GUARD, 0xa5, SOAK_GUARD);
	memset(host, 0x5a, n);
	memset(host + n, 0xa5, SOAK_GUARD);
	return host;
}

static void check_guards(const unsigned char *host, size_t n)
{
	size_t i;

	for (i = 0; i < SOAK_GUARD; i++)
		if (host[n + i] != 0xa5 || host[-1 - (long)i] != 0xa5)
			FAIL("a copy of %zu bytes wrote outside of them, in host memory", n);
}

static void look_by_cuda(struct soak_worker *w, const struct soak_buffer *b, size_t at, size_t n)
{
	unsigned char *host = guarded(w, n);

	CU(cu.MemcpyDtoH(host, b->ptr + at, n));
	check_guards(host, n);
	soak_compare(host, b->shadow + at, n, at, "read by CUDA");
}

static void look_by_mapping(struct soak_worker *w, struct range *r, size_t at, size_t n)
{
	unsigned char *host = guarded(w, n);

	GDR(gdr_copy_from_mapping(r->p->mh, host, in_map(r->p, at), n));
	check_guards(host, n);
	soak_compare(host, r->p->buffer->shadow + at, n, at, "read through the mapping");
}

void soak_look(struct soak_worker *w, struct soak_buffer *b, size_t at, size_t n)
{
	struct range r;
	unsigned i;

	if (n > b->size - at)
		n = b->size - at;
	if (!b->freed) {
		look_by_cuda(w, b, at, n);
		return;
	}
	for (i = 0; i < SOAK_PINS; i++) {
		if (!b->pins[i].buffer || !range_of(&b->pins[i], &r))
			continue;
		if (at < r.lo || at >= r.hi)
			at = r.lo;
		n = r.hi - at < n ? r.hi - at : n;
		look_by_mapping(w, &r, at, n < READ_MOST ? n : READ_MOST);
	}
}

/* What was written, and what lies around it. */
static void look_around(struct soak_worker *w, struct soak_buffer *b, size_t at, size_t n)
{
	size_t before = soak_below(w, 200), after = soak_below(w, 200);

	if (before > at)
		before = at;
	soak_look(w, b, at - before, before + n + after);
}

/* New bytes for the shadow, and a copy of them at any alignment. */
static unsigned char *new_bytes(struct soak_worker *w, struct soak_buffer *b, size_t at, size_t n)
{
	unsigned char *host = guarded(w, n);

	soak_fill(w, b->shadow + at, n);
	memcpy(host, b->shadow + at, n);
	return host;
}

static void some_options(struct soak_worker *w, struct gdrx_copy_options *o)
{
	*o = (struct gdrx_copy_options){
		.size = sizeof(*o),
		.threads = soak_below(w, 5),
		.min_bytes = soak_below(w, 2) ? 4096 : 0,
	};
}

static bool copy_in(struct soak_worker *w, bool parallel)
{
	struct gdrx_copy_options options;
	unsigned char *host;
	struct range r;
	size_t at, n;

	if (!some_piece(w, &r, &at, &n))
		return false;
	host = new_bytes(w, r.p->buffer, at, n);
	some_options(w, &options);
	if (parallel)
		GDR(gdrx_copy_to_mapping(r.p->mh, in_map(r.p, at), host, n,
					 options.threads ? &options : NULL));
	else
		GDR(gdr_copy_to_mapping(r.p->mh, in_map(r.p, at), host, n));
	look_around(w, r.p->buffer, at, n);
	return true;
}

static bool copy_out(struct soak_worker *w, bool parallel)
{
	struct gdrx_copy_options options;
	unsigned char *host;
	struct range r;
	size_t at, n;

	if (!some_piece(w, &r, &at, &n))
		return false;
	if (!parallel) {
		look_by_mapping(w, &r, at, n);
		return true;
	}
	host = guarded(w, n);
	some_options(w, &options);
	GDR(gdrx_copy_from_mapping(r.p->mh, host, in_map(r.p, at), n,
				   options.threads ? &options : NULL));
	check_guards(host, n);
	soak_compare(host, r.p->buffer->shadow + at, n, at, "read by several threads");
	return true;
}

bool soak_op_write(struct soak_worker *w)
{
	return copy_in(w, false);
}

bool soak_op_read(struct soak_worker *w)
{
	return copy_out(w, false);
}

bool soak_op_write_parallel(struct soak_worker *w)
{
	return copy_in(w, true);
}

bool soak_op_read_parallel(struct soak_worker *w)
{
	return copy_out(w, true);
}

bool soak_op_write_cuda(struct soak_worker *w)
{
	struct range r;
	size_t at, n;

	if (!some_piece(w, &r, &at, &n) || r.p->buffer->freed)
		return false;
	CU(cu.MemcpyHtoD(r.p->buffer->ptr + at, new_bytes(w, r.p->buffer, at, n), n));
	CU(cu.CtxSynchronize()); /* a small copy may return before it has arrived */
	look_by_mapping(w, &r, at, n);
	return true;
}

bool soak_op_whole(struct soak_worker *w)
{
	struct soak_buffer *b = soak_live_buffer(w);

	if (!b)
		return false;
	look_by_cuda(w, b, 0, b->size);
	return true;
}

/* Plain accesses of the program's own: one word in, the same out, by another pin perhaps. */
bool soak_op_word(struct soak_worker *w)
{
	struct soak_buffer *b;
	struct range r;
	size_t at, n;
	uint64_t word;

	if (!some_piece(w, &r, &at, &n))
		return false;
	b = r.p->buffer;
	n = (size_t)1 << soak_below(w, 4);
	at = ((b->ptr + at) & ~(CUdeviceptr)(n - 1)) - b->ptr;
	if (at < r.lo || at > r.hi - n || r.hi - r.lo < n)
		return false;
	memcpy(&word, new_bytes(w, b, at, n), n);
	GDR(gdr_copy_to_mapping(r.p->mh, in_map(r.p, at), &word, n));
	word = ~word;
	GDR(gdr_copy_from_mapping(r.p->mh, &word, in_map(r.p, at), n));
	soak_compare(&word, b->shadow + at, n, at, "a word read back");
	look_around(w, b, at, n);
	return true;
}

/* Pieces of one mapping in order, with gaps. */
static size_t some_pieces(struct soak_worker *w, const struct range *r, size_t at, size_t *sizes,
			  size_t *places)
{
	size_t n = 0, most = 1 + soak_below(w, PIECES), next = at, len;

	while (n < most && next < r->hi) {
		len = some_length(w, r->hi - next < 8192 ? r->hi - next : 8192);
		places[n] = next;
		sizes[n++] = len;
		next += len + soak_below(w, 200);
	}
	return n;
}

static bool copy_iov(struct soak_worker *w, int direction)
{
	size_t at, len, n, i, sizes[PIECES], places[PIECES], used = 0;
	unsigned char *host = w->host;
	struct gdrx_iov iov[PIECES];
	struct soak_buffer *b;
	struct range r;

	if (!some_piece(w, &r, &at, &len))
		return false;
	b = r.p->buffer;
	n = some_pieces(w, &r, at, sizes, places);
	for (i = 0; i < n; i++) {
		iov[i] = (struct gdrx_iov){ in_map(r.p, places[i]), host + used, sizes[i] };
		used += sizes[i];
		if (direction == 0) {
			soak_fill(w, b->shadow + places[i], sizes[i]);
			memcpy(iov[i].h_ptr, b->shadow + places[i], sizes[i]);
		}
	}
	GDR(gdrx_copy_iov(r.p->mh, direction, iov, n));
	for (i = 0; direction == 1 && i < n; i++)
		soak_compare(iov[i].h_ptr, b->shadow + places[i], sizes[i], places[i],
			     "read in pieces");
	if (direction == 0)
		look_around(w, b, at, places[n - 1] + sizes[n - 1] - at);
	return true;
}

bool soak_op_write_iov(struct soak_worker *w)
{
	return copy_iov(w, 0);
}

bool soak_op_read_iov(struct soak_worker *w)
{
	return copy_iov(w, 1);
}
