/* SPDX-License-Identifier: MIT */
/* Accesses that survive a signal; see guest.h. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "guest.h"
#include "sim.h"

/* volatile: it is for the handler that it is set around an access */
static __thread sigjmp_buf *volatile landing;

static void on_fault(int sig)
{
	if (landing)
		siglongjmp(*landing, sig);
	signal(sig, SIG_DFL);
	raise(sig);
}

__attribute__((constructor)) static void catch_faults(void)
{
	/* no mask to restore, so that a jump out of the handler costs no system call */
	struct sigaction act = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGBUS, &act, NULL);
	sigaction(SIGSEGV, &act, NULL);
}

int peek(const void *addr, uint32_t *value)
{
	sigjmp_buf here;
	int sig = sigsetjmp(here, 0);

	if (!sig) {
		landing = &here;
		*value = *(const volatile uint32_t *)addr;
	}
	landing = NULL;
	return sig;
}

int poke(void *addr, uint32_t value)
{
	sigjmp_buf here;
	int sig = sigsetjmp(here, 0);

	if (!sig) {
		landing = &here;
		*(volatile uint32_t *)addr = value;
	}
	landing = NULL;
	return sig;
}

int peek_at(const void *addr, size_t offset)
{
	uint32_t value;

	return peek((const char *)addr + offset, &value);
}

size_t readable_pages(const void *addr, size_t len)
{
	size_t at, n = 0;

	for (at = 0; at < len; at += HOST_PAGE)
		n += peek_at(addr, at) == 0;
	return n;
}

/* The page tables tell of all pages; of a large range not each is tried, signals being dear. */
static size_t step_through(size_t len)
{
	return len > 64 * HOST_PAGE ? 13 * HOST_PAGE : HOST_PAGE;
}

bool is_dead(const void *addr, size_t len)
{
	char *start = (char *)(uintptr_t)addr;
	size_t at;

	for (at = 0; at < len; at += step_through(len))
		if (peek_at(start, at) == 0)
			return false;
	if (poke(start, 0xdeadbeef) == 0 || poke(start + len - sizeof(uint32_t), 0xdeadbeef) == 0)
		return false;
	return sim_probe(addr, len).present == 0;
}

bool page_is_mapped(const void *addr)
{
	uintptr_t page = (uintptr_t)addr & ~(uintptr_t)(HOST_PAGE - 1);

	return msync((void *)page, HOST_PAGE, MS_ASYNC) == 0 || errno != ENOMEM;
}

bool is_dead_by_sigbus(const void *addr, size_t len)
{
	size_t at;

	if (!is_dead(addr, len))
		return false;
	for (at = 0; at < len; at += step_through(len)) {
		const char *page = (const char *)addr + at;
		int sig = peek_at(page, 0);

		if (!want_eq(sig, page_is_mapped(page) ? SIGBUS : SIGSEGV))
			return false;
	}
	return true;
}
