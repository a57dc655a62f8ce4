/* SPDX-License-Identifier: MIT */
/*
 * What softcuda exports beside the CUDA driver functions, for tests and for
 * doubles of the kernel driver that must see the same memory.  An object is
 * named by the client and object number that words 12 and 13 of an IPC handle
 * carry; it starts at object offset 0, its 2 MiB-aligned beginning.
 * All return 0 or -errno; -ENOENT for an object that does not exist.
 */
#ifndef SOFTCUDA_HOOKS_H
#define SOFTCUDA_HOOKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One descriptor for the whole object, which the caller closes; object offset
 * 0 is at *offset in it.  -EXDEV, with only *size set, if the object lies in
 * several files: map it.
 */
int softcuda_object(uint32_t client, uint32_t object, int *fd, uint64_t *offset, uint64_t *size);

/*
 * Map bytes [offset, offset + len) of the object, shared and writable, over
 * the address range at at, which the caller has reserved.  Whole pages.  The
 * pages stay where they are, and alias device memory, until they are unmapped.
 */
int softcuda_object_map(uint32_t client, uint32_t object, uint64_t offset, uint64_t len, void *at);

/*
 * Keep the object, and its charge in cuMemGetInfo, alive past cuMemFree and
 * cuMemRelease.  Each ref needs one unref.
 */
int softcuda_object_ref(uint32_t client, uint32_t object);
int softcuda_object_unref(uint32_t client, uint32_t object);

/* The device, its CUDA ordinal, that the object lies on. */
int softcuda_object_device(uint32_t client, uint32_t object);

/* The object behind a descriptor of cuMemExportToShareableHandle. */
int softcuda_fd_object(int export_fd, uint32_t *client, uint32_t *object);

/* 1: device memory is that of a simulated GPU, which gdrdrv can pin; 0: host memory. */
int softcuda_has_gpu(void);

/* Replace the failures to inject; syntax of SOFTCUDA_FAIL, NULL or "" for none. */
int softcuda_set_faults(const char *spec);

#ifdef __cplusplus
}
#endif

#endif
