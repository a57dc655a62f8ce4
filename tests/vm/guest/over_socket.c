/* SPDX-License-Identifier: MIT */
/* A descriptor that arrives over a socket is of no use, and harms nobody. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)

static int sockets[2];

static void receiver(void *unused)
{
	int fd = receive_fd(sockets[1]);
	uint64_t va = sim_alloc(SIZE), handle;
	struct gdrdrv_get_version v;
	void *addr;
	char byte;

	(void)unused;
	want_eq(dev_ioctl(fd, GDRDRV_IOC_GET_VERSION, &v), -EACCES);
	want_eq(dev_pin(fd, va, SIZE, &handle), -EACCES);
	want_eq(dev_unpin(fd, 0), -EACCES);
	want_eq(dev_mapping_type(fd, 0), -EACCES);
	want_eq(dev_map(fd, 0, SIZE, &addr), -EACCES);
	want_eq(dev_map(fd, NO_HANDLE, SIZE, &addr), -EACCES);
	need(write(sockets[1], "x", 1) == 1);
	need(read(sockets[1], &byte, 1) == 1);
	want_eq(dev_map(fd, 0, SIZE, &addr), -EACCES);
	close(fd);
	sim_free(va);
}

/* The sender's pin works while the other has the file, and after it closed it. */
static void sent_while_pinned(void)
{
	uint64_t va = sim_alloc(SIZE), handle, pins = sim_pins();
	int fd;
	char byte, *map;
	pid_t pid;

	need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	pid = start_child(receiver, NULL);
	fd = dev_open();
	handle = dev_must_pin(fd, va, SIZE);
	send_fd(sockets[0], fd);
	need(read(sockets[0], &byte, 1) == 1);
	map = dev_must_map(fd, handle, SIZE);
	want_eq(poke(map, 3), 0);
	need(write(sockets[0], "x", 1) == 1);
	want_eq(wait_child(pid), 0);
	want_eq(poke(map, 4), 0);
	want_eq(sim_read(va, 0), 4);
	want_eq(dev_unpin(fd, handle), 0);
	want(is_dead_by_sigbus(map, SIZE));
	munmap(map, SIZE);
	close(fd);
	sim_free(va);
	want_eq(sim_pins(), pins);
}

/* In flight in a socket that nobody reads, until that goes. */
static void left_in_a_socket(void)
{
	uint64_t va = sim_alloc(SIZE), pins = sim_pins();
	int fd = dev_open();

	dev_must_pin(fd, va, SIZE);
	need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	send_fd(sockets[0], fd);
	close(fd);
	sim_free(va);
	close(sockets[0]);
	close(sockets[1]);
	want_eq(sim_pins(), pins);
	want_eq(sim_damage(), 0);
}

int main(void)
{
	RUN(sent_while_pinned);
	RUN(left_in_a_socket);
	return guest_end();
}
