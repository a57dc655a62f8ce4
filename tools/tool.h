/* SPDX-License-Identifier: MIT */
/*
 * What every tool does first and last: options, the CUDA driver, the report
 * and its header, the GPU; and the exit status.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <limits.h>

#include "gpu.h"
#include "opts.h"
#include "report.h"

struct tool_args {
	uint64_t device;
	unsigned alloc;         /* index in gpu_allocators */
	unsigned mapping;       /* gdr_map_flags_t */
	bool soft, csv, json;
};

/* Rows of the option table that tools share; a is a struct tool_args. */
#define TOOL_OPT_DEVICE(a) \
	{ 'd', "device", OPT_NUMBER, "N", "0", "GPU to use, CUDA's ordinal", \
	  &(a).device, 0, INT_MAX, NULL, NULL }
#define TOOL_OPT_ALLOC(a) \
	{ 'a', "alloc", OPT_CHOICE, "FN", "cuMemAlloc", "allocator of the device memory", \
	  &(a).alloc, 0, 0, gpu_allocator_names, NULL }
#define TOOL_OPT_MAPPING(a) \
	{ 'M', "mapping", OPT_CHOICE, "TYPE", "default", "mapping type to ask for", \
	  &(a).mapping, 0, 0, window_mapping_names, NULL }
#define TOOL_OPT_SOFT(a) \
	{ 0, "soft", OPT_FLAG, NULL, NULL, "run on softcuda: host memory plays the GPU's part; " \
	  "GDRCOPY_SOFTCUDA=1 does the same", &(a).soft, 0, 0, NULL, NULL }
#define TOOL_OPT_CSV(a) \
	{ 0, "csv", OPT_FLAG, NULL, NULL, "print the results as CSV; other lines start with #", \
	  &(a).csv, 0, 0, NULL, NULL }
#define TOOL_OPT_JSON(a) \
	{ 0, "json", OPT_FLAG, NULL, NULL, "print one JSON document", &(a).json, 0, 0, NULL, NULL }
#define TOOL_OPT_HELP \
	{ 'h', "help", OPT_HELP, NULL, NULL, "print this text", NULL, 0, 0, NULL, NULL }
#define TOOL_OPT_VERSION \
	{ 0, "version", OPT_VERSION, NULL, NULL, "print the version", NULL, 0, 0, NULL, NULL }

struct tool {
	struct report report;
	struct gpu gpu;
};

/*
 * Load CUDA, print the header, list the GPUs, make the chosen one current, and
 * catch signals.  0, or -errno with the reason on stderr and nothing to undo.
 */
int tool_begin(struct tool *t, const char *name, const struct tool_args *a, int argc, char **argv);

/* Release all that and finish the report; ok: neither error nor mismatch.  The exit status. */
int tool_end(struct tool *t, bool ok);

#endif
