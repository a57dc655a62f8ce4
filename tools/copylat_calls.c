/* SPDX-License-Identifier: MIT */
/* The calls that gdrcopy_copylat times, and the checks of what they copied. */
#include "copylat.h"

#include <errno.h>

#include "fence.h"
#include "gdrapi_ext.h"

/* cuMemcpy tells host from device by the address. */
static int cuda_to(void *arg)
{
	const struct copylat *lat = arg;

	return cu.Memcpy(lat->buffers.dev.ptr, (uintptr_t)lat->buffers.src.ptr, lat->n) ? EIO : 0;
}

static int cuda_from(void *arg)
{
	const struct copylat *lat = arg;

	return cu.Memcpy((uintptr_t)lat->buffers.dst.ptr, lat->buffers.dev.ptr, lat->n) ? EIO : 0;
}

static int gdr_to(void *arg)
{
	const struct copylat *lat = arg;

	return gdr_copy_to_mapping(lat->window.mh, lat->window.ptr, lat->buffers.src.ptr, lat->n);
}

static int gdr_from(void *arg)
{
	const struct copylat *lat = arg;

	return gdr_copy_from_mapping(lat->window.mh, lat->buffers.dst.ptr, lat->window.ptr, lat->n);
}

/* By as many threads as the library takes. */
static int threads_to(void *arg)
{
	const struct copylat *lat = arg;

	return gdrx_copy_to_mapping(lat->window.mh, lat->window.ptr, lat->buffers.src.ptr, lat->n,
				    NULL);
}

static int threads_from(void *arg)
{
	const struct copylat *lat = arg;

	return gdrx_copy_from_mapping(lat->window.mh, lat->buffers.dst.ptr, lat->window.ptr, lat->n,
				      NULL);
}

/* Synchronous for memory with SYNC_MEMOPS. */
int copylat_chill(void *arg)
{
	const struct copylat *lat = arg;

	return cu.MemsetD8(lat->buffers.dev.ptr, 0, lat->n) ? EIO : 0;
}

static int gdr_to_cold(void *arg)
{
	int err = copylat_chill(arg);

	if (!err)
		err = gdr_to(arg);
	fence_stores();
	return err;
}

static int gdr_from_cold(void *arg)
{
	int err = copylat_chill(arg);

	if (!err)
		err = gdr_from(arg);
	fence_loads();
	return err;
}

static int check_to(struct copylat *lat)
{
	int err = verify_prepare_write(&lat->verify, lat->n);

	if (err)
		return err;
	err = gdr_to(lat);
	if (err)
		return window_error("gdr_copy_to_mapping", err);
	return verify_write(&lat->verify, lat->n);
}

static int check_from(struct copylat *lat)
{
	int err = verify_prepare_read(&lat->verify, lat->n);

	if (err)
		return err;
	err = gdr_from(lat);
	if (err)
		return window_error("gdr_copy_from_mapping", err);
	verify_read(&lat->verify, lat->n);
	return 0;
}

const struct test copylat_cuda_tests[COPYLAT_DIRECTIONS] = {
	{ "cuMemcpy_H2D", "\t\t", cuda_to, NULL, NULL, 0, CROSSOVER_CUDA },
	{ "cuMemcpy_D2H", "\t\t", cuda_from, NULL, NULL, 1, CROSSOVER_CUDA },
};

const struct test copylat_gdr_tests[COPYLAT_DIRECTIONS] = {
	{ "gdr_copy_to_mapping", "\t\t\t", gdr_to, gdr_to_cold, check_to, 0,
	  CROSSOVER_ONE_THREAD },
	{ "gdr_copy_from_mapping", "\t\t\t", gdr_from, gdr_from_cold, check_from, 1,
	  CROSSOVER_ONE_THREAD },
};

const struct test copylat_thread_tests[COPYLAT_DIRECTIONS] = {
	{ "gdrx_copy_to_mapping", "\t\t\t", threads_to, NULL, NULL, 0,
	  CROSSOVER_THREADS },
	{ "gdrx_copy_from_mapping", "\t\t\t", threads_from, NULL, NULL, 1,
	  CROSSOVER_THREADS },
};
