/* SPDX-License-Identifier: MIT */
/* Description: IPC handles carry the words of the real driver and work across processes. */
#include "peer.h"

static void get(CUdeviceptr p, uint32_t words[16])
{
	CUipcMemHandle h;

	ok(cuIpcGetMemHandle(&h, p));
	memcpy(words, &h, sizeof(h));
}

static void words_of_a_handle(void **state)
{
	CUdeviceptr p = alloc(4), q = alloc(1000), big = alloc(5 * MIB);
	uint32_t a[16], b[16], c[16];

	get(p, a);
	get(q + 999, b);        /* any address of it */
	get(big, c);
	assert_int_equal(a[2], getpid());
	assert_int_equal(a[4], 4);
	assert_int_equal(a[5], 0);
	assert_int_equal(a[6], 0x200);
	assert_int_equal(a[7], 0);
	assert_int_equal(a[8], 6);
	assert_int_equal(a[9], 0xff00);
	assert_int_equal(a[12] >> 16, 0xc1d0);
	assert_int_equal(a[13] >> 16, 0x5c00);
	assert_int_equal(a[3] | a[11] | a[14] | a[15], 0);
	assert_int_equal(b[4], 1000);
	assert_int_equal(b[7], q - p);
	assert_int_equal(b[12], a[12]);
	assert_int_equal(b[13], a[13]);
	assert_int_not_equal(b[10], a[10]);
	assert_int_equal(c[4], 5 * MIB);
	assert_int_equal(c[6], 6 * MIB / PAGE);
	assert_int_equal(c[7], 0);
	assert_int_not_equal(c[13], a[13]);
	ok(cuMemFree_v2(p));
	ok(cuMemFree_v2(q));
	ok(cuMemFree_v2(big));
}

static void only_for_plain_device_memory(void **state)
{
	struct vmm v = vmm_new(2 * MIB, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	CUdeviceptr managed, async;
	CUipcMemHandle h;
	void *host;

	ok(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
	ok(cuMemAllocAsync(&async, 4, NULL));
	ok(cuMemAllocHost_v2(&host, 4));
	expect(cuIpcGetMemHandle(&h, v.ptr), CUDA_ERROR_INVALID_VALUE);
	expect(cuIpcGetMemHandle(&h, managed), CUDA_ERROR_INVALID_VALUE);
	expect(cuIpcGetMemHandle(&h, async), CUDA_ERROR_INVALID_VALUE);
	expect(cuIpcGetMemHandle(&h, (uintptr_t)host), CUDA_ERROR_INVALID_VALUE);
	expect(cuIpcGetMemHandle(&h, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuIpcGetMemHandle(NULL, managed), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFreeHost(host));
	ok(cuMemFree_v2(async));
	ok(cuMemFree_v2(managed));
	vmm_free(&v);
}

static void not_in_the_same_process(void **state)
{
	CUdeviceptr p = alloc(4096), q = 0;
	CUipcMemHandle h, bad;
	uint32_t w[16];

	ok(cuIpcGetMemHandle(&h, p));
	expect(cuIpcOpenMemHandle_v2(&q, h, 1), CUDA_ERROR_INVALID_CONTEXT);
	expect(cuIpcOpenMemHandle_v2(&q, h, 0), CUDA_ERROR_INVALID_VALUE);
	expect(cuIpcOpenMemHandle_v2(NULL, h, 1), CUDA_ERROR_INVALID_VALUE);
	memset(&bad, 0, sizeof(bad));
	expect(cuIpcOpenMemHandle_v2(&q, bad, 1), CUDA_ERROR_INVALID_VALUE);
	memcpy(w, &h, sizeof(w));
	w[2] = 1 << 30;         /* no such process */
	memcpy(&bad, w, sizeof(w));
	expect(cuIpcOpenMemHandle_v2(&q, bad, 1), CUDA_ERROR_INVALID_HANDLE);
	w[2] = (uint32_t)getppid();     /* a process without such memory */
	memcpy(&bad, w, sizeof(w));
	expect(cuIpcOpenMemHandle_v2(&q, bad, 1), CUDA_ERROR_INVALID_HANDLE);
	expect(cuIpcCloseMemHandle(p), CUDA_ERROR_INVALID_VALUE);
	expect(cuIpcCloseMemHandle(1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(q, 0);
	ok(cuMemFree_v2(p));
}

/* Handles come over the socket. */
static int peer_main(void)
{
	CUipcMemHandle h[3];
	CUdeviceptr a, b, c, again;
	size_t before;
	uint32_t *w;
	void *data;

	if (read(peer_socket, h, sizeof(h)) != sizeof(h))
		return 0;
	with_context(NULL);
	before = free_memory();
	ok(cuIpcOpenMemHandle_v2(&a, h[0], 1));
	ok(cuIpcOpenMemHandle_v2(&b, h[1], 1));
	ok(cuIpcOpenMemHandle_v2(&c, h[2], 1));
	ok(cuIpcOpenMemHandle_v2(&again, h[1], 1));
	assert_int_equal(b, again);
	assert_int_equal(before, free_memory());
	assert_int_equal(peek(a), 1);
	assert_int_equal(peek(b + 128 * KIB), 2);
	assert_int_equal(peek(c + 4 * MIB), 3);
	poke(a + 4, 11);
	poke(b + 64 * KIB, 12);
	poke(c, 13);
	expect(cuMemFree_v2(a), CUDA_ERROR_INVALID_VALUE);
	expect(cuMemcpyDtoH_v2(&data, a + 504, 16), CUDA_ERROR_INVALID_VALUE);
	w = window(c, 5 * MIB);         /* pinned here, it is the peer's memory */
	assert_int_equal(w[MIB], 3);
	peer_step();
	peer_await();                   /* the owner freed it all */
	assert_int_equal(peek(a + 4), 11);
	expect(cuIpcOpenMemHandle_v2(&again, h[2], 1), CUDA_SUCCESS);
	ok(cuIpcCloseMemHandle(again));
	ok(cuIpcCloseMemHandle(b));
	assert_int_equal(peek(b + 64 * KIB), 12);
	ok(cuIpcCloseMemHandle(b));
	expect(cuIpcCloseMemHandle(b), CUDA_ERROR_INVALID_VALUE);
	expect(cuIpcOpenMemHandle_v2(&b, h[1], 1), CUDA_ERROR_INVALID_HANDLE);
	ok(cuIpcCloseMemHandle(a));
	assert_int_equal(w[MIB], 3);
	munmap(w, 5 * MIB);
	peer_step();
	peer_await();
	without_context(NULL);          /* closes c */
	return 0;
}

static void open_in_another_process(void **state)
{
	CUdeviceptr pad = alloc(3 * 512), a = alloc(512), b = alloc(256 * KIB), c = alloc(5 * MIB);
	CUdeviceptr at = (b + 65535) & ~65535ULL;
	uint32_t *pinned, *w;
	CUipcMemHandle h[3];
	int fd;

	poke(a, 1);
	poke(b + 128 * KIB, 2);
	poke(c + 4 * MIB, 3);
	ok(cuIpcGetMemHandle(&h[0], a));
	pinned = window(at, 64 * KIB);          /* part of b lies in a second file */
	ok(cuIpcGetMemHandle(&h[1], b));
	ok(cuIpcGetMemHandle(&h[2], c));
	w = window(at + 64 * KIB, PAGE);        /* and this moves after the handle was given out */
	munmap(w, PAGE);
	assert_int_equal(write(peer_socket, h, sizeof(h)), sizeof(h));
	peer_await();
	assert_int_equal(peek(a + 4), 11);
	assert_int_equal(peek(b + 64 * KIB), 12);
	assert_int_equal(peek(c), 13);
	/* What a peer has open cannot move, what it has not can. */
	if (shown_once())
		expect(export_range(at + 128 * KIB, PAGE, &fd), CUDA_ERROR_NOT_SUPPORTED);
	w = window(c, 64 * KIB);
	assert_int_equal(w[0], 13);
	munmap(w, 64 * KIB);
	munmap(pinned, 64 * KIB);
	ok(cuMemFree_v2(b));
	ok(cuMemFree_v2(c));
	ok(cuMemFree_v2(a));
	ok(cuMemFree_v2(pad));
	peer_step();
	peer_await();
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
		cmocka_unit_test(words_of_a_handle),
		cmocka_unit_test(only_for_plain_device_memory),
		cmocka_unit_test(not_in_the_same_process),
		cmocka_unit_test(open_in_another_process),
	};

	return cmocka_run_group_tests(tests, start_peer, without_context);
}
