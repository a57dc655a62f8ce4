/* SPDX-License-Identifier: MIT */
/*
 * What the parts of softcuda, the software libcuda.so.1, share: device memory
 * objects, the table of addresses, streams, and the check every entry starts
 * with.
 *
 * ENVIRONMENT, read once at the first call:
 *   SOFTCUDA_DEVICES         number of devices, 0 to 16 (1)
 *   SOFTCUDA_MEMORY          bytes a device, suffix K, M, G or T (1G)
 *   SOFTCUDA_COHERENT        1: a CPU-coherent platform, compute capability 10.0 (0)
 *   SOFTCUDA_DRIVER_VERSION  what cuDriverGetVersion says (13030)
 *   SOFTCUDA_NAME            device name
 *   SOFTCUDA_ATTRS           device attributes to replace: "116=0,20=3"
 *   SOFTCUDA_NVSIM           1: memory is a simulated GPU's, of /dev/nvsim; 0: never; unset: where
 *                            there is one.  Devices and memory are then what it has, if not set
 *   SOFTCUDA_NVSIM_EXTENT    bytes that are physically contiguous there, 64K for example (0: all)
 *   SOFTCUDA_FAIL            failures to inject: "cuMemAlloc:3:2,cuInit:*:999" makes
 *                            call 3 of cuMemAlloc, and all of cuInit, fail with that CUresult
 * A value that cannot be parsed is named on stderr and cuInit fails.  In a set-uid
 * program none is looked at, and cuInit fails.
 *
 * LOCK ORDER: context lock -> stream lock or memory lock, which never nest in
 * each other -> fault lock.
 */
#ifndef SOFTCUDA_H
#define SOFTCUDA_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_abi.h"

#pragma GCC visibility push(default)
#include "cuda_funcs.h"
#include "softcuda_hooks.h"
/* The form of CUDA 11; a fifth argument, passed in a register, is not looked at. */
CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, unsigned long long flags);
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, unsigned long long flags,
			     int *status);
#pragma GCC visibility pop

/* Another exported name of a function in the same file. */
#define SC_ALIAS(name, target) \
	extern __typeof__(target) name __attribute__((alias(#target), visibility("default")))

#define SC_MAX_DEVICES 16
#define SC_PAGE 4096ULL
#define SC_BLOCK (2ULL << 20)           /* allocation unit, VMM granularity */
#define SC_SLOT 512ULL                  /* granularity of small allocations */

/* config.c */
struct sc_attr {
	int attr;
	int value;
};

struct sc_place {
	unsigned int domain, bus, slot;
};

struct sc_config {
	const struct sc_source *source;
	int devices;
	uint64_t memory[SC_MAX_DEVICES]; /* bytes, whole blocks */
	uint64_t extent;                /* nvsim: physically contiguous bytes; 0: all */
	struct sc_place place[SC_MAX_DEVICES];
	bool coherent;
	int version;
	char name[256];
	struct sc_attr attrs[32];       /* replacements from SOFTCUDA_ATTRS */
	unsigned int nattrs;
	bool bad;                       /* the environment could not be parsed */
};
const struct sc_config *sc_config(void);
void sc_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* context.c, device.c */
enum sc_need {
	SC_NEED_NOTHING,
	SC_NEED_INIT,
	SC_NEED_CONTEXT,
};

/*
 * First statement of every entry point: injected failures, then initialisation,
 * fork, and the current context.
 */
#define SC_ENTER(need) \
	do { \
		CUresult sc_entered = sc_enter(__func__, need); \
		if (sc_entered) \
			return sc_entered; \
	} while (0)
CUresult sc_enter(const char *func, enum sc_need need);
bool sc_device_ready(void);             /* cuInit succeeded in this very process */
bool sc_device_valid(CUdevice dev);
int sc_context_device(void);            /* of the current context; -1 if none */
CUcontext sc_context_of(int dev);       /* the primary context, retained or not */
int sc_context_ordinal(CUcontext ctx);  /* the device of one that is retained; -1: it is none */

/* faults.c, symbols.c */
CUresult sc_fault(const char *func);
int sc_fault_parse(const char *spec);
bool sc_symbol_known(const char *base);
size_t sc_symbol_base(const char *name);        /* length of name without _v2 */

/*
 * Where device memory comes from: memfds, or a simulated GPU.  A source deals in
 * descriptors that show a file's bytes to mmap.  Functions return 0, or a
 * descriptor, or -errno.
 */
struct sc_piece;
struct sc_source {
	uint64_t page;                  /* what other processes are given is whole pages */
	bool moves;                     /* pages may change files */
	uint64_t (*available)(int dev); /* bytes that others leave, as far as known */
	int (*create)(int dev, const char *label, uint64_t size);
	void (*discard)(int fd);        /* with the memory, where nobody else has it */
	int (*reopen)(int fd);          /* another descriptor of the file, to be given away */
	/* The file that another process calls so; -ESTALE if that is another one by now. */
	int (*open_peer)(uint32_t pid, int fd, uint64_t number);
	int (*label)(int fd, char *label, size_t size);
	/* The same for all descriptors of a file, in all processes. */
	int (*number)(int fd, uint64_t *number);
	/* Bytes of the file get a device address, and lose it again. */
	int (*enter)(int fd, uint64_t off, uint64_t len, CUdeviceptr va);
	void (*leave)(int fd, CUdeviceptr va);
	/* One descriptor that shows the pieces; -EXDEV where they cannot be shown as one. */
	int (*export_pieces)(const struct sc_piece *p, unsigned int n, int *fd);
};
extern const struct sc_source sc_memfd_source, sc_nvsim_source;

/* nvsim.c: how many simulated GPUs there are, what memory they have, and where; or -errno. */
int sc_nvsim_look(uint64_t *memory, struct sc_place *place);

/* backing.c: a file of the source, shared by the extents that lie in it; memory lock. */
struct sc_file {
	int fd;
	unsigned int refs;              /* extents, and objects whose base it is */
	uint64_t size;
	uint64_t lo, hi;                /* bytes handed out in exports; lo == hi: none */
	bool base;                      /* an object's first file, as long as the object */
	bool frozen;                    /* its pages may never move again */
};

/* object.c: a piece of device memory, the unit that the real driver calls a memory object. */
struct sc_extent {
	uint64_t start, len;            /* within the object */
	struct sc_file *file;
	uint64_t off;                   /* of start, within the file */
};

struct sc_object {
	struct sc_object *next;
	uint32_t number;
	int dev;
	uint64_t size;
	unsigned char *host;            /* where this process sees the bytes */
	struct sc_file *base;
	struct sc_extent *ext;          /* sorted, without gaps */
	unsigned int next_ext;          /* number of extents */
	unsigned int refs;              /* allocations, mappings, handles, hooks */
	unsigned int handles;           /* of refs, those of allocation handles */
	unsigned int hooked;            /* of refs, those of softcuda_object_ref */
	CUmemAllocationProp prop;       /* VMM */
	bool vmm;
	bool foreign;                   /* another process's: not charged, never moved */
	uint64_t used[SC_BLOCK / SC_SLOT / 64]; /* small block: slots taken */
	unsigned int nused;             /* small block: allocations */
	CUdeviceptr va;                 /* small block: its address */
	struct sc_object *next_block;
};

enum sc_kind {
	SC_SMALL,                       /* part of a block that others share */
	SC_LARGE,
	SC_ASYNC,                       /* stream-ordered */
	SC_IPC,                         /* opened from another process */
	SC_RESERVE,                     /* VMM address range */
	SC_HOST,
	SC_MANAGED,
};

struct sc_map {
	CUdeviceptr start;
	size_t size;
	struct sc_object *obj;
	unsigned char access[SC_MAX_DEVICES];   /* CUmemAccess_flags */
};

/* range.c: one allocation or reservation, found by address. */
struct sc_alloc {
	CUdeviceptr start;
	size_t size;                    /* as asked for */
	enum sc_kind kind;
	int dev;
	uint64_t id;                    /* never reused */
	struct sc_object *obj;          /* SC_SMALL, SC_LARGE, SC_ASYNC, SC_IPC */
	uint64_t off;                   /* within obj */
	CUdeviceptr va;                 /* address space to give back; 0: the block's */
	size_t va_size;
	unsigned int sync_memops;
	bool ipc;                       /* a handle was given out */
	bool ipc_opened;                /* and a peer opened it, as of the last sc_ipc_lock */
	bool freeing;                   /* cuMemFreeAsync is under way */
	struct sc_map *maps;            /* SC_RESERVE: sorted */
	unsigned int nmaps;
	uint32_t peer[16];              /* SC_IPC: words of the handle */
	unsigned int opened;            /* SC_IPC: times */
};

void sc_mem_rdlock(void);
void sc_mem_wrlock(void);
void sc_mem_unlock(void);
uint64_t sc_range_new_id(void);
struct sc_alloc *sc_range_find(CUdeviceptr ptr);
unsigned int sc_range_after(CUdeviceptr ptr);   /* index of the first that ends beyond ptr */
struct sc_alloc *sc_range_at(unsigned int i);   /* NULL beyond the last */
int sc_range_add(struct sc_alloc *a);
void sc_range_remove(struct sc_alloc *a);
struct sc_map *sc_range_map(const struct sc_alloc *a, CUdeviceptr ptr);
/* Bytes at ptr: their host address, and how many follow on without a break. */
int sc_range_resolve(CUdeviceptr ptr, int dev, bool write, unsigned char **host, size_t *len);
CUdeviceptr sc_va_reserve(size_t size, size_t align, CUdeviceptr hint);
void sc_va_release(CUdeviceptr va, size_t size);

/* object.c; memory lock held for writing unless said otherwise */
struct sc_object *sc_object_new(int dev, uint64_t size, bool vmm, const CUmemAllocationProp *prop);
struct sc_object *sc_object_foreign(int dev, const struct sc_extent *ext, unsigned int n);
struct sc_object *sc_object_find(uint32_t number);
CUmemGenericAllocationHandle sc_object_handle(const struct sc_object *o);
struct sc_object *sc_object_by_handle(CUmemGenericAllocationHandle handle);
struct sc_object *sc_object_by_fd(int fd);
void sc_object_get(struct sc_object *o);
void sc_object_put(struct sc_object *o);
int sc_object_set(struct sc_object *o, uint64_t start, uint64_t len, struct sc_file *file,
		  uint64_t off);
const struct sc_extent *sc_object_extent(const struct sc_object *o, uint64_t off);
/* Give bytes of the object, from its beginning, a device address; and take it away. */
int sc_object_enter(struct sc_object *o, CUdeviceptr va, uint64_t len);
void sc_object_leave(struct sc_object *o, CUdeviceptr va);
uint64_t sc_object_charged(int dev);    /* bytes in use; read lock is enough */
uint32_t sc_object_client(void);

/* backing.c */
struct sc_file *sc_file_new(int dev, const char *label, uint64_t size);
struct sc_file *sc_file_adopt(int fd, uint64_t size);
void sc_file_put(struct sc_file *f);
void sc_file_cover(struct sc_file *f, uint64_t lo, uint64_t hi);
bool sc_file_movable(struct sc_object *o, const struct sc_extent *e, uint64_t start, uint64_t len);
int sc_file_move(struct sc_object *o, uint64_t start, uint64_t len, struct sc_file *to,
		 uint64_t off);
int sc_file_detach(struct sc_object *o, uint64_t start, uint64_t len);

/* export.c: the pieces of a range, one after the other. */
struct sc_piece {
	struct sc_object *obj;
	uint64_t off, len;
};
int sc_export_object(struct sc_object *o, int *fd);     /* whole, from its base file */
int sc_export_moving(const struct sc_piece *p, unsigned int n, int *fd);
/* A view of part of a file for this process to map; the caller puts it with close. */
int sc_export_open(struct sc_file *f, uint64_t lo, uint64_t hi);

/* udmabuf.c: a dma-buf over the pieces as they lie; -ENODEV where there is no /dev/udmabuf. */
int sc_udmabuf(const struct sc_piece *p, unsigned int n, int *fd);

/* small.c: a place for a small allocation, and taking it back; memory lock held for writing. */
int sc_small_place(struct sc_alloc *a);
void sc_small_leave(struct sc_alloc *a);

/* memory.c */
void sc_memory_free(struct sc_alloc *a);
void sc_memory_reset(int dev);

/* hostmem.c */
void sc_host_free(struct sc_alloc *a);

/*
 * ipc_table.c: where the memory behind this process's IPC handles lies, for
 * other processes to read.  Moves happen between lock and unlock, and are
 * published before unlock; nothing happens where no handle was given out.  Nothing
 * moves, and no handle is given out, while lock fails to be had.
 */
struct sc_ipc_piece {
	int fd;                         /* number in the owner */
	uint64_t number;                /* sc_source.number */
	uint64_t start, len;            /* within the object */
	uint64_t off;                   /* within the file */
};

struct sc_ipc_found {
	int dev;
	int table;                      /* locked: the owner stands still */
	struct sc_ipc_piece *pieces;
	unsigned int n;
};

int sc_ipc_table_create(void);
void sc_ipc_lock(void);
bool sc_ipc_locked(void);
bool sc_ipc_opened(const struct sc_object *o, uint64_t start, uint64_t len);
void sc_ipc_publish(void);
void sc_ipc_unlock(void);
int sc_ipc_table_find(const uint32_t *words, struct sc_ipc_found *found);
void sc_ipc_table_done(struct sc_ipc_found *found);

/* stream.c: work in stream order.  An operation is a launch or a function to run. */
struct sc_block {
	struct sc_op *op;
	unsigned int index;             /* linear block number */
};

struct sc_op {
	struct sc_op *next;
	CUstream stream;
	uint64_t ticket;                /* order of submission */
	bool running;
	bool waited;                    /* the submitter runs it, in its own thread */
	bool apart;                     /* never runs in the submitter's thread */
	bool cancelled;
	void (*run)(struct sc_op *op);  /* NULL: a launch */
	void (*done)(struct sc_op *op); /* when it left its stream, run or not; lock held */
	CUevent event;
	CUdeviceptr dst, src;
	uint64_t value;
	unsigned int width;
	size_t size;
	const struct sc_kernel *kernel;
	unsigned int grid[3], block[3];
	void *params[12];               /* point into data */
	unsigned char data[96];
	unsigned int nthreads, left;    /* created; still running */
	pthread_t *threads;
	struct sc_block *blocks;
};

struct sc_op *sc_op_new(CUstream stream);       /* NULL: out of memory */
CUresult sc_op_begin(CUstream stream, struct sc_op **op);       /* after sc_stream_check */
/* Takes over op.  wait: return when it is done. */
CUresult sc_op_submit(struct sc_op *op, bool wait);
CUresult sc_stream_check(CUstream *stream);     /* resolves the default stream */
int sc_stream_device(CUstream stream);
CUresult sc_stream_drain(int dev);              /* until all that was submitted is done */
void sc_stream_fail(int dev, CUresult res);     /* sticky, until the context goes */
void sc_stream_reset(int dev);
void sc_stream_lock(void);
void sc_stream_unlock(void);
void sc_stream_wait(void);              /* lock held: until some operation is done */
CUresult sc_stream_error(int dev);      /* lock held: the sticky error */

/* event.c, hostfunc.c, access.c */
void sc_event_reset(int dev);
bool sc_hostfunc_inside(void);          /* called from a host function */
bool sc_access_enabled(int from, int to);
void sc_access_reset(int dev);

/* launch.c */
void sc_module_reset(int dev);

/* kernels.c: what cuModuleGetFunction finds, by entry name. */
struct sc_kernel {
	const char *name;
	unsigned char params[12];       /* bytes of each parameter, 0 ends */
	void (*run)(struct sc_block *b, void *const *params);
};
const struct sc_kernel *sc_kernel_find(const char *name);
/*
 * Host address of device memory [ptr, ptr + size) for a kernel; NULL, and the
 * launch fails with ILLEGAL_ADDRESS, if the device may not touch all of it.
 * Valid until the kernel ends.
 */
void *sc_kernel_at(struct sc_block *b, CUdeviceptr ptr, size_t size, bool write);

/* pplat.c */
#define SC_PPLAT_ARGS 72                /* bytes of struct pplat_args */
void sc_pplat_cpu(struct sc_block *b, void *const *params);
void sc_pplat_gpu(struct sc_block *b, void *const *params);

#endif
