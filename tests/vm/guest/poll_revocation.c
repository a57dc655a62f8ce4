/* SPDX-License-Identifier: MIT */
/* poll() tells that the memory of some pin was revoked, until that pin is unpinned. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define TOLD	(POLLPRI | POLLERR)

static int events_of(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT | POLLPRI };

	need(poll(&p, 1, 0) >= 0);
	return p.revents;
}

static void told_until_unpinned(void)
{
	uint64_t va[2] = { sim_alloc(GPU_PAGE), sim_alloc(GPU_PAGE) }, h[2];
	int fd = dev_open(), other = dev_open();
	bool persistent = dev_persistent(fd);
	int expected = persistent ? 0 : TOLD;

	want_eq(events_of(fd), 0);
	h[0] = dev_must_pin(fd, va[0], GPU_PAGE);
	h[1] = dev_must_pin(fd, va[1], GPU_PAGE);
	want_eq(events_of(fd), 0);
	sim_free(va[0]);
	want_eq(events_of(fd), expected);
	want_eq(events_of(other), 0);
	want_eq(events_of(fd), expected);
	sim_free(va[1]);
	want_eq(dev_unpin(fd, h[0]), 0);
	want_eq(events_of(fd), expected);
	want_eq(dev_unpin(fd, h[1]), 0);
	want_eq(events_of(fd), 0);
	close(fd);
	close(other);
}

static void *free_later(void *va)
{
	usleep(50000);
	sim_free(*(uint64_t *)va);
	return NULL;
}

static void a_sleeper_is_woken(void)
{
	uint64_t va = sim_alloc(GPU_PAGE), handle, start;
	int fd = dev_open();
	struct pollfd p = { .fd = fd, .events = POLLPRI };
	pthread_t thread;

	if (dev_persistent(fd)) {
		guest_skip_case("memory is persistent");
		sim_free(va);
		close(fd);
		return;
	}
	handle = dev_must_pin(fd, va, GPU_PAGE);
	need(pthread_create(&thread, NULL, free_later, &va) == 0);
	start = now_us();
	want_eq(poll(&p, 1, 10000), 1);
	want(now_us() - start < 8000000);
	want_eq(p.revents, TOLD);
	want_eq(dev_cb_flag(fd, handle), 1);
	pthread_join(thread, NULL);
	want_eq(dev_unpin(fd, handle), 0);
	close(fd);
}

struct pin_call {
	int fd;
	uint64_t va, handle;
};

static void *pin_slowly(void *arg)
{
	struct pin_call *c = arg;

	c->handle = dev_must_pin(c->fd, c->va, GPU_PAGE);
	return NULL;
}

/* Revoked before the pin was even answered: that wakes as well. */
static void revoked_while_it_is_pinned(void)
{
	struct pin_call c = { .fd = dev_open(), .va = sim_alloc(GPU_PAGE) };
	struct pollfd p = { .fd = c.fd, .events = POLLPRI };
	uint64_t start = now_us();
	pthread_t pinner, freer;

	if (dev_persistent(c.fd)) {
		guest_skip_case("memory is persistent");
		sim_free(c.va);
		close(c.fd);
		return;
	}
	sim_delay(NVSIM_POINT_GET, 5000);
	need(pthread_create(&pinner, NULL, pin_slowly, &c) == 0);
	sim_await(NVSIM_POINT_GET, 1);
	need(pthread_create(&freer, NULL, free_later, &c.va) == 0);
	want_eq(poll(&p, 1, 10000), 1);
	want(now_us() - start < 8000000);
	want_eq(p.revents, TOLD);
	sim_reset();
	sim_release();
	pthread_join(pinner, NULL);
	pthread_join(freer, NULL);
	want_eq(dev_cb_flag(c.fd, c.handle), 1);
	want_eq(dev_unpin(c.fd, c.handle), 0);
	want_eq(events_of(c.fd), 0);
	close(c.fd);
}

/* Level triggered in epoll as well, and gone with the file. */
static void epoll_works(void)
{
	uint64_t va = sim_alloc(GPU_PAGE), handle;
	int fd = dev_open(), ep = epoll_create1(EPOLL_CLOEXEC), expected = !dev_persistent(fd);
	struct epoll_event e = { .events = EPOLLPRI };

	handle = dev_must_pin(fd, va, GPU_PAGE);
	need(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) == 0);
	want_eq(epoll_wait(ep, &e, 1, 0), 0);
	sim_free(va);
	want_eq(epoll_wait(ep, &e, 1, 0), expected);
	want_eq(epoll_wait(ep, &e, 1, 0), expected);
	want_eq(dev_unpin(fd, handle), 0);
	want_eq(epoll_wait(ep, &e, 1, 0), 0);
	close(fd);
	close(ep);
}

int main(void)
{
	RUN(told_until_unpinned);
	RUN(a_sleeper_is_woken);
	RUN(revoked_while_it_is_pinned);
	RUN(epoll_works);
	return guest_end();
}
