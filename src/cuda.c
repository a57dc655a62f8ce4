/* SPDX-License-Identifier: MIT */
/* libcuda at run time; CUresult to errno. */
#include "cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "log.h"

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static struct gdr_cuda table;
static char load_error[256];            /* "" if the table is complete */

/*
 * The runtime name first: the development name may be a toolkit's stub.  The
 * handle is never closed, because libcuda does not survive that.
 */
static void *open_libcuda(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	char why[160];

	if (lib)
		return lib;
	/* The text lives until the next dl call. */
	snprintf(why, sizeof(why), "%s", dlerror());
	lib = dlopen("libcuda.so", RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		snprintf(load_error, sizeof(load_error), "no libcuda.so.1 (%s): install the "
			 "NVIDIA driver's user-space libraries", why);
	return lib;
}

static void load(void)
{
	void *lib = open_libcuda();

	if (!lib)
		return;
#define X(field, symbol) \
	table.field = (__typeof__(table.field))dlsym(lib, #symbol); \
	if (!table.field && !load_error[0]) \
		snprintf(load_error, sizeof(load_error), \
			 "libcuda.so.1 has no %s: the NVIDIA driver is too old", #symbol);
	GDR_CUDA_REQUIRED(X)
#undef X
#define X(field, symbol) table.field = (__typeof__(table.field))dlsym(lib, #symbol);
	GDR_CUDA_OPTIONAL(X)
#undef X
}

const struct gdr_cuda *gdr_cuda_get(const char **why)
{
	pthread_once(&load_once, load);
	*why = load_error;
	return load_error[0] ? NULL : &table;
}

int gdr_cuda_errno(CUresult res)
{
	switch (res) {
	case CUDA_SUCCESS:
		return 0;
	case CUDA_ERROR_INVALID_VALUE:
	case CUDA_ERROR_INVALID_CONTEXT:
	case CUDA_ERROR_CONTEXT_IS_DESTROYED:
	case CUDA_ERROR_INVALID_HANDLE:
		return -EINVAL;
	case CUDA_ERROR_OUT_OF_MEMORY:
		return -ENOMEM;
	case CUDA_ERROR_NOT_INITIALIZED:
	case CUDA_ERROR_DEINITIALIZED:
	case CUDA_ERROR_STUB_LIBRARY:
	case CUDA_ERROR_DEVICE_UNAVAILABLE:
	case CUDA_ERROR_NO_DEVICE:
	case CUDA_ERROR_INVALID_DEVICE:
	case CUDA_ERROR_SYSTEM_NOT_READY:
	case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
		return -ENODEV;
	case CUDA_ERROR_NOT_PERMITTED:
		return -EPERM;
	case CUDA_ERROR_NOT_SUPPORTED:
		return -ENOTSUP;
	default:
		return -EIO;
	}
}

int gdr_cuda_fail(const struct gdr_cuda *cu, CUresult res, const char *call, const char *about)
{
	const char *name = NULL, *remedy = "";

	if (cu->GetErrorName(res, &name) != CUDA_SUCCESS || !name)
		name = "unknown error";
	if (res == CUDA_ERROR_NOT_INITIALIZED)
		remedy = ": call cuInit first; after fork, CUDA works only in a child whose parent "
			 "had not initialised it";
	if (res == CUDA_ERROR_OPERATING_SYSTEM)
		remedy = ": a system call of CUDA's failed, for want of descriptors perhaps "
			 "(ulimit -n)";
	return gdr_log_fail(-gdr_cuda_errno(res), "%s failed with %s (%d) %s%s", call, name,
			    (int)res, about, remedy);
}

/* Make the primary context of dev current, retaining it the first time. */
static int use_primary(const struct gdr_cuda *cu, CUdevice dev, CUcontext *primary)
{
	bool cached = *primary != NULL;
	CUresult res;

	if (!cached) {
		res = cu->DevicePrimaryCtxRetain(primary, dev);
		if (res != CUDA_SUCCESS) {
			*primary = NULL;
			return gdr_cuda_fail(cu, res, "cuDevicePrimaryCtxRetain",
					     "for the GPU that owns the memory");
		}
	}
	res = cu->CtxSetCurrent(*primary);
	if (res == CUDA_ERROR_CONTEXT_IS_DESTROYED && cached) { /* by cuDevicePrimaryCtxReset */
		cu->DevicePrimaryCtxRelease(dev);
		*primary = NULL;
		return use_primary(cu, dev, primary);
	}
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuCtxSetCurrent",
				     "for the GPU that owns the memory");
	return 0;
}

/* Make the context that the memory at near belongs to current, if it has one. */
static bool use_owner(const struct gdr_cuda *cu, CUdeviceptr near)
{
	CUcontext owner = NULL;

	return near && cu->PointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, near) ==
		CUDA_SUCCESS && owner && cu->CtxSetCurrent(owner) == CUDA_SUCCESS;
}

int gdr_cuda_enter(const struct gdr_cuda *cu, CUdevice dev, CUdeviceptr near, CUcontext *primary,
		   struct gdr_cuda_scope *scope)
{
	CUdevice current;
	CUresult res;
	int ret;

	scope->switched = false;
	scope->saved = NULL;
	scope->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	/* Not known means that it could not be restored. */
	res = cu->CtxGetCurrent(&scope->saved);
	if (res != CUDA_SUCCESS)
		return gdr_cuda_fail(cu, res, "cuCtxGetCurrent", "in this thread");
	if (!scope->saved || cu->CtxGetDevice(&current) != CUDA_SUCCESS || current != dev) {
		ret = use_owner(cu, near) ? 0 : use_primary(cu, dev, primary);
		if (ret < 0)
			return ret;
		scope->switched = true;
	}
	/* Allocations and copies are illegal in a thread whose capture mode is global. */
	scope->relaxed = cu->ThreadExchangeStreamCaptureMode(&scope->mode) == CUDA_SUCCESS;
	return 0;
}

void gdr_cuda_leave(const struct gdr_cuda *cu, struct gdr_cuda_scope *scope)
{
	if (scope->relaxed)
		cu->ThreadExchangeStreamCaptureMode(&scope->mode);
	if (scope->switched)
		cu->CtxSetCurrent(scope->saved);
}
