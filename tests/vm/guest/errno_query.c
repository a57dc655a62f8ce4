/* SPDX-License-Identifier: MIT */
/* What the commands on a handle refuse, before and after the memory is revoked. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)

static int dev;
static uint64_t va, pinned;

static int info_v1(uint64_t handle)
{
	struct gdrdrv_get_info get = { .handle = handle };

	return dev_ioctl(dev, GDRDRV_IOC_GET_INFO, &get);
}

/* Also while other pins exist, next to a handle, within a pin, and out of any range. */
static void unknown_handle_is_einval(void)
{
	const uint64_t unknown[] = {
		NO_HANDLE, pinned + 1, pinned + SIZE / HOST_PAGE - 1, pinned + SIZE / HOST_PAGE,
		UINT32_MAX, UINT64_C(1) << 32, pinned | UINT64_C(1) << 32, UINT64_MAX,
		UINT64_MAX >> 1, (UINT64_C(1) << 52) | pinned,
	};
	struct gdrdrv_get_info_v2 info;
	size_t i;

	for (i = 0; i < COUNT_OF(unknown); i++) {
		if (!want_eq(dev_unpin(dev, unknown[i]), -EINVAL) ||
		    !want_eq(dev_cb_flag(dev, unknown[i]), -EINVAL) ||
		    !want_eq(info_v1(unknown[i]), -EINVAL) ||
		    !want_eq(dev_info(dev, unknown[i], &info), -EINVAL) ||
		    !want_eq(dev_request(dev, unknown[i], GDRDRV_MAPPING_NONE), -EINVAL) ||
		    !want_eq(dev_request(dev, unknown[i], GDRDRV_MAPPING_WC), -EINVAL))
			guest_note("handle 0x%llx", (unsigned long long)unknown[i]);
	}
	want_eq(dev_mapping_type(dev, pinned), GDRDRV_MAPPING_NONE);
	want_eq(dev_cb_flag(dev, pinned), 0);
}

static void handles_belong_to_one_file(void)
{
	int other = dev_open();
	uint64_t mine, second;
	struct gdrdrv_get_info_v2 info;

	want_eq(dev_info(other, pinned, &info), -EINVAL);
	want_eq(dev_unpin(other, pinned), -EINVAL);
	/* the first handle of a file is 0 */
	mine = dev_must_pin(other, va, SIZE);
	want_eq(mine, 0);
	second = dev_must_pin(other, va, SIZE);
	want(second != mine);
	want_eq(dev_unpin(other, mine), 0);
	want_eq(dev_unpin(other, mine), -EINVAL);
	want_eq(dev_unpin(other, second), 0);
	close(other);
	want_eq(dev_info(dev, pinned, &info), 0);
}

static void requests_of_a_type(void)
{
	void *map;

	want_eq(dev_request(dev, pinned, GDRDRV_MAPPING_NONE), 0);
	want_eq(dev_request(dev, pinned, GDRDRV_MAPPING_WC), 0);
	want_eq(dev_request(dev, pinned, GDRDRV_MAPPING_CACHING), -EOPNOTSUPP);
	want_eq(dev_request(dev, pinned, GDRDRV_MAPPING_DEVICE), -EOPNOTSUPP);
	want_eq(dev_request(dev, pinned, 4), -EINVAL);
	want_eq(dev_request(dev, pinned, UINT32_MAX), -EINVAL);
	/* the type is looked at before the handle */
	want_eq(dev_request(dev, NO_HANDLE, 4), -EINVAL);
	want_eq(dev_request(dev, NO_HANDLE, GDRDRV_MAPPING_CACHING), -EINVAL);

	map = dev_must_map(dev, pinned, SIZE);
	want_eq(dev_request(dev, pinned, GDRDRV_MAPPING_NONE), -EBUSY);
	want_eq(dev_request(dev, pinned, GDRDRV_MAPPING_WC), -EBUSY);
	want_eq(dev_request(dev, pinned, GDRDRV_MAPPING_CACHING), -EBUSY);
	want_eq(dev_request(dev, pinned, GDRDRV_MAPPING_DEVICE), -EBUSY);
	want_eq(dev_request(dev, pinned, 4), -EINVAL);
	munmap(map, SIZE);
	want_eq(dev_request(dev, pinned, GDRDRV_MAPPING_NONE), 0);
}

static void attributes(void)
{
	static const uint32_t unknown[] = { 0, 3, 4, 0x7fffffff, UINT32_MAX };
	struct gdrdrv_get_attr get;
	bool persistent = dev_persistent(dev);
	size_t i;

	for (i = 0; i < COUNT_OF(unknown); i++) {
		get.attr = unknown[i];
		get.val = 0x5a5a;
		want_eq(dev_ioctl(dev, GDRDRV_IOC_GET_ATTR, &get), -EINVAL);
		want_eq(get.attr, unknown[i]);
		want_eq(get.val, 0x5a5a);
	}
	get.attr = GDRDRV_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE;
	want_eq(dev_ioctl(dev, GDRDRV_IOC_GET_ATTR, &get), 0);
	if (!persistent)
		want_eq(get.val, 0);
	want(get.val <= 1);
}

static void after_revocation(void)
{
	uint64_t memory, handle;
	struct gdrdrv_get_info_v2 info;
	void *map, *again;

	if (dev_persistent(dev)) {
		guest_skip_case("memory is persistent");
		return;
	}
	memory = sim_alloc(SIZE);
	handle = dev_must_pin(dev, memory, SIZE);
	map = dev_must_map(dev, handle, SIZE);
	want_eq(dev_cb_flag(dev, handle), 0);
	sim_free(memory);
	want_eq(dev_cb_flag(dev, handle), 1);
	want_eq(dev_cb_flag(dev, handle), 1);
	want_eq(peek_at(map, 0), SIGBUS);
	want(is_dead(map, SIZE));

	want_eq(dev_info(dev, handle, &info), 0);
	want_eq(info.va, memory);
	want_eq(info.mapped_size, SIZE);
	want_eq(info.mapping_type, GDRDRV_MAPPING_NONE);
	want_eq(dev_request(dev, handle, GDRDRV_MAPPING_NONE), 0);
	want_eq(dev_request(dev, handle, GDRDRV_MAPPING_WC), 0);
	want_eq(dev_request(dev, handle, GDRDRV_MAPPING_CACHING), -EOPNOTSUPP);
	want_eq(dev_request(dev, handle, 4), -EINVAL);
	want_eq(dev_map(dev, handle, SIZE, &again), -EINVAL);
	want_eq(munmap(map, SIZE), 0);
	want_eq(dev_map(dev, handle, SIZE, &again), -EINVAL);
	want_eq(dev_cb_flag(dev, handle), 1);
	want_eq(dev_unpin(dev, handle), 0);
	want_eq(dev_unpin(dev, handle), -EINVAL);
	want_eq(dev_cb_flag(dev, handle), -EINVAL);
}

static void persistent_memory_outlives_free(void)
{
	uint64_t memory, handle, pins = sim_pins();
	uint32_t value = 0;
	void *map;

	if (!dev_persistent(dev)) {
		guest_skip_case("memory is revocable");
		return;
	}
	memory = sim_alloc(SIZE);
	handle = dev_must_pin(dev, memory, SIZE);
	map = dev_must_map(dev, handle, SIZE);
	want_eq(poke(map, 0xabcd), 0);
	sim_free(memory);
	want_eq(dev_cb_flag(dev, handle), 0);
	want_eq(peek(map, &value), 0);
	want_eq(value, 0xabcd);
	want_eq(poke(map, 0xabce), 0);
	want_eq(dev_mapping_type(dev, handle), GDRDRV_MAPPING_WC);
	want_eq(dev_unpin(dev, handle), 0);
	want_eq(peek_at(map, 0), SIGBUS);
	want(is_dead(map, SIZE));
	munmap(map, SIZE);
	want_eq(sim_pins(), pins);
	want_eq(sim_damage(), 0);
}

int main(void)
{
	dev = dev_open();
	va = sim_alloc(SIZE);
	pinned = dev_must_pin(dev, va, SIZE);
	RUN(unknown_handle_is_einval);
	RUN(handles_belong_to_one_file);
	RUN(requests_of_a_type);
	RUN(attributes);
	RUN(after_revocation);
	RUN(persistent_memory_outlives_free);
	return guest_end();
}
