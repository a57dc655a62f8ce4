/* SPDX-License-Identifier: MIT */
/* Description: virtual memory management, and memory shared by descriptor. */
#include <fcntl.h>

#include "peer.h"

#define BLOCK (2 * MIB)

static void properties(void **state)
{
	CUmemAllocationProp p = vmm_prop(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1), got, bad;
	CUmemGenericAllocationHandle h;
	size_t g = 0;

	ok(cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	assert_int_equal(g, BLOCK);
	ok(cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
	assert_int_equal(g, BLOCK);
	expect(cuMemGetAllocationGranularity(NULL, &p, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemGetAllocationGranularity(&g, NULL, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemGetAllocationGranularity(&g, &p, (CUmemAllocationGranularity_flags)2),
	       CUDA_ERROR_INVALID_VALUE);
	ok(cuMemCreate(&h, BLOCK, &p, 0));
	memset(&got, 0xff, sizeof(got));
	ok(cuMemGetAllocationPropertiesFromHandle(&got, h));
	assert_memory_equal(&got, &p, sizeof(p));
	expect(cuMemGetAllocationPropertiesFromHandle(NULL, h), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemRelease(h));
	expect(cuMemGetAllocationPropertiesFromHandle(&got, h), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemRelease(h), CUDA_ERROR_INVALID_VALUE);

	expect(cuMemCreate(NULL, BLOCK, &p, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemCreate(&h, 0, &p, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemCreate(&h, 64 * KIB, &p, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemCreate(&h, BLOCK, &p, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemCreate(&h, BLOCK, NULL, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemCreate(&h, 2048 * MIB, &p, 0), CUDA_ERROR_OUT_OF_MEMORY);
#define BAD(field, value, want) \
	do { \
		bad = p; \
		bad.field = value; \
		expect(cuMemCreate(&h, BLOCK, &bad, 0), want); \
	} while (0)
	BAD(type, CU_MEM_ALLOCATION_TYPE_INVALID, CUDA_ERROR_INVALID_VALUE);
	BAD(location.type, CU_MEM_LOCATION_TYPE_INVALID, CUDA_ERROR_INVALID_VALUE);
	BAD(location.id, 1, CUDA_ERROR_INVALID_DEVICE);
	BAD(win32HandleMetaData, &p, CUDA_ERROR_INVALID_VALUE);
	BAD(requestedHandleTypes, (CUmemAllocationHandleType)2, CUDA_ERROR_INVALID_VALUE);
	BAD(requestedHandleTypes, CU_MEM_HANDLE_TYPE_FABRIC, CUDA_ERROR_NOT_PERMITTED);
	BAD(allocFlags.compressionType, 1, CUDA_ERROR_NOT_SUPPORTED);
	BAD(allocFlags.gpuDirectRDMACapable, 2, CUDA_ERROR_INVALID_VALUE);
	BAD(allocFlags.reserved[3], 1, CUDA_ERROR_INVALID_VALUE);
#undef BAD
}

static void reserving(void **state)
{
	CUdeviceptr p, q;

	ok(cuMemAddressReserve(&p, 3 * BLOCK, 0, 0, 0));
	assert_int_equal(p % BLOCK, 0);
	expect(cuMemAddressFree(p, BLOCK), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemAddressFree(p + BLOCK, BLOCK), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemAddressFree(p, 3 * BLOCK));
	expect(cuMemAddressFree(p, 3 * BLOCK), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemAddressReserve(&q, 3 * BLOCK, 0, p, 0));
	assert_int_equal(q, p);
	ok(cuMemAddressReserve(&p, BLOCK, 0, q, 0));    /* the hint is taken */
	assert_int_not_equal(q, p);
	ok(cuMemAddressFree(p, BLOCK));
	ok(cuMemAddressFree(q, 3 * BLOCK));
	ok(cuMemAddressReserve(&p, BLOCK, 1024 * MIB, 0, 0));
	assert_int_equal(p % (1024 * MIB), 0);
	ok(cuMemAddressFree(p, BLOCK));
	expect(cuMemAddressReserve(NULL, BLOCK, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemAddressReserve(&p, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemAddressReserve(&p, 4096, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemAddressReserve(&p, BLOCK, 3 * BLOCK, 0, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemAddressReserve(&p, BLOCK, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemAddressReserve(&p, 1ULL << 60, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

static void mapping(void **state)
{
	CUmemAllocationProp prop = vmm_prop(0, 1);
	CUmemAccessDesc d = { { CU_MEM_LOCATION_TYPE_DEVICE, 0 }, CU_MEM_ACCESS_FLAGS_PROT_READ };
	CUmemGenericAllocationHandle a, b;
	CUdeviceptr p;
	uint32_t v;

	ok(cuMemAddressReserve(&p, 4 * BLOCK, 0, 0, 0));
	ok(cuMemCreate(&a, 2 * BLOCK, &prop, 0));
	ok(cuMemCreate(&b, BLOCK, &prop, 0));
	expect(cuMemMap(p + 4096, BLOCK, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemMap(p, BLOCK + 4096, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemMap(p, BLOCK, BLOCK, a, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemMap(p, BLOCK, 0, a, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemMap(p, 3 * BLOCK, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemMap(p + 3 * BLOCK, 2 * BLOCK, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemMap(p - BLOCK, BLOCK, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemMap(p, BLOCK, 0, a + 1000, 0), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemMap(p + BLOCK, 2 * BLOCK, 0, a, 0));
	expect(cuMemMap(p + BLOCK, BLOCK, 0, b, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemMap(p + 2 * BLOCK, BLOCK, 0, b, 0), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemMap(p, BLOCK, 0, b, 0));
	expect(cuMemAddressFree(p, 4 * BLOCK), CUDA_ERROR_INVALID_VALUE);

	/* No access, read access, all access. */
	expect(cuMemcpyDtoH_v2(&v, p, 4), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemSetAccess(p, BLOCK, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemSetAccess(p, BLOCK, &d, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemSetAccess(p + BLOCK, BLOCK, &d, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemSetAccess(p, 4 * BLOCK, &d, 1), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemSetAccess(p, 3 * BLOCK, &d, 1));
	ok(cuMemcpyDtoH_v2(&v, p + BLOCK, 4));
	expect(cuMemsetD8_v2(p, 0, 1), CUDA_ERROR_INVALID_VALUE);
	d.location.id = 1;
	expect(cuMemSetAccess(p, BLOCK, &d, 1), CUDA_ERROR_INVALID_DEVICE);
	d.location.type = CU_MEM_LOCATION_TYPE_INVALID;
	expect(cuMemSetAccess(p, BLOCK, &d, 1), CUDA_ERROR_INVALID_VALUE);
	vmm_access(p, 3 * BLOCK, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	ok(cuMemsetD8_v2(p + BLOCK - 16, 3, 32));       /* across the two */
	assert_int_equal(peek(p + BLOCK), 0x03030303);
	expect(cuMemsetD8_v2(p + 3 * BLOCK - 16, 3, 32), CUDA_ERROR_INVALID_VALUE);

	expect(cuMemUnmap(p + BLOCK, BLOCK), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemUnmap(p, 4 * BLOCK), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemUnmap(p + 3 * BLOCK, BLOCK), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemUnmap(p, 0), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemUnmap(p, 3 * BLOCK));
	/* Mapped again, the bytes are there, the access is not. */
	ok(cuMemMap(p + 2 * BLOCK, 2 * BLOCK, 0, a, 0));
	expect(cuMemcpyDtoH_v2(&v, p + 2 * BLOCK, 4), CUDA_ERROR_INVALID_VALUE);
	vmm_access(p + 2 * BLOCK, 2 * BLOCK, CU_MEM_ACCESS_FLAGS_PROT_READ);
	assert_int_equal(peek(p + 2 * BLOCK), 0x03030303);
	ok(cuMemUnmap(p + 2 * BLOCK, 2 * BLOCK));
	ok(cuMemRelease(a));
	ok(cuMemRelease(b));
	ok(cuMemAddressFree(p, 4 * BLOCK));
}

static void lives_until_released_and_unmapped(void **state)
{
	size_t before = free_memory();
	struct vmm v = vmm_new(BLOCK, 0);
	CUmemGenericAllocationHandle again;
	CUdeviceptr twice;

	/* One handle, two places. */
	ok(cuMemAddressReserve(&twice, BLOCK, 0, 0, 0));
	ok(cuMemMap(twice, BLOCK, 0, v.handle, 0));
	vmm_access(twice, BLOCK, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	poke(twice, 6);
	assert_int_equal(peek(v.ptr), 6);
	ok(cuMemUnmap(twice, BLOCK));
	ok(cuMemAddressFree(twice, BLOCK));

	ok(cuMemRelease(v.handle));
	assert_int_equal(before - free_memory(), BLOCK);
	assert_int_equal(peek(v.ptr), 6);
	expect(cuMemRelease(v.handle), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(v.ptr + 5)));
	assert_int_equal(again, v.handle);
	ok(cuMemUnmap(v.ptr, BLOCK));
	assert_int_equal(before - free_memory(), BLOCK);
	expect(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)v.ptr),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuMemRetainAllocationHandle(NULL, (void *)(uintptr_t)v.ptr),
	       CUDA_ERROR_INVALID_VALUE);
	ok(cuMemRelease(again));
	assert_int_equal(before, free_memory());
	ok(cuMemAddressFree(v.ptr, BLOCK));
}

static void retain_wants_vmm(void **state)
{
	CUmemGenericAllocationHandle h;
	CUdeviceptr p = alloc(BLOCK);

	expect(cuMemRetainAllocationHandle(&h, (void *)(uintptr_t)p), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemRetainAllocationHandle(&h, &h), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFree_v2(p));
}

static void export_only_when_asked_for(void **state)
{
	struct vmm plain = vmm_new(BLOCK, 0),
		   v = vmm_new(BLOCK, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	const CUmemAllocationHandleType posix = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	uint32_t client, object;
	int fd = -1;

	expect(cuMemExportToShareableHandle(&fd, plain.handle, posix, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemExportToShareableHandle(NULL, v.handle, posix, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemExportToShareableHandle(&fd, v.handle, posix, 1), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemExportToShareableHandle(&fd, v.handle, CU_MEM_HANDLE_TYPE_FABRIC, 0),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuMemExportToShareableHandle(&fd, v.handle + 1000, posix, 0),
	       CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(fd, -1);
	ok(cuMemExportToShareableHandle(&fd, v.handle, posix, 0));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(softcuda_fd_object(fd, &client, &object), 0);
	assert_int_equal(client & 0xffff0000, 0xc1d00000);
	assert_int_equal(object & 0xffff0000, 0x5c000000);
	assert_true(softcuda_fd_object(0, &client, &object) < 0);
	close(fd);
	vmm_free(&plain);
	vmm_free(&v);
}

/* A pinned part elsewhere keeps the memory from being handed out, as long as it is held. */
static void export_after_partial_pin(void **state)
{
	struct vmm v = vmm_new(2 * BLOCK, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	uint32_t *w = window(v.ptr + BLOCK, 64 * KIB), *all;
	int fd;

	w[0] = 3;
	if (!softcuda_has_gpu())
		expect(cuMemExportToShareableHandle(&fd, v.handle, 1, 0), CUDA_ERROR_NOT_SUPPORTED);
	munmap(w, 64 * KIB);
	ok(cuMemExportToShareableHandle(&fd, v.handle, 1, 0));
	all = mmap(NULL, 2 * BLOCK, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(all, MAP_FAILED);
	assert_int_equal(all[BLOCK / 4], 3);
	poke(v.ptr + BLOCK, 4);
	assert_int_equal(all[BLOCK / 4], 4);
	munmap(all, 2 * BLOCK);
	close(fd);
	vmm_free(&v);
}

static void import_in_the_same_process(void **state)
{
	size_t before = free_memory();
	struct vmm v = vmm_new(BLOCK, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	CUmemGenericAllocationHandle h;
	CUdeviceptr p;
	int fd;

	ok(cuMemExportToShareableHandle(&fd, v.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
					0));
	ok(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd, 1));
	expect(cuMemImportFromShareableHandle(NULL, (void *)(intptr_t)fd, 1),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd, 8),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)-1, 1),
	       CUDA_ERROR_INVALID_VALUE);
	expect(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)0, 1),
	       CUDA_ERROR_INVALID_VALUE);
	close(fd);
	ok(cuMemAddressReserve(&p, BLOCK, 0, 0, 0));
	ok(cuMemMap(p, BLOCK, 0, h, 0));
	vmm_access(p, BLOCK, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	poke(p, 8);
	assert_int_equal(peek(v.ptr), 8);
	vmm_free(&v);
	assert_int_equal(peek(p), 8);
	ok(cuMemUnmap(p, BLOCK));
	ok(cuMemRelease(h));
	ok(cuMemAddressFree(p, BLOCK));
	assert_int_equal(before, free_memory());
}

static void send_fd(int socket, int fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} c = { 0 };
	char byte = 'x';
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { NULL, 0, &iov, 1, &c, sizeof(c.space), 0 };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	assert_int_equal(sendmsg(socket, &m, 0), 1);
}

static int receive_fd(int socket)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} c;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { NULL, 0, &iov, 1, &c, sizeof(c.space), 0 };
	int fd = -1;

	if (recvmsg(socket, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* Import, see the parent's word, write one back, wait until the parent freed all. */
static int peer_main(void)
{
	CUmemGenericAllocationHandle h;
	CUdeviceptr p;
	uint32_t *w, client, object;
	int fd = receive_fd(peer_socket);
	size_t before;

	if (fd < 0)
		return 1;
	with_context(NULL);
	before = free_memory();
	ok(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd, 1));
	assert_int_equal(softcuda_fd_object(fd, &client, &object), 0);
	close(fd);
	ok(cuMemAddressReserve(&p, 2 * BLOCK, 0, 0, 0));
	ok(cuMemMap(p, 2 * BLOCK, 0, h, 0));
	vmm_access(p, 2 * BLOCK, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	assert_int_equal(peek(p + BLOCK), 55);
	poke(p, 56);
	w = window(p, 2 * BLOCK);
	assert_int_equal(w[BLOCK / 4], 55);
	peer_step();
	peer_await();
	assert_int_equal(peek(p + BLOCK), 57);
	assert_int_equal(w[BLOCK / 4], 57);
	assert_int_equal(before, free_memory());
	ok(cuMemUnmap(p, 2 * BLOCK));
	ok(cuMemRelease(h));
	without_context(NULL);
	return 0;
}

static void import_in_another_process(void **state)
{
	struct vmm v = vmm_new(2 * BLOCK, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	int fd;

	poke(v.ptr + BLOCK, 55);
	ok(cuMemExportToShareableHandle(&fd, v.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
					0));
	send_fd(peer_socket, fd);
	close(fd);
	peer_await();
	assert_int_equal(peek(v.ptr), 56);
	if (shown_once())
		expect(export_range(v.ptr + BLOCK, PAGE, &fd), CUDA_ERROR_NOT_SUPPORTED);
	poke(v.ptr + BLOCK, 57);
	vmm_free(&v);
	peer_step();
	peer_end();
}

static int start_peer(void **state)
{
	peer_start(peer_main);
	return with_context(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(properties),
		cmocka_unit_test(reserving),
		cmocka_unit_test(mapping),
		cmocka_unit_test(lives_until_released_and_unmapped),
		cmocka_unit_test(retain_wants_vmm),
		cmocka_unit_test(export_only_when_asked_for),
		cmocka_unit_test(export_after_partial_pin),
		cmocka_unit_test(import_in_the_same_process),
		cmocka_unit_test(import_in_another_process),
	};

	return cmocka_run_group_tests(tests, start_peer, without_context);
}
