/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the fake share: fake_wrap.c is the kernel's side of files
 * and user mappings; behind ioctl, fake_rm.c has clients and objects,
 * fake_control.c the questions, fake_window.c the windows; fake_memory.c has the
 * bytes, fake_script.c the knobs.  Everything is under fake_lock.
 */
#ifndef FAKE_PRIV_H
#define FAKE_PRIV_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

#include "fake_rm.h"

extern pthread_mutex_t fake_lock;

/* The system calls below the linker's --wrap; the fake itself uses these alone. */
int __real_close(int fd);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *addr, size_t len);

/* Bytes behind memory objects, counted by everything that shows them. */
struct fake_memory {
	unsigned refs;
	uint64_t size;
	uint32_t instance;
	uint32_t class, space, max_objects;
	uint32_t handle;                /* CUDA's name; 0: CUDA has freed it */
	int memfd;                      /* -1: soft */
	void *soft;                     /* softcuda's object */
	struct fake_memory *next;
};

/* A reference, or NULL. */
struct fake_memory *fake_memory_find(uint32_t client, uint32_t object);
struct fake_memory *fake_memory_find_fd(int fd);
struct fake_memory *fake_memory_get(struct fake_memory *m);
void fake_memory_put(struct fake_memory *m);
void *fake_memory_map(struct fake_memory *m, void *addr, size_t len, int prot, int flags,
		      uint64_t offset);
void fake_memory_reset(void);

/* Fills in what fake_rm_describe_soft said. */
void fake_memory_soft_kind(struct fake_memory *out);

/* softcuda's objects (fake_soft.c, or fake_nosoft.c in tests that do without). */
void *fake_soft_find(uint32_t client, uint32_t object, struct fake_memory *out);
void *fake_soft_find_fd(int fd, struct fake_memory *out);
void fake_soft_put(void *soft);
void *fake_soft_map(void *soft, void *addr, size_t len, int prot, int flags, uint64_t offset);

/* A BAR1 window: the RM's (live), and the mapping context of one file. */
struct fake_window {
	unsigned refs;                  /* live, the file, user mappings */
	unsigned mappings;
	bool live;
	uint32_t client, object, parent;
	uint64_t linear, offset, len;
	struct fake_memory *memory;
	struct fake_window *next;
};
void fake_window_put(struct fake_window *w);

/* An open file of the driver. */
struct fake_file {
	unsigned refs;                  /* descriptor, user mappings, GPU files tied to it */
	const struct fake_rm_gpu *gpu;  /* NULL: a control file */
	struct fake_file *ctl;          /* tied to */
	struct fake_window *window;     /* for life */
	pid_t pid;
	struct fake_file *next;
};
struct fake_file *fake_file_find(int fd);
void fake_file_put(struct fake_file *f);

struct fake_object {
	uint32_t handle, parent, class;
	const struct fake_rm_gpu *gpu;  /* of a device or subdevice */
	struct fake_memory *memory;     /* of a memory object */
	struct fake_object *next;
};

struct fake_client {
	uint32_t handle;
	struct fake_file *ctl;
	pid_t pid;
	struct fake_object *objects;
	struct fake_client *next;
};

/* fake_rm.c; a client only if f may use it. */
extern unsigned fake_release;
struct fake_client *fake_client_of(const struct fake_file *f, uint32_t handle);
struct fake_object *fake_object_find(const struct fake_client *c, uint32_t handle);
/* Put memory below parent in c; takes the reference of memory.  An RM status. */
uint32_t fake_adopt(struct fake_client *c, uint32_t parent, struct fake_memory *memory,
		    uint32_t *handle);
/* An ioctl on f: -errno or 0.  The end of control file f. */
int fake_rm_ioctl(struct fake_file *f, unsigned long req, void *arg);
void fake_rm_ctl_closed(struct fake_file *f);
void fake_rm_count(struct fake_rm_counts *out);

/* fake_control.c */
struct gdr_nv_card;
struct gdr_nv_control;
const struct fake_rm_gpu *fake_gpu_by_minor(uint32_t minor);
const struct fake_rm_gpu *fake_gpu_by_ordinal(uint32_t ordinal);
const struct fake_rm_gpu *fake_gpu_by_instance(uint32_t instance);
int fake_card_info(struct gdr_nv_card *list, size_t size);
int fake_control(struct fake_file *f, struct gdr_nv_control *p);
void fake_gpu_reset(void);

/* fake_window.c */
struct gdr_nv_map;
struct gdr_nv_unmap;
int fake_map(struct fake_file *f, struct gdr_nv_map *p);
int fake_unmap(struct fake_file *f, struct gdr_nv_unmap *p);
void fake_windows_end(uint32_t client, uint32_t object, const char *how);
unsigned fake_windows_live(void);

/* fake_wrap.c */
void fake_wrap_count(struct fake_rm_counts *out);
void fake_wrap_reset(void);

/* fake_script.c: counts a call of step; a positive errno, or *status set, if it is to fail. */
int fake_script(enum fake_rm_step step, uint32_t *status);
void fake_violation(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void fake_child_request(void);

#endif
