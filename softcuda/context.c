/* SPDX-License-Identifier: MIT */
/*
 * Primary contexts, the current context of each thread, and the check at the
 * top of every entry point.
 */
#include <stdatomic.h>

#include "softcuda.h"

struct CUctx_st {
	atomic_uint retained;
};

static struct CUctx_st primary[SC_MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local CUcontext current;
static _Thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult sc_enter(const char *func, enum sc_need need)
{
	CUresult res;

	sc_config();
	res = sc_fault(func);
	if (res || need == SC_NEED_NOTHING)
		return res;
	if (!sc_device_ready())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (sc_hostfunc_inside())
		return CUDA_ERROR_NOT_PERMITTED;
	if (need == SC_NEED_INIT)
		return CUDA_SUCCESS;
	if (!current)
		return CUDA_ERROR_INVALID_CONTEXT;
	return atomic_load(&current->retained) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

int sc_context_device(void)
{
	return current ? (int)(current - primary) : -1;
}

CUcontext sc_context_of(int dev)
{
	return &primary[dev];
}

int sc_context_ordinal(CUcontext ctx)
{
	for (int dev = 0; dev < sc_config()->devices; dev++)
		if (ctx == &primary[dev])
			return atomic_load(&ctx->retained) ? dev : -1;
	return -1;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
	SC_ENTER(SC_NEED_INIT);
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sc_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&lock);
	atomic_fetch_add(&primary[dev].retained, 1);
	pthread_mutex_unlock(&lock);
	*ctx = &primary[dev];
	return CUDA_SUCCESS;
}

/* The last release waits for the device and frees what the context owned. */
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	CUresult res = CUDA_SUCCESS;
	struct CUctx_st *c;

	SC_ENTER(SC_NEED_INIT);
	if (!sc_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	c = &primary[dev];
	pthread_mutex_lock(&lock);
	if (!atomic_load(&c->retained)) {
		res = CUDA_ERROR_INVALID_CONTEXT;
	} else if (atomic_load(&c->retained) == 1) {
		sc_stream_drain(dev);
		atomic_store(&c->retained, 0);
		sc_stream_reset(dev);
		sc_event_reset(dev);
		sc_access_reset(dev);
		sc_module_reset(dev);
		sc_memory_reset(dev);
	} else {
		atomic_fetch_sub(&c->retained, 1);
	}
	pthread_mutex_unlock(&lock);
	return res;
}
SC_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
	SC_ENTER(SC_NEED_INIT);
	if (!flags || !active)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sc_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*flags = 0;
	*active = atomic_load(&primary[dev].retained) != 0;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	SC_ENTER(SC_NEED_INIT);
	if (ctx) {
		int dev = 0;

		while (dev < sc_config()->devices && ctx != &primary[dev])
			dev++;
		if (dev == sc_config()->devices)
			return CUDA_ERROR_INVALID_CONTEXT;
		if (!atomic_load(&ctx->retained))
			return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	}
	current = ctx;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	SC_ENTER(SC_NEED_INIT);
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	*ctx = current;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *dev)
{
	SC_ENTER(SC_NEED_CONTEXT);
	if (!dev)
		return CUDA_ERROR_INVALID_VALUE;
	*dev = sc_context_device();
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	SC_ENTER(SC_NEED_CONTEXT);
	return sc_stream_drain(sc_context_device());
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode old = capture_mode;

	SC_ENTER(SC_NEED_INIT);
	if (!mode || (unsigned int)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	capture_mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}
