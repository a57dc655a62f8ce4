/* SPDX-License-Identifier: MIT */
/* A device node: is it there, is it the right one, and who may open it. */
#ifndef DOCTOR_NODE_H
#define DOCTOR_NODE_H

#include "parse.h"

enum node_state {
	NODE_MISSING,
	NODE_NO_DEVICE,         /* something else of that name */
	NODE_CLOSED,            /* this process may not open it: error */
	NODE_PRIVATE,           /* others may not: mode */
	NODE_FINE,
};

struct node {
	enum node_state state;
	struct parse_node at;
	int error;              /* errno of open, where the state is NODE_CLOSED */
};

/* open: try to open the node; else look at its mode only, as below another root. */
void node_look(const char *path, bool open, struct node *out);

#endif
