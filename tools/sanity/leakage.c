/* SPDX-License-Identifier: MIT */
/*
 * Description: a context whose descriptor is closed behind the library's back,
 * while a forked child still holds it, leaves no page pinned.  gdrdrv counts the
 * pinned pages itself; elsewhere the GPU's free memory tells.
 *
 * Extended: a gdrdrv that leaks them may bring the machine down when unloaded.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"
#include "inside.h"
#include "session.h"

#define REFCOUNT "/proc/driver/gdrdrv/nv_get_pages_refcount"
/* Larger than what CUDA keeps for later, and than what others might use meanwhile. */
#define LARGE ((size_t)64 << 20)

static long gdrdrv_pages(void)
{
	char text[24] = "";
	ssize_t n;
	int fd = open(REFCOUNT, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		sanity_waive(REFCOUNT ": %s (for root, with the parameter dbg_enabled=1)",
			     strerror(errno));
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	CHECK_SYS(n > 0);
	return atol(text);
}

static size_t free_memory(void)
{
	size_t available, total;

	CU(cu.MemGetInfo(&available, &total));
	return available;
}

#define FILES 1024

static void list_files(bool *open)
{
	int fd;

	for (fd = 0; fd < FILES; fd++)
		open[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* The descriptor that holds the pin: the context's, or the one that came with it. */
static int holder(gdr_t g, const bool *open_before)
{
	bool open_now[FILES];
	int fd = inside_look(g).fd;

	if (fd >= 0)
		return fd;
	list_files(open_now);
	for (fd = 0; fd < FILES && open_now[fd] == open_before[fd]; fd++)
		;
	CHECK(fd < FILES);
	return fd;
}

static void in_helper(const struct talk *t, gdr_t g)
{
	CHECK_INT(talk_receive_int(t), 1);
	GDR(gdr_close(g));
	talk_send_int(t, 2);
	helper_done();
}

static void run(const struct sanity_variant *v)
{
	bool gdrdrv = session_is("gdrdrv"), before[FILES];
	size_t available;
	struct gpu_mem mem;
	struct talk t;
	pid_t pid;
	gdr_t g;

	if (gdrdrv && gdrdrv_pages() != 0)
		sanity_waive("another program is using gdrdrv");
	session_cuda(v, true);
	g = session_open();
	talk_make(&t);
	pid = helper_fork(&t);
	if (pid == 0)
		in_helper(&t, g);

	available = free_memory();
	mem = session_alloc(v, LARGE, 0);
	list_files(before);
	session_pin(g, v, mem.ptr, LARGE);
	CHECK_SYS(close(holder(g, before)) == 0);
	talk_send_int(&t, 1);
	CHECK_INT(talk_receive_int(&t), 2);
	helper_join(pid);
	session_free(&mem);
	if (gdrdrv)
		CHECK_INT(gdrdrv_pages(), 0);
	CHECK(free_memory() + LARGE / 2 >= available);
	/* No gdr_close: its descriptor is gone. */
	session_end();
}

static const struct sanity_test leakage[] = {
	{ "leakage_pin_pages_fork_cumemalloc", run, PLAIN, SANITY_EXTENDED },
};
SANITY_TABLE(leakage);
