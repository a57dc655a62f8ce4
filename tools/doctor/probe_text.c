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
	size_t skip;

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
	if (!fgets(why, (int)len, file))
		snprintf(why, len, "no reason was given");
	why[strcspn(why, "\n")] = '\0';
	skip = strncmp(why, prefix, strlen(prefix)) ? 0 : strlen(prefix);
	memmove(why, why + skip, strlen(why + skip) + 1);
close_file:
	if (file)
		fclose(file);
	return err;
}
