/* SPDX-License-Identifier: MIT */
/* The opener alone may use a file: not a process that gets its number later either. */
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

/* struct clone_args, as far as it is needed; older headers have less of it. */
struct clone_with_id {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	uint64_t set_tid, set_tid_size;
};

static int sockets[2];

static void open_and_send(void *unused)
{
	uint64_t va = sim_alloc(GPU_PAGE);
	int fd = dev_open();

	(void)unused;
	dev_must_pin(fd, va, GPU_PAGE);
	send_fd(sockets[1], fd);
}

static void refused(int fd)
{
	struct gdrdrv_get_version v;
	void *addr = NULL;

	want_eq(dev_ioctl(fd, GDRDRV_IOC_GET_VERSION, &v), -EACCES);
	want_eq(dev_unpin(fd, 0), -EACCES);
	want_eq(dev_mmap(fd, 0, HOST_PAGE, PROT_READ, MAP_SHARED, &addr), -EACCES);
}

static void number_of_the_owner_again(void)
{
	pid_t owner, pid;
	struct clone_with_id args = { .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&owner,
				      .set_tid_size = 1 };
	uint64_t pins = sim_pins();
	int fd;

	need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	owner = start_child(open_and_send, NULL);
	fd = receive_fd(sockets[0]);
	want_eq(wait_child(owner), 0);

	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		refused(fd);
		_exit(guest_failures() != 0);
	}
	if (pid < 0) {
		guest_skip_case("no clone3 with a chosen number");
	} else {
		want_eq(pid, owner);
		want_eq(wait_child(pid), 0);
	}
	refused(fd);
	close(fd);
	want_eq(sim_pins(), pins);
}

struct shared {
	int fd;
	uint64_t handle;
	char *map;
};

/* Shares the memory, is another process all the same. */
static int with_our_memory(void *arg)
{
	struct shared *s = arg;

	refused(s->fd);
	return 0;
}

static void process_with_our_memory(void)
{
	static char stack[256 << 10];
	struct shared s = { .fd = dev_open() };
	uint64_t va = sim_alloc(GPU_PAGE);
	pid_t pid;

	s.handle = dev_must_pin(s.fd, va, GPU_PAGE);
	s.map = dev_must_map(s.fd, s.handle, GPU_PAGE);
	pid = clone(with_our_memory, stack + sizeof(stack), CLONE_VM | SIGCHLD, &s);
	need(pid > 0);
	want_eq(wait_child(pid), 0);
	want_eq(peek_at(s.map, 0), 0);
	munmap(s.map, GPU_PAGE);
	want_eq(dev_unpin(s.fd, s.handle), 0);
	close(s.fd);
	sim_free(va);
}

int main(void)
{
	RUN(number_of_the_owner_again);
	RUN(process_with_our_memory);
	return guest_end();
}
