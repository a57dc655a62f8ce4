/* SPDX-License-Identifier: MIT */
#include "copy_harness.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CANARY 0xa5
#define CANARIES 192                    /* bytes looked at on each side */
#define ROOM (HARNESS_SIZE + 2 * HARNESS_OFFSETS + 2 * CANARIES)

/* Accessible bytes [start, end), whole pages; the pages around are not. */
struct region {
	unsigned char *start, *end;
};

/* One copy: the same distances from the start, or back from the end, of both regions. */
struct placement {
	int from_end;
	size_t dev_offset, host_offset, size;
};

static struct region device, host;
static unsigned char canary[HARNESS_SIZE];
static sigjmp_buf fault_jump;

static void on_fault(int sig)
{
	siglongjmp(fault_jump, sig);
}

static int make_region(struct region *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t len = (ROOM + page - 1) / page * page;
	unsigned char *p = mmap(NULL, len + 2 * page, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + page, len, PROT_READ | PROT_WRITE))
		return -1;
	r->start = p + page;
	r->end = r->start + len;
	return 0;
}

int harness_init(void)
{
	struct sigaction sa = { .sa_handler = on_fault };

	memset(canary, CANARY, sizeof(canary));
	if (make_region(&device) || make_region(&host))
		return -1;
	return sigaction(SIGSEGV, &sa, NULL) || sigaction(SIGBUS, &sa, NULL) ? -1 : 0;
}

/* Bytes without a pattern that repeats at a power of two; none is a canary. */
static void fill_source(const struct region *r)
{
	unsigned state = 12345;

	for (unsigned char *p = r->start; p < r->end; p++) {
		state = state * 1103515245u + 12345u;
		*p = (unsigned char)(state >> 16);
		if (*p == CANARY)
			*p = 0x5a;
	}
}

/* Are the bytes of r on both sides of [p, p + size) untouched? */
static int canaries_live(const struct region *r, const unsigned char *p, size_t size)
{
	size_t before = (size_t)(p - r->start);
	size_t after = (size_t)(r->end - (p + size));

	if (before > CANARIES)
		before = CANARIES;
	if (after > CANARIES)
		after = CANARIES;
	return !memcmp(p - before, canary, before) && !memcmp(p + size, canary, after);
}

static unsigned char *place(const struct region *r, const struct placement *at, size_t offset)
{
	return at->from_end ? r->end - offset - at->size : r->start + offset;
}

/* NULL, or what went wrong. */
static const char *copy_once(const struct copy_run *run, const struct placement *at)
{
	unsigned char *d = place(&device, at, at->dev_offset);
	unsigned char *h = place(&host, at, at->host_offset);
	int to = run->dir == GDR_COPY_TO_MAPPING;
	unsigned char *dst = to ? d : h;

	if (to)
		gdr_copy_to_by(run->kernel, run->type, d, h, at->size);
	else
		gdr_copy_from_by(run->kernel, run->type, h, d, at->size);

	if (memcmp(d, h, at->size))
		return "wrong bytes";
	if (!canaries_live(to ? &device : &host, dst, at->size))
		return "bytes outside the destination changed";
	memset(dst, CANARY, at->size);
	return NULL;
}

static void report(const struct copy_run *run, const struct placement *at, const char *what,
		   struct copy_result *result)
{
	snprintf(result->failure, sizeof(result->failure),
		 "%s, type %d, %s the mapping: %s: %zu bytes, device offset %zu, "
		 "host offset %zu, counted from the %s",
		 run->kernel->name, (int)run->type,
		 run->dir == GDR_COPY_TO_MAPPING ? "to" : "from", what, at->size,
		 at->dev_offset, at->host_offset, at->from_end ? "end" : "start");
}

static const char *run_host_offsets(const struct copy_run *run, struct placement *at,
				    struct copy_result *result)
{
	size_t turning = (at->size * 37 + at->size / HARNESS_OFFSETS * 5 + at->dev_offset) %
			 HARNESS_OFFSETS;
	const char *wrong;

	for (size_t i = 0; i < (run->full ? HARNESS_OFFSETS : 2); i++) {
		at->host_offset = run->full ? i : i * turning;
		wrong = copy_once(run, at);
		if (wrong)
			return wrong;
		result->copies++;
	}
	return NULL;
}

static const char *run_all(const struct copy_run *run, struct placement *at,
			   struct copy_result *result)
{
	const char *wrong;

	for (at->from_end = 0; at->from_end < 2; at->from_end++)
		for (at->dev_offset = 0; at->dev_offset < HARNESS_OFFSETS; at->dev_offset++)
			for (at->size = 0; at->size <= run->max_size; at->size++) {
				wrong = run_host_offsets(run, at, result);
				if (wrong)
					return wrong;
			}
	return NULL;
}

void harness_run(const struct copy_run *run, struct copy_result *result)
{
	static struct placement at;     /* survives the jump */
	int to = run->dir == GDR_COPY_TO_MAPPING;
	const struct region *src = to ? &host : &device;
	const struct region *dst = to ? &device : &host;
	size_t len = (size_t)(src->end - src->start);
	const char *wrong;

	memset(&at, 0, sizeof(at));
	memset(result, 0, sizeof(*result));
	fill_source(src);
	memset(dst->start, CANARY, (size_t)(dst->end - dst->start));
	/* a source that is written faults */
	if (mprotect(src->start, len, PROT_READ)) {
		report(run, &at, "mprotect failed", result);
		return;
	}

	if (sigsetjmp(fault_jump, 1))
		wrong = "access outside the buffers, or a store to the source";
	else
		wrong = run_all(run, &at, result);

	if (wrong)
		report(run, &at, wrong, result);
	if (mprotect(src->start, len, PROT_READ | PROT_WRITE))
		report(run, &at, "mprotect failed", result);
}
