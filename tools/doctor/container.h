/* SPDX-License-Identifier: MIT */
/* Which kind of container a process runs in. */
#ifndef DOCTOR_CONTAINER_H
#define DOCTOR_CONTAINER_H

#include <stddef.h>

/* "Docker", "Kubernetes", ...; "" outside of containers. */
void container_kind(char *buf, size_t len);

#endif
