/* SPDX-License-Identifier: MIT */
/*
 * A look at where the tests will run, from a process that then ends: the
 * backend, which some tests must know before they fork, and facts for reports.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complaint.h"
#include "runner.h"

static void (*give)(const char *name, const char *value);
static int facts_fd = -1;
static int console = -1;        /* standard error as it was */

static void tell(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void tell(const char *name, const char *fmt, ...)
{
	char value[400], msg[500];
	va_list ap;
	ssize_t n;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	sanity_one_line(value);
	n = snprintf(msg, sizeof(msg), "%c%s\t%s", SANITY_MSG_FACT, name, value);
	n = write(facts_fd, msg, (size_t)n + 1);
	(void)n;
}

/* Which GPU was asked for; if it is not there, the user is told. */
static void choose_device(void)
{
	struct complaint c;
	char why[300];
	size_t n;
	int err;

	complaint_begin(&c);
	err = gpu_select(sanity.device_name, &sanity.device, 1, &n);
	complaint_end(&c, why, sizeof(why));
	if (!err)
		return;
	sanity.device = -1;
	dprintf(console, "ERROR: %s\n", why);
	tell(SANITY_NO_GPU, "%s", why);
}

static void look(const void *arg)
{
	int version, major, minor;
	struct gpu gpu;
	bool loaded;
	gdr_t g;

	facts_fd = sanity_report_fd();
	console = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	/* What is wrong the tests will say themselves. */
	if (!sanity.verbose && !freopen("/dev/null", "w", stderr)) {
		tell(SANITY_NO_GPU, "/dev/null: %s", strerror(errno));
		return;
	}
	sanity.device = 0;
	loaded = cu_load(sanity.soft) == 0;
	if (loaded && cu.Init(0) == CUDA_SUCCESS)
		choose_device();
	tell("ordinal", "%d", sanity.device);
	if (!loaded || sanity.device < 0)
		return;
	tell("libcuda", "%s", cu_path());
	if (cu.DriverGetVersion(&version) == CUDA_SUCCESS)
		tell("cuda_driver", "%d.%d%s", version / 1000, version % 1000 / 10,
		     cu_is_soft() ? " (softcuda)" : "");
	if (gpu_describe(sanity.device, &gpu) == 0) {
		tell("gpu", "%d: %s", gpu.ordinal, gpu.name);
		tell("gpu_pci", "%04x:%02x:%02x.0", gpu.domain, gpu.bus, gpu.slot);
	}
	g = gdr_open();
	if (!g) {
		tell("gdr_open", "%s", gdrx_last_error());
		return;
	}
	tell("backend", "%s", gdrx_backend_name(g));
	if (gdr_driver_get_version(g, &major, &minor) == 0)
		tell("gdr_driver", "%d.%d", major, minor);
	tell("copy_routine_to_mapping", "%s", gdrx_copy_routine(0));
	tell("copy_routine_from_mapping", "%s", gdrx_copy_routine(1));
	gdr_close(g);
}

static void take(char kind, const char *text)
{
	const char *tab = strchr(text, '\t');
	char name[64];

	if (kind != SANITY_MSG_FACT || !tab || (size_t)(tab - text) >= sizeof(name))
		return;
	memcpy(name, text, (size_t)(tab - text));
	name[tab - text] = '\0';
	if (strcmp(name, "ordinal") == 0) {
		sanity.device = atoi(tab + 1);
		return;
	}
	if (strcmp(name, "backend") == 0)
		snprintf(sanity.backend, sizeof(sanity.backend), "%s", tab + 1);
	give(name, tab + 1);
}

void sanity_probe(unsigned timeout, void (*fact)(const char *name, const char *value))
{
	struct sanity_job job = {
		.body = look, .timeout = timeout, .stdout_to_stderr = true, .message = take,
	};
	struct sanity_outcome outcome = { 0 };

	give = fact;
	sanity.device = -1;
	sanity_run(&job, &outcome);
	if (outcome.result == SANITY_PASS || sanity_interrupted())
		return;
	fprintf(stderr, "WARNING: opening CUDA and the library: %s\n", outcome.reason);
	if (sanity.device < 0)
		give(SANITY_NO_GPU, outcome.reason);
}
