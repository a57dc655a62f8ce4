/* SPDX-License-Identifier: MIT */
/*
 * Opens and closes a context, with the library linked in and its environment as
 * it may be, and prints what became of it, one "name=value" a line.  Then asks
 * for softcuda in each way that there is.  Argument: softcuda's file.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/auxv.h>

#include "cu.h"
#include "gdrapi.h"
#include "gdrapi_ext.h"

/* The leak sanitizer looks into its process as a debugger does, which set-uid ones refuse. */
const char *__asan_default_options(void);
__attribute__((weak)) const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* Is what answers as libcuda in this process softcuda? */
static int softcuda_loaded(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	return lib && dlsym(lib, "softcuda_object");
}

static int init(const char *file)
{
	void *lib = dlopen(file, RTLD_NOW);
	int (*cu_init)(unsigned) = NULL;

	if (lib)
		*(void **)&cu_init = dlsym(lib, "cuInit");
	return cu_init ? cu_init(0) : -1;
}

int main(int argc, char **argv)
{
	char path[4096];
	gdr_t g;

	if (argc != 2)
		return 2;
	printf("secure=%lu\n", getauxval(AT_SECURE));
	g = gdr_open();
	printf("backend=%s\n", g ? gdrx_backend_name(g) : "none");
	printf("report=%s", gdrx_open_report());
	printf("copy=%s %s\n", gdrx_copy_routine(0), gdrx_copy_routine(1));
	if (g && gdr_close(g))
		return 1;
	printf("softcuda=%d\n", softcuda_loaded());
	fflush(stdout);
	fputs("--\n", stderr);          /* what follows on stderr is not libgdrapi's */
	printf("wanted=%d\n", cu_soft_wanted());
	printf("found=%s\n", cu_find_soft(path, sizeof(path)) ? "none" : path);
	printf("init=%d\n", init(argv[1]));
	return 0;
}
