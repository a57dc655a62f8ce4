/* SPDX-License-Identifier: MIT */
/* Loading libcuda or softcuda, and naming CUDA errors. */
#include "cu.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cu_table cu;

static bool loaded_soft;
static char loaded_path[PATH_MAX];

bool cu_is_soft(void)
{
	return loaded_soft;
}

const char *cu_path(void)
{
	return loaded_path;
}

bool cu_soft_wanted(void)
{
	const char *v = secure_getenv("GDRCOPY_SOFTCUDA");

	return v && *v && strcmp(v, "0");
}

const char *cu_error_name(CUresult res)
{
	const char *name = NULL;

	if (cu.GetErrorName && cu.GetErrorName(res, &name) == CUDA_SUCCESS && name)
		return name;
	return "an unknown CUDA error";
}

int cu_check(CUresult res, const char *call)
{
	if (res == CUDA_SUCCESS)
		return 0;
	fprintf(stderr, "ERROR: %s: %s (%d)\n", call, cu_error_name(res), (int)res);
	return -EIO;
}

static void *open_driver(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	char why[256];

	if (lib)
		return lib;
	/* The text lives until the next dl call. */
	snprintf(why, sizeof(why), "%s", dlerror());
	lib = dlopen("libcuda.so", RTLD_NOW);
	if (!lib)
		fprintf(stderr, "ERROR: no CUDA driver: %s\n"
			"ERROR: install the NVIDIA driver, or give --soft to run on softcuda, "
			"which needs no GPU and works on host memory\n", why);
	return lib;
}

/*
 * libgdrapi opens "libcuda.so.1".  The loader answers with an object that is
 * already there if that is its name or its SONAME, so this must find ours.
 */
static bool answers_as_libcuda(void *lib)
{
	void *same = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (same)
		dlclose(same);
	return same == lib;
}

static bool on_simulated_gpu(void *lib)
{
	int (*has_gpu)(void);

	*(void **)&has_gpu = dlsym(lib, "softcuda_has_gpu");
	return has_gpu && has_gpu();
}

static void *open_soft(void)
{
	char path[PATH_MAX];
	void *lib;

	if (cu_find_soft(path, sizeof(path)))
		return NULL;
	lib = dlopen(path, RTLD_NOW);
	if (!lib) {
		fprintf(stderr, "ERROR: softcuda: %s\n", dlerror());
		return NULL;
	}
	if (!answers_as_libcuda(lib)) {
		fprintf(stderr, "ERROR: softcuda: %s does not have the SONAME libcuda.so.1, so "
			"libgdrapi would not use it\n", path);
		dlclose(lib);
		return NULL;
	}
	/* No kernel driver maps host memory; libgdrapi's dmabuf backend does. */
	if (!on_simulated_gpu(lib))
		setenv("GDRCOPY_BACKEND", "dmabuf", 0);
	return lib;
}

static int fill_table(void *lib)
{
	const char *missing = NULL;

#define X(field, symbol) \
	*(void **)&cu.field = dlsym(lib, #symbol); \
	if (!cu.field && !missing) \
		missing = #symbol;
	CU_FUNCTIONS(X)
#undef X
#define X(field, symbol) *(void **)&cu.field = dlsym(lib, #symbol);
	CU_OPTIONAL(X)
#undef X
	if (!missing)
		return 0;
	fprintf(stderr, "ERROR: %s has no function %s; a driver for CUDA 11.2 or later is needed\n",
		loaded_path, missing);
	return -ENOSYS;
}

int cu_load(bool soft)
{
	void *lib = soft ? open_soft() : open_driver();
	struct link_map *map;
	int err;

	if (!lib)
		return -ENOENT;
	if (dlinfo(lib, RTLD_DI_LINKMAP, &map) == 0)
		snprintf(loaded_path, sizeof(loaded_path), "%s", map->l_name);
	err = fill_table(lib);
	if (err) {
		memset(&cu, 0, sizeof(cu));
		dlclose(lib);
		return err;
	}
	/* However it came here, its numbers are not a GPU's. */
	loaded_soft = soft || dlsym(lib, "softcuda_object");
	return 0;
}
