/* SPDX-License-Identifier: MIT */
/* The nine commands of gdrdrv as bytes, written down apart from the header. */
#include <string.h>

#include "driver.h"

static void put32(uint8_t *buf, size_t at, uint32_t v)
{
	memcpy(buf + at, &v, sizeof(v));
}

static void put64(uint8_t *buf, size_t at, uint64_t v)
{
	memcpy(buf + at, &v, sizeof(v));
}

void will_get_version(uint32_t driver, uint32_t min_api, int err)
{
	uint8_t in[8] = { 0 }, out[8];

	put32(out, 0, driver);
	put32(out, 4, min_api);
	will_ioctl(0xC008DAFF, sizeof(in), in, out, err);
}

void will_pin_v1(uint64_t addr, uint64_t size, uint64_t token, uint32_t va_space,
		 uint64_t handle, int err)
{
	uint8_t in[40] = { 0 }, out[40];

	put64(in, 0, addr);
	put64(in, 8, size);
	put64(in, 16, token);
	put32(in, 24, va_space);
	memcpy(out, in, sizeof(out));
	put64(out, 32, handle);
	will_ioctl(0xC028DA01, sizeof(in), in, out, err);
}

void will_pin_v2(uint64_t addr, uint64_t size, uint32_t flags, uint64_t handle, int err)
{
	uint8_t in[32] = { 0 }, out[32];

	put64(in, 0, addr);
	put64(in, 8, size);
	put32(in, 16, flags);
	memcpy(out, in, sizeof(out));
	put64(out, 24, handle);
	will_ioctl(0xC020DA07, sizeof(in), in, out, err);
}

void will_unpin(uint64_t handle, int err)
{
	uint8_t in[8];

	put64(in, 0, handle);
	will_ioctl(0xC008DA02, sizeof(in), in, in, err);
}

void will_get_cb_flag(uint64_t handle, uint32_t flag, int err)
{
	uint8_t in[16] = { 0 }, out[16];

	put64(in, 0, handle);
	memcpy(out, in, sizeof(out));
	put32(out, 8, flag);
	will_ioctl(0xC008DA03, sizeof(in), in, out, err);
}

static void info(uint32_t cmd, uint64_t handle, uint32_t at40, uint32_t at44, int err)
{
	uint8_t in[48] = { 0 }, out[48];

	put64(in, 0, handle);
	memcpy(out, in, sizeof(out));
	put64(out, 8, INFO_VA);
	put64(out, 16, INFO_SIZE);
	put32(out, 24, INFO_PAGE_SIZE);
	put32(out, 28, INFO_KHZ);
	put64(out, 32, INFO_CYCLES);
	put32(out, 40, at40);
	put32(out, 44, at44);
	will_ioctl(cmd, sizeof(in), in, out, err);
}

void will_get_info_v1(uint64_t handle, uint32_t mapped, uint32_t wc, int err)
{
	info(0xC008DA04, handle, mapped, wc, err);
}

void will_get_info_v2(uint64_t handle, uint32_t type, int err)
{
	info(0xC008DA05, handle, type, 0, err);
}

void will_get_attr(uint32_t attr, uint32_t val, int err)
{
	uint8_t in[8] = { 0 }, out[8];

	put32(in, 0, attr);
	put32(out, 0, attr);
	put32(out, 4, val);
	will_ioctl(0xC008DA06, sizeof(in), in, out, err);
}

void will_request_type(uint64_t handle, uint32_t type, int err)
{
	uint8_t in[16] = { 0 };

	put64(in, 0, handle);
	put32(in, 8, type);
	will_ioctl(0xC008DA08, sizeof(in), in, in, err);
}
