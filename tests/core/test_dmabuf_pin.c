/* SPDX-License-Identifier: MIT */
/*
 * What can be pinned and mapped on the dmabuf backend, what is refused, and what
 * the queries say.  Runs twice, with softcuda as a PCIe and as a coherent platform.
 */
#include "dmabuf.h"

static void info_says_what_is_pinned(void **state)
{
	CUdeviceptr ptr = soft_alloc(MIB);
	struct {
		struct info_v1 info;
		unsigned char canary[16];
	} v1;
	gdr_mh_t mh = pin(ptr, MIB);
	gdr_info_t info;
	void *va = NULL;

	for (int mapped = 0; mapped < 2; mapped++) {
		if (mapped)
			va = map(mh, MIB);
		assert_int_equal(gdr_get_info(g, mh, &info), 0);
		assert_int_equal(info.va, ptr);
		assert_int_equal(info.mapped_size, MIB);
		assert_int_equal(info.page_size, page_size());
		assert_int_equal(info.tm_cycles, 0);
		assert_int_equal(info.cycles_per_ms, 0);
		assert_int_equal(info.mapped, mapped);
		assert_int_equal(info.wc_mapping, mapped && !coherent);
		assert_int_equal(info.mapping_type, mapped ? own_type() : GDR_MAPPING_TYPE_NONE);
		/* D3: the old function, 40 bytes */
		memset(&v1, 0xa5, sizeof(v1));
		assert_int_equal(info_v1(g, mh, &v1.info), 0);
		assert_int_equal(v1.info.va, ptr);
		assert_int_equal(v1.info.mapped_size, MIB);
		assert_int_equal(v1.info.mapped, mapped);
		assert_int_equal(v1.info.wc_mapping, mapped && !coherent);
		for (size_t i = 0; i < sizeof(v1.canary); i++)
			assert_int_equal(v1.canary[i], 0xa5);
	}
	assert_int_equal(gdr_unmap(g, mh, va, MIB), 0);
	assert_int_equal(gdr_get_info(g, mh, &info), 0);
	assert_int_equal(info.mapping_type, GDR_MAPPING_TYPE_NONE);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	soft_free(ptr);
}

/* D6: any address can be pinned; what is not page-aligned refuses to be mapped. */
static void d6_unaligned_pins_succeed_and_do_not_map(void **state)
{
	static const size_t offsets[] = { 1, 8, 512, 4095, 4104 };
	CUdeviceptr ptr = soft_alloc(MIB);
	gdr_mh_t aligned;
	void *va = &va;

	for (size_t i = 0; i < COUNT(offsets); i++) {
		gdr_mh_t mh = pin(ptr + offsets[i], 100);
		gdr_info_t info;

		assert_int_equal(gdr_get_info(g, mh, &info), 0);
		assert_int_equal(info.va, (ptr + offsets[i]) & ~(page_size() - 1));
		assert_int_equal(gdr_map(g, mh, &va, 100), EINVAL);
		assert_error_names("only page-aligned pins can be mapped");
		assert_ptr_equal(va, &va);
		assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	}
	aligned = pin(ptr, MIB);
	assert_int_equal(gdr_unmap(g, aligned, map(aligned, MIB), MIB), 0);
	assert_int_equal(gdr_unpin_buffer(g, aligned), 0);
	soft_free(ptr);
}

/* D7: the owner of the address counts, not who else has bytes in its page. */
static void d7_two_tiny_buffers_share_a_page(void **state)
{
	CUdeviceptr a = soft_alloc(16), b = soft_alloc(16);
	gdr_mh_t ma, mb;

	assert_int_equal(a & ~(page_size() - 1), b & ~(page_size() - 1));
	ma = pin(a, 16);
	mb = pin(b, 16);
	assert_int_equal(gdr_unpin_buffer(g, ma), 0);
	assert_int_equal(gdr_unpin_buffer(g, mb), 0);
	/* nothing at the rounded-down address any more */
	soft_free(a);
	mb = pin(b, 16);
	assert_int_equal(gdr_unpin_buffer(g, mb), 0);
	soft_free(b);
}

static void sizes_are_rounded_to_pages(void **state)
{
	static const size_t sizes[] = { 1, 4095, 4096, 4097, 65535, 65536, 65537, MIB };
	CUdeviceptr ptr = soft_alloc(2 * MIB);
	void *va = &va;

	for (size_t i = 0; i < COUNT(sizes); i++) {
		size_t whole = (sizes[i] + page_size() - 1) & ~(page_size() - 1);
		gdr_mh_t mh = pin(ptr, sizes[i]);
		gdr_info_t info;
		void *at;

		assert_int_equal(gdr_get_info(g, mh, &info), 0);
		assert_int_equal(info.mapped_size, whole);
		/* longer than what is pinned: refused, whatever lies behind */
		assert_int_equal(gdr_map(g, mh, &va, whole + 1), EINVAL);
		assert_error_names("are more than");
		assert_ptr_equal(va, &va);
		at = map(mh, whole);
		assert_int_equal(gdr_unmap(g, mh, at, sizes[i]), 0);
		at = map(mh, 1);
		((volatile char *)at)[page_size() - 1] = 1;
		assert_int_equal(gdr_unmap(g, mh, at, 1), 0);
		assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	}
	soft_free(ptr);
}

/* D12: the type is the platform's; asking for another changes nothing. */
static void d12_only_the_type_there_is_can_be_asked_for(void **state)
{
	static const char *const asked[] = {
		[GDR_MAPPING_TYPE_WC] = "GDR_MAP_FLAG_REQ_WC_MAPPING was asked for",
		[GDR_MAPPING_TYPE_CACHING] = "GDR_MAP_FLAG_REQ_CACHE_MAPPING was asked for",
		[GDR_MAPPING_TYPE_DEVICE] = "GDR_MAP_FLAG_REQ_DEVICE_MAPPING was asked for",
	};
	CUdeviceptr ptr = soft_alloc(MIB);
	gdr_mh_t mh = pin(ptr, MIB);
	gdr_info_t info;
	void *va;

	for (int type = GDR_MAPPING_TYPE_WC; type <= GDR_MAPPING_TYPE_DEVICE; type++) {
		va = &va;
		if (type == (int)own_type()) {
			assert_int_equal(gdr_map_v2(g, mh, &va, MIB, type), 0);
			assert_int_equal(gdr_unmap(g, mh, va, MIB), 0);
			continue;
		}
		assert_int_equal(gdr_map_v2(g, mh, &va, MIB, type), EINVAL);
		assert_error_names(asked[type]);
		assert_error_names(coherent ? "only be mapped as GDR_MAPPING_TYPE_CACHING; use" :
				   "only be mapped as GDR_MAPPING_TYPE_WC; use");
		assert_ptr_equal(va, &va);
		assert_int_equal(gdr_get_info(g, mh, &info), 0);
		assert_int_equal(info.mapped, 0);
	}
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	soft_free(ptr);
}

static void pcie_can_be_forced_where_there_is_another_way(void **state)
{
	CUdeviceptr ptr = soft_alloc(MIB);
	gdr_mh_t mh = { 3 };
	gdr_info_t info;
	int v = -1;
	void *va;

	assert_int_equal(gdr_get_attribute(g, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &v), 0);
	assert_int_equal(v, coherent);
	if (!coherent) {
		assert_int_equal(gdr_pin_buffer_v2(g, ptr, MIB, GDR_PIN_FLAG_FORCE_PCIE, &mh),
				 ENOTSUP);
		assert_error_names("only coherent platforms can");
		assert_int_equal(mh.h, 3);
	} else {
		assert_int_equal(gdr_pin_buffer_v2(g, ptr, MIB, GDR_PIN_FLAG_FORCE_PCIE, &mh), 0);
		assert_int_equal(gdr_map_v2(g, mh, &va, MIB, GDR_MAP_FLAG_REQ_CACHE_MAPPING),
				 EINVAL);
		assert_int_equal(gdr_map(g, mh, &va, MIB), 0);
		assert_int_equal(gdr_get_info(g, mh, &info), 0);
		assert_int_equal(info.mapping_type, GDR_MAPPING_TYPE_WC);
		assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	}
	soft_free(ptr);
}

static void what_is_no_device_memory_is_refused(void **state)
{
	CUdeviceptr ptr = soft_alloc(MIB), managed = 0;
	struct soft_vmm v = soft_vmm_alloc(2 * MIB, false);
	gdr_mh_t mh = { 3 };
	void *host;

	assert_cuda(soft.cuMemAllocHost_v2(&host, MIB));
	assert_cuda(soft.cuMemAllocManaged(&managed, MIB, 1));
	assert_int_equal(gdr_pin_buffer(g, (unsigned long)&mh, 8, 0, 0, &mh), EINVAL);
	assert_error_names("it is no device memory");
	assert_int_equal(gdr_pin_buffer(g, (unsigned long)host, MIB, 0, 0, &mh), ENOTSUP);
	assert_error_names("cuMemGetHandleForAddressRange failed with CUDA_ERROR_NOT_SUPPORTED");
	assert_error_names("managed and host memory cannot be pinned");
	assert_int_equal(gdr_pin_buffer(g, managed, MIB, 0, 0, &mh), ENOTSUP);
	assert_error_names("managed and host memory cannot be pinned");
	assert_int_equal(gdr_pin_buffer(g, v.ptr, MIB, 0, 0, &mh), ENOTSUP);
	assert_error_names("gpuDirectRDMACapable");
	assert_cuda(soft.cuMemFreeHost(host));
	soft_free(managed);
	soft_vmm_free(&v);
	assert_int_equal(mh.h, 3);
	soft_free(ptr);
}

/* A whole GPU page around 64 bytes, as clients pin that round: whoever has the rest. */
static void a_gpu_page_around_a_tiny_buffer(void **state)
{
	CUdeviceptr tiny = soft_alloc(64), next = soft_alloc(2 * GPU_PAGE_SIZE), again;
	unsigned char out[64], in[64], *va;
	size_t at = page_size() + 512;          /* in next, and not in the page of tiny */
	gdr_mh_t mh;

	assert_int_equal(tiny % GPU_PAGE_SIZE, 0);
	assert_int_equal(next, tiny + 512);
	mh = pin(tiny, GPU_PAGE_SIZE);
	va = map(mh, GPU_PAGE_SIZE);
	soft_fill(out, sizeof(out), 1);
	assert_int_equal(gdr_copy_to_mapping(mh, va, out, sizeof(out)), 0);
	assert_cuda(soft.cuMemcpyDtoH_v2(in, tiny, sizeof(in)));
	assert_memory_equal(in, out, sizeof(in));
	soft_set(next, 0x21, 2 * GPU_PAGE_SIZE);
	assert_int_equal(gdr_copy_from_mapping(mh, in, va + at, sizeof(in)), 0);
	assert_int_equal(in[0], 0x21);
	assert_int_equal(va[512], 0x21);
	assert_int_equal(va[GPU_PAGE_SIZE - 1], 0x21);
	soft_free(next);
	again = soft_alloc(2 * GPU_PAGE_SIZE);
	assert_int_equal(again, next);
	soft_set(again, 0x22, 2 * GPU_PAGE_SIZE);
	assert_int_equal(va[512], 0x22);
	assert_int_equal(va[at], 0x22);
	assert_int_equal(gdr_copy_to_mapping(mh, va + at, out, sizeof(out)), 0);
	assert_cuda(soft.cuMemcpyDtoH_v2(in, tiny + at, sizeof(in)));
	assert_memory_equal(in, out, sizeof(in));
	soft_free(again);
	assert_int_equal(va[0], out[0]);
	assert_int_equal(gdr_unmap(g, mh, va, GPU_PAGE_SIZE), 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	soft_free(tiny);
}

static void a_range_must_be_one_allocation(void **state)
{
	CUdeviceptr ptr = soft_alloc(2 * MIB);
	gdr_mh_t mh = { 3 };

	/* D23: up to the largest size there is */
	assert_int_equal(gdr_pin_buffer(g, ptr, 2 * MIB + 1, 0, 0, &mh), EINVAL);
	assert_int_equal(gdr_pin_buffer(g, ptr, 64 * MIB, 0, 0, &mh), EINVAL);
	assert_int_equal(gdr_pin_buffer(g, ptr, SIZE_MAX - ptr - 2 * GPU_PAGE_SIZE, 0, 0, &mh),
			 EINVAL);
	assert_error_names("CUDA_ERROR_INVALID_VALUE");
	assert_error_names("must lie in one allocation");
	soft_free(ptr);
	assert_int_equal(gdr_pin_buffer(g, ptr, MIB, 0, 0, &mh), EINVAL);
	assert_error_names("cuPointerGetAttribute");
	assert_int_equal(mh.h, 3);
}

static void attributes_and_versions(void **state)
{
	int v = -1, major = 0, minor = 0;

	assert_string_equal(gdrx_backend_name(g), "dmabuf");
	assert_int_equal(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &v), 0);
	assert_int_equal(v, 1);
	assert_int_equal(gdr_get_attribute(g, GDR_ATTR_USING_DMA_BUF_MMAP, &v), 0);
	assert_int_equal(v, 1);
	/* D2: an answer, and the one that clients gate features on */
	assert_int_equal(gdr_driver_get_version(g, &major, &minor), 0);
	assert_int_equal(major, 2);
	assert_int_equal(minor, 6);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(info_says_what_is_pinned),
		T(d6_unaligned_pins_succeed_and_do_not_map),
		T(d7_two_tiny_buffers_share_a_page),
		T(sizes_are_rounded_to_pages),
		T(d12_only_the_type_there_is_can_be_asked_for),
		T(pcie_can_be_forced_where_there_is_another_way),
		T(what_is_no_device_memory_is_refused),
		T(a_gpu_page_around_a_tiny_buffer),
		T(a_range_must_be_one_allocation),
		T(attributes_and_versions),
	};
#undef T

	return cmocka_run_group_tests_name("core dmabuf pin", tests, soft_setup, soft_teardown);
}
