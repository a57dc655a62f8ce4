/* SPDX-License-Identifier: MIT */
/*
 * After each test: nobody wrote to memory of the simulated GPU that was free, nothing
 * more than before is pinned or allocated, and the driver did not call get or put from
 * inside a callback.  Says what is wrong on stderr, exit status 1.  What was there
 * before is kept in a file, so that one test is blamed and not all that follow.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "nvsim/nvsim.h"

#define BEFORE "/tmp/simcheck"

/* Memory goes when its last user is gone, which may be a process that is just ending. */
#define TRIES 100
#define PAUSE_US 20000

struct left {
	unsigned long long pins, persistent, memories, registrations, recursions;
};

static struct left before;

static void read_before(void)
{
	FILE *f = fopen(BEFORE, "r");

	if (!f)
		return;
	if (fscanf(f, "%llu %llu %llu %llu %llu", &before.pins, &before.persistent,
		   &before.memories, &before.registrations, &before.recursions) != 5)
		memset(&before, 0, sizeof(before));
	fclose(f);
}

static void write_before(const struct left *l)
{
	FILE *f = fopen(BEFORE, "w");

	if (!f)
		return;
	fprintf(f, "%llu %llu %llu %llu %llu\n", l->pins, l->persistent, l->memories,
		l->registrations, l->recursions);
	fclose(f);
}

static int look(int fd, struct left *l)
{
	struct nvsim_stats s;

	memset(&s, 0, sizeof(s));
	if (ioctl(fd, NVSIM_IOC_STATS, &s)) {
		perror("simcheck: NVSIM_IOC_STATS");
		return -1;
	}
	l->pins = s.pins;
	l->persistent = s.persistent_pins;
	l->memories = s.memories;
	l->registrations = s.registrations;
	l->recursions = s.recursions;
	return 0;
}

static int more(const struct left *l)
{
	return l->pins > before.pins || l->persistent > before.persistent ||
	       l->memories > before.memories || l->registrations > before.registrations;
}

int main(void)
{
	struct nvsim_check check;
	struct left now;
	int fd = open(NVSIM_DEVICE_PATH, O_RDWR | O_CLOEXEC), i, bad = 0;

	memset(&check, 0, sizeof(check));
	if (fd < 0 || ioctl(fd, NVSIM_IOC_RESET) || ioctl(fd, NVSIM_IOC_CHECK, &check)) {
		perror("simcheck: " NVSIM_DEVICE_PATH);
		return 1;
	}
	read_before();
	if (look(fd, &now))
		return 1;
	for (i = 0; i < TRIES && more(&now); i++) {
		usleep(PAUSE_US);
		if (look(fd, &now))
			return 1;
	}
	write_before(&now);
	if (more(&now)) {
		fprintf(stderr, "left behind: %llu pins, %llu persistent pins, %llu memories, "
			"%llu registrations\n", now.pins, now.persistent, now.memories,
			now.registrations);
		bad = 1;
	}
	if (now.recursions > before.recursions) {
		fprintf(stderr, "get or put was called from inside a callback, %llu times\n",
			now.recursions - before.recursions);
		bad = 1;
	}
	if (check.damaged) {
		fprintf(stderr, "%llu free pages were written to, the first at %#llx (%#llx)\n",
			(unsigned long long)check.damaged, (unsigned long long)check.first,
			(unsigned long long)check.found);
		bad = 1;
	}
	return bad;
}
