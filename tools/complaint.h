/* SPDX-License-Identifier: MIT */
/* What a function tells the user on stderr, where it is wanted as a text. */
#ifndef COMPLAINT_H
#define COMPLAINT_H

#include <stddef.h>

struct complaint {
	int file, stderr_fd;    /* where it goes meanwhile, and where stderr went before */
};

/* Processes with one thread; what else is printed until complaint_end is not seen, either. */
void complaint_begin(struct complaint *c);

/* buf: the first line, without "ERROR: "; never empty. */
void complaint_end(const struct complaint *c, char *buf, size_t len);

#endif
