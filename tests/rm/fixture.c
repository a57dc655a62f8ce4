/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <stdlib.h>
#include <unistd.h>

/* Minor, device instance and CUDA ordinal differ everywhere. */
const struct fake_rm_gpu fixture_gpus[2] = {
	{
		.bus = 6,
		.gpu_id = 0x600,
		.minor = 2,
		.instance = 1,
		.ordinal = 0,
		.bar1_base = 0x100000000000,
		.bar1_size = 1ull << 38,
	},
	{
		.domain = 1,
		.bus = 7,
		.slot = 3,
		.gpu_id = 0x10703,
		.minor = 0,
		.instance = 2,
		.ordinal = 1,
		.bar1_base = 0x140000000000,
		.bar1_size = 1ull << 38,
	},
};

int fixture_gpus_only(void **state)
{
	fake_rm_reset();
	fake_rm_add_gpu(&fixture_gpus[0]);
	fake_rm_add_gpu(&fixture_gpus[1]);
	return 0;
}

int fixture_open(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	fixture_gpus_only(state);
	assert_non_null(fx);
	fx->ctl = gdr_rm_open_ctl();
	assert_true(fx->ctl >= 0);
	assert_int_equal(gdr_rm_client_new(fx->ctl, &fx->client), 0);
	assert_int_equal(gdr_rm_device_new(&fx->client, fixture_gpus[0].instance, &fx->device), 0);
	*state = fx;
	return 0;
}

void fixture_no_violation(void)
{
	if (fake_rm_violations())
		fail_msg("%u violations, the last: %s", fake_rm_violations(), fake_rm_violation());
}

int fixture_check_clean(void **state)
{
	struct fake_rm_counts c;

	fixture_no_violation();
	fake_rm_counts(&c);
	assert_int_equal(c.mappings, 0);
	assert_int_equal(c.windows, 0);
	assert_int_equal(c.memories, 0);
	assert_int_equal(c.devices, 0);
	assert_int_equal(c.clients, 0);
	assert_int_equal(c.gpu_files, 0);
	assert_int_equal(c.ctl_files, 0);
	return 0;
}

int fixture_close(void **state)
{
	struct fixture *fx = *state;

	fake_rm_fail_none();
	close(fx->ctl);
	free(fx);
	return fixture_check_clean(state);
}

uint32_t fixture_object(struct fixture *fx, uint64_t size, struct fake_rm_memory_info *info)
{
	uint32_t object;

	fake_rm_memory_new(size, fixture_gpus[0].instance, info);
	assert_int_equal(gdr_rm_dup(&fx->client, fx->device, info->client, info->object, &object),
			 0);
	return object;
}

int fixture_gpu_file(struct fixture *fx)
{
	int file = gdr_rm_open_gpu(fixture_gpus[0].minor);

	assert_true(file >= 0);
	assert_int_equal(gdr_rm_register(file, fx->ctl), 0);
	return file;
}
