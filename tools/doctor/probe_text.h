/* SPDX-License-Identifier: MIT */
/* In a child: load CUDA and choose GPUs, and take down why that failed. */
#ifndef DOCTOR_PROBE_TEXT_H
#define DOCTOR_PROBE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* 0, or -errno with the first line that cu_load printed, without "ERROR: ". */
int probe_load_cuda(bool soft, char *why, size_t len);

/* As gpu_select; the same with what that printed. */
int probe_select(const char *list, int *ordinal, size_t max, size_t *n, char *why, size_t len);

#endif
