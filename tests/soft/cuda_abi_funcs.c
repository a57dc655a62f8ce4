/* SPDX-License-Identifier: MIT */
/* Does not compile if a prototype of src/cuda_funcs.h differs from NVIDIA's. */
#include <cuda.h>

#ifndef CUDA_VERSION
#error "this is not NVIDIA's cuda.h"
#endif
#include "../../src/cuda_funcs.h"

int cuda_abi_funcs_agree(void);

int cuda_abi_funcs_agree(void)
{
	return 1;
}
