/* SPDX-License-Identifier: MIT */
/*
 * The simulated GPU as these programs use it; nvsim.h is its interface.  Memory
 * belongs to the process that allocates it and has one device address there, a
 * new one each time.  A failure that no test wants ends the program.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nvsim.h"

/* A device address.  Physically in one piece. */
uint64_t sim_alloc(uint64_t size);
/* Physically in pieces of so many bytes; 0: one piece. */
uint64_t sim_alloc_pieces(uint64_t size, uint64_t piece);
/* All is open to choice; va 0: a new one.  0 where the GPU has no such memory left. */
uint64_t sim_alloc_with(const struct nvsim_alloc *how, uint64_t va);
/* Any thread may free, once. */
void sim_free(uint64_t va);
/* Takes the address away only; the memory stays until sim_free. */
void sim_unregister(uint64_t va);
uint64_t sim_token(uint64_t va);
/* The descriptor of /dev/nvsim that holds this memory. */
int sim_fd_of(uint64_t va);

/* In a child: closes the files that hold the parent's memory, which it got by fork. */
void sim_leave(void);

/* The GPU's own view of its memory. */
uint32_t sim_read(uint64_t va, uint64_t offset);
void sim_write(uint64_t va, uint64_t offset, uint32_t value);

/* Page-table entries of this process in the range. */
struct nvsim_probe sim_probe(const void *addr, size_t len);

struct nvsim_stats sim_stats(void);
/* Pins that the provider holds for anybody, of both kinds. */
uint64_t sim_pins(void);
/* Pages of free memory that somebody wrote to. */
uint64_t sim_damage(void);
unsigned sim_gpus(void);
struct nvsim_gpu sim_gpu(unsigned n);
/* No more bytes than that can be pinned on GPU 0. */
void sim_limit(uint64_t bytes);

/* The next call of this process gets the fault; sim_reset() takes all of it back. */
void sim_fault(enum nvsim_fault_kind kind, uint64_t value);
void sim_delay(enum nvsim_point point, unsigned ms);
void sim_release(void);
/* Waits until n tasks wait at the point. */
void sim_await(enum nvsim_point point, unsigned n);
void sim_reset(void);

#endif
