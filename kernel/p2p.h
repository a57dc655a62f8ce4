/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * The provider of GPU memory: NVIDIA's module, through its peer-to-peer functions.
 * All but the queries may sleep for long in the provider; nothing is held by the
 * caller.
 */
#ifndef GDRDRV_P2P_H
#define GDRDRV_P2P_H

#include "driver.h"

void gdrdrv_p2p_exit(void);		/* no pin is left: waits for the last callback */
bool gdrdrv_p2p_persistent(void);	/* new pins are persistent */
bool gdrdrv_p2p_force_pcie(void);	/* PIN_FLAG_FORCE_PCIE can be passed on */
bool gdrdrv_p2p_open_flavour(void);

/*
 * Pins mr's range, by the process that owns the memory.  On success mr->table is
 * set, or mr->revoked when the memory went away in the meantime.
 */
int gdrdrv_p2p_get(struct gdrdrv_mr *mr);

/*
 * Gives the pages back.  Revocable pins can be given back by their owner only; for
 * anybody else the registration stays until the provider calls back.
 */
void gdrdrv_p2p_put(struct gdrdrv_mr *mr, bool by_owner);

/*
 * Translates mr->table into extents.  -EFAULT: a table of another version,
 * -EINVAL: pages of another size or number.  No extents if mr was revoked.
 */
int gdrdrv_p2p_read(struct gdrdrv_mr *mr);

#endif
