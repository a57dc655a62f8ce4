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

#include "backend.h"

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

/* In a forked child, registry lock held: publish NONE for every handle. */
void gdr_handle_forget_mappings(void);

#endif
