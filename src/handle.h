/* SPDX-License-Identifier: MIT */
/*
 * The registry of live handles.
 *
 * A handle is generation << 32 | slot + 1: never 0, and a value that was live
 * once is never live again.  Slots live in chunks that are never freed, so a
 * handle of any value can be looked at without a lock.
 */
#ifndef GDR_HANDLE_H
#define GDR_HANDLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "backend.h"

/* handle.c: what a copy needs to know is in word alone. */
struct gdr_handle_slot {
	_Atomic uint64_t word;          /* generation << 32 | LIVE | type; written under the lock */
	struct gdr_memh *memh;          /* registry lock */
	uint32_t next_free;             /* registry lock; slot + 1, 0 ends the list */
};

#define GDR_HANDLE_LIVE         0x100u
#define GDR_HANDLE_FIRST        1024u   /* slots of the first chunk, a power of two */

/* The first chunk is the first of these; NULL until the first handle. */
extern struct gdr_handle_slot *_Atomic gdr_handle_chunks[];

/* Give m a handle and put it on its owner's list.  0 or -ENOMEM. */
int gdr_handle_new(struct gdr *g, struct gdr_memh *m);

/* Withdraw m's handle and take it off the list. */
void gdr_handle_delete(struct gdr_memh *m);

/* The live pin behind h if g owns it, else NULL.  Valid while g's lock is held. */
struct gdr_memh *gdr_handle_find(const struct gdr *g, unsigned long h);

/* Publish m->mapping.type for copies; NONE while it is not mapped. */
void gdr_handle_publish(const struct gdr_memh *m, gdr_mapping_type_t type);

/* Lock-free: the published type of a live handle, or -EINVAL. */
int gdr_handle_type(unsigned long h);

/*
 * The type of a mapping whose handle is one of the first; NONE says nothing:
 * ask gdr_handle_type.  Inline and without a call, because it is a good part of
 * what a copy of a few bytes costs.
 */
static inline gdr_mapping_type_t gdr_handle_quick_type(unsigned long h)
{
	uint32_t n = (uint32_t)h - 1;   /* of h 0: a slot that no chunk has */
	struct gdr_handle_slot *first;
	uint64_t word;

	first = atomic_load_explicit(&gdr_handle_chunks[0], memory_order_acquire);
	if (!first || n >= GDR_HANDLE_FIRST)
		return GDR_MAPPING_TYPE_NONE;
	word = atomic_load_explicit(&first[n].word, memory_order_acquire);
	/* Less the generation, if it is the same, and LIVE, if it is set: the type. */
	word = (word ^ (h & ~(unsigned long)UINT32_MAX)) - GDR_HANDLE_LIVE;
	return word < GDR_HANDLE_LIVE ? (gdr_mapping_type_t)word : GDR_MAPPING_TYPE_NONE;
}

/* -EINVAL, once call found that h has no mapping; records why. */
int gdr_handle_no_mapping(unsigned long h, const char *call) __attribute__((cold));

/* In a forked child, registry lock held: publish NONE for every handle. */
void gdr_handle_forget_mappings(void);

#endif
