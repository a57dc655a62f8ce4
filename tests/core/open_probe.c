/* SPDX-License-Identifier: MIT */
/*
 * Opens and closes a context in a process that has nothing else to do with
 * CUDA, and prints what it found, one "name=value" a line.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gdrapi.h"
#include "gdrapi_ext.h"

static int print_libcuda(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *base = strrchr(info->dlpi_name, '/');

	if (base && !strncmp(base, "/libcuda", 8))
		printf("%s=%s\n", (const char *)data, info->dlpi_name);
	return 0;
}

int main(void)
{
	static char before[] = "before", opened[] = "opened", closed[] = "closed";
	gdr_t g;

	dl_iterate_phdr(print_libcuda, before);
	g = gdr_open();
	printf("errno=%d\n", g ? 0 : errno);
	printf("backend=%s\n", g ? gdrx_backend_name(g) : "none");
	printf("report=%s", gdrx_open_report());
	printf("error=%s\n", gdrx_last_error());
	printf("copy=%s %s\n", gdrx_copy_routine(0), gdrx_copy_routine(1));
	dl_iterate_phdr(print_libcuda, opened);
	if (g && gdr_close(g))
		return 1;
	/* a second time, after the last context is gone */
	g = gdr_open();
	printf("again=%s\n", g ? gdrx_backend_name(g) : "none");
	if (g && gdr_close(g))
		return 1;
	dl_iterate_phdr(print_libcuda, closed);
	return 0;
}
