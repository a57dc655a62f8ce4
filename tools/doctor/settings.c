/* SPDX-License-Identifier: MIT */
/* Findings on settings of this process that change what libgdrapi does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "doctor.h"

/* What an environment that chooses a backend leads to. */
static void find_forced(struct doctor *d, const char *variable, const char *value,
			const char *backend)
{
	int other = doctor_alternative(d), i;

	for (i = 0; i < PROBE_BACKENDS; i++)
		if (!strcmp(backend, probe_backend_names[i]))
			break;
	if (i == PROBE_BACKENDS) {
		doctor_find(d, "backend", -1, LEVEL_FAIL, "%s=%s names no backend: choose "
			    "gdrdrv, dmabuf or rm", variable, value);
		doctor_fix(d, "unset %s", variable);
	} else if (doctor_works(d)) {
		doctor_find(d, "backend", -1, LEVEL_NOTE, "%s=%s allows no other backend than "
			    "%s", variable, value, backend);
	} else {
		doctor_find(d, "backend", -1, LEVEL_FAIL, "%s=%s asks for %s, which does not "
			    "work here%s%s", variable, value, backend, other < 0 ? "" : "; what "
			    "works is ", other < 0 ? "" : probe_backend_names[other]);
		if (other >= 0)
			doctor_fix(d, "unset %s", variable);
	}
}

static void find_backend(struct doctor *d)
{
	const char *name = getenv("GDRCOPY_BACKEND");
	const char *dmabuf = getenv("GDRCOPY_USE_DMABUF_MMAP");
	int chosen = doctor_chosen(d), other = doctor_alternative(d);

	if (name && *name) {
		find_forced(d, "GDRCOPY_BACKEND", name, name);
	} else if (dmabuf && !strcmp(dmabuf, "1")) {
		find_forced(d, "GDRCOPY_USE_DMABUF_MMAP", dmabuf, "dmabuf");
	} else if (chosen >= 0 && !doctor_works(d) && other >= 0 && other != chosen) {
		doctor_find(d, "backend", -1, LEVEL_FAIL, "gdr_open takes %s, which opens but "
			    "does not work; %s does", probe_backend_names[chosen],
			    probe_backend_names[other]);
		doctor_fix(d, "export GDRCOPY_BACKEND=%s", probe_backend_names[other]);
	} else {
		doctor_find(d, "backend", -1, LEVEL_OK, "the library may choose");
	}
}

/* A mapping needs address space, and a pin of the rm backend a descriptor. */
static void find_limits(struct doctor *d)
{
	struct rlimit as, files;

	if (getrlimit(RLIMIT_AS, &as) || getrlimit(RLIMIT_NOFILE, &files))
		return;
	if (as.rlim_cur != RLIM_INFINITY) {
		doctor_find(d, "limits", -1, LEVEL_WARN, "address space is limited to %llu MiB "
			    "(ulimit -v): CUDA and mappings need much more than memory",
			    (unsigned long long)as.rlim_cur >> 20);
		doctor_fix(d, "ulimit -v unlimited   # or LimitAS=infinity in the service");
	} else if (files.rlim_cur < 1024) {
		doctor_find(d, "limits", -1, LEVEL_WARN, "only %llu files may be open (ulimit "
			    "-n): each mapping may take one", (unsigned long long)files.rlim_cur);
		doctor_fix(d, "ulimit -n 65536   # or LimitNOFILE=65536 in the service");
	} else {
		doctor_find(d, "limits", -1, LEVEL_OK, "no limit is in the way");
	}
}

void doctor_settings(struct doctor *d)
{
	d->area = "settings";
	find_backend(d);
	find_limits(d);
}
