/* SPDX-License-Identifier: MIT */
/* What is installed for the running kernel, loaded or not; and what it loads. */
#ifndef DOCTOR_INSTALLED_H
#define DOCTOR_INSTALLED_H

#include <stdbool.h>
#include <stddef.h>

/* Release of the running kernel; "" if unknown. */
void installed_kernel(char *buf, size_t len);

/* depmod knows a file of this name ("gdrdrv.ko"), compressed or not. */
bool installed_module(const char *file);

/* DKMS has the sources of a package, built for this kernel or not. */
bool installed_dkms(const char *package);

/* The kernel loads signed modules only: module.sig_enforce, or lockdown. */
bool installed_must_be_signed(void);

#endif
