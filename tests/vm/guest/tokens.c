/* SPDX-License-Identifier: MIT */
/* Another process's token opens nothing: not its memory, and not at its address. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SECRET	0x5ec2e7
#define OURS	0x0002500d

struct victim {
	uint64_t va, shared_va, token;
};

static int sockets[2];

static void victim(void *unused)
{
	struct nvsim_alloc how = { .size = GPU_PAGE };
	struct victim v = { .shared_va = sim_alloc(GPU_PAGE) };
	char byte;

	(void)unused;
	v.va = sim_alloc_with(&how, UINT64_C(0x123450000));
	v.token = sim_token(v.va);
	sim_write(v.va, 0, SECRET);
	sim_write(v.shared_va, 0, SECRET);
	need(write(sockets[1], &v, sizeof(v)) == sizeof(v));
	need(read(sockets[1], &byte, 1) == 1);
	want_eq(sim_read(v.va, 0), SECRET);
	sim_free(v.va);
	sim_free(v.shared_va);
}

/*
 * 0 or -errno; what was pinned is looked at, and never is the victim's.  A token may
 * well be accepted and not looked at: what counts is whose memory is reached.
 */
static int pin_with(int fd, uint64_t va, uint64_t token, uint32_t va_space)
{
	struct gdrdrv_pin_buffer pin = { .addr = va, .size = GPU_PAGE, .p2p_token = token,
					 .va_space = va_space };
	int ret = dev_ioctl(fd, GDRDRV_IOC_PIN_BUFFER, &pin);
	uint32_t value = 0;
	void *map;

	if (ret)
		return ret;
	map = dev_must_map(fd, pin.handle, GPU_PAGE);
	want_eq(peek(map, &value), 0);
	want_eq(value, OURS);
	munmap(map, GPU_PAGE);
	return dev_unpin(fd, pin.handle);
}

static void token_of_another_process(void)
{
	uint64_t mine, token, i;
	int fd = dev_open(), ret;
	struct victim v;
	pid_t pid;

	need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	pid = start_child(victim, NULL);
	need(read(sockets[0], &v, sizeof(v)) == sizeof(v));
	/* at an address that the victim has as well: addresses are a process's own */
	mine = sim_alloc(GPU_PAGE);
	sim_write(mine, 0, OURS);
	token = sim_token(mine);
	need(mine == v.shared_va && v.token != 0);

	for (i = 1; i <= v.token + 8; i++) {
		if (i == token)
			continue;
		want_eq(pin_with(fd, v.va, i, 0), -EINVAL);
		want_eq(pin_with(fd, v.va, i, 1), -EINVAL);
		want_eq(pin_with(fd, v.va, i, 0xfe00), -EINVAL);
		ret = pin_with(fd, mine, i, 0);
		want_in(ret, 0, -EINVAL);
	}
	want_eq(pin_with(fd, v.va, 0, 0), -EINVAL);
	want_eq(pin_with(fd, mine, 0, 0), 0);
	want_eq(pin_with(fd, mine, token, 0), dev_persistent(fd) ? -EINVAL : 0);

	need(write(sockets[0], "x", 1) == 1);
	want_eq(wait_child(pid), 0);
	sim_free(mine);
	close(fd);
}

int main(void)
{
	RUN(token_of_another_process);
	return guest_end();
}
