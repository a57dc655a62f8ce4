/* SPDX-License-Identifier: MIT */
/* The environment of softcuda, parsed once; softcuda.h lists the variables. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "softcuda.h"

/* A PCI domain that no machine has, so that nobody takes the device for a real one. */
#define PCI_DOMAIN 0x5cda

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
	const char *text = secure_getenv(name);
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

static uint64_t env_size(const char *name, uint64_t unit, uint64_t fallback)
{
	static const char suffix[] = "KMGT";
	const char *text = secure_getenv(name), *s;
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
	    (v << shift) < unit) {
		reject(name, text, unit == SC_BLOCK ? "a size of at least 2M, such as 512M or 4G" :
						      "a size of at least 64K");
		return fallback;
	}
	return (v << shift) / unit * unit;
}

static void env_attrs(const char *name)
{
	const char *text = secure_getenv(name), *p = text;

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

/* Memory of a simulated GPU where there is one; elsewhere, or if told to, of this host. */
static void choose_source(void)
{
	int wanted = env_int("SOFTCUDA_NVSIM", 0, 1, -1), n;

	config.source = &sc_memfd_source;
	config.devices = 1;
	for (unsigned int i = 0; i < SC_MAX_DEVICES; i++) {
		config.memory[i] = 1ULL << 30;
		config.place[i] = (struct sc_place){ PCI_DOMAIN, i + 1, 0 };
	}
	if (!wanted)
		return;
	n = sc_nvsim_look(config.memory, config.place);
	if (n > 0) {
		config.source = &sc_nvsim_source;
		config.devices = n;
	} else if (wanted == 1 || (n != -ENOENT && n != -ENXIO && n != -ENODEV)) {
		sc_complain("/dev/nvsim: %s; SOFTCUDA_NVSIM=0 does without", strerror(-n));
		config.bad = true;
	}
}

static void load(void)
{
	const char *name = secure_getenv("SOFTCUDA_NAME");
	uint64_t memory;
	bool simulated;

	if (getauxval(AT_SECURE)) {
		sc_complain("not for programs with rights that their user lacks (set-uid, file "
			    "capabilities)");
		config.bad = true;
	}
	choose_source();
	simulated = config.source == &sc_nvsim_source;
	config.devices = env_int("SOFTCUDA_DEVICES", 0, simulated ? config.devices : SC_MAX_DEVICES,
				 config.devices);
	memory = env_size("SOFTCUDA_MEMORY", SC_BLOCK, 0);
	for (unsigned int i = 0; memory && i < SC_MAX_DEVICES; i++)
		config.memory[i] = memory;
	config.extent = env_size("SOFTCUDA_NVSIM_EXTENT", 64 << 10, 0);
	config.coherent = env_int("SOFTCUDA_COHERENT", 0, 1, 0);
	config.version = env_int("SOFTCUDA_DRIVER_VERSION", 2000, INT_MAX, 13030);
	env_attrs("SOFTCUDA_ATTRS");
	snprintf(config.name, sizeof(config.name), "%s",
		 name && *name ? name :
		 simulated     ? "softcuda (simulated GPU)" :
				 "softcuda (host memory, no GPU)");
	if (sc_fault_parse(secure_getenv("SOFTCUDA_FAIL")))
		config.bad = true;
}

const struct sc_config *sc_config(void)
{
	pthread_once(&once, load);
	return &config;
}
