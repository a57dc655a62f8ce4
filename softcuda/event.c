/* SPDX-License-Identifier: MIT */
/*
 * Events.  A record is an operation of its stream that does nothing; an event is
 * done when the last record of it is, and has the time of that.  All that is here
 * lives under the stream lock.
 */
#include <stdlib.h>
#include <time.h>

#include "softcuda.h"

#define FLAGS (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)

struct CUevent_st {
	struct CUevent_st *next;
	int dev;
	unsigned int flags;
	uint64_t records;               /* so far; 0: it was never recorded */
	uint64_t done;                  /* the last record that is */
	int64_t ns;                     /* its time */
	unsigned int users;             /* records under way, and threads that wait */
	bool destroyed;                 /* freed with its last user */
};

static struct CUevent_st *events;

static bool valid(CUevent event)
{
	struct CUevent_st *e = events;

	while (e && e != event)
		e = e->next;
	return e && !e->destroyed;
}

static void event_free(CUevent event)
{
	struct CUevent_st **p = &events;

	while (*p != event)
		p = &(*p)->next;
	*p = event->next;
	free(event);
}

static void leave(CUevent event)
{
	if (!--event->users && event->destroyed)
		event_free(event);
}

static void destroy(CUevent event)
{
	event->destroyed = true;
	if (!event->users)
		event_free(event);
}

static void nothing(struct sc_op *op)
{
	(void)op;
}

static void record_done(struct sc_op *op)
{
	CUevent event = op->event;
	struct timespec now;

	if (op->value > event->done) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		event->done = op->value;
		event->ns = now.tv_sec * 1000000000LL + now.tv_nsec;
	}
	leave(event);
}

/* What was created in the context of dev. */
void sc_event_reset(int dev)
{
	sc_stream_lock();
	for (struct CUevent_st *e = events, *next; e; e = next) {
		next = e->next;
		if (e->dev == dev && !e->destroyed)
			destroy(e);
	}
	sc_stream_unlock();
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	struct CUevent_st *e;

	SC_ENTER(SC_NEED_CONTEXT);
	if (!event || flags & ~(unsigned int)FLAGS ||
	    (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING)))
		return CUDA_ERROR_INVALID_VALUE;
	e = calloc(1, sizeof(*e));
	if (!e)
		return CUDA_ERROR_OUT_OF_MEMORY;
	e->dev = sc_context_device();
	e->flags = flags;
	sc_stream_lock();
	e->next = events;
	events = e;
	sc_stream_unlock();
	*event = e;
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event)
{
	CUresult res = CUDA_ERROR_INVALID_HANDLE;

	SC_ENTER(SC_NEED_CONTEXT);
	sc_stream_lock();
	if (valid(event)) {
		destroy(event);
		res = CUDA_SUCCESS;
	}
	sc_stream_unlock();
	return res;
}
SC_ALIAS(cuEventDestroy, cuEventDestroy_v2);

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	struct sc_op *op;
	CUresult res;

	SC_ENTER(SC_NEED_CONTEXT);
	res = sc_op_begin(stream, &op);
	if (res)
		return res;
	op->run = nothing;
	op->done = record_done;
	op->event = event;
	sc_stream_lock();
	if (!valid(event) || event->dev != sc_stream_device(op->stream)) {
		res = CUDA_ERROR_INVALID_HANDLE;
	} else {
		event->users++;
		op->value = ++event->records;
	}
	sc_stream_unlock();
	if (res) {
		free(op);
		return res;
	}
	return sc_op_submit(op, false);
}

CUresult cuEventQuery(CUevent event)
{
	CUresult res = CUDA_ERROR_INVALID_HANDLE;

	SC_ENTER(SC_NEED_CONTEXT);
	sc_stream_lock();
	if (valid(event)) {
		res = sc_stream_error(event->dev);
		if (!res && event->done < event->records)
			res = CUDA_ERROR_NOT_READY;
	}
	sc_stream_unlock();
	return res;
}

/* Waits for what was recorded when it was called. */
CUresult cuEventSynchronize(CUevent event)
{
	CUresult res = CUDA_ERROR_INVALID_HANDLE;
	uint64_t last;

	SC_ENTER(SC_NEED_CONTEXT);
	sc_stream_lock();
	if (!valid(event))
		goto unlock;
	last = event->records;
	event->users++;
	while (event->done < last)
		sc_stream_wait();
	res = sc_stream_error(event->dev);
	leave(event);
unlock:
	sc_stream_unlock();
	return res;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	CUresult res = CUDA_ERROR_INVALID_HANDLE;

	SC_ENTER(SC_NEED_CONTEXT);
	if (!ms)
		return CUDA_ERROR_INVALID_VALUE;
	sc_stream_lock();
	if (!valid(start) || !valid(end) || start->dev != end->dev || !start->records ||
	    !end->records || (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
		goto unlock;
	res = sc_stream_error(start->dev);
	if (!res && (start->done < start->records || end->done < end->records))
		res = CUDA_ERROR_NOT_READY;
	if (!res)
		*ms = (float)(end->ns - start->ns) / 1e6f;
unlock:
	sc_stream_unlock();
	return res;
}
SC_ALIAS(cuEventElapsedTime_v2, cuEventElapsedTime);
