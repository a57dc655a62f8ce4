/* SPDX-License-Identifier: MIT */
/* Device memory pinned and mapped, and the lines that tell about it. */
#ifndef TOOLS_WINDOW_H
#define TOOLS_WINDOW_H

#include "gdrapi.h"
#include "report.h"

/* Values of -M, in the order of gdr_map_flags_t; ends with NULL. */
extern const char *const window_mapping_names[];

struct window {
	gdr_t g;
	gdr_mh_t mh;
	gdr_info_t info;
	void *map;              /* what gdr_map_v2 returned */
	size_t size;            /* bytes pinned and mapped */
	size_t offset;          /* of the device address in the mapping; 0 in practice */
	char *ptr;              /* map + offset */
};

/* Open, pin, map and query.  0, or -errno with the failed step on stderr. */
int window_open(struct window *w, struct report *r, uint64_t ptr, size_t size, int map_flags);

/* The mapping's lines, some of which differ between the tools in their blanks. */
void window_print(const struct window *w, const struct report *r, bool space_before_pointer);

/* Undo window_open; announces the steps.  0 or the first -errno. */
int window_close(const struct window *w, const struct report *r);

/* "ERROR: <call>: <errno text> (<number>): <the library's own sentence>"; returns -err. */
int window_error(const char *call, int err);

#endif
