/* SPDX-License-Identifier: MIT */
/*
 * Failures on demand: call number N of function F returns CUresult E, before
 * anything else happens.  From SOFTCUDA_FAIL or softcuda_set_faults.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda.h"

#define MAX_FAULTS 64

struct fault {
	char func[64];                  /* without _v2 */
	unsigned long nth;              /* 0: every call */
	unsigned long calls;
	CUresult res;
};

static struct fault faults[MAX_FAULTS];
static atomic_uint nfaults;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* "F:N:E" up to a comma or the end; the place after it, or NULL. */
static const char *parse_one(const char *p, struct fault *f)
{
	size_t n = strcspn(p, ":,");
	char *end;
	long res;

	memset(f, 0, sizeof(*f));
	if (!n || n >= sizeof(f->func) || p[n] != ':')
		return NULL;
	memcpy(f->func, p, n);
	f->func[sc_symbol_base(f->func)] = '\0';
	if (!sc_symbol_known(f->func))
		return NULL;
	p += n + 1;
	if (*p == '*') {
		p++;
	} else {
		if (*p < '1' || *p > '9')
			return NULL;
		f->nth = strtoul(p, &end, 10);
		p = end;
	}
	if (*p != ':' || p[1] < '0' || p[1] > '9')
		return NULL;
	res = strtol(p + 1, &end, 10);
	if ((*end && *end != ',') || res < 1 || res > 9999)
		return NULL;
	f->res = (CUresult)res;
	return *end ? end + 1 : end;
}

int sc_fault_parse(const char *spec)
{
	struct fault parsed[MAX_FAULTS];
	unsigned int n = 0;

	for (const char *p = spec; p && *p; n++) {
		p = n < MAX_FAULTS ? parse_one(p, &parsed[n]) : NULL;
		if (!p) {
			sc_complain(
				"cannot parse the failures \"%s\": want FUNCTION:CALL:RESULT,... "
				"as in cuMemAlloc:3:2",
				spec);
			return -EINVAL;
		}
	}
	pthread_mutex_lock(&lock);
	if (n)
		memcpy(faults, parsed, n * sizeof(parsed[0]));
	atomic_store(&nfaults, n);
	pthread_mutex_unlock(&lock);
	return 0;
}

CUresult sc_fault(const char *func)
{
	CUresult res = CUDA_SUCCESS;
	size_t n;

	if (!atomic_load(&nfaults))
		return CUDA_SUCCESS;
	n = sc_symbol_base(func);
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < atomic_load(&nfaults); i++) {
		struct fault *f = &faults[i];

		if (strncmp(f->func, func, n) || f->func[n])
			continue;
		f->calls++;
		if (!res && (!f->nth || f->calls == f->nth))
			res = f->res;
	}
	pthread_mutex_unlock(&lock);
	return res;
}

int softcuda_set_faults(const char *spec)
{
	sc_config();            /* the environment's come first, and are replaced */
	return sc_fault_parse(spec);
}
