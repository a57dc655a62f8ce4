/* SPDX-License-Identifier: MIT */
/*
 * The contract between api.c and a backend.
 *
 * api.c checks arguments, finds handles, holds the context's lock and flips the
 * sign; an op gets valid input and returns 0 or -errno.  All ops are mandatory.
 * A backend embeds struct gdr and struct gdr_memh as the first member of its
 * own structures and allocates and frees those.
 */
#ifndef GDR_BACKEND_H
#define GDR_BACKEND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gdrapi.h"

struct gdr_backend_ops;

/* A CPU mapping.  addr NULL: none. */
struct gdr_mapping {
	void *addr;
	size_t len;                     /* bytes, whole host pages */
	gdr_mapping_type_t type;
};

/* A pin.  Fields are written under the context's lock. */
struct gdr_memh {
	struct gdr *g;                  /* owner, fixed */
	unsigned long id;               /* gdr_mh_t.h; 0 until registered (handle.c) */
	struct gdr_memh *next, *prev;   /* the owner's list, under the registry lock */
	struct gdr_mapping mapping;     /* set by api.c from what map() returned */
};

/*
 * The process that made something.  A forked child is another one, also where it
 * has the same number: in a pid namespace of its own, or after numbers went round.
 */
struct gdr_owner {
	pid_t pid;
	unsigned forks;                 /* between this process and the first that loaded us */
};

/* fork.c */
struct gdr_owner gdr_owner_self(void);
bool gdr_owner_is_self(const struct gdr_owner *owner);

/* A context. */
struct gdr {
	int fd;                         /* backend's descriptor or -1; stays the first member */
	const struct gdr_backend_ops *ops;
	/* The rest belongs to context.c. */
	struct gdr_owner owner;         /* others get EACCES */
	unsigned refs;                  /* under the registry lock */
	bool closed;                    /* under lock */
	struct gdr *next;               /* list of open contexts, under the registry lock */
	struct gdr_memh *memhs;         /* under the registry lock */
	pthread_mutex_t lock;           /* serialises control calls on this context */
};

struct gdr_pin_args {
	uint64_t addr;                  /* non-zero */
	uint64_t size;                  /* non-zero; addr + size does not wrap */
	uint64_t p2p_token;             /* v1 pin only, else 0 */
	uint32_t va_space;
	uint32_t flags;                 /* GDR_PIN_FLAG_*, known bits only */
};

struct gdr_backend_ops {
	const char *name;

	/**
	 * open - decide whether this backend works here and make a context
	 * @out: the context, zeroed but for fd and the backend's own fields
	 *
	 * A refusal is recorded with gdr_context_skip (context.h), not gdr_log_fail.
	 */
	int (*open)(struct gdr **out);

	/**
	 * close - release the context; no memh is left
	 *
	 * Also called in a forked child, which g->owner is not: close descriptors and
	 * free memory there, nothing that reaches the parent's kernel objects.
	 */
	void (*close)(struct gdr *g);

	/** pin - pin a range; *out is a zeroed memh plus the backend's fields */
	int (*pin)(struct gdr *g, const struct gdr_pin_args *args, struct gdr_memh **out);

	/**
	 * unpin - release the pin and free @m, whatever happens
	 *
	 * @m is not mapped any more, unless its munmap failed (mapping.addr set).
	 * Returns the first error.
	 */
	int (*unpin)(struct gdr *g, struct gdr_memh *m);

	/** forget - in a forked child: free @m and its descriptors, nothing else */
	void (*forget)(struct gdr *g, struct gdr_memh *m);

	/**
	 * map - make a mapping of @len bytes (whole host pages, non-zero)
	 * @flags: gdr_map_flags_t; 0 is the default type, others must be met exactly
	 *
	 * @m is not mapped.  Uses gdr_mapping_create, so that the mapping is never
	 * inherited over fork.  Fills @out on success only.
	 */
	int (*map)(struct gdr *g, struct gdr_memh *m, size_t len, int flags,
		   struct gdr_mapping *out);

	/** unmap - remove m->mapping; on failure it is still there */
	int (*unmap)(struct gdr *g, struct gdr_memh *m);

	/** info - fill everything, mapping state included */
	int (*info)(struct gdr *g, struct gdr_memh *m, gdr_info_v2_t *info);

	/** callback_flag - *flag = 1 once the memory was revoked, else 0 */
	int (*callback_flag)(struct gdr *g, struct gdr_memh *m, int *flag);

	/** attribute - @attr is USE_PERSISTENT_MAPPING or SUPPORT_PIN_FLAG_FORCE_PCIE */
	int (*attribute)(struct gdr *g, gdr_attr_t attr, int *value);

	/** driver_version - of gdrdrv; 2.6 where there is none */
	int (*driver_version)(struct gdr *g, int *major, int *minor);
};

extern const struct gdr_backend_ops gdr_backend_gdrdrv;
extern const struct gdr_backend_ops gdr_backend_dmabuf;
extern const struct gdr_backend_ops gdr_backend_rm;

/*
 * mapping.c: mmap fd shared and read-write, at a reserved address or anywhere
 * (NULL), such that fork does not inherit it.  Fills addr and len.  0 or
 * -errno; records nothing, since only the caller knows what was mapped.
 * After a failure at a reserved address that part of the reservation must not
 * be unmapped: the kernel may have dropped it, and another thread taken it.
 * A failure that leaves a mapping which cannot be removed sets *stuck, which is
 * otherwise left alone; NULL where the descriptor keeps the memory alive.
 */
int gdr_mapping_create(int fd, uint64_t offset, size_t len, void *at, struct gdr_mapping *out,
		       bool *stuck);

/* mapping.c: munmap; records its failure. */
int gdr_mapping_destroy(const struct gdr_mapping *m);

/* mapping.c: the mapping fields of info. */
void gdr_mapping_describe(const struct gdr_mapping *m, gdr_info_v2_t *info);

/* mapping.c: GDR_MAP_FLAG_... and GDR_MAPPING_TYPE_..., for messages. */
const char *gdr_mapping_flag_name(int flags);
const char *gdr_mapping_type_name(gdr_mapping_type_t type);

/* mapping.c: may flags be asked for, of memory that can only be mapped as type?  0 or -EINVAL. */
int gdr_mapping_check_flags(int flags, gdr_mapping_type_t type);

/* mapping.c: the kernel's page size, bytes. */
size_t gdr_page_size(void);

#endif
