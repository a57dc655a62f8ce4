/* SPDX-License-Identifier: MIT */
/*
 * NCCL with NCCL_GDRCOPY_ENABLE=1: the work FIFO and the proxies' counters are
 * written with plain stores, the flush is one read.
 */
#include "gdrwrap.h"

#define FIFO_SIZE  (1ul << 20)
#define FORCE_PCIE 1u

static uint64_t flush(wrap_mh mh, const char *map)
{
	uint64_t value;

#ifdef __x86_64__
	const volatile void *at = map;

	wc_fence();
	value = *(const volatile uint64_t *)at;
#else
	CHECK(wrap.copy_from(mh, &value, map, sizeof(value)) == 0);
#endif
	return value;
}

/* Work elements of 64 bytes by plain stores, read back by the device's copy engine. */
static void work_fifo(wrap_t g, bool vmm)
{
	struct wrap_buffer b = wrap_alloc(g, FIFO_SIZE, vmm, 0);
	unsigned char *want = malloc(FIFO_SIZE);
	volatile uint64_t *fifo = (volatile uint64_t *)(void *)b.host;

	CHECK(want);
	fill(want, FIFO_SIZE, 1);
	for (size_t i = 0; i < FIFO_SIZE / 8; i++) {
		uint64_t word;

		memcpy(&word, want + 8 * i, 8);
		fifo[i] = word;
	}
	wc_fence();
	check_device(b.ptr, want, FIFO_SIZE);
	free(want);
	wrap_free(g, &b);
}

/* The proxy's head and tail: the GPU side writes, the CPU reads, and back. */
static void counters(wrap_t g)
{
	struct wrap_buffer b = wrap_alloc(g, 2 * sizeof(uint64_t), false, 0);
	uint64_t value = 0x0123456789abcdef, back = 0;

	write_device(b.ptr, &value, sizeof(value));
	CHECK(flush(b.mh, b.host) == value);
	value = ~value;
	*(volatile uint64_t *)(void *)(b.host + 8) = value;
	wc_fence();
	check_device(b.ptr + 8, &value, sizeof(value));
	value = 42;
	CHECK(wrap.copy_to(b.mh, b.host, &value, sizeof(value)) == 0);
	CHECK(wrap.copy_from(b.mh, &back, b.host, sizeof(back)) == 0);
	CHECK(back == 42);
	wrap_free(g, &b);
}

/* The flush buffer is pinned over PCIe, on platforms with a link of their own only. */
static void flush_buffer(wrap_t g)
{
	uint64_t value = 7;

	CHECK(wrap.pin_v2);
	if (cu.coherent) {
		struct wrap_buffer b = wrap_alloc(g, sizeof(value), true, FORCE_PCIE);

		write_device(b.ptr, &value, sizeof(value));
		CHECK(flush(b.mh, b.host) == value);
		wrap_free(g, &b);
	} else {
		CUdeviceptr ptr = alloc_vmm(2ul << 20);
		wrap_mh mh = { 0 };

		CHECK(LOCKED(pin_v2(g, ptr, GPU_PAGE, FORCE_PCIE, &mh)) != 0);
		CHECK(mh.h == 0);
		free_vmm(ptr, 2ul << 20);
	}
}

int main(void)
{
	wrap_t g;

	start_cuda();
	wrap_load();
	g = wrap_init();
	work_fifo(g, true);
	work_fifo(g, false);
	counters(g);
	flush_buffer(g);
	CHECK(LOCKED(close(g)) == 0);
	return 0;
}
