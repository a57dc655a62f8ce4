/* SPDX-License-Identifier: MIT */
/*
 * Requests to the kernel driver from a process that did not open the
 * descriptor, as an attacker would send them, without the library.  Each must be
 * refused; none ever maps anything into this process.
 */
#ifndef SANITY_FOREIGN_H
#define SANITY_FOREIGN_H

#include "inside.h"
#include "test.h"

/* gdrdrv: pin mem through fd, map what its owner pinned first. */
void foreign_gdrdrv_pin(int fd, const struct gpu_mem *mem);
void foreign_gdrdrv_map(int fd);

/*
 * rm: with the owner's control descriptor in owner->fd.  pin: make objects in
 * the owner's client, and get a window on mem, which belongs to this process.
 * map: get a window on what the owner pinned.
 */
void foreign_rm_pin(const struct inside *owner, const struct gpu_mem *mem);
void foreign_rm_map(const struct inside *owner);

#endif
