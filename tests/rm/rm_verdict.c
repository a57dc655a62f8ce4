/* SPDX-License-Identifier: MIT */
/*
 * What the check on scratch memory says, and for how long: the driver's refusals
 * are kept, in its own words; what CUDA cannot do just now is tried again.
 */
#include "soft_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "softcuda_hooks.h"

#define CHECK(call) assert_int_equal(call, CUDA_SUCCESS)

/* Memory of both kinds, and a context that has verified neither. */
struct both {
	CUdeviceptr ptr;
	struct vmm v;
	gdr_t g;
};

static struct both both_new(void)
{
	struct both b;

	soft_use(0);
	b.ptr = cuda_alloc(2 * MIB);
	vmm_new(0, 2 * MIB, 1, POSIX_FD, &b.v);
	b.g = gdr_open();
	assert_non_null(b.g);
	return b;
}

static void both_free(struct both *b)
{
	assert_int_equal(gdr_close(b->g), 0);
	cuda_free(b->ptr);
	vmm_free(&b->v);
	assert_true(soft_is_clean());
}

static void cuda_failure_is_not_for_ever(void **state)
{
	static const char *const faults[] = {
		"cuMemcpyHtoDAsync:1:906",
		"cuMemcpyHtoDAsync:1:700",
		"cuMemcpyHtoDAsync:10:700",     /* of VMM memory, after 3 for each sample */
		"cuMemcpyDtoHAsync:1:719",
		"cuMemcpyDtoHAsync:2:719",
		"cuStreamCreate:1:900",
		"cuStreamSynchronize:3:719",
		"cuIpcGetMemHandle:2:999",
		"cuMemAlloc:1:709",
		"cuMemCreate:1:999",
		"cuMemMap:1:999",
		"cuMemExportToShareableHandle:2:999",
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct both b = both_new();
		gdr_mh_t mh;
		int ret;

		assert_int_equal(softcuda_set_faults(faults[i]), 0);
		ret = gdr_pin_buffer(b.g, b.ptr, 2 * MIB, 0, 0, &mh);
		if (ret == 0)
			ret = gdr_pin_buffer(b.g, b.v.ptr, 2 * MIB, 0, 0, &mh);
		assert_int_equal(softcuda_set_faults(NULL), 0);
		if (ret == 0 || ret == ENOTSUP || !strstr(gdrx_last_error(), "scratch memory"))
			fail_msg("%s: pin gave %d: %s", faults[i], ret, gdrx_last_error());
		round_trip(b.g, b.ptr, 2 * MIB);
		round_trip(b.g, b.v.ptr, 2 * MIB);
		both_free(&b);
	}
}

static void refusal_is_kept_in_the_drivers_words(void **state)
{
	static const struct {
		uint32_t status;
		const char *name, *remedy;
	} rows[] = {
		{ 0x56, "0x56", "confidential computing" },
		{ 0x1b, "0x1b", "CUDA context on its GPU" },
		{ 0x40, "0x40", "MIG" },
		{ 0x1f, "0x1f", "driver release" },
	};
	static const enum fake_rm_step steps[] = { FAKE_RM_DUP, FAKE_RM_IMPORT, FAKE_RM_MAP };

	for (size_t i = 0; i < 12; i++) {
		enum fake_rm_step step = steps[i % 3];
		struct both b = both_new();

		fake_rm_fail(step, 1, 100, rows[i / 3].status, 0);
		if (step != FAKE_RM_IMPORT) {
			refuse_pin(b.g, b.ptr, 2 * MIB, ENOTSUP, rows[i / 3].name);
			assert_non_null(strstr(gdrx_last_error(), rows[i / 3].remedy));
		}
		if (step != FAKE_RM_DUP) {
			refuse_pin(b.g, b.v.ptr, 2 * MIB, ENOTSUP, rows[i / 3].name);
			assert_non_null(strstr(gdrx_last_error(), rows[i / 3].remedy));
		}
		fake_rm_fail_none();
		refuse_pin(b.g, step == FAKE_RM_IMPORT ? b.v.ptr : b.ptr, 2 * MIB, ENOTSUP,
			   rows[i / 3].remedy);
		both_free(&b);
	}
}

/* A node that may not be opened, or is not there, can be mended: nothing is learned from it. */
static void node_is_not_for_ever(void **state)
{
	static const int errs[] = { EACCES, EPERM, ENOENT, ENXIO };

	for (size_t i = 0; i < sizeof(errs) / sizeof(errs[0]); i++) {
		struct both b = both_new();

		fake_rm_fail(FAKE_RM_OPEN_GPU, 1, 100, 0, errs[i]);
		refuse_pin(b.g, b.ptr, 2 * MIB, errs[i], "/dev/nvidia");
		refuse_pin(b.g, b.v.ptr, 2 * MIB, errs[i], "/dev/nvidia");
		fake_rm_fail_none();
		round_trip(b.g, b.ptr, 2 * MIB);
		round_trip(b.g, b.v.ptr, 2 * MIB);
		both_free(&b);
	}
}

static void lose_client(uint32_t w[16])
{
	w[12] = 0;
}

static uint32_t first_object;

/* Names that are right for the first sample and stay there. */
static void same_object_for_all(uint32_t w[16])
{
	if (!first_object)
		first_object = w[13];
	w[13] = first_object;
}

static void words_that_name_nothing(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);

	soft_twist_ipc = lose_client;
	refuse_pin(*state, ptr, 2 * MIB, ENOTSUP, "no words of CUDA's IPC handle name");
	cuda_free(ptr);
}

static void words_that_name_other_memory(void **state)
{
	CUdeviceptr ptr = cuda_alloc(8 * MIB);

	/* The first is that of the pin, where the samples are to be found as well. */
	first_object = 0;
	soft_twist_ipc = same_object_for_all;
	refuse_pin(*state, ptr, 2 * MIB, ENOTSUP, "shows other memory");
	cuda_free(ptr);
}

static void cuda_that_is_not_initialised(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);

	assert_int_equal(softcuda_set_faults("cuPointerGetAttributes:1:3"), 0);
	refuse_pin(*state, ptr, 2 * MIB, ENODEV, "call cuInit first");
	assert_int_equal(softcuda_set_faults(NULL), 0);
	assert_non_null(strstr(gdrx_last_error(), "after fork"));
	cuda_free(ptr);
}

static void no_room_for_scratch_memory(void **state)
{
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	struct vmm v;

	vmm_new(0, 2 * MIB, 1, POSIX_FD, &v);
	assert_int_equal(softcuda_set_faults("cuMemAlloc:*:2,cuMemCreate:*:2"), 0);
	refuse_pin(*state, ptr, 2 * MIB, ENOMEM, "6 MiB free");
	refuse_pin(*state, v.ptr, 2 * MIB, ENOMEM, "2 MiB free");
	assert_int_equal(softcuda_set_faults(NULL), 0);
	cuda_free(ptr);
	vmm_free(&v);
}

/* The check's copies do not wait for work in streams that the default stream waits for. */
static void copies_beside_a_running_kernel(void **state)
{
	static const char ptx[] =
		".version 7.0\n.target sm_70\n.address_size 64\n"
		".visible .entry softcuda_spin_until(.param .u64 p, .param .u32 v)\n{ ret; }\n";
	CUdeviceptr ptr = cuda_alloc(2 * MIB);
	unsigned go = 1;
	void *params[] = { &ptr, &go };
	CUfunction spin;
	CUmodule module;
	CUstream stream;
	gdr_mh_t mh;
	void *va;

	pattern_to_device(ptr, 2 * MIB, 7);
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&spin, module, "softcuda_spin_until"));
	CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
	CHECK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
	soft_put_off_frees();
	alarm(60);                      /* a check that waits would do so for ever */
	assert_int_equal(gdr_pin_buffer(*state, ptr, 2 * MIB, 0, 0, &mh), 0);
	assert_int_equal(gdr_map(*state, mh, &va, 4 * KIB), 0);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	*(volatile unsigned *)va = go;
	CHECK(cuStreamSynchronize(stream));
	alarm(0);
	soft_free_now();
	CHECK(cuStreamDestroy_v2(stream));
	CHECK(cuModuleUnload(module));
	assert_int_equal(gdr_unpin_buffer(*state, mh), 0);
	cuda_free(ptr);
}

/* A driver that takes no request of ours is found by gdr_open, not by the first pin. */
static void driver_that_takes_no_request(void **state)
{
	fake_rm_fail(FAKE_RM_CLIENT, 1, 1000, 0, ENOTTY);
	assert_null(gdr_open());
	assert_non_null(strstr(gdrx_open_report(), "driver ABI unknown"));
	fake_rm_fail(FAKE_RM_CLIENT, 1, 1000, 0x1b, 0);
	assert_null(gdr_open());
	assert_non_null(strstr(gdrx_open_report(), "0x1b"));
	fake_rm_fail_none();
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, soft_open, soft_close)
#define BARE(f) cmocka_unit_test_setup_teardown(f, soft_reset, soft_check_clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BARE(cuda_failure_is_not_for_ever),
		BARE(refusal_is_kept_in_the_drivers_words),
		BARE(node_is_not_for_ever),
		TEST(words_that_name_nothing),
		TEST(words_that_name_other_memory),
		TEST(cuda_that_is_not_initialised),
		TEST(no_room_for_scratch_memory),
		TEST(copies_beside_a_running_kernel),
		BARE(driver_that_takes_no_request),
	};

	return cmocka_run_group_tests_name("rm_verdict", tests, soft_start, NULL);
}
