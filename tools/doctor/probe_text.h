/* SPDX-License-Identifier: MIT */
/* In a child: load CUDA, and take down why that failed. */
#ifndef DOCTOR_PROBE_TEXT_H
#define DOCTOR_PROBE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* 0, or -errno with the first line that cu_load printed, without "ERROR: ". */
int probe_load_cuda(bool soft, char *why, size_t len);

#endif
