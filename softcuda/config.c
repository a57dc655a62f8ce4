/* SPDX-License-Identifier: MIT */
/* The environment of softcuda, parsed once; softcuda.h lists the variables. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda.h"

static struct sc_config config;
static pthread_once_t once = PTHREAD_ONCE_INIT;

void sc_complain(const char *fmt, ...)
{
	va_list ap;

	flockfile(stderr);
	fputs("softcuda: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	funlockfile(stderr);
}

static void reject(const char *name, const char *text, const char *want)
{
	sc_complain("%s=%s: not %s", name, text, want);
	config.bad = true;
}

static int env_int(const char *name, int min, int max, int fallback)
{
	const char *text = getenv(name);
	char *end;
	long v;

	if (!text || !*text)
		return fallback;
	errno = 0;
	v = strtol(text, &end, 0);
	if (errno || *end || v < min || v > max) {
		reject(name, text, "a number in range");
		return fallback;
	}
	return (int)v;
}

static uint64_t env_size(const char *name, uint64_t fallback)
{
	static const char suffix[] = "KMGT";
	const char *text = getenv(name), *s;
	unsigned long long v;
	unsigned int shift = 0;
	char *end;

	if (!text || !*text)
		return fallback;
	errno = 0;
	v = strtoull(text, &end, 0);
	s = *end ? strchr(suffix, *end) : NULL;
	if (s) {
		shift = 10 * (unsigned int)(s - suffix + 1);
		end++;
	}
	if (errno || *end || *text == '-' || end == text || v > (1ULL << 47) >> shift ||
	    (v << shift) < SC_BLOCK) {
		reject(name, text, "a size of at least 2M, such as 512M or 4G");
		return fallback;
	}
	return (v << shift) / SC_BLOCK * SC_BLOCK;
}

static void env_attrs(const char *name)
{
	const char *text = getenv(name), *p = text;

	while (p && *p) {
		struct sc_attr a;
		int n = 0;

		if (sscanf(p, "%d=%d%n", &a.attr, &a.value, &n) != 2 || (p[n] && p[n] != ',') ||
		    a.attr < 1 || config.nattrs == sizeof(config.attrs) / sizeof(config.attrs[0])) {
			reject(name, text, "a list such as 116=0,20=3");
			return;
		}
		config.attrs[config.nattrs++] = a;
		p += n + (p[n] == ',');
	}
}

static void load(void)
{
	const char *name = getenv("SOFTCUDA_NAME");

	config.devices = env_int("SOFTCUDA_DEVICES", 0, SC_MAX_DEVICES, 1);
	config.memory = env_size("SOFTCUDA_MEMORY", 1ULL << 30);
	config.coherent = env_int("SOFTCUDA_COHERENT", 0, 1, 0);
	config.version = env_int("SOFTCUDA_DRIVER_VERSION", 2000, INT_MAX, 13030);
	env_attrs("SOFTCUDA_ATTRS");
	snprintf(config.name, sizeof(config.name), "%s",
		 name && *name ? name : "softcuda (host memory, no GPU)");
	if (sc_fault_parse(getenv("SOFTCUDA_FAIL")))
		config.bad = true;
}

const struct sc_config *sc_config(void)
{
	pthread_once(&once, load);
	return &config;
}
