/* SPDX-License-Identifier: MIT */
/*
 * In the place of the CUDA toolkit's cuda.h, so that the examples build
 * where no toolkit is installed.  Like there, short names stand for the
 * current version of a function.
 */
#ifndef GDR_EXAMPLES_CUDA_H
#define GDR_EXAMPLES_CUDA_H

#include "../../src/cuda_abi.h"
#include "../../src/cuda_funcs.h"

#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree cuMemFree_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2

#endif
