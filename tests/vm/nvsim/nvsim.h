/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The interface of /dev/nvsim, the simulated GPU of the test module "nvidia":
 * device memory for processes, and what a test wants to know, break and slow
 * down.  gdrdrv reaches the same memory through the nvidia_p2p functions that
 * the module exports.
 *
 * MEMORY.  An open file of /dev/nvsim holds at most one piece of memory: ALLOC
 * makes a new one, ATTACH shares one that another file holds.  mmap of the file
 * shows its bytes, from offset 0.  A piece is made of units of 64 KiB that lie
 * in a BAR.  It is freed when the last user is gone: files that hold it, their
 * mmaps, persistent pins.  Its pages are then filled with NVSIM_POISON, word by
 * word, and must keep that until they are allocated again; CHECK tells.  New
 * memory is all zeros.
 *
 * ADDRESSES.  A process gives its memory device addresses with REGISTER: from
 * then on a driver that runs in a process of this tgid can pin it there.  The
 * address means nothing to the CPU.  A pin lies within one registration.
 * UNREGISTER, FREE and the last close of the file take the address away: the
 * free callbacks of all pins there run, in that context and under the API lock,
 * before the call returns.  Persistent pins have no callback and stay.
 *
 * All of that is done under one lock, the API lock, which get_pages, put_pages
 * and the callbacks are under as well.
 *
 * Errors: EINVAL for arguments out of range or misaligned, ENOMEM, EBUSY (this
 * file holds memory already), ENODATA (it holds none), ENOENT (no such memory,
 * registration or pin), ENODEV (no such GPU), EEXIST (an address of this tgid is
 * taken).  ALLOC to INFO act on the file's own memory, all others on the whole
 * simulation, whichever file they are called on.
 */
#ifndef NVSIM_H
#define NVSIM_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define NVSIM_DEVICE_PATH "/dev/nvsim"

#define NVSIM_UNIT 0x10000ULL           /* bytes; sizes and addresses are multiples */
#define NVSIM_POISON 0xdeadfa11dead0badULL
#define NVSIM_LABEL 128

/*
 * extent: length of the physically contiguous pieces; 0: all of it is one.
 * Pieces never continue one another, so extent = NVSIM_UNIT is memory scattered
 * all over.  Each piece begins at a physical address that is skew modulo align
 * (align: a power of two, 0 for NVSIM_UNIT; skew: a multiple of NVSIM_UNIT).
 */
struct nvsim_alloc {
	__u32 gpu;
	__u32 pad;
	__u64 size;
	__u64 extent;
	__u64 align;
	__u64 skew;
	char label[NVSIM_LABEL];        /* what the owner wants INFO to say; NUL-terminated */
	__u64 id;                       /* out: never 0, never used twice */
};

/* The file becomes a window onto [offset, offset + size) of memory id; pages of 4 KiB. */
struct nvsim_attach {
	__u64 id;
	__u64 offset;
	__u64 size;                     /* 0: to the end */
};

struct nvsim_register {
	__u64 va;
	__u64 offset;                   /* in the file */
	__u64 size;
};

/* Of the file's memory; offset is an input. */
struct nvsim_info {
	__u64 offset;                   /* in: within the file */
	__u64 id;
	__u64 base;                     /* where in the memory the file's window begins */
	__u64 size;                     /* of the window */
	__u64 phys;                     /* physical address of offset */
	__u64 run;                      /* bytes that are contiguous from there on */
	__u32 gpu;
	__u32 pad;
	char label[NVSIM_LABEL];
};

struct nvsim_gpu {
	__u32 gpu;                      /* in: 0, 1, ... */
	__u32 pad;
	__u64 phys;                     /* of the BAR */
	__u64 size;
	__u64 free;
	__u64 bar1_used;                /* bytes pinned, each counted once */
	__u64 bar1_limit;               /* pins beyond it get -ENOMEM */
	__u32 domain, bus, device, function;
};

enum nvsim_point {
	NVSIM_POINT_GET,                /* get: pinned, the API lock is free again */
	NVSIM_POINT_GET_LOCKED,         /* get: pinned, under the API lock */
	NVSIM_POINT_PUT,                /* put: before it takes the API lock */
	NVSIM_POINT_CALLBACK,           /* before a callback, under the API lock */
	NVSIM_POINT_CALLBACK_DONE,      /* after it, before the table is freed; likewise */
	NVSIM_POINTS
};

struct nvsim_stats {
	__u64 gets, get_failures;       /* calls; both kinds */
	__u64 puts, put_misses;         /* misses: no such pin of this tgid; answered 0 */
	__u64 put_failures;             /* injected, and flags that are not 0 */
	__u64 callbacks;
	/* A driver's bugs: */
	__u64 recursions;               /* get or put from inside a callback: -EIO */
	__u64 wild;                     /* gets whose range wraps around: -EINVAL */
	__u64 memories;                 /* pieces of memory that exist */
	__u64 registrations;
	__u64 pins, persistent_pins;    /* that exist; revocable ones and persistent ones */
	__u64 damaged;                  /* pages whose poison was found changed, ever */
	__u32 at[8];                    /* tasks that wait at each nvsim_point now */
	__u32 passed[8];                /* and those that ever waited there */
};

/* Pages (4 KiB) of free memory that were written to; they are poisoned anew. */
struct nvsim_check {
	__u64 checked;
	__u64 damaged;
	__u64 first;                    /* physical address of the first of them */
	__u64 found;                    /* and the word that it had there */
};

enum nvsim_fault_kind {
	NVSIM_FAULT_GET,                /* get fails with errno value, e.g. 12 */
	NVSIM_FAULT_PUT,                /* put fails so, and the pin stays */
	NVSIM_FAULT_TABLE_VERSION,      /* the table's version is value */
	NVSIM_FAULT_TABLE_PAGE_SIZE,    /* its page_size is value */
	NVSIM_FAULT_TABLE_ENTRIES,      /* its number of entries is value */
	NVSIM_FAULT_TABLE_PHYS,         /* its last entry's address is off by value bytes */
	NVSIM_FAULT_TABLE_NULL,         /* get succeeds without a table */
	NVSIM_FAULT_TABLE_FLAGS,        /* its flags are value; NVSIM_TABLE=2 */
	NVSIM_FAULTS
};

/* After skip more calls, count of them get the fault.  One setting a kind; count 0 clears. */
struct nvsim_fault {
	__u32 kind;
	__u32 skip;
	__u32 count;
	__u32 tgid;                     /* 0: calls of any process */
	__u64 value;
};

/* From now on, who comes to the point waits there for ms, at most 10000, or RELEASE. */
struct nvsim_delay {
	__u32 point;
	__u32 ms;
};

struct nvsim_limit {
	__u32 gpu;
	__u32 pad;
	__u64 bar1;                     /* bytes that may be pinned at once */
};

/* A word of GPU memory, free or not, behind everybody's back: as a stale mapping gets at it. */
struct nvsim_poke {
	__u64 phys;
	__u64 value;                    /* PEEK: out */
};

enum nvsim_type {                       /* of a mapping, as the page table and PAT have it */
	NVSIM_TYPE_WB,
	NVSIM_TYPE_WC,                  /* arm64: Normal-NC */
	NVSIM_TYPE_UC_MINUS,
	NVSIM_TYPE_UC,                  /* arm64: any Device type */
	NVSIM_TYPE_WT,
	NVSIM_TYPE_WP,
	NVSIM_TYPE_OTHER,
	NVSIM_TYPES
};

/*
 * What the caller's page tables say of [va, va + size): user addresses, whole
 * pages, nothing is faulted in.  Bytes are counted by size of the entry and by type.
 */
struct nvsim_probe {
	__u64 va;                       /* in */
	__u64 size;                     /* in */
	__u64 phys;                     /* of va; 0: not present */
	__u64 present;                  /* bytes that have an entry */
	__u64 writable;                 /* of these, writable */
	__u64 level_4k, level_2m, level_1g;
	__u64 type[NVSIM_TYPES];
};

/*
 * A pin as a driver would make it, through the exported functions, by the
 * calling process; for tests of the simulation, and for a second pin on the
 * same memory.  Released by UNPIN from any process, or when the file closes.
 */
#define NVSIM_PIN_PERSISTENT 1          /* the way of this build; if none, -EOPNOTSUPP */
#define NVSIM_PIN_NO_CALLBACK 2         /* callback NULL */

struct nvsim_pin {
	__u64 va;
	__u64 size;
	__u64 token;
	__u32 va_space;
	__u32 flags;
	__u32 pin_flags;                /* argument of get_pages_persistent */
	__s32 result;                   /* out: what get returned; the ioctl itself is 0 */
	__u64 pin;                      /* out, where result is 0 */
};

struct nvsim_pinned {
	__u64 pin;                      /* in */
	__u64 index;                    /* in: page */
	__u32 revoked;                  /* the callback ran; all below is then 0 */
	__u32 version, page_size, entries;
	__u64 phys;                     /* of page index */
	__u64 tgid;                     /* of whom the callback ran in */
};

struct nvsim_unpin {
	__u64 pin;
	__u32 put_flags;                /* argument of put_pages_persistent */
	__s32 result;                   /* out: what put returned; 0 after a callback */
};

#define NVSIM_IOC_ALLOC _IOWR(0xd5, 1, struct nvsim_alloc)
#define NVSIM_IOC_ATTACH _IOW(0xd5, 2, struct nvsim_attach)
#define NVSIM_IOC_FREE _IO(0xd5, 3)
#define NVSIM_IOC_REGISTER _IOW(0xd5, 4, struct nvsim_register)
#define NVSIM_IOC_UNREGISTER _IOW(0xd5, 5, __u64)       /* va of a REGISTER on this file */
#define NVSIM_IOC_INFO _IOWR(0xd5, 6, struct nvsim_info)
#define NVSIM_IOC_TOKEN _IOR(0xd5, 7, __u64)            /* of this file's registrations */

#define NVSIM_IOC_GPU _IOWR(0xd5, 16, struct nvsim_gpu)
#define NVSIM_IOC_STATS _IOR(0xd5, 17, struct nvsim_stats)
#define NVSIM_IOC_CHECK _IOR(0xd5, 18, struct nvsim_check)
#define NVSIM_IOC_FAULT _IOW(0xd5, 19, struct nvsim_fault)
#define NVSIM_IOC_DELAY _IOW(0xd5, 20, struct nvsim_delay)
#define NVSIM_IOC_RELEASE _IO(0xd5, 21)                 /* wakes all who wait at a point */
#define NVSIM_IOC_LIMIT _IOW(0xd5, 22, struct nvsim_limit)
#define NVSIM_IOC_PROBE _IOWR(0xd5, 23, struct nvsim_probe)
#define NVSIM_IOC_RESET _IO(0xd5, 24)   /* no faults, delays, limits; pins whose put failed go */

#define NVSIM_IOC_POKE _IOW(0xd5, 25, struct nvsim_poke)
#define NVSIM_IOC_PEEK _IOWR(0xd5, 26, struct nvsim_poke)

#define NVSIM_IOC_PIN _IOWR(0xd5, 32, struct nvsim_pin)
#define NVSIM_IOC_PINNED _IOWR(0xd5, 33, struct nvsim_pinned)
#define NVSIM_IOC_UNPIN _IOWR(0xd5, 34, struct nvsim_unpin)

/*
 * Added to the offset of mmap: enter all pages at once, in 4 KiB entries and WC,
 * by one remap for each contiguous piece.  What a mapping is measured against.
 */
#define NVSIM_MMAP_EAGER (1ULL << 46)

#endif
