/* SPDX-License-Identifier: MIT */
/* The interface on the gdrdrv backend, over a model of drivers of all versions. */
#include "calls.h"
#include "gdrdrv.h"
#include "inject.h"

static const struct ground *ground;
static struct {
	uint32_t cmd;
	unsigned at;
	uint64_t bytes;
} lie;

/* A driver that says other things than this one would; what it names stays. */
static void tell_lie(int fd, unsigned long cmd, void *arg)
{
	size_t size = lie.cmd == 0xC008DA03 ? 16 : lie.cmd == 0xC008DA06 ? 8 : 48;
	size_t first = size == 8 ? 4 : 8;

	if ((uint32_t)cmd == lie.cmd && gdrdrv_owns(fd))
		memcpy((char *)arg + first + lie.at % (size - first) / 4 * 4, &lie.bytes, 4);
}

static void special(struct input *in)
{
	static const uint32_t commands[] = { 0xC008DA03, 0xC008DA04, 0xC008DA05, 0xC008DA06, 0 };

	if (input_pick(in, 2)) {
		gdrdrv_revoke(input_pick(in, 2) ? ground->plain : ground->parts);
		return;
	}
	lie.cmd = commands[input_pick(in, 5)];
	lie.at = input_byte(in);
	lie.bytes = input_number(in, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t versions[] = { 0x20006, 0x20005, 0x20004, 0x20003, 0x20000, 0x10009,
					     0x30000 };
	struct input in = { data, data + size };
	struct gdrdrv_setup setup;

	setup.version = versions[input_pick(&in, 7)];
	setup.min_api = input_pick(&in, 16) < 15 ? 0x20000 : (uint32_t)input_wild(&in);
	setup.first_handle = input_pick(&in, 4) < 3 ? 0 : input_wild(&in);
	setup.type = 1 + input_pick(&in, 3);
	setup.revokes = input_pick(&in, 2);
	if (!ground)
		ground = calls_start("gdrdrv");
	ground_reset(ground);
	gdrdrv_reset(&setup);
	lie.cmd = 0;
	inject_after_ioctl = tell_lie;
	calls_run(ground, &in, special);
	return 0;
}
