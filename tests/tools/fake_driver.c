/* SPDX-License-Identifier: MIT */
/* A CUDA driver that is too old: it ends after the first functions the tools look up. */
#include "cuda_abi.h"
#include "cuda_funcs.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT CUresult cuInit(unsigned int flags)
{
	(void)flags;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int *version)
{
	*version = 9000;
	return CUDA_SUCCESS;
}
