/* SPDX-License-Identifier: MIT */
/*
 * Functions of the host in stream order.  They run in threads of softcuda's, with
 * nothing after them in their stream under way, and may not call CUDA.
 */
#include <stdlib.h>
#include <string.h>

#include "softcuda.h"

struct hostfunc {
	CUhostFn func;
	CUstreamCallback callback;
	CUstream stream;                /* as the caller called it */
	void *data;
};

static _Thread_local bool inside;

bool sc_hostfunc_inside(void)
{
	return inside;
}

/* After an error of the device a callback is told of it, and a plain function not run. */
static void run(struct sc_op *op)
{
	struct hostfunc h;
	CUresult res;

	memcpy(&h, op->data, sizeof(h));
	sc_stream_lock();
	res = sc_stream_error(sc_stream_device(op->stream));
	sc_stream_unlock();
	inside = true;
	if (h.callback)
		h.callback(h.stream, res, h.data);
	else if (!res)
		h.func(h.data);
	inside = false;
}

static CUresult submit(struct hostfunc h)
{
	struct sc_op *op;
	CUresult res = sc_op_begin(h.stream, &op);

	_Static_assert(sizeof(h) <= sizeof(op->data), "a host function has to fit");
	if (res)
		return res;
	op->run = run;
	op->apart = true;
	memcpy(op->data, &h, sizeof(h));
	return sc_op_submit(op, false);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn func, void *data)
{
	SC_ENTER(SC_NEED_CONTEXT);
	if (!func)
		return CUDA_ERROR_INVALID_VALUE;
	return submit((struct hostfunc){ func, NULL, stream, data });
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data,
			     unsigned int flags)
{
	SC_ENTER(SC_NEED_CONTEXT);
	if (!callback || flags)
		return CUDA_ERROR_INVALID_VALUE;
	return submit((struct hostfunc){ NULL, callback, stream, data });
}
