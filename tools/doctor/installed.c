/* SPDX-License-Identifier: MIT */
/* Modules on disk; see installed.h. */
#include "installed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "root.h"

#define DEP_LIMIT ((size_t)16 << 20)    /* bytes of modules.dep */

void installed_kernel(char *buf, size_t len)
{
	if (!root_read("/proc/sys/kernel/osrelease", buf, len))
		buf[0] = '\0';
	buf[strcspn(buf, "\n /")] = '\0';
}

/* "kernel/drivers/misc/gdrdrv.ko.xz: deps"; the name is a whole one. */
static bool has_module(const char *dep, const char *file)
{
	size_t len = strlen(file);
	const char *p;

	for (p = dep; (p = strstr(p, file)); p += len)
		if ((p == dep || p[-1] == '/') && (p[len] == ':' || p[len] == '.'))
			return true;
	return false;
}

bool installed_module(const char *file)
{
	char release[128], path[256];
	bool found = false;
	size_t len;
	char *dep;

	installed_kernel(release, sizeof(release));
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	dep = root_load(path, DEP_LIMIT, &len);
	if (dep)
		found = has_module(dep, file);
	free(dep);
	return found;
}

bool installed_dkms(const char *package)
{
	char path[128];

	snprintf(path, sizeof(path), "/var/lib/dkms/%s", package);
	return root_exists(path);
}

bool installed_must_be_signed(void)
{
	char text[128];

	if (root_read("/sys/module/module/parameters/sig_enforce", text, sizeof(text)) &&
	    *text == 'Y')
		return true;
	/* "none [integrity] confidentiality": the one in force is in brackets. */
	return root_read("/sys/kernel/security/lockdown", text, sizeof(text)) &&
		strchr(text, '[') && !strstr(text, "[none]");
}
