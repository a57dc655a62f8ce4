/* SPDX-License-Identifier: MIT */
/*
 * Modules and launches.  An image only has to look like one: its kernels are
 * the built-in ones of kernels.c, found by entry name.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda.h"

#define MAX_BLOCKS 4096         /* host threads of one launch */

struct CUfunc_st {
	struct CUfunc_st *next;
	CUmodule module;
	const struct sc_kernel *kernel;
};

struct CUmod_st {
	struct CUmod_st *next;
	int dev;
	char *ptx;              /* NULL: an ELF image */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUmod_st *modules;
static struct CUfunc_st *functions;

/* Past white space and comments. */
static const char *skip_blank(const char *p)
{
	for (;;) {
		while (isspace((unsigned char)*p))
			p++;
		if (p[0] == '/' && p[1] == '/') {
			p += strcspn(p, "\n");
		} else if (p[0] == '/' && p[1] == '*' && strstr(p + 2, "*/")) {
			p = strstr(p + 2, "*/") + 2;
		} else {
			return p;
		}
	}
}

/* Does the text declare an entry of that very name? */
static bool ptx_has_entry(const char *ptx, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = ptx; (p = strstr(p, ".entry"));) {
		p += strlen(".entry");
		if (!isspace((unsigned char)*p))
			continue;
		p = skip_blank(p);
		if (!strncmp(p, name, n) && !isalnum((unsigned char)p[n]) && p[n] != '_' &&
		    p[n] != '$')
			return true;
	}
	return false;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	const char *text = image;
	struct CUmod_st *m;

	SC_ENTER(SC_NEED_CONTEXT);
	if (!module || !image)
		return CUDA_ERROR_INVALID_VALUE;
	if (memcmp(text, "\177ELF", 4)) {
		text = skip_blank(text);
		if (strncmp(text, ".version", strlen(".version")))
			return CUDA_ERROR_INVALID_IMAGE;
		if (!strstr(text, ".target"))
			return CUDA_ERROR_INVALID_PTX;
	} else {
		text = NULL;
	}
	m = calloc(1, sizeof(*m));
	if (m && text)
		m->ptx = strdup(text);
	if (!m || (text && !m->ptx)) {
		free(m);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	m->dev = sc_context_device();
	pthread_mutex_lock(&lock);
	m->next = modules;
	modules = m;
	pthread_mutex_unlock(&lock);
	*module = m;
	return CUDA_SUCCESS;
}

static bool module_valid(CUmodule module)
{
	struct CUmod_st *m = modules;

	while (m && m != module)
		m = m->next;
	return m;
}

CUresult cuModuleGetFunction(CUfunction *func, CUmodule module, const char *name)
{
	CUresult res = CUDA_ERROR_INVALID_HANDLE;
	const struct sc_kernel *k;
	struct CUfunc_st *f;

	SC_ENTER(SC_NEED_CONTEXT);
	if (!func || !name)
		return CUDA_ERROR_INVALID_VALUE;
	k = sc_kernel_find(name);
	pthread_mutex_lock(&lock);
	if (!module_valid(module))
		goto unlock;
	res = CUDA_ERROR_NOT_FOUND;
	if (!k || (module->ptx && !ptx_has_entry(module->ptx, name)))
		goto unlock;
	for (f = functions; f && (f->module != module || f->kernel != k);)
		f = f->next;
	if (!f) {
		res = CUDA_ERROR_OUT_OF_MEMORY;
		f = calloc(1, sizeof(*f));
		if (!f)
			goto unlock;
		f->module = module;
		f->kernel = k;
		f->next = functions;
		functions = f;
	}
	*func = f;
	res = CUDA_SUCCESS;
unlock:
	pthread_mutex_unlock(&lock);
	return res;
}

/* Lock held.  Launches that run keep no pointer to the module. */
static void unload(CUmodule module)
{
	struct CUmod_st **m = &modules;

	for (struct CUfunc_st **f = &functions, *gone; *f;) {
		gone = *f;
		if (gone->module != module) {
			f = &gone->next;
			continue;
		}
		*f = gone->next;
		free(gone);
	}
	while (*m != module)
		m = &(*m)->next;
	*m = module->next;
	free(module->ptx);
	free(module);
}

CUresult cuModuleUnload(CUmodule module)
{
	CUresult res = CUDA_ERROR_INVALID_HANDLE;

	SC_ENTER(SC_NEED_CONTEXT);
	pthread_mutex_lock(&lock);
	if (module_valid(module)) {
		unload(module);
		res = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return res;
}

void sc_module_reset(int dev)
{
	pthread_mutex_lock(&lock);
	for (struct CUmod_st *m = modules, *next; m; m = next) {
		next = m->next;
		if (m->dev == dev)
			unload(m);
	}
	pthread_mutex_unlock(&lock);
}

static const struct sc_kernel *function_kernel(CUfunction func)
{
	const struct sc_kernel *k = NULL;

	pthread_mutex_lock(&lock);
	for (struct CUfunc_st *f = functions; f; f = f->next)
		if (f == func)
			k = f->kernel;
	pthread_mutex_unlock(&lock);
	return k;
}

/* Copy the arguments: from pointers to each, or from one packed buffer. */
static CUresult take_params(struct sc_op *op, void **params, void **extra)
{
	unsigned char *buffer = NULL;
	size_t size = 0, at = 0;
	unsigned int n;

	if (extra) {
		/* 1: the buffer follows; 2: a pointer to its size follows; 0: end */
		for (void **e = extra; *e; e += 2) {
			if ((uintptr_t)e[0] == 1)
				buffer = e[1];
			else if ((uintptr_t)e[0] == 2 && e[1])
				size = *(size_t *)e[1];
			else
				return CUDA_ERROR_INVALID_VALUE;
		}
		if (params || !buffer)
			return CUDA_ERROR_INVALID_VALUE;
	}
	for (n = 0; n < sizeof(op->kernel->params) && op->kernel->params[n]; n++) {
		unsigned char width = op->kernel->params[n];

		at = (at + width - 1) / width * width;
		if (buffer ? at + width > size : !params || !params[n])
			return CUDA_ERROR_INVALID_VALUE;
		op->params[n] = op->data + at;
		memcpy(op->data + at, buffer ? buffer + at : params[n], width);
		at += width;
	}
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction func, unsigned int grid_x, unsigned int grid_y,
			unsigned int grid_z, unsigned int block_x, unsigned int block_y,
			unsigned int block_z, unsigned int shared_bytes, CUstream stream,
			void **params, void **extra)
{
	const struct sc_kernel *k;
	struct sc_op *op;
	CUresult res;

	SC_ENTER(SC_NEED_CONTEXT);
	k = function_kernel(func);
	if (!k)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!grid_x || !grid_y || !grid_z || grid_x > 0x7fffffff || grid_y > 65535 ||
	    grid_z > 65535 || !block_x || !block_y || !block_z || block_x > 1024 ||
	    block_y > 1024 || block_z > 64 || block_x * block_y * block_z > 1024 ||
	    shared_bytes > 49152)
		return CUDA_ERROR_INVALID_VALUE;
	res = sc_stream_check(&stream);
	if (res)
		return res;
	if ((uint64_t)grid_x * grid_y > MAX_BLOCKS ||
	    (uint64_t)grid_x * grid_y * grid_z > MAX_BLOCKS)
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	op = sc_op_new(stream);
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	op->kernel = k;
	memcpy(op->grid, (unsigned int[]){ grid_x, grid_y, grid_z }, sizeof(op->grid));
	memcpy(op->block, (unsigned int[]){ block_x, block_y, block_z }, sizeof(op->block));
	res = take_params(op, params, extra);
	if (res) {
		free(op);
		return res;
	}
	return sc_op_submit(op, false);
}

/* As an H200: 2048 threads and 32 blocks a multiprocessor; registers do not count. */
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction func, int threads,
						     size_t shared_bytes)
{
	int n;

	SC_ENTER(SC_NEED_CONTEXT);
	if (!blocks || threads < 1)
		return CUDA_ERROR_INVALID_VALUE;
	if (!function_kernel(func))
		return CUDA_ERROR_INVALID_HANDLE;
	n = threads > 1024 || shared_bytes > 49152 ? 0 : 2048 / ((threads + 31) / 32 * 32);
	*blocks = n < 32 ? n : 32;
	return CUDA_SUCCESS;
}
