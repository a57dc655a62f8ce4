/* SPDX-License-Identifier: MIT */
/*
 * Open contexts: opening by trying the backends in order, finding the context
 * behind a gdr_t, closing, and the locks.
 *
 * LOCK ORDER: struct gdr.lock -> a backend's own locks -> fork lock -> registry
 * lock.  The registry lock is held for a few instructions, never over a system
 * call; memory for more handles is the one exception.
 */
#ifndef GDR_CONTEXT_H
#define GDR_CONTEXT_H

#include "backend.h"

/* Open the first backend that works.  NULL and *err (positive) if none does. */
struct gdr *gdr_context_open(int *err);

/*
 * Take g's lock for a control call; leave gives it back.  -EINVAL if g is not
 * an open context, -EACCES in a process other than its creator.
 */
int gdr_context_enter(struct gdr *g);
void gdr_context_leave(struct gdr *g);

/* Unmap, unpin, close, free.  0 or the first -errno; closed either way unless -EINVAL. */
int gdr_context_close(struct gdr *g);

/* The backend of an open context of any process, or NULL. */
const struct gdr_backend_ops *gdr_context_ops(struct gdr *g);

/* Unmap and unpin one handle of an entered context.  0 or the first -errno; m is gone. */
int gdr_context_unpin(struct gdr *g, struct gdr_memh *m);

/*
 * For a backend's open(): why it does not work here; returns -err.  Collected
 * in this thread's report of the current gdr_context_open.
 */
int gdr_context_skip(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *gdr_context_report(void);

/* fork.c: no fork falls between hold and release; several threads may hold. */
void gdr_fork_hold(void);
void gdr_fork_release(void);

/* fork.c: the lock of the handle registry and the list of contexts. */
void gdr_registry_lock(void);
void gdr_registry_unlock(void);

#endif
