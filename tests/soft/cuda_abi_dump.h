/* SPDX-License-Identifier: MIT */
/* The two compilations of cuda_abi_dump.c. */
#ifndef TEST_CUDA_ABI_DUMP_H
#define TEST_CUDA_ABI_DUMP_H

#include <stdio.h>

void dump_ours(FILE *out);
void dump_real(FILE *out);

#endif
