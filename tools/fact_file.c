/* SPDX-License-Identifier: MIT */
/* Reading /proc and /sys. */
#include "fact_file.h"

#include <stdio.h>
#include <string.h>

bool fact_file_line(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(buf, (int)len, f) != NULL;
	fclose(f);
	if (ok)
		buf[strcspn(buf, "\n")] = '\0';
	return ok;
}

bool fact_file_value(const char *path, const char *key, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");
	char line[512], *v;
	bool found = false;

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		v = strchr(line, ':');
		if (!v || strncmp(line, key, strlen(key)) ||
		    line + strlen(key) + strspn(line + strlen(key), " \t") != v)
			continue;
		v += 1 + strspn(v + 1, " \t");
		v[strcspn(v, "\n")] = '\0';
		snprintf(buf, len, "%s", v);
		found = true;
	}
	fclose(f);
	return found;
}
