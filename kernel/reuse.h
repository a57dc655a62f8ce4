/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Revocable pins are given back by the address of their table, and that address
 * can come back: once a revocation has freed a table, a new pin may get the same
 * one, and a put that is late then ends the new pin.  So puts and gets say when they
 * begin and end, and a get learns whether its table may have been put meanwhile.
 */
#ifndef GDRDRV_REUSE_H
#define GDRDRV_REUSE_H

#include <linux/list.h>
#include <linux/types.h>

struct gdrdrv_put {
	struct list_head list;
	const void *table;
};

#define GDRDRV_GET_ENDED	8

struct gdrdrv_get {
	struct list_head list;
	unsigned int nr_ended;		/* puts that ended meanwhile; more than fit: any table */
	const void *ended[GDRDRV_GET_ENDED];
};

/* begin: while the table is known to be that of the pin; any lock may be held. */
void gdrdrv_put_begin(struct gdrdrv_put *put, const void *table);
void gdrdrv_put_end(struct gdrdrv_put *put);

/*
 * begin: before the provider is asked.  end: waits for puts of this table; true if one
 * was under way since begin, so that the pin must be given up and made anew.
 */
void gdrdrv_get_begin(struct gdrdrv_get *get);
bool gdrdrv_get_end(struct gdrdrv_get *get, const void *table);

#endif
