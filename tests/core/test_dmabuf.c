/* SPDX-License-Identifier: MIT */
/*
 * The dmabuf backend through the public interface: data both ways, and how long
 * what a pin holds lives.  Runs twice, with softcuda as a PCIe and as a coherent
 * platform.
 */
#include "dmabuf.h"

#include <fcntl.h>

/* Both directions, against what CUDA itself reads and writes. */
static void check_data(CUdeviceptr ptr, size_t size)
{
	/* offset, bytes; 0: to the end */
	static const size_t cuts[][2] = {
		{ 0, 0 },
		{ 0, 1 },
		{ 1, 1 },
		{ 0, 8 },
		{ 4, 4 },
		{ 3, 13 },
		{ 63, 66 },
		{ 64, 64 },
		{ 1000, 3000 },
		{ 4095, 2 },
		{ 5000, 0 },
	};
	unsigned char *out = test_malloc(size), *in = test_malloc(size);
	gdr_mh_t mh = pin(ptr, size);
	char *va = map(mh, size);

	for (size_t i = 0; i < COUNT(cuts); i++) {
		size_t at = cuts[i][0], n = cuts[i][1] ? cuts[i][1] : size - at;

		soft_fill(out, size, (unsigned)(2 * i));
		soft_write(ptr, out, size);
		soft_fill(out + at, n, (unsigned)(2 * i + 1));
		assert_int_equal(gdr_copy_to_mapping(mh, va + at, out + at, n), 0);
		assert_cuda(soft.cuMemcpyDtoH_v2(in, ptr, size));
		assert_memory_equal(in, out, size);

		soft_fill(out, size, (unsigned)(2 * i + 100));
		soft_write(ptr, out, size);
		memset(in, 0, size);
		assert_int_equal(gdr_copy_from_mapping(mh, in + at, va + at, n), 0);
		assert_memory_equal(in + at, out + at, n);
	}
	assert_int_equal(gdr_unmap(g, mh, va, size), 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	test_free(out);
	test_free(in);
}

static void data_of_cumemalloc(void **state)
{
	CUdeviceptr small = soft_alloc(64 << 10), large = soft_alloc(5 * MIB);

	check_data(small, 64 << 10);
	check_data(large, 5 * MIB);
	check_data(large + 3 * MIB, MIB);
	soft_free(small);
	soft_free(large);
}

static void data_of_vmm(void **state)
{
	struct soft_vmm v = soft_vmm_alloc(4 * MIB, true);

	check_data(v.ptr, 4 * MIB);
	check_data(v.ptr + MIB, 2 * MIB);
	soft_vmm_free(&v);
}

static void memory_outlives_its_free_until_unpin(void **state)
{
	CUdeviceptr ptr = soft_alloc(4 * MIB), next;
	unsigned char out[4096], in[4096];
	gdr_mh_t mh = pin(ptr, 4 * MIB);
	char *va = map(mh, 4 * MIB);
	int flag = 5;

	soft_fill(out, sizeof(out), 1);
	assert_int_equal(gdr_copy_to_mapping(mh, va + MIB, out, sizeof(out)), 0);
	soft_free(ptr);
	/* memory that is allocated now is not this one */
	next = soft_alloc(4 * MIB);
	soft_set(next, 0xff, 4 * MIB);
	assert_int_equal(gdr_get_callback_flag(g, mh, &flag), 0);
	assert_int_equal(flag, 0);
	assert_int_equal(gdr_copy_from_mapping(mh, in, va + MIB, sizeof(in)), 0);
	assert_memory_equal(in, out, sizeof(in));
	/* also when it is mapped again */
	assert_int_equal(gdr_unmap(g, mh, va, 4 * MIB), 0);
	va = map(mh, 4 * MIB);
	assert_int_equal(gdr_copy_from_mapping(mh, in, va + MIB, sizeof(in)), 0);
	assert_memory_equal(in, out, sizeof(in));
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	assert_false(is_mapped(va));
	soft_free(next);
}

static void close_leaves_nothing(void **state)
{
	size_t used = soft_used();
	int fds = count_fds();
	CUdeviceptr ptr = soft_alloc(4 * MIB);
	gdr_t was = g;
	char *va[3];

	for (int i = 0; i < 3; i++)
		va[i] = map(pin(ptr, 4 * MIB), 4 * MIB);
	va[0][0] = va[1][0] = va[2][0] = 1;
	soft_free(ptr);
	assert_int_equal(gdr_close(g), 0);
	for (int i = 0; i < 3; i++)
		assert_false(is_mapped(va[i]));
	assert_int_equal(count_fds(), fds);
	assert_int_equal(soft_used(), used);
	assert_int_equal(gdr_close(was), EINVAL);
	g = gdr_open();
	assert_non_null(g);
}

/* D14: what the pin holds does not survive exec. */
static void d14_the_descriptor_is_close_on_exec(void **state)
{
	CUdeviceptr ptr = soft_alloc(MIB);
	bool before[1024];
	int found = 0;
	gdr_mh_t mh;

	for (int fd = 0; fd < 1024; fd++)
		before[fd] = fcntl(fd, F_GETFD) >= 0;
	mh = pin(ptr, MIB);
	for (int fd = 0; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags < 0 || before[fd])
			continue;
		assert_true(flags & FD_CLOEXEC);
		found++;
	}
	assert_int_equal(found, 1);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	soft_free(ptr);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(data_of_cumemalloc),
		T(data_of_vmm),
		T(memory_outlives_its_free_until_unpin),
		T(close_leaves_nothing),
		T(d14_the_descriptor_is_close_on_exec),
	};
#undef T

	return cmocka_run_group_tests_name("core dmabuf", tests, soft_setup, soft_teardown);
}
