/* SPDX-License-Identifier: MIT */
/*
 * Every routine that is compiled in and that this processor runs copies right,
 * both ways, at every device offset from 0 to 127 and every size from 0 to 4096.
 * GDR_TEST_FULL=1 takes every host offset too: 64 times the copies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy_harness.h"

static unsigned long copies;
static int failures;

static void one(const struct gdr_copy_kernel *k, gdr_mapping_type_t type, enum gdr_copy_dir dir)
{
	const char *full = getenv("GDR_TEST_FULL");
	struct copy_run run = {
		.kernel = k, .type = type, .dir = dir, .max_size = HARNESS_SIZE,
		.full = full && !strcmp(full, "1"),
	};
	struct copy_result result;

	harness_run(&run, &result);
	copies += result.copies;
	printf("%-10s type %d %-4s %10lu copies %s\n", k->name, (int)type,
	       dir == GDR_COPY_TO_MAPPING ? "to" : "from", result.copies,
	       result.failure[0] ? "FAILED" : "ok");
	if (result.failure[0]) {
		failures++;
		printf("  %s\n", result.failure);
	}
	fflush(stdout);
}

static void both(const struct gdr_copy_kernel *k, gdr_mapping_type_t type)
{
	if (k->store)
		one(k, type, GDR_COPY_TO_MAPPING);
	if (k->load)
		one(k, type, GDR_COPY_FROM_MAPPING);
}

int main(void)
{
	const struct gdr_copy_kernel *k;
	int tested = 0;

	if (harness_init()) {
		perror("cannot set up the buffers");
		return 1;
	}
	for (k = gdr_copy_kernels; k->name; k++) {
		if (!k->supported()) {
			printf("%-10s NOT RUN: this processor lacks it\n", k->name);
			continue;
		}
		both(k, GDR_MAPPING_TYPE_WC);
		tested++;
	}
	/* These take no block routine of the table. */
	both(gdr_copy_kernels + (k - gdr_copy_kernels - 1), GDR_MAPPING_TYPE_CACHING);
	both(gdr_copy_kernels + (k - gdr_copy_kernels - 1), GDR_MAPPING_TYPE_DEVICE);

	printf("%d routines, %lu copies, %d failures\n", tested, copies, failures);
	return failures ? 1 : 0;
}
