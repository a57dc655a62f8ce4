/* SPDX-License-Identifier: MIT */
/*
 * A scripted /dev/gdrdrv.  The linker sends open, ioctl, mmap, madvise, munmap,
 * close and calloc here (--wrap); what does not concern the device goes through.
 *
 * A test first says which calls the library will make, with every byte that it
 * will pass and the answer it gets, then calls the library, then asserts that
 * there was no trouble.  Command numbers and layouts are spelled out in
 * driver_ioctl.c on purpose: they must not follow kernel/uapi/gdrdrv.h.
 *
 * A call that is not the next one of the script gets ENOANO, and is trouble.
 * err 0 is success everywhere.
 */
#ifndef KABI_DRIVER_H
#define KABI_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* Forget script, descriptors and mappings. */
void driver_reset(void);

/* In a forked child: the mappings of the parent are not there. */
void driver_forked(void);

/* NULL if all went by the script, all of it, and nothing is open or mapped. */
const char *driver_trouble(void);

/* As above, but the device may be open. */
const char *driver_trouble_so_far(void);

/* The steps that follow are about the n-th descriptor opened; 0 after a reset. */
void driver_use(unsigned n);

void will_open(int err);
void will_close(void);
void will_mmap(size_t len, uint64_t offset, int err);
void will_dontfork(size_t len, int err);
void will_munmap(size_t len, int err);

/* The n-th allocation from now on fails; 1 is the next. */
void will_lack_memory(unsigned n);

/* in and out are len bytes; out is what the library finds there on success. */
void will_ioctl(uint32_t cmd, size_t len, const void *in, const void *out, int err);

/* driver_ioctl.c */
void will_get_version(uint32_t driver, uint32_t min_api, int err);
void will_pin_v1(uint64_t addr, uint64_t size, uint64_t token, uint32_t va_space,
		 uint64_t handle, int err);
void will_pin_v2(uint64_t addr, uint64_t size, uint32_t flags, uint64_t handle, int err);
void will_unpin(uint64_t handle, int err);
void will_get_cb_flag(uint64_t handle, uint32_t flag, int err);
void will_get_info_v1(uint64_t handle, uint32_t mapped, uint32_t wc, int err);
void will_get_info_v2(uint64_t handle, uint32_t type, int err);
void will_get_attr(uint32_t attr, uint32_t val, int err);
void will_request_type(uint64_t handle, uint32_t type, int err);

/* What both info commands answer beside the mapping state. */
#define INFO_VA	       0x7f1234560000ull
#define INFO_SIZE      0x123450000ull
#define INFO_PAGE_SIZE 65536u
#define INFO_KHZ       2000123u
#define INFO_CYCLES    0x1122334455667788ull

#endif
