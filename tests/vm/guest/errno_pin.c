/* SPDX-License-Identifier: MIT */
/* What PIN_BUFFER and PIN_BUFFER_V2 refuse, with what, and that it leaves nothing. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(4 * GPU_PAGE)
#define ENOTSUPP_OF_THE_KERNEL	524

static int dev;
static uint64_t va;

static int pin_v1(uint64_t addr, uint64_t size, uint64_t token, uint32_t va_space)
{
	struct gdrdrv_pin_buffer pin = { .addr = addr, .size = size, .p2p_token = token,
					 .va_space = va_space };
	int ret = dev_ioctl(dev, GDRDRV_IOC_PIN_BUFFER, &pin);

	return ret ? ret : dev_unpin(dev, pin.handle);
}

static int pin_v2(uint64_t addr, uint64_t size, uint32_t flags)
{
	struct gdrdrv_pin_buffer_v2 pin = { .addr = addr, .size = size, .flags = flags };
	int ret = dev_ioctl(dev, GDRDRV_IOC_PIN_BUFFER_V2, &pin);

	return ret ? ret : dev_unpin(dev, pin.handle);
}

static void both(uint64_t addr, uint64_t size, int expected)
{
	uint64_t pins = sim_pins();

	if (!want_eq(pin_v1(addr, size, 0, 0), expected) ||
	    !want_eq(pin_v2(addr, size, 0), expected))
		guest_note("pin of 0x%llx bytes at 0x%llx", (unsigned long long)size,
			   (unsigned long long)addr);
	want_eq(sim_pins(), pins);
}

static void address_zero_is_einval(void)
{
	both(0, GPU_PAGE, -EINVAL);
	both(0, 0, -EINVAL);
}

static void memory_of_the_caller_only(void)
{
	char local[64];

	both((uintptr_t)local, sizeof(local), -EINVAL);
	both(va - GPU_PAGE, GPU_PAGE, -EINVAL);
	both(UINT64_C(0x123450000), GPU_PAGE, -EINVAL);
}

static void what_lies_within_is_pinned(void)
{
	both(va, SIZE, 0);
	both(va, 1, 0);
	both(va + 5, 1, 0);
	both(va + SIZE - 1, 1, 0);
	both(va + GPU_PAGE, 3 * GPU_PAGE, 0);
}

static void more_than_there_is_is_einval(void)
{
	both(va, SIZE + 1, -EINVAL);
	both(va + SIZE - 1, 2, -EINVAL);
	both(va - 1, 2, -EINVAL);
}

static void size_zero_is_einval(void)
{
	both(va, 0, -EINVAL);
}

/* Sums that wrap around, or would once they are rounded up. */
static void overflow_is_einval(void)
{
	static const uint64_t sizes[] = {
		UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 0xffff, UINT64_MAX - 0x10000,
		UINT64_C(1) << 63, UINT64_C(1) << 62, UINT64_C(1) << 48,
		/* 2^32 GPU pages and one: a count of 32 bits is 1 */
		(UINT64_C(1) << 48) + GPU_PAGE,
	};
	size_t i;

	for (i = 0; i < COUNT_OF(sizes); i++) {
		both(va, sizes[i], -EINVAL);
		both(va + 1, sizes[i], -EINVAL);
		both(UINT64_MAX, sizes[i], -EINVAL);
		both(UINT64_MAX - 0xffff, sizes[i], -EINVAL);
	}
	both(va, UINT64_MAX - va, -EINVAL);
	both(va, UINT64_MAX - va + 1, -EINVAL);
	both(UINT64_MAX, 1, -EINVAL);
	both(UINT64_MAX - 0xffff, 0x10000, -EINVAL);
}

static void flags(void)
{
	int forced = pin_v2(va, SIZE, GDRDRV_PIN_FLAG_FORCE_PCIE);
	struct gdrdrv_get_attr get = { .attr = GDRDRV_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE };
	unsigned bit;

	for (bit = 1; bit < 32; bit++) {
		want_eq(pin_v2(va, SIZE, 1u << bit), -EINVAL);
		want_eq(pin_v2(va, SIZE, 1u << bit | 1), -EINVAL);
	}
	need(dev_ioctl(dev, GDRDRV_IOC_GET_ATTR, &get) == 0);
	if (!dev_persistent(dev) || !get.val)
		want_eq(forced, -EINVAL);
	else /* it is up to the provider, which may know no such pages */
		want_in(forced, 0, -EOPNOTSUPP);
	/* the address is looked at before the flags, the flags before the memory */
	want_eq(pin_v2(0, SIZE, 2), -EINVAL);
	want_eq(pin_v2(UINT64_C(0x123450000), SIZE, 2), -EINVAL);
}

/* The padding of V2 was never looked at: that is an interface by now. */
static void padding_is_ignored(void)
{
	struct gdrdrv_pin_buffer_v2 pin = { .addr = va, .size = SIZE, .pad = 0xffffffff };
	struct gdrdrv_pin_buffer old = { .addr = va, .size = SIZE, .pad = 0xffffffff };

	want_eq(dev_ioctl(dev, GDRDRV_IOC_PIN_BUFFER_V2, &pin), 0);
	want_eq(pin.pad, 0xffffffff);
	want_eq(dev_unpin(dev, pin.handle), 0);
	want_eq(dev_ioctl(dev, GDRDRV_IOC_PIN_BUFFER, &old), 0);
	want_eq(dev_unpin(dev, old.handle), 0);
}

/* Whatever the provider says arrives as an errno that a program knows. */
static void failures_of_the_provider(void)
{
	static const int errors[][2] = {
		{ EINVAL, EINVAL }, { ENOMEM, ENOMEM }, { EIO, EIO }, { EBUSY, EBUSY },
		{ ENODEV, ENODEV }, { ENOTSUPP_OF_THE_KERNEL, EOPNOTSUPP },
	};
	size_t i;

	for (i = 0; i < COUNT_OF(errors); i++) {
		uint64_t pins = sim_pins();

		sim_fault(NVSIM_FAULT_GET, (uint64_t)errors[i][0]);
		want_eq(pin_v2(va, SIZE, 0), -errors[i][1]);
		sim_fault(NVSIM_FAULT_GET, (uint64_t)errors[i][0]);
		want_eq(pin_v1(va, SIZE, 0, 0), -errors[i][1]);
		sim_reset();
		want_eq(sim_pins(), pins);
	}
	want_eq(pin_v2(va, SIZE, 0), 0);
}

static void not_enough_window_is_enomem(void)
{
	uint64_t handle;

	sim_limit(sim_gpu(0).bar1_used + 2 * GPU_PAGE);
	both(va, SIZE, -ENOMEM);
	both(va, 2 * GPU_PAGE, 0);
	handle = dev_must_pin(dev, va, 2 * GPU_PAGE);
	both(va + 2 * GPU_PAGE, GPU_PAGE, -ENOMEM);
	want_eq(dev_unpin(dev, handle), 0);
	both(va + 2 * GPU_PAGE, GPU_PAGE, 0);
	sim_reset();
}

/* A table that cannot be right is refused, and given back. */
static void tables_that_cannot_be_right(void)
{
	static const struct {
		enum nvsim_fault_kind kind;
		uint64_t value;
		int err;
	} tables[] = {
		{ NVSIM_FAULT_TABLE_VERSION, 0x00070000, EFAULT },
		{ NVSIM_FAULT_TABLE_VERSION, 0, EFAULT },
		{ NVSIM_FAULT_TABLE_PAGE_SIZE, 0, EINVAL },
		{ NVSIM_FAULT_TABLE_PAGE_SIZE, 2, EINVAL },
		{ NVSIM_FAULT_TABLE_PAGE_SIZE, 3, EINVAL },
		{ NVSIM_FAULT_TABLE_PAGE_SIZE, UINT32_MAX, EINVAL },
	};
	size_t i;

	for (i = 0; i < COUNT_OF(tables); i++) {
		uint64_t pins = sim_pins();

		sim_fault(tables[i].kind, tables[i].value);
		if (!want_eq(pin_v2(va, SIZE, 0), -tables[i].err))
			guest_note("table %zu", i);
		sim_fault(tables[i].kind, tables[i].value);
		want_eq(pin_v1(va, SIZE, 0, 0), -tables[i].err);
		sim_reset();
		want_eq(sim_pins(), pins);
	}
}

/* Too few entries, too many, an address off the page: never a mapping beyond the memory. */
static void tables_of_the_wrong_shape(void)
{
	static const struct {
		enum nvsim_fault_kind kind;
		uint64_t value;
	} tables[] = {
		{ NVSIM_FAULT_TABLE_ENTRIES, 0 }, { NVSIM_FAULT_TABLE_ENTRIES, 1 },
		{ NVSIM_FAULT_TABLE_ENTRIES, SIZE / GPU_PAGE - 1 },
		{ NVSIM_FAULT_TABLE_PHYS, 1 }, { NVSIM_FAULT_TABLE_PHYS, 2048 },
	};
	size_t i;

	for (i = 0; i < COUNT_OF(tables); i++) {
		uint64_t pins = sim_pins(), handle;
		void *map;

		sim_fault(tables[i].kind, tables[i].value);
		if (dev_pin(dev, va, SIZE, &handle) == 0) {
			if (!want_eq(dev_map(dev, handle, SIZE, &map), -EINVAL))
				guest_note("table %zu", i);
			want_eq(dev_unpin(dev, handle), 0);
		}
		sim_reset();
		want_eq(sim_pins(), pins);
	}
}

static void no_table_at_all(void)
{
	uint64_t handle;

	if (dev_persistent(dev)) {
		guest_skip_case("nothing could give such a pin back");
		return;
	}
	sim_fault(NVSIM_FAULT_TABLE_NULL, 1);
	want(dev_pin(dev, va, SIZE, &handle) < 0);
	sim_reset();
}

static void tokens(void)
{
	bool persistent = dev_persistent(dev);

	want_eq(pin_v1(va, SIZE, 0, 0), 0);
	if (persistent) {
		want_eq(pin_v1(va, SIZE, 1, 0), -EINVAL);
		want_eq(pin_v1(va, SIZE, 0, 1), -EINVAL);
		want_eq(pin_v1(va, SIZE, UINT64_MAX, UINT32_MAX), -EINVAL);
	} else {
		/* the caller's own, and one that nobody was given: neither is looked at */
		want_eq(pin_v1(va, SIZE, sim_token(va), 0), 0);
		want_eq(pin_v1(va, SIZE, UINT64_C(0x7fffffff), 0xfe77), 0);
	}
	want_eq(pin_v1(0, SIZE, 1, 1), -EINVAL);
}

int main(void)
{
	dev = dev_open();
	va = sim_alloc(SIZE);
	RUN(address_zero_is_einval);
	RUN(memory_of_the_caller_only);
	RUN(what_lies_within_is_pinned);
	RUN(more_than_there_is_is_einval);
	RUN(size_zero_is_einval);
	RUN(overflow_is_einval);
	RUN(flags);
	RUN(padding_is_ignored);
	RUN(failures_of_the_provider);
	RUN(not_enough_window_is_enomem);
	RUN(tables_that_cannot_be_right);
	RUN(tables_of_the_wrong_shape);
	RUN(no_table_at_all);
	RUN(tokens);
	return guest_end();
}
