/* SPDX-License-Identifier: MIT */
/* cu_load tells its reason on stderr; here it is wanted as a text. */
#include "probe_text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cu.h"

int probe_load_cuda(bool soft, char *why, size_t len)
{
	static const char prefix[] = "ERROR: ";
	FILE *file = tmpfile();
	int old = dup(STDERR_FILENO), err;
	char line[512];

	if (file)
		dup2(fileno(file), STDERR_FILENO);
	err = cu_load(soft);
	fflush(stderr);
	if (old >= 0) {
		dup2(old, STDERR_FILENO);
		close(old);
	}
	if (!err || !file)
		goto close_file;
	rewind(file);
	if (!fgets(line, sizeof(line), file))
		snprintf(line, sizeof(line), "no reason was given");
	line[strcspn(line, "\n")] = '\0';
	snprintf(why, len, "%s", strncmp(line, prefix, strlen(prefix)) ? line :
		 line + strlen(prefix));
close_file:
	if (file)
		fclose(file);
	return err;
}
