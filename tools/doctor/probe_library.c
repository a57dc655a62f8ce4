/* SPDX-License-Identifier: MIT */
/* The version of a file that is to be libgdrapi, by loading it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "probe.h"

struct library {
	bool ok;
	int major, minor;
	char why[PROBE_TEXT];
};

static void body(void *result, void *arg)
{
	void (*version)(int *major, int *minor);
	struct library *l = result;
	void *lib = dlopen(arg, RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		snprintf(l->why, sizeof(l->why), "%s", dlerror());
		return;
	}
	*(void **)&version = dlsym(lib, "gdr_runtime_get_version");
	if (!version) {
		snprintf(l->why, sizeof(l->why), "%s has no function gdr_runtime_get_version",
			 (const char *)arg);
		return;
	}
	version(&l->major, &l->minor);
	l->ok = true;
}

bool probe_library(const char *file, uint64_t seconds, char *version, size_t len, char *why,
		   size_t why_len)
{
	char path[4096];
	struct probe_end end;
	struct library l;

	snprintf(path, sizeof(path), "%s", file);
	probe_run(body, path, &l, sizeof(l), seconds, &end);
	if (!l.ok) {
		snprintf(why, why_len, "%s", end.done ? l.why : end.how);
		return false;
	}
	snprintf(version, len, "%d.%d", l.major, l.minor);
	return true;
}
