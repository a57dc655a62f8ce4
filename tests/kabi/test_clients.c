/* SPDX-License-Identifier: MIT */
/*
 * What stands on the library, in its order of calls, with a driver that is older
 * than the library: each gets what that driver can do, and is told the driver's
 * own version, by which it leaves the rest alone.  tests/clients has the same
 * programs whole, on a simulated GPU.
 */
#include "fixture.h"

/* The header renames the v1 function; this is what is looked up by that name. */
#undef gdr_get_info
int gdr_get_info(gdr_t g, gdr_mh_t handle, void *info);

static const uint32_t served[] = { V(2, 0), V(2, 1), V(2, 4), V(2, 5), V(2, 6) };

#define HANDLE	   0x40ull
#define HAS_FORCED V(2, 5)

/* Old programs have 40 bytes for the v1 function; NVSHMEM gives it 48. */
struct info {
	uint64_t va, mapped_size;
	uint32_t page_size;
	uint64_t tm_cycles;
	uint32_t cycles_per_ms;
	unsigned mapped : 1;
	unsigned wc_mapping : 1;
	uint32_t behind[10];
};

static uint32_t driver_says(gdr_t g)
{
	int major = -1, minor = -1;

	assert_int_equal(gdr_driver_get_version(g, &major, &minor), 0);
	return V(major, minor);
}

static uint32_t library_says(void)
{
	int major = -1, minor = -1;

	gdr_runtime_get_version(&major, &minor);
	return V(major, minor);
}

static void v1_info(gdr_t g, gdr_mh_t mh, uint32_t version)
{
	struct info info;

	memset(&info, 0xa5, sizeof(info));
	will_get_info(version, HANDLE, GDR_MAPPING_TYPE_WC, 0);
	assert_int_equal(gdr_get_info(g, mh, &info), 0);
	assert_int_equal(info.va, INFO_VA);
	assert_int_equal(info.mapped_size, INFO_SIZE);
	assert_true(info.mapped && info.wc_mapping);
	for (size_t i = 0; i < COUNT(info.behind); i++)
		assert_int_equal(info.behind[i], 0xa5a5a5a5);
}

static gdr_mh_t pin_v1(gdr_t g, uint32_t version)
{
	gdr_mh_t mh = { 0 };

	will_pin(version, HANDLE, 0);
	assert_int_equal(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh), 0);
	return mh;
}

/* The newer function, also where only the library is new enough for it. */
static gdr_mh_t pin_v2(gdr_t g, uint32_t version)
{
	gdr_mh_t mh = { 0 };

	will_pin(version, HANDLE, 0);
	assert_int_equal(gdr_pin_buffer_v2(g, ADDR, SIZE, 0, &mh), 0);
	return mh;
}

/* PCIe forced, which neither an old driver nor most platforms can; then without. */
static gdr_mh_t pin_forced_or_not(gdr_t g, uint32_t version)
{
	gdr_mh_t mh = { 0 };

	if (version >= HAS_FORCED)
		will_pin_v2(ADDR, SIZE, 1, 0, EOPNOTSUPP);
	assert_int_not_equal(gdr_pin_buffer_v2(g, ADDR, SIZE, GDR_PIN_FLAG_FORCE_PCIE, &mh), 0);
	assert_int_equal(mh.h, 0);
	return pin_v2(g, version);
}

/* Words both ways, plainly and by the copy calls. */
static void use(gdr_mh_t mh, void *at)
{
	uint64_t out = 0x0123456789abcdef, in = 0;

	*(volatile uint64_t *)at = 42;
	assert_int_equal(gdr_copy_from_mapping(mh, &in, at, sizeof(in)), 0);
	assert_int_equal(in, 42);
	assert_int_equal(gdr_copy_to_mapping(mh, (char *)at + 8, &out, sizeof(out)), 0);
	assert_true(((volatile uint64_t *)at)[1] == out);
	assert_int_equal(gdr_copy_from_mapping(mh, &in, at, 4), 0);
}

static void let_go(gdr_t g, gdr_mh_t mh, void *at)
{
	will_munmap(SIZE, 0);
	assert_int_equal(gdr_unmap(g, mh, at, SIZE), 0);
	will_unpin(HANDLE, 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
}

/* NCCL and TensorRT-LLM: nothing below 2.1; the newer pin by the library's version. */
static void nccl(uint32_t version)
{
	gdr_t g = open_driver(version);
	gdr_mh_t mh;
	void *at;

	assert_true(library_says() >= V(2, 5));
	assert_int_equal(driver_says(g), version);
	if (version >= V(2, 1)) {
		mh = pin_v2(g, version);
		at = map(g, mh, version, HANDLE);
		v1_info(g, mh, version);
		use(mh, at);
		let_go(g, mh, at);
		mh = pin_v1(g, version);
		at = map(g, mh, version, HANDLE);
		v1_info(g, mh, version);
		let_go(g, mh, at);
	}
	finish(g);
}

/* NVSHMEM: the driver's version is for the log; v1 by its name, with more room. */
static void nvshmem(uint32_t version)
{
	gdr_t g = open_driver(version);
	gdr_mh_t mh;
	void *at;

	assert_int_equal(driver_says(g), version);
	mh = pin_v1(g, version);
	at = map(g, mh, version, HANDLE);
	v1_info(g, mh, version);
	use(mh, at);
	let_go(g, mh, at);
	finish(g);
}

/* UCX: opens and closes to see whether it can; the info of today. */
static void ucx(uint32_t version)
{
	gdr_info_v2_t info;
	gdr_mh_t mh;
	void *at;
	gdr_t g = open_driver(version);

	finish(g);
	driver_reset();
	g = open_driver(version);
	mh = pin_v2(g, version);
	at = map(g, mh, version, HANDLE);
	will_get_info(version, HANDLE, GDR_MAPPING_TYPE_WC, 0);
	assert_int_equal(gdr_get_info_v2(g, mh, &info), 0);
	assert_int_equal(info.mapping_type, GDR_MAPPING_TYPE_WC);
	use(mh, at);
	let_go(g, mh, at);
	finish(g);
}

/* libfabric: no versions, no info; a failure goes to strerror. */
static void libfabric(uint32_t version)
{
	gdr_t g = open_driver(version);
	gdr_mh_t mh = { 0 };
	void *at;
	int err;

	will_pin(version, 0, EINVAL);
	err = gdr_pin_buffer(g, ADDR, SIZE, 0, 0, &mh);
	assert_string_equal(strerror(err), strerror(EINVAL));
	mh = pin_v1(g, version);
	at = map(g, mh, version, HANDLE);
	use(mh, at);
	let_go(g, mh, at);
	finish(g);
}

/* aws-ofi-nccl: the older of both versions decides; one that is bypassed works as well. */
static void aws_ofi_nccl(uint32_t version)
{
	gdr_t g = open_driver(version);
	uint32_t both = driver_says(g) < library_says() ? driver_says(g) : library_says();
	gdr_mh_t mh;
	void *at;

	assert_int_equal(both >= V(2, 5), version >= V(2, 5));
	mh = pin_forced_or_not(g, version);
	at = map(g, mh, version, HANDLE);
	use(mh, at);
	let_go(g, mh, at);
	if (both < V(2, 5)) {
		mh = pin_v1(g, version);
		at = map(g, mh, version, HANDLE);
		use(mh, at);
		let_go(g, mh, at);
	}
	finish(g);
}

/* MSCCL++: a driver of 2.5 or nothing. */
static void mscclpp(uint32_t version)
{
	gdr_t g = open_driver(version);

	if (driver_says(g) >= V(2, 5)) {
		gdr_mh_t mh = pin_forced_or_not(g, version);
		void *at = map(g, mh, version, HANDLE);

		use(mh, at);
		let_go(g, mh, at);
	}
	finish(g);
}

/* DOCA GPUNetIO: neither versions nor info. */
static void doca(uint32_t version)
{
	gdr_t g = open_driver(version);
	gdr_mh_t mh = pin_v1(g, version);
	void *at = map(g, mh, version, HANDLE);

	use(mh, at);
	let_go(g, mh, at);
	finish(g);
}

/* DPDK never closes: what it opened is there until the process ends. */
static void dpdk(uint32_t version)
{
	gdr_t g = open_driver(version);
	gdr_mh_t mh = pin_v1(g, version);
	void *at = map(g, mh, version, HANDLE);

	*(volatile char *)at = 1;
	let_go(g, mh, at);
	assert_null(driver_trouble_so_far());
	/* for this process has more tests */
	finish(g);
}

static void on_each_driver(void (*client)(uint32_t version))
{
	for (size_t i = 0; i < COUNT(served); i++) {
		client(served[i]);
		driver_reset();
	}
}

#define CLIENT(name) \
	static void name##_on_each_driver(void **state) \
	{ \
		on_each_driver(name); \
	}

CLIENT(nccl)
CLIENT(nvshmem)
CLIENT(ucx)
CLIENT(libfabric)
CLIENT(aws_ofi_nccl)
CLIENT(mscclpp)
CLIENT(doca)
CLIENT(dpdk)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nccl_on_each_driver, setup),
		cmocka_unit_test_setup(nvshmem_on_each_driver, setup),
		cmocka_unit_test_setup(ucx_on_each_driver, setup),
		cmocka_unit_test_setup(libfabric_on_each_driver, setup),
		cmocka_unit_test_setup(aws_ofi_nccl_on_each_driver, setup),
		cmocka_unit_test_setup(mscclpp_on_each_driver, setup),
		cmocka_unit_test_setup(doca_on_each_driver, setup),
		cmocka_unit_test_setup(dpdk_on_each_driver, setup),
	};

	return cmocka_run_group_tests_name("kabi clients", tests, NULL, NULL);
}
