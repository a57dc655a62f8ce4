/* SPDX-License-Identifier: MIT */
/* gdrcopy_doctor: the command line, the tries, the areas, the exit status. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "container.h"
#include "cu.h"
#include "doctor.h"
#include "installed.h"
#include "root.h"
#include "tool.h"

#define NAME "gdrcopy_doctor"

static struct {
	const char *device, *root;
	bool soft, csv, json, quiet;
	uint64_t timeout;
} args;

static const struct opt options[] = {
	{ 'd', "device", OPT_STRING, "GPU", "all", "GPUs to look at: CUDA's ordinals, UUIDs or "
	  "PCI addresses between commas, or all", &args.device, 0, 0, NULL, NULL },
	{ 'q', "quiet", OPT_FLAG, NULL, NULL, "leave out all but warnings and failures",
	  &args.quiet, 0, 0, NULL, NULL },
	{ 0, "timeout", OPT_NUMBER, "S", "60", "seconds that a try may take before it is taken "
	  "for hanging", &args.timeout, 1, 3600, NULL, NULL },
	{ 0, "root", OPT_STRING, "DIR", NULL, "read the texts of /proc, /sys, /dev and /etc below "
	  "this directory; the tries are made on this machine all the same", &args.root, 0, 0,
	  NULL, NULL },
	TOOL_OPT_SOFT(args),
	TOOL_OPT_CSV(args),
	TOOL_OPT_JSON(args),
	TOOL_OPT_HELP,
	TOOL_OPT_VERSION,
};

static const struct opts_program program = {
	.name = NAME,
	.summary = "Find out whether GDRCopy works on this machine, and if not, why.",
	.opts = options,
	.n = sizeof(options) / sizeof(options[0]),
	.notes =
		"Each finding is OK, NOTE (nothing to mend), SKIP (could not be looked at),\n"
		"WARN or FAIL, and why; a line with -> has the command that mends it. It\n"
		"changes nothing.\n"
		"Exit status: 0 if GDRCopy works here, on every GPU looked at; else 1.\n",
};

static struct doctor doctor;

static void provenance(struct report *r)
{
	const struct passwd *user = getpwuid(geteuid());
	char release[128];
	struct utsname u;

	installed_kernel(release, sizeof(release));
	report_fact(r, "tool", "%s %s", NAME, GDRCOPY_VERSION);
	if (uname(&u) == 0)
		report_fact(r, "host", "%s", u.nodename);
	report_fact(r, "kernel", "Linux %s%s%s", release, *release ? " " : "", u.machine);
	report_fact(r, "user", "%s (%u)", user ? user->pw_name : "no name", (unsigned)geteuid());
	if (root_is_fake())
		report_fact(r, "root", "%s", args.root);
}

/* All that needs the live machine, one after another: GPUs may be exclusive. */
static void make_tries(struct doctor *d)
{
	unsigned i;

	probe_cuda(d->soft, args.device, d->timeout, &d->cuda);
	if (!d->cuda.end.done)  /* neither would these */
		return;
	if (!d->soft)
		probe_nvml(&d->cuda, d->timeout, &d->nvml);
	for (i = 0; i < PROBE_BACKENDS; i++)
		probe_backend(i, d->soft, &d->cuda, d->timeout, &d->backends[i]);
}

static void read_texts(struct doctor *d)
{
	char text[4096];

	container_kind(d->container, sizeof(d->container));
	d->ngpus = bus_scan(d->gpus, PROBE_GPUS);
	if (!root_read("/proc/driver/nvidia/version", text, sizeof(text)) ||
	    !parse_driver(text, &d->driver))
		d->driver.version[0] = '\0';
}

static void examine(struct doctor *d)
{
	doctor_driver(d);
	doctor_container(d);
	doctor_nodes(d);
	doctor_cuda(d);
	doctor_gpus(d);
	doctor_settings(d);
	doctor_module(d);
	doctor_backends(d);
	doctor_mapping(d);
	doctor_bus(d);
	doctor_library(d);
	doctor_programs(d);
}

/* False, and errno. */
static bool is_directory(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	errno = ENOTDIR;
	return S_ISDIR(st.st_mode);
}

int main(int argc, char **argv)
{
	enum opts_result parsed = opts_parse(&program, argc, argv);
	struct report report;
	int status;

	if (parsed != OPTS_RUN)
		return parsed == OPTS_DONE ? 0 : 1;
	if (args.csv && args.json) {
		fprintf(stderr, "ERROR: --csv and --json exclude each other\n");
		return 1;
	}
	if (gpu_select_check(args.device))
		return 1;
	if (args.root && !is_directory(args.root)) {
		fprintf(stderr, "ERROR: option --root: %s: %s\n", args.root, strerror(errno));
		return 1;
	}
	if (args.root)
		root_set(args.root);
	if (report_open(&report, NAME, args.json ? REPORT_JSON : args.csv ? REPORT_CSV :
			REPORT_TEXT))
		return 1;
	doctor.soft = args.soft || cu_soft_wanted();
	doctor.timeout = args.timeout;
	provenance(&report);
	read_texts(&doctor);
	make_tries(&doctor);
	examine(&doctor);
	doctor_print(&doctor, &report, args.quiet);
	status = doctor_summary(&doctor, &report);
	if (report_close(&report, status, false))
		status = 1;
	return status;
}
