/* SPDX-License-Identifier: MIT */
/*
 * Streams.  Every device has a list of unfinished operations in order of
 * submission; one may run when nothing before it in the list conflicts with it.
 * Operations of one stream conflict, and the default stream conflicts with all
 * that were not created non-blocking.  A launch runs on one thread a block.
 */
#include <stdlib.h>

#include "signals.h"
#include "softcuda.h"

struct CUstream_st {
	struct CUstream_st *next;
	int dev;
	unsigned int flags;
	unsigned int ops;               /* unfinished */
	bool destroyed;                 /* freed with its last operation */
};

static struct {
	struct sc_op *ops, **end;
	struct CUstream_st null;        /* the default stream */
	CUresult error;
} devices[SC_MAX_DEVICES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct CUstream_st *streams;
static struct sc_op *dead;              /* threads still to be joined */
static uint64_t tickets;

static void __attribute__((constructor)) init(void)
{
	for (int dev = 0; dev < SC_MAX_DEVICES; dev++)
		devices[dev].null.dev = dev;
}

void sc_stream_lock(void)
{
	pthread_mutex_lock(&lock);
}

void sc_stream_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void sc_stream_wait(void)
{
	pthread_cond_wait(&changed, &lock);
}

CUresult sc_stream_error(int dev)
{
	return devices[dev].error;
}

int sc_stream_device(CUstream stream)
{
	return stream->dev;
}

/* The handle 1 is the default stream by another name. */
CUresult sc_stream_check(CUstream *stream)
{
	CUresult res = CUDA_ERROR_INVALID_HANDLE;
	int dev = sc_context_device();

	if (!*stream || (uintptr_t)*stream == 1) {
		if (dev < 0)
			return CUDA_ERROR_INVALID_CONTEXT;
		*stream = &devices[dev].null;
		return CUDA_SUCCESS;
	}
	pthread_mutex_lock(&lock);
	for (struct CUstream_st *s = streams; s; s = s->next)
		if (s == *stream && !s->destroyed)
			res = CUDA_SUCCESS;
	pthread_mutex_unlock(&lock);
	return res;
}

static bool conflict(CUstream a, CUstream b)
{
	CUstream null = &devices[a->dev].null;

	return a == b || (a == null && !(b->flags & CU_STREAM_NON_BLOCKING)) ||
	       (b == null && !(a->flags & CU_STREAM_NON_BLOCKING));
}

/* Is there unfinished work, submitted up to ticket, that stream has to wait for? */
static bool busy(CUstream stream, uint64_t ticket)
{
	for (struct sc_op *op = devices[stream->dev].ops; op; op = op->next)
		if (op->ticket <= ticket && conflict(stream, op->stream))
			return true;
	return false;
}

/* Join the threads of finished operations.  Not from such a thread. */
static void reap(void)
{
	struct sc_op *op, *next;

	pthread_mutex_lock(&lock);
	op = dead;
	dead = NULL;
	pthread_mutex_unlock(&lock);
	for (; op; op = next) {
		next = op->next;
		for (unsigned int i = 0; i < op->nthreads; i++)
			pthread_join(op->threads[i], NULL);
		free(op->threads);
		free(op->blocks);
		free(op);
	}
}

static void stream_free(CUstream stream)
{
	struct CUstream_st **p = &streams;

	while (*p != stream)
		p = &(*p)->next;
	*p = stream->next;
	free(stream);
}

static void start_ready(int dev);

/* Lock held. */
static void finish(struct sc_op *op)
{
	int dev = op->stream->dev;
	struct sc_op **p = &devices[dev].ops;

	while (*p != op)
		p = &(*p)->next;
	*p = op->next;
	if (devices[dev].end == &op->next)
		devices[dev].end = p;
	if (!--op->stream->ops && op->stream->destroyed)
		stream_free(op->stream);
	if (op->done)
		op->done(op);
	op->next = dead;
	dead = op;
	start_ready(dev);
	pthread_cond_broadcast(&changed);
}

static void *block_main(void *arg)
{
	struct sc_block *b = arg;
	struct sc_op *op = b->op;
	bool cancelled;

	pthread_mutex_lock(&lock);      /* until all threads are there */
	cancelled = op->cancelled;
	pthread_mutex_unlock(&lock);
	if (cancelled)
		return NULL;
	if (op->run)
		op->run(op);
	else
		op->kernel->run(b, op->params);
	pthread_mutex_lock(&lock);
	if (!--op->left)
		finish(op);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static int create(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t old;
	int err;

	gdr_signals_leave(&old);
	err = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

/* Lock held, so that no thread starts before all can.  After a failure op is cancelled. */
static CUresult spawn(struct sc_op *op)
{
	unsigned int n = op->run ? 1 : op->grid[0] * op->grid[1] * op->grid[2];

	op->threads = calloc(n, sizeof(*op->threads));
	op->blocks = calloc(n, sizeof(*op->blocks));
	if (!op->threads || !op->blocks)
		goto cancel;
	op->left = n;
	op->running = true;
	for (; op->nthreads < n; op->nthreads++) {
		struct sc_block *b = &op->blocks[op->nthreads];

		b->op = op;
		b->index = op->nthreads;
		if (create(&op->threads[op->nthreads], block_main, b))
			goto cancel;
	}
	return CUDA_SUCCESS;
cancel:
	op->cancelled = true;
	return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

/* Lock held.  What its submitter waits for is left to the submitter. */
static void start_ready(int dev)
{
	for (struct sc_op *op = devices[dev].ops, *next; op; op = next) {
		next = op->next;
		if (op->running || op->waited || busy(op->stream, op->ticket - 1))
			continue;
		if (spawn(op)) {
			devices[dev].error = CUDA_ERROR_LAUNCH_FAILED;
			finish(op);
			return;
		}
	}
}

CUresult sc_op_begin(CUstream stream, struct sc_op **op)
{
	CUresult res = sc_stream_check(&stream);

	if (res)
		return res;
	*op = sc_op_new(stream);
	return *op ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

struct sc_op *sc_op_new(CUstream stream)
{
	struct sc_op *op = calloc(1, sizeof(*op));

	if (op)
		op->stream = stream;
	return op;
}

CUresult sc_op_submit(struct sc_op *op, bool wait)
{
	CUstream stream = op->stream;
	int dev = stream->dev;
	bool inline_run = false;
	CUresult res;

	pthread_mutex_lock(&lock);
	res = devices[dev].error;
	if (res) {
		if (op->done)
			op->done(op);
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		free(op);
		return res;
	}
	op->ticket = ++tickets;
	op->waited = wait;
	stream->ops++;
	if (!devices[dev].ops)
		devices[dev].end = &devices[dev].ops;
	*devices[dev].end = op;
	devices[dev].end = &op->next;
	while (wait && busy(stream, op->ticket - 1))
		pthread_cond_wait(&changed, &lock);
	if (!busy(stream, op->ticket - 1)) {
		inline_run = op->run && !op->apart;
		op->running = true;
		if (!inline_run)
			res = spawn(op);
		if (res)
			finish(op);
	}
	pthread_mutex_unlock(&lock);
	if (inline_run) {
		op->run(op);
		pthread_mutex_lock(&lock);
		finish(op);
		res = devices[dev].error;
		pthread_mutex_unlock(&lock);
	}
	reap();
	return res;
}

static CUresult wait_for(CUstream stream, int dev)
{
	uint64_t now;
	CUresult res;

	pthread_mutex_lock(&lock);
	now = tickets;
	while (stream ? busy(stream, now) : devices[dev].ops && devices[dev].ops->ticket <= now)
		pthread_cond_wait(&changed, &lock);
	res = devices[dev].error;
	pthread_mutex_unlock(&lock);
	reap();
	return res;
}

CUresult sc_stream_drain(int dev)
{
	return wait_for(NULL, dev);
}

void sc_stream_fail(int dev, CUresult res)
{
	pthread_mutex_lock(&lock);
	if (!devices[dev].error)
		devices[dev].error = res;
	pthread_mutex_unlock(&lock);
}

void sc_stream_reset(int dev)
{
	pthread_mutex_lock(&lock);
	devices[dev].error = CUDA_SUCCESS;
	for (struct CUstream_st *s = streams, *next; s; s = next) {
		next = s->next;
		if (s->dev != dev)
			continue;
		s->destroyed = true;
		if (!s->ops)
			stream_free(s);
	}
	pthread_mutex_unlock(&lock);
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	struct CUstream_st *s;

	SC_ENTER(SC_NEED_CONTEXT);
	if (!stream || flags & ~1u)
		return CUDA_ERROR_INVALID_VALUE;
	s = calloc(1, sizeof(*s));
	if (!s)
		return CUDA_ERROR_OUT_OF_MEMORY;
	s->dev = sc_context_device();
	s->flags = flags;
	pthread_mutex_lock(&lock);
	s->next = streams;
	streams = s;
	pthread_mutex_unlock(&lock);
	*stream = s;
	return CUDA_SUCCESS;
}

/* Returns at once; what was submitted still runs. */
CUresult cuStreamDestroy_v2(CUstream stream)
{
	CUresult res;

	SC_ENTER(SC_NEED_CONTEXT);
	if (!stream || (uintptr_t)stream == 1)
		return CUDA_ERROR_INVALID_HANDLE;
	res = sc_stream_check(&stream);
	if (res)
		return res;
	pthread_mutex_lock(&lock);
	stream->destroyed = true;
	if (!stream->ops)
		stream_free(stream);
	pthread_mutex_unlock(&lock);
	reap();
	return CUDA_SUCCESS;
}
SC_ALIAS(cuStreamDestroy, cuStreamDestroy_v2);

CUresult cuStreamQuery(CUstream stream)
{
	CUresult res;

	SC_ENTER(SC_NEED_CONTEXT);
	res = sc_stream_check(&stream);
	if (res)
		return res;
	pthread_mutex_lock(&lock);
	res = devices[stream->dev].error;
	if (!res && busy(stream, tickets))
		res = CUDA_ERROR_NOT_READY;
	pthread_mutex_unlock(&lock);
	reap();
	return res;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	CUresult res;

	SC_ENTER(SC_NEED_CONTEXT);
	res = sc_stream_check(&stream);
	return res ? res : wait_for(stream, stream->dev);
}
