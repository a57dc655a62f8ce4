/* SPDX-License-Identifier: MIT */
/* Description: exported ranges alias device memory, outlive it, and never lie. */
#include <fcntl.h>

#include "soft.h"

static void shows_the_range_and_aliases(void **state)
{
	CUdeviceptr p = alloc(3 * MIB);
	uint32_t *w;

	poke(p + MIB, 11);
	w = window(p + MIB, 64 * KIB);
	assert_int_equal(w[0], 11);
	w[1] = 12;
	assert_int_equal(peek(p + MIB + 4), 12);
	poke(p + MIB + 8, 13);
	assert_int_equal(w[2], 13);
	ok(cuMemsetD8_v2(p, 0x5a, 3 * MIB));
	assert_int_equal(w[64 * KIB / 4 - 1], 0x5a5a5a5a);
	munmap(w, 64 * KIB);
	assert_int_equal(peek(p + MIB), 0x5a5a5a5a);
	ok(cuMemFree_v2(p));
}

/* size + 64 KiB, rounded up: the usual way to get a page-aligned buffer */
static void aligned_ranges_of_small_allocations(void **state)
{
	CUdeviceptr p[14], at[14];
	uint32_t *w[14];

	for (unsigned int i = 0; i < 14; i++) {
		p[i] = alloc(64 * KIB + 65535);
		at[i] = (p[i] + 65535) & ~65535ULL;
		poke(at[i], i + 1);
		w[i] = window(at[i], 64 * KIB);
	}
	for (unsigned int i = 0; i < 14; i++) {
		assert_int_equal(w[i][0], i + 1);
		w[i][1] = 100 + i;
		assert_int_equal(peek(at[i] + 4), 100 + i);
	}
	for (unsigned int i = 0; i < 14; i++) {
		ok(cuMemFree_v2(p[i]));
		assert_int_equal(w[i][1], 100 + i);
		munmap(w[i], 64 * KIB);
	}
}

static void again_and_again(void **state)
{
	CUdeviceptr p = alloc(2 * MIB), at = p + 64 * KIB;

	for (uint32_t i = 0; i < 50; i++) {
		size_t size = (i % 3 + 1) * 64 * KIB;
		uint32_t *w = window(at, size);

		assert_int_equal(w[0], i);
		w[0] = i + 1;
		w[size / 4 - 1] = i;
		assert_int_equal(peek(at), i + 1);
		assert_int_equal(peek(at + size - 4), i);
		munmap(w, size);
	}
	ok(cuMemFree_v2(p));
}

static void same_start_other_length_at_once(void **state)
{
	CUdeviceptr p = alloc(3 * MIB);

	for (uint64_t off = 0; off < 2 * MIB; off += MIB) {
		uint32_t *mid = window(p + off, 64 * KIB), *small, *big;

		mid[0] = 1;
		big = window(p + off, MIB);
		small = window(p + off, PAGE);
		assert_int_equal(big[0], 1);
		assert_int_equal(small[0], 1);
		big[64 * KIB / 4] = 9;
		small[1] = 8;
		assert_int_equal(mid[1], 8);
		assert_int_equal(big[1], 8);
		assert_int_equal(peek(p + off + 64 * KIB), 9);
		poke(p + off + 8, 7);
		assert_int_equal(mid[2], 7);
		assert_int_equal(big[2], 7);
		munmap(small, PAGE);
		munmap(mid, 64 * KIB);
		munmap(big, MIB);
	}
	ok(cuMemFree_v2(p));
}

static void two_buffers_in_one_page(void **state)
{
	CUdeviceptr p = alloc(512), q = alloc(512);
	uint32_t *a, *b;

	assert_int_equal(p & ~(PAGE - 1), q & ~(PAGE - 1));
	a = window(p & ~(PAGE - 1), PAGE);
	b = window(q & ~(PAGE - 1), PAGE);
	poke(p, 1);
	poke(q, 2);
	assert_int_equal(a[(p & (PAGE - 1)) / 4], 1);
	assert_int_equal(a[(q & (PAGE - 1)) / 4], 2);
	b[0] = 3;
	assert_int_equal(a[0], 3);
	/* The page stays shared while one of the two is alive. */
	ok(cuMemFree_v2(p));
	poke(q, 4);
	assert_int_equal(a[(q & (PAGE - 1)) / 4], 4);
	munmap(a, PAGE);
	munmap(b, PAGE);
	ok(cuMemFree_v2(q));
}

/* Where pages cannot be shown twice the export fails; it never shows copies. */
static void other_start_while_held(void **state)
{
	int have_udmabuf = !access("/dev/udmabuf", R_OK | W_OK), fd = -1;
	CUdeviceptr p = alloc(2 * MIB);
	uint32_t *w = window(p, MIB), *v;
	CUresult res = export_range(p + 512 * KIB, 64 * KIB, &fd);

	w[512 * KIB / 4] = 77;
	if (have_udmabuf && !res) {
		v = mmap(NULL, 64 * KIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		assert_ptr_not_equal(v, MAP_FAILED);
		assert_int_equal(v[0], 77);
		munmap(v, 64 * KIB);
		close(fd);
	} else {
		assert_int_equal(res, CUDA_ERROR_NOT_SUPPORTED);
		assert_int_equal(fd, -1);
	}
	assert_int_equal(peek(p + 512 * KIB), 77);
	/* The rest of the allocation is free to be shown. */
	v = window(p + MIB, 64 * KIB);
	v[0] = 5;
	assert_int_equal(peek(p + MIB), 5);
	/* A mapping alone holds the pages; without it they can be had. */
	munmap(w, MIB);
	if (!have_udmabuf) {
		w = window(p + 512 * KIB, 64 * KIB);
		assert_int_equal(w[0], 77);
		munmap(w, 64 * KIB);
		w = window(p, MIB);
		assert_int_equal(w[512 * KIB / 4], 77);
		munmap(w, MIB);
	}
	assert_int_equal(v[0], 5);
	munmap(v, 64 * KIB);
	ok(cuMemFree_v2(p));
}

static void held_by_a_child(void **state)
{
	CUdeviceptr p = alloc(2 * MIB);
	uint32_t *w = window(p, MIB);
	int fd = -1, go[2];
	pid_t pid;

	if (!access("/dev/udmabuf", R_OK | W_OK))
		skip();
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		char c;

		close(go[1]);
		_exit(read(go[0], &c, 1) == 0 ? 0 : 1);
	}
	munmap(w, MIB);
	expect(export_range(p + 64 * KIB, 64 * KIB, &fd), CUDA_ERROR_NOT_SUPPORTED);
	close(go[0]);
	close(go[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	w = window(p + 64 * KIB, 64 * KIB);
	munmap(w, 64 * KIB);
	ok(cuMemFree_v2(p));
}

static void outlives_the_memory(void **state)
{
	size_t before = free_memory();
	CUdeviceptr p = alloc(64 * KIB), q = alloc(64 * KIB), r, big = alloc(4 * MIB);
	uint32_t *w = window(q, 64 * KIB), *v = window(big, 4 * MIB), *u;

	w[0] = 21;
	v[0] = 22;
	ok(cuMemFree_v2(big));
	ok(cuMemFree_v2(q));
	assert_int_equal(w[0], 21);
	assert_int_equal(v[0], 22);
	/* The place is used again; the old window keeps to itself. */
	r = alloc(64 * KIB);
	assert_int_equal(r, q);
	ok(cuMemsetD8_v2(r, 0xee, 64 * KIB));
	assert_int_equal(w[0], 21);
	u = window(r, 64 * KIB);
	assert_int_equal(u[0], 0xeeeeeeee);
	w[0] = 23;
	assert_int_equal(u[0], 0xeeeeeeee);
	ok(cuMemFree_v2(r));
	ok(cuMemFree_v2(p));
	assert_int_equal(before, free_memory());
	assert_int_equal(w[0], 23);
	assert_int_equal(u[0], 0xeeeeeeee);
	munmap(u, 64 * KIB);
	munmap(v, 4 * MIB);
	munmap(w, 64 * KIB);
}

static void descriptors_do_not_pile_up(void **state)
{
	CUdeviceptr keep = alloc(512);
	int first = dup(0), last;

	close(first);
	for (int i = 0; i < 200; i++) {
		CUdeviceptr p = alloc(64 * KIB), at = (p + PAGE - 1) & ~(PAGE - 1);
		uint32_t *w = window(at, 32 * KIB);

		if (i & 1)
			munmap(w, 32 * KIB);
		ok(cuMemFree_v2(p));
		if (!(i & 1))
			munmap(w, 32 * KIB);
	}
	last = dup(0);
	assert_true(last - first < 8);
	close(last);
	ok(cuMemFree_v2(keep));
}

static void vmm_ranges(void **state)
{
	struct vmm v = vmm_new(4 * MIB, 0);
	uint32_t *w = window(v.ptr, 4 * MIB), *u;

	w[MIB - 1] = 31;
	assert_int_equal(peek(v.ptr + 4 * MIB - 4), 31);
	munmap(w, 4 * MIB);
	u = window(v.ptr + 2 * MIB, 64 * KIB);
	u[0] = 32;
	assert_int_equal(peek(v.ptr + 2 * MIB), 32);
	vmm_free(&v);
	assert_int_equal(u[0], 32);
	munmap(u, 64 * KIB);
}

/* Two allocations side by side make one range if they are alike. */
static void vmm_range_over_two(void **state)
{
	CUmemAllocationProp plain = vmm_prop(0, 0), rdma = vmm_prop(0, 1);
	CUmemGenericAllocationHandle h[3];
	CUdeviceptr p;
	uint32_t *w;
	int fd;

	ok(cuMemAddressReserve(&p, 8 * MIB, 0, 0, 0));
	ok(cuMemCreate(&h[0], 2 * MIB, &rdma, 0));
	ok(cuMemCreate(&h[1], 2 * MIB, &rdma, 0));
	ok(cuMemCreate(&h[2], 2 * MIB, &plain, 0));
	for (unsigned int i = 0; i < 3; i++)
		ok(cuMemMap(p + i * 2 * MIB, 2 * MIB, 0, h[i], 0));
	vmm_access(p, 6 * MIB, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	poke(p + 2 * MIB - 4, 1);
	poke(p + 2 * MIB, 2);
	w = window(p + MIB, 2 * MIB);
	assert_int_equal(w[MIB / 4 - 1], 1);
	assert_int_equal(w[MIB / 4], 2);
	w[MIB / 4] = 3;
	assert_int_equal(peek(p + 2 * MIB), 3);
	munmap(w, 2 * MIB);
	w = window(p, 4 * MIB);
	assert_int_equal(w[2 * MIB / 4 - 1], 1);
	assert_int_equal(w[2 * MIB / 4], 3);
	w[0] = 4;
	assert_int_equal(peek(p), 4);
	munmap(w, 4 * MIB);
	expect(export_range(p, 6 * MIB, &fd), CUDA_ERROR_INVALID_VALUE);
	expect(export_range(p + 4 * MIB, 2 * MIB, &fd), CUDA_ERROR_NOT_SUPPORTED);
	expect(export_range(p + 4 * MIB, 4 * MIB, &fd), CUDA_ERROR_INVALID_VALUE);
	expect(export_range(p + 6 * MIB, PAGE, &fd), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemUnmap(p, 6 * MIB));
	for (int i = 0; i < 3; i++)
		ok(cuMemRelease(h[i]));
	ok(cuMemAddressFree(p, 8 * MIB));
}

static void arguments(void **state)
{
	CUdeviceptr p = alloc(64 * KIB + 1), managed, async;
	int fd = -1;
	void *host;

	expect(export_range(p + 512, PAGE, &fd), CUDA_ERROR_INVALID_VALUE);
	expect(export_range(p, 100, &fd), CUDA_ERROR_INVALID_VALUE);
	expect(export_range(p, 0, &fd), CUDA_ERROR_INVALID_VALUE);
	expect(export_range(0, PAGE, &fd), CUDA_ERROR_INVALID_VALUE);
	expect(export_range(p, 2 * MIB + PAGE, &fd), CUDA_ERROR_INVALID_VALUE);
	expect(export_range(p + MIB, PAGE, &fd), CUDA_ERROR_INVALID_VALUE);
	expect(export_range(p, PAGE, NULL), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemGetHandleForAddressRange(&fd, p, PAGE, (CUmemRangeHandleType)2, 0),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuMemGetHandleForAddressRange(&fd, p, PAGE, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 2),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuMemGetHandleForAddressRange(&fd, p, PAGE, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
					     GDR_CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE),
	       CUDA_ERROR_NOT_SUPPORTED);
	ok(cuMemAllocManaged(&managed, PAGE, CU_MEM_ATTACH_GLOBAL));
	expect(export_range(managed, PAGE, &fd), CUDA_ERROR_NOT_SUPPORTED);
	ok(cuMemAllocHost_v2(&host, PAGE));
	expect(export_range((uintptr_t)host, PAGE, &fd), CUDA_ERROR_NOT_SUPPORTED);
	ok(cuMemAllocAsync(&async, PAGE, NULL));
	expect(export_range(async, PAGE, &fd), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(fd, -1);
	/* The last page is whole although the allocation is not. */
	ok(export_range(p, 68 * KIB, &fd));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	ok(cuMemFreeAsync(async, NULL));
	ok(cuMemFreeHost(host));
	ok(cuMemFree_v2(managed));
	ok(cuMemFree_v2(p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_the_range_and_aliases),
		cmocka_unit_test(aligned_ranges_of_small_allocations),
		cmocka_unit_test(again_and_again),
		cmocka_unit_test(same_start_other_length_at_once),
		cmocka_unit_test(two_buffers_in_one_page),
		cmocka_unit_test(other_start_while_held),
		cmocka_unit_test(held_by_a_child),
		cmocka_unit_test(outlives_the_memory),
		cmocka_unit_test(descriptors_do_not_pile_up),
		cmocka_unit_test(vmm_ranges),
		cmocka_unit_test(vmm_range_over_two),
		cmocka_unit_test(arguments),
	};

	return cmocka_run_group_tests(tests, with_context, without_context);
}
