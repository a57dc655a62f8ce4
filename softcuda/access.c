/* SPDX-License-Identifier: MIT */
/*
 * Peer access: which context's kernels may touch which other device's cuMemAlloc
 * memory.  Every device can; copies need no leave, and VMM memory has its own.
 */
#include <stdatomic.h>

#include "softcuda.h"

static atomic_bool enabled[SC_MAX_DEVICES][SC_MAX_DEVICES];     /* from, to */

bool sc_access_enabled(int from, int to)
{
	return from == to || atomic_load(&enabled[from][to]);
}

/* The context of dev goes. */
void sc_access_reset(int dev)
{
	for (int other = 0; other < SC_MAX_DEVICES; other++) {
		atomic_store(&enabled[dev][other], false);
		atomic_store(&enabled[other][dev], false);
	}
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
	SC_ENTER(SC_NEED_INIT);
	if (!can)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sc_device_valid(dev) || !sc_device_valid(peer))
		return CUDA_ERROR_INVALID_DEVICE;
	*can = dev != peer;
	return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
	int from, to;

	SC_ENTER(SC_NEED_CONTEXT);
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	from = sc_context_device();
	to = sc_context_ordinal(peer);
	if (to < 0 || to == from)
		return CUDA_ERROR_INVALID_CONTEXT;
	return atomic_exchange(&enabled[from][to], true) ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED :
							   CUDA_SUCCESS;
}

/* Kernels that run may go on as they started. */
CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
	int to;

	SC_ENTER(SC_NEED_CONTEXT);
	to = sc_context_ordinal(peer);
	if (to < 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	return atomic_exchange(&enabled[sc_context_device()][to], false) ?
		       CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
