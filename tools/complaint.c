/* SPDX-License-Identifier: MIT */
/* Standard error as a file in memory for a while; see complaint.h. */
#include "complaint.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void complaint_begin(struct complaint *c)
{
	fflush(stderr);
	c->file = memfd_create("complaint", MFD_CLOEXEC);
	c->stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (c->file >= 0 && c->stderr_fd >= 0)
		dup2(c->file, STDERR_FILENO);
}

void complaint_end(const struct complaint *c, char *buf, size_t len)
{
	static const char prefix[] = "ERROR: ";
	char line[512] = "";
	const char *text = line;
	ssize_t n = 0;

	fflush(stderr);
	if (c->file >= 0) {
		n = pread(c->file, line, sizeof(line) - 1, 0);
		close(c->file);
	}
	if (c->stderr_fd >= 0) {
		dup2(c->stderr_fd, STDERR_FILENO);
		close(c->stderr_fd);
	}
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (!strncmp(text, prefix, strlen(prefix)))
		text += strlen(prefix);
	snprintf(buf, len, "%s", *text ? text : "no reason was given");
}
