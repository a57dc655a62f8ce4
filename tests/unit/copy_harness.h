/* SPDX-License-Identifier: MIT */
/*
 * Runs one copy routine over all device offsets and sizes, between two buffers
 * that have inaccessible pages on both sides, and checks every byte of the
 * destination and what surrounds it.  Free of any test framework, so that it runs
 * wherever a program does.
 */
#ifndef GDR_TEST_COPY_HARNESS_H
#define GDR_TEST_COPY_HARNESS_H

#include "copy.h"

#define HARNESS_OFFSETS 128             /* device offsets, and host offsets */
#define HARNESS_SIZE 4096               /* largest copy, bytes */

struct copy_run {
	const struct gdr_copy_kernel *kernel;
	gdr_mapping_type_t type;
	enum gdr_copy_dir dir;
	size_t max_size;
	/*
	 * 1: every host offset for every device offset and size.  0: two of them,
	 * zero and one that turns with the size, so that every host offset meets
	 * every device offset, with at least 32 sizes when max_size is 4096.
	 */
	int full;
};

struct copy_result {
	unsigned long copies;
	char failure[200];              /* the first one; "" if none */
};

/* 0 or -1: no memory.  Once, first. */
int harness_init(void);

/* Stops at the first failure. */
void harness_run(const struct copy_run *run, struct copy_result *result);

#endif
