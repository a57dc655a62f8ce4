/* SPDX-License-Identifier: MIT */
/*
 * A stub before each CUDA function that the library looks up.  What makes or
 * takes something is failed before it does; what lets something go, after: CUDA
 * reports errors of earlier work there, and a leak is not to be blamed on it.
 */
#include <errno.h>
#include <string.h>

#include "inject.h"

void (*inject_twist_ipc)(uint32_t words[16]);

/* All arguments are integers or pointers, in registers, six at most. */
typedef CUresult call_fn(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
			 uintptr_t f);

static call_fn *real[INJECT_CALLS];

static const struct {
	enum inject_call makes, ends;
} pairs[] = {
	{ CALL_cuDevicePrimaryCtxRetain, CALL_cuDevicePrimaryCtxRelease_v2 },
	{ CALL_cuMemAlloc_v2, CALL_cuMemFree_v2 },
	{ CALL_cuStreamCreate, CALL_cuStreamDestroy_v2 },
	{ CALL_cuMemCreate, CALL_cuMemRelease },
	{ CALL_cuMemRetainAllocationHandle, CALL_cuMemRelease },
	{ CALL_cuMemAddressReserve, CALL_cuMemAddressFree },
	{ CALL_cuMemMap, CALL_cuMemUnmap },
};
#define PAIRS (sizeof(pairs) / sizeof(pairs[0]))

static bool is_end(enum inject_call call)
{
	size_t i;

	for (i = 0; i < PAIRS; i++)
		if (pairs[i].ends == call)
			return true;
	return false;
}

/* Handles of both makers end alike: they are one account, of the first pair that ends so. */
static enum inject_call account_of(enum inject_call ends)
{
	size_t i;

	for (i = 0; pairs[i].ends != ends; i++)
		;
	return pairs[i].makes;
}

static void account(enum inject_call call)
{
	size_t i;

	if (!atomic_load(&inject_watching))
		return;
	for (i = 0; i < PAIRS; i++)
		if (pairs[i].makes == call)
			inject_note_cuda(account_of(pairs[i].ends), 1);
	if (is_end(call))
		inject_note_cuda(account_of(call), -1);
}

static CUresult run(enum inject_call call, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
		    uintptr_t e, uintptr_t f)
{
	CUresult fault = (CUresult)inject(call), res;

	if (fault && !is_end(call))
		return fault;
	res = real[call](a, b, c, d, e, f);
	if (res != CUDA_SUCCESS)
		return res;
	account(call);
	if (call == CALL_cuMemGetHandleForAddressRange || call == CALL_cuMemExportToShareableHandle)
		inject_note_file(*(const int *)a, true);
	if (call == CALL_cuIpcGetMemHandle && inject_twist_ipc) {
		uint32_t words[16];

		memcpy(words, (void *)a, sizeof(words));
		inject_twist_ipc(words);
		memcpy((void *)a, words, sizeof(words));
	}
	return fault;
}

#define X(field, symbol) \
	static CUresult stub_##symbol(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, \
				      uintptr_t e, uintptr_t f) \
	{ \
		return run(CALL_##symbol, a, b, c, d, e, f); \
	}
GDR_CUDA_REQUIRED(X)
GDR_CUDA_OPTIONAL(X)
#undef X

static call_fn *const stubs[INJECT_CALLS] = {
#define X(field, symbol) [CALL_##symbol] = stub_##symbol,
	GDR_CUDA_REQUIRED(X)
	GDR_CUDA_OPTIONAL(X)
#undef X
};

void *__real_dlsym(void *lib, const char *name);
void *__wrap_dlsym(void *lib, const char *name);

void *__wrap_dlsym(void *lib, const char *name)
{
	void *p = inject(CALL_dlsym) ? NULL : __real_dlsym(lib, name);
	unsigned i;

	for (i = INJECT_FIRST_CUDA; p && i < INJECT_CALLS; i++) {
		if (strcmp(name, inject_names[i]) != 0)
			continue;
		memcpy(&real[i], &p, sizeof(p));
		memcpy(&p, &stubs[i], sizeof(p));
		break;
	}
	return p;
}
