/* SPDX-License-Identifier: MIT */
/* What gdrdrv.c and gdrdrv_ioctl.c share. */
#ifndef FAULTS_GDRDRV_STATE_H
#define FAULTS_GDRDRV_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "gdrdrv.h"

#define GDRDRV_PINS     64
#define GDRDRV_GPU_PAGE 0x10000ull
#define GDRDRV_PAGE     ((uint64_t)sysconf(_SC_PAGESIZE))

struct gdrdrv_pin {
	bool live, mapped, revoked;
	uint64_t handle;
	uint64_t addr;                  /* as asked for */
	uint64_t va, size;              /* whole GPU pages */
	uint32_t wish;                  /* mapping type asked for, 0: none */
};

struct gdrdrv_file {
	bool open;
	int fd;
	pid_t owner;
	uint64_t next_handle;
	struct gdrdrv_pin pins[GDRDRV_PINS];
};

extern struct gdrdrv_setup gdrdrv_setup;

void gdrdrv_violate(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* gdrdrv.c: its mapping, if there is one, stays, and shows nothing any more. */
void gdrdrv_unpin(struct gdrdrv_pin *pin);

/* gdrdrv_ioctl.c */
struct gdrdrv_pin *gdrdrv_find(struct gdrdrv_file *f, uint64_t handle);
int gdrdrv_command(struct gdrdrv_file *f, uint32_t cmd, void *arg);

#endif
