/* SPDX-License-Identifier: MIT */
/*
 * A management library for tests: one healthy GPU, but for FAKE_NVML, a list
 * such as mig=1,virtualization=2,cc=1,bar1=268435456,free=0,init=18,width=8,gen=1.
 */
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static unsigned long long setting(const char *name, unsigned long long fallback)
{
	const char *p = getenv("FAKE_NVML");
	size_t n = strlen(name);

	for (; p && *p; p += strcspn(p, ","), p += *p == ',')
		if (!strncmp(p, name, n) && p[n] == '=')
			return strtoull(p + n + 1, NULL, 10);
	return fallback;
}

#define ANSWER(function, name, fallback) \
	EXPORT int function(void *dev, unsigned *out); \
	EXPORT int function(void *dev, unsigned *out) \
	{ \
		(void)dev; \
		*out = (unsigned)setting(name, fallback); \
		return 0; \
	}

ANSWER(nvmlDeviceGetVirtualizationMode, "virtualization", 0)
ANSWER(nvmlDeviceGetCurrPcieLinkGeneration, "gen", 5)
ANSWER(nvmlDeviceGetMaxPcieLinkGeneration, "max_gen", 5)
ANSWER(nvmlDeviceGetCurrPcieLinkWidth, "width", 16)
ANSWER(nvmlDeviceGetMaxPcieLinkWidth, "max_width", 16)

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlInit_v2(void)
{
	return (int)setting("init", 0);
}

EXPORT int nvmlShutdown(void);
EXPORT int nvmlShutdown(void)
{
	return 0;
}

EXPORT const char *nvmlErrorString(int error);
EXPORT const char *nvmlErrorString(int error)
{
	return error == 18 ? "Driver/library version mismatch" : "Unknown Error";
}

EXPORT int nvmlSystemGetDriverVersion(char *buf, unsigned len);
EXPORT int nvmlSystemGetDriverVersion(char *buf, unsigned len)
{
	if (len < 16)
		return 7;
	strcpy(buf, "580.159.04");
	return 0;
}

EXPORT int nvmlSystemGetConfComputeState(unsigned state[3]);
EXPORT int nvmlSystemGetConfComputeState(unsigned state[3])
{
	memset(state, 0, 3 * sizeof(*state));
	state[1] = (unsigned)setting("cc", 0);
	return 0;
}

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **dev);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **dev)
{
	static char device;

	/* softcuda's first */
	if (strcmp(address, "00005cda:01:00.0"))
		return 6;
	*dev = &device;
	return 0;
}

EXPORT int nvmlDeviceGetBAR1MemoryInfo(void *dev, unsigned long long memory[3]);
EXPORT int nvmlDeviceGetBAR1MemoryInfo(void *dev, unsigned long long memory[3])
{
	(void)dev;
	memory[0] = setting("bar1", 256ULL << 30);
	memory[1] = setting("free", memory[0] - (2ULL << 20));
	memory[2] = memory[0] - memory[1];
	return 0;
}

EXPORT int nvmlDeviceGetMigMode(void *dev, unsigned *current, unsigned *pending);
EXPORT int nvmlDeviceGetMigMode(void *dev, unsigned *current, unsigned *pending)
{
	(void)dev;
	*current = *pending = (unsigned)setting("mig", 0);
	return 0;
}
