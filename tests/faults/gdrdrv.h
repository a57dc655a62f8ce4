/* SPDX-License-Identifier: MIT */
/*
 * A model of /dev/gdrdrv that answers any sequence of calls as the driver does,
 * for loops and fuzzers, which cannot write down beforehand what will be called.
 * Command numbers and layouts are spelled out: they must not follow
 * kernel/uapi/gdrdrv.h.  What the library must never do is a violation.
 */
#ifndef FAULTS_GDRDRV_H
#define FAULTS_GDRDRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Device memory, as far as this model is concerned. */
#define GDRDRV_MEMORY      0x7f4000000000ull
#define GDRDRV_MEMORY_SIZE (1ull << 30)

struct gdrdrv_setup {
	uint32_t version;               /* major << 16 | minor */
	uint32_t min_api;
	uint64_t first_handle;          /* of each open file */
	uint32_t type;                  /* what mappings become by default: 1 to 3 */
	bool revokes;                   /* not persistent */
};

/* Nothing may be open. */
void gdrdrv_reset(const struct gdrdrv_setup *setup);

/* All pins at addr lose their memory, and their mappings the pages. */
void gdrdrv_revoke(uint64_t addr);

struct gdrdrv_counts {
	unsigned files, pins, mappings;
};
void gdrdrv_count(struct gdrdrv_counts *out);

unsigned gdrdrv_violations(void);
const char *gdrdrv_violation(void);     /* the last one */

/*
 * For wraps.c.  A descriptor, or -errno; 0, or -errno; the address, or MAP_FAILED
 * and errno.  munmap says what went, whoever mapped it.
 */
int gdrdrv_open(int flags);
bool gdrdrv_owns(int fd);
void gdrdrv_close(int fd);              /* before the descriptor goes */
int gdrdrv_ioctl(int fd, unsigned long cmd, void *arg);
void *gdrdrv_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void gdrdrv_unmapped(void *addr, size_t len);

#endif
