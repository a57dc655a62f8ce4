/* SPDX-License-Identifier: MIT */
/* A libcuda that lacks most of its functions, as a toolkit's or an old driver's may. */
int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
	return flags ? 1 : 34; /* CUDA_ERROR_STUB_LIBRARY */
}

int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version)
{
	*version = 13030;
	return 0;
}
