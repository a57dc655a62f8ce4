/* SPDX-License-Identifier: MIT */
/*
 * The library may be unloaded after parallel copies: its helping threads are gone
 * before its code is.  Usage: copy_unload LIBGDRAPI, with GDRCOPY_SOFTCUDA_LIB set.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_abi.h"
#include "cuda_funcs.h"
#include "gdrapi.h"
#include "gdrapi_ext.h"

#define SIZE (4u << 20)
#define HELPERS 3

#define CHECK(cond) do { \
	if (!(cond)) { \
		printf("FAILED: line %d: %s\n", __LINE__, #cond); \
		exit(1); \
	} \
} while (0)

#define LOOK_UP(lib, name) \
	__typeof__(name) *name##_p = (__typeof__(name) *)dlsym(lib, #name); \
	CHECK(name##_p)

/* Threads of this process whose name is that of the library's helpers. */
static int helper_count(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *d;
	int n = 0;

	CHECK(dir);
	while ((d = readdir(dir))) {
		char path[300], name[16] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", d->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f))
			n += !strcmp(name, "gdrcopy\n");
		fclose(f);
	}
	closedir(dir);
	return n;
}

static int is_loaded(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

	if (lib)
		dlclose(lib);
	return lib != NULL;
}

static void copy_by_threads(void *lib, CUdeviceptr ptr)
{
	static char host[SIZE];
	struct gdrx_copy_options o = {
		.size = sizeof(o), .threads = HELPERS + 1, .min_bytes = 4096,
	};
	gdr_mh_t mh;
	void *va;
	gdr_t g;
	LOOK_UP(lib, gdr_open);
	LOOK_UP(lib, gdr_close);
	LOOK_UP(lib, gdr_pin_buffer);
	LOOK_UP(lib, gdr_map);
	LOOK_UP(lib, gdrx_copy_to_mapping);

	g = gdr_open_p();
	CHECK(g);
	CHECK(gdr_pin_buffer_p(g, ptr, SIZE, 0, 0, &mh) == 0);
	CHECK(gdr_map_p(g, mh, &va, SIZE) == 0);
	CHECK(gdrx_copy_to_mapping_p(mh, va, host, SIZE, &o) == 0);
	CHECK(helper_count() == HELPERS);
	CHECK(gdr_close_p(g) == 0);
}

/* pthread_join returns a moment before the kernel takes the thread out of /proc. */
static int helpers_go(void)
{
	for (int i = 0; i < 5000 && helper_count(); i++)
		usleep(1000);
	return helper_count() == 0;
}

int main(int argc, char **argv)
{
	void *cuda = dlopen(getenv("GDRCOPY_SOFTCUDA_LIB"), RTLD_NOW | RTLD_GLOBAL), *lib;
	CUdeviceptr ptr;
	CUcontext context;

	CHECK(argc == 2 && cuda);
	{
		LOOK_UP(cuda, cuInit);
		LOOK_UP(cuda, cuDevicePrimaryCtxRetain);
		LOOK_UP(cuda, cuCtxSetCurrent);
		LOOK_UP(cuda, cuMemAlloc_v2);

		CHECK(!cuInit_p(0) && !cuDevicePrimaryCtxRetain_p(&context, 0) &&
		      !cuCtxSetCurrent_p(context) && !cuMemAlloc_v2_p(&ptr, SIZE));
	}
	for (int i = 0; i < 20; i++) {
		lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		CHECK(lib);
		copy_by_threads(lib, ptr);
		dlclose(lib);
		CHECK(!is_loaded(argv[1]));
		CHECK(helpers_go());
	}
	printf("loaded and unloaded 20 times\n");
	return 0;
}
