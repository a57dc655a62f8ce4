/* SPDX-License-Identifier: MIT */
/* What the queries answer, field by field. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(3 * GPU_PAGE)

static int dev;
static uint64_t va;

static void version(void)
{
	struct gdrdrv_get_version v = { 0xffffffff, 0xffffffff };

	want_eq(dev_ioctl(dev, GDRDRV_IOC_GET_VERSION, &v), 0);
	want_eq(v.gdrdrv_version, 0x00020006);
	want_eq(v.minimum_gdr_api_version, 0x00020000);
}

static void info_of_a_pin(void)
{
	static const struct {
		uint64_t offset, size, mapped_size;
	} pins[] = {
		{ 0, SIZE, SIZE }, { 0, 1, GPU_PAGE }, { 0, GPU_PAGE + 1, 2 * GPU_PAGE },
		{ 1, 1, GPU_PAGE }, { GPU_PAGE - 1, 2, 2 * GPU_PAGE },
		{ GPU_PAGE, 2 * GPU_PAGE, 2 * GPU_PAGE }, { GPU_PAGE + 77, 3, GPU_PAGE },
	};
	size_t i;

	for (i = 0; i < COUNT_OF(pins); i++) {
		uint64_t handle = dev_must_pin(dev, va + pins[i].offset, pins[i].size);
		uint64_t start = (va + pins[i].offset) & ~(GPU_PAGE - 1);
		struct gdrdrv_get_info v1 = { .handle = handle };
		struct gdrdrv_get_info_v2 v2 = { .handle = handle, .pad = 0x55aa };

		want_eq(dev_ioctl(dev, GDRDRV_IOC_GET_INFO, &v1), 0);
		want_eq(v1.handle, handle);
		want_eq(v1.va, start);
		want_eq(v1.mapped_size, pins[i].mapped_size);
		want_eq(v1.page_size, 65536);
		want_eq(v1.mapped, 0);
		want_eq(v1.wc_mapping, 0);

		want_eq(dev_ioctl(dev, GDRDRV_IOC_GET_INFO_V2, &v2), 0);
		want_eq(v2.handle, handle);
		want_eq(v2.va, start);
		want_eq(v2.mapped_size, pins[i].mapped_size);
		want_eq(v2.page_size, 65536);
		want_eq(v2.tsc_khz, v1.tsc_khz);
		want_eq(v2.tm_cycles, v1.tm_cycles);
		want_eq(v2.mapping_type, GDRDRV_MAPPING_NONE);
		want_eq(v2.pad, 0x55aa);
		want_eq(dev_unpin(dev, handle), 0);
	}
}

static void info_of_a_mapping(void)
{
	uint64_t handle = dev_must_pin(dev, va, SIZE);
	struct gdrdrv_get_info v1 = { .handle = handle };
	void *map = dev_must_map(dev, handle, GPU_PAGE);

	want_eq(dev_ioctl(dev, GDRDRV_IOC_GET_INFO, &v1), 0);
	want_eq(v1.mapped, 1);
	want_eq(v1.wc_mapping, 1);
	want_eq(v1.mapped_size, SIZE);
	want_eq(dev_mapping_type(dev, handle), GDRDRV_MAPPING_WC);
	munmap(map, GPU_PAGE);
	want_eq(dev_ioctl(dev, GDRDRV_IOC_GET_INFO, &v1), 0);
	want_eq(v1.mapped, 0);
	want_eq(v1.wc_mapping, 0);
	want_eq(dev_mapping_type(dev, handle), GDRDRV_MAPPING_NONE);
	want_eq(dev_unpin(dev, handle), 0);
}

#if defined(__x86_64__)
/* At least 15 of the 20 ms that the pin is held up, and not a nonsense number? */
static bool is_timed(void)
{
	struct gdrdrv_get_info_v2 info = { 0 };
	uint64_t handle = dev_must_pin(dev, va, SIZE);

	want_eq(dev_info(dev, handle, &info), 0);
	want_eq(dev_unpin(dev, handle), 0);
	if (!want(info.tsc_khz > 100000 && info.tsc_khz < 20000000))
		return true;
	return info.tm_cycles / info.tsc_khz >= 15 && info.tm_cycles / info.tsc_khz < 60000;
}
#endif

/*
 * On x86 the time of a pin is told in units of the time-stamp counter.  A guest that got no
 * processor for a while makes up for lost ticks, and is held up for less than it should.
 */
static void pinning_was_timed(void)
{
#if defined(__x86_64__)
	int tries = 10;

	sim_delay(NVSIM_POINT_GET, 20);
	while (tries && !is_timed())
		tries--;
	sim_reset();
	want(tries);
#else
	guest_skip_case("only x86 tells");
#endif
}

/* 128 KiB, 64 KiB and a byte, one byte: the pages that each took lie side by side. */
static void handles_are_page_offsets(void)
{
	int fd = dev_open();

	want_eq(dev_must_pin(fd, va, 2 * GPU_PAGE), 0);
	want_eq(dev_must_pin(fd, va, GPU_PAGE + 1), 2 * GPU_PAGE / HOST_PAGE);
	want_eq(dev_must_pin(fd, va, 1), 4 * GPU_PAGE / HOST_PAGE);
	close(fd);
}

/* An output is written only by a call that succeeds. */
static void failure_writes_nothing(void)
{
	struct gdrdrv_pin_buffer_v2 pin = { .addr = va, .size = SIZE, .flags = 2,
					    .handle = 0x1122334455667788 };
	struct gdrdrv_get_info_v2 info = { .handle = NO_HANDLE, .va = 5, .mapping_type = 9 };
	struct gdrdrv_get_cb_flag flag = { .handle = NO_HANDLE, .flag = 0x77 };

	want_eq(dev_ioctl(dev, GDRDRV_IOC_PIN_BUFFER_V2, &pin), -EINVAL);
	want_eq(pin.handle, 0x1122334455667788);
	want_eq(dev_ioctl(dev, GDRDRV_IOC_GET_INFO_V2, &info), -EINVAL);
	want_eq(info.va, 5);
	want_eq(info.mapping_type, 9);
	want_eq(dev_ioctl(dev, GDRDRV_IOC_GET_CB_FLAG, &flag), -EINVAL);
	want_eq(flag.flag, 0x77);
}

int main(void)
{
	dev = dev_open();
	va = sim_alloc(SIZE);
	RUN(version);
	RUN(info_of_a_pin);
	RUN(info_of_a_mapping);
	RUN(pinning_was_timed);
	RUN(handles_are_page_offsets);
	RUN(failure_writes_nothing);
	return guest_end();
}
