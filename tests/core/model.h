/* SPDX-License-Identifier: MIT */
/*
 * Models in place of the three backends: every op counts its calls, fails when
 * told to, and can be stopped halfway.  Device memory is a memfd for each pin,
 * named "gdr-model", so that its mappings are found in /proc/self/maps.
 */
#ifndef CORE_MODEL_H
#define CORE_MODEL_H

#include <stdatomic.h>

#include "backend.h"

enum model_op {
	MODEL_OPEN,
	MODEL_CLOSE,
	MODEL_PIN,
	MODEL_UNPIN,
	MODEL_FORGET,
	MODEL_MAP,
	MODEL_UNMAP,
	MODEL_INFO,
	MODEL_FLAG,
	MODEL_ATTR,
	MODEL_VERSION,
	MODEL_OPS
};

enum model_backend {
	MODEL_GDRDRV,
	MODEL_DMABUF,
	MODEL_RM,
	MODEL_BACKENDS
};

struct model {
	atomic_int calls[MODEL_OPS];
	int err[MODEL_OPS];		/* what the op fails with; 0: it works */
	const char *why;		/* of a refusal to open */
	gdr_mapping_type_t type;	/* of mappings */
	void (*hook)(enum model_op op); /* first thing in every op */
	struct gdr_pin_args args;	/* of the last pin */
};

extern struct model model[MODEL_BACKENDS];

/* As new: everything works, nothing was called. */
void model_reset(void);

/* Only backend b can be opened. */
void model_only(enum model_backend b);

/* Pins that are alive, of all models. */
int model_pins(void);

#endif
