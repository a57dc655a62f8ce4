/* SPDX-License-Identifier: MIT */
/* The fake's knobs and records: scripted failures, call counts, violations. */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_priv.h"

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;

/* Shared with forked children. */
struct records {
	atomic_uint violations;
	atomic_uint child_requests;
	char last[256];
};
static struct records *records;

static unsigned calls[FAKE_RM_STEPS];
static struct {
	enum fake_rm_step step;
	unsigned nth, times;            /* times 0: no failure scripted */
	unsigned seen;
	uint32_t status;
	int err;
	bool struck;
} script;
static bool munmap_fails;

__attribute__((constructor)) static void share(void)
{
	records = __real_mmap(NULL, sizeof(*records), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (records == MAP_FAILED)
		abort();
}

int fake_script(enum fake_rm_step step, uint32_t *status)
{
	calls[step]++;
	if (step == FAKE_RM_MUNMAP && munmap_fails) {
		munmap_fails = false;
		return ENOMEM;
	}
	if (!script.times || (script.step != step &&
			      (script.step != FAKE_RM_ANY || step > FAKE_RM_MADVISE)))
		return 0;
	script.seen++;
	if (script.seen < script.nth || script.seen - script.nth >= script.times)
		return 0;
	script.struck = true;
	if (status && script.status) {
		*status = script.status;
		return 0;
	}
	return script.err ? script.err : EIO;
}

void fake_rm_fail(enum fake_rm_step step, unsigned nth, unsigned times, uint32_t status, int err)
{
	pthread_mutex_lock(&fake_lock);
	memset(&script, 0, sizeof(script));
	script.step = step;
	script.nth = nth;
	script.times = times;
	script.status = status;
	script.err = err;
	pthread_mutex_unlock(&fake_lock);
}

void fake_rm_fail_munmap(void)
{
	pthread_mutex_lock(&fake_lock);
	munmap_fails = true;
	pthread_mutex_unlock(&fake_lock);
}

void fake_rm_fail_none(void)
{
	pthread_mutex_lock(&fake_lock);
	script.times = 0;
	munmap_fails = false;
	pthread_mutex_unlock(&fake_lock);
}

bool fake_rm_failed(void)
{
	return script.struck;
}

unsigned fake_rm_calls(enum fake_rm_step step)
{
	return calls[step];
}

void fake_violation(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(records->last, sizeof(records->last), fmt, ap);
	va_end(ap);
	atomic_fetch_add(&records->violations, 1);
	fprintf(stderr, "fake RM: VIOLATION: %s\n", records->last);
}

void fake_child_request(void)
{
	atomic_fetch_add(&records->child_requests, 1);
}

unsigned fake_rm_violations(void)
{
	return records->violations;
}

const char *fake_rm_violation(void)
{
	return records->last;
}

unsigned fake_rm_child_requests(void)
{
	return records->child_requests;
}

void fake_rm_counts(struct fake_rm_counts *out)
{
	memset(out, 0, sizeof(*out));
	pthread_mutex_lock(&fake_lock);
	fake_rm_count(out);
	fake_wrap_count(out);
	pthread_mutex_unlock(&fake_lock);
}

void fake_rm_reset(void)
{
	pthread_mutex_lock(&fake_lock);
	memset(calls, 0, sizeof(calls));
	memset(&script, 0, sizeof(script));
	munmap_fails = false;
	memset(records, 0, sizeof(*records));
	fake_wrap_reset();
	fake_gpu_reset();
	fake_memory_reset();
	pthread_mutex_unlock(&fake_lock);
	fake_rm_set_release(580);
	fake_rm_set_subdevice_parents(false);
	fake_rm_set_bar1_free(UINT64_MAX);
}
