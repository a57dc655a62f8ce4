/* SPDX-License-Identifier: MIT */
/* What the tests of rm.c start from: two GPUs, an RM client and a device object. */
#ifndef RM_FIXTURE_H
#define RM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_rm.h"
#include "rm.h"

#define MIB (1ul << 20)

extern const struct fake_rm_gpu fixture_gpus[2];

struct fixture {
	int ctl;
	struct gdr_rm_client client;
	uint32_t device;                /* of fixture_gpus[0] */
};

/* cmocka setup and teardown; the latter fails on anything left or any violation. */
int fixture_gpus_only(void **state);
int fixture_open(void **state);
int fixture_close(void **state);
int fixture_check_clean(void **state);

/* A memory object of size bytes on fixture_gpus[0], duplicated below the device. */
uint32_t fixture_object(struct fixture *fx, uint64_t size, struct fake_rm_memory_info *info);

/* A GPU file of fixture_gpus[0], tied to the control file. */
int fixture_gpu_file(struct fixture *fx);

void fixture_no_violation(void);

#endif
