/* SPDX-License-Identifier: MIT */
/* gdrcopy_sanity: the command line, the loop over the tests, the exit status. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "output.h"
#include "progress.h"
#include "select.h"
#include "tool.h"

#define NAME "gdrcopy_sanity"

static struct {
	bool verbose, silent, extended, all, shuffle, soft;
	bool json, junit, tap, seed_given;
	const char *device;
	uint64_t timeout, repeat, seed;
	struct opt_strings names;
} args;

static const struct opt options[] = {
	{ 'v', "verbose", OPT_FLAG, NULL, NULL, "tell on stderr what happens",
	  &args.verbose, 0, 0, NULL, NULL },
	{ 's', "silent", OPT_FLAG, NULL, NULL, "print no summary",
	  &args.silent, 0, 0, NULL, NULL },
	{ 'l', "list", OPT_LIST, NULL, NULL, "list all tests", NULL, 0, 0, NULL, NULL },
	{ 't', "test", OPT_STRINGS, "NAME", NULL, "run this test, or all that match a shell "
	  "pattern; may be given several times", &args.names, 0, 0, NULL, NULL },
	{ 'd', "device", OPT_STRING, "GPU", "0", "GPU to use: CUDA's ordinal, a UUID or a PCI "
	  "address", &args.device, 0, 0, NULL, NULL },
	{ 'e', "extended", OPT_FLAG, NULL, NULL, "run the extended tests, too",
	  &args.extended, 0, 0, NULL, NULL },
	{ 0, "all", OPT_FLAG, NULL, NULL, "run the extended and the further tests, too",
	  &args.all, 0, 0, NULL, NULL },
	{ 0, "timeout", OPT_NUMBER, "S", "60", "seconds that a test may take; 0: any time",
	  &args.timeout, 0, 1000000, NULL, NULL },
	{ 0, "repeat", OPT_NUMBER, "N", "1", "run everything so many times",
	  &args.repeat, 1, 100000, NULL, NULL },
	{ 0, "shuffle", OPT_FLAG, NULL, NULL, "run in random order, in each round another; the "
	  "seed is printed", &args.shuffle, 0, 0, NULL, NULL },
	{ 0, "seed", OPT_NUMBER, "N", NULL, "shuffle as a run with this seed did",
	  &args.seed, 0, UINT64_MAX, NULL, &args.seed_given },
	{ 0, "soft", OPT_FLAG, NULL, NULL, "run on softcuda: host memory plays the GPU's part; "
	  "GDRCOPY_SOFTCUDA=1 does the same", &args.soft, 0, 0, NULL, NULL },
	{ 0, "json", OPT_FLAG, NULL, NULL, "print one JSON document",
	  &args.json, 0, 0, NULL, NULL },
	{ 0, "junit", OPT_FLAG, NULL, NULL, "print JUnit's XML", &args.junit, 0, 0, NULL, NULL },
	{ 0, "tap", OPT_FLAG, NULL, NULL, "print the Test Anything Protocol",
	  &args.tap, 0, 0, NULL, NULL },
	TOOL_OPT_HELP,
	TOOL_OPT_VERSION,
};

static const struct opts_program program = {
	.name = NAME,
	.summary = "Test GDRCopy on this machine.",
	.opts = options,
	.n = sizeof(options) / sizeof(options[0]),
	.notes =
		"A test that this platform or backend cannot run is waived, with the reason.\n"
		"Exit status: 0 if every test passed or was waived; 1 if one failed or could\n"
		"not be run; 128 + signal if interrupted, after the results so far.\n",
	.list = sanity_list,
	.stray = true,
};

static struct sanity_summary summary;

static void take_fact(const char *name, const char *value)
{
	struct sanity_fact *f = &summary.facts[summary.nfacts];

	sanity_say("# %s: %s", name, value);
	if (summary.nfacts == SANITY_FACTS_MAX)
		return;
	snprintf(f->name, sizeof(f->name), "%s", name);
	snprintf(f->value, sizeof(f->value), "%s", value);
	summary.nfacts++;
	if (!strcmp(name, SANITY_NO_GPU))
		summary.no_gpu = f->value;
}

static const struct sanity_format *choose_format(void)
{
	if (args.json + args.junit + args.tap > 1) {
		fprintf(stderr, "ERROR: --json, --junit and --tap exclude each other\n");
		return NULL;
	}
	if (args.json)
		return &sanity_json;
	if (args.junit)
		return &sanity_junit;
	return args.tap ? &sanity_tap : &sanity_text;
}

static void run_body(const void *arg)
{
	const struct sanity_test *test = arg;

	test->run(&test->v);
}

static void run_one(const struct sanity_test *test, unsigned round, bool text,
		    struct sanity_outcome *out)
{
	static const char *const words[SANITY_RESULTS] = { "PASSED", "FAILED", "WAIVED" };
	struct sanity_job job = {
		.body = run_body, .arg = test, .timeout = summary.timeout,
		.stdout_to_stderr = !text,
	};

	out->test = test;
	out->round = round;
	sanity_say("&&&& RUNNING %s", test->name);
	sanity_run(&job, out);
	if (out->result == SANITY_FAIL)
		fprintf(stderr, "%s: %s\n", test->name, out->reason);
	sanity_say("&&&& %s %s", words[out->result], test->name);
}

static void run_round(struct sanity_selection *sel, unsigned round,
		      const struct sanity_format *format)
{
	size_t i;

	for (i = 0; i < sel->n; i++) {
		struct sanity_outcome *o = &summary.outcomes[summary.n];

		if (!args.verbose)
			progress_step(sel->tests[i]->name, summary.n, summary.planned);
		run_one(sel->tests[i], round, format == &sanity_text, o);
		progress_clear();
		/* It failed because it was asked to end, which says nothing about it. */
		if (sanity_interrupted())
			return;
		summary.n++;
		summary.count[o->result]++;
		if (format->each && !args.silent)
			format->each(&summary, o);
	}
}

static int check_device(void)
{
	int err = gpu_select_check(args.device);

	if (err)
		return err;
	if (strcmp(args.device, "all") && !strchr(args.device, ','))
		return 0;
	fprintf(stderr, "ERROR: option -d, --device: " NAME " takes one GPU\n");
	return -EINVAL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void choose_seed(void)
{
	struct timespec t;

	summary.shuffled = args.shuffle || args.seed_given;
	if (!summary.shuffled)
		return;
	clock_gettime(CLOCK_REALTIME, &t);
	summary.seed = args.seed;
	if (!args.seed_given) /* short enough to be typed */
		summary.seed = ((uint64_t)t.tv_sec * 1000003 + (uint64_t)t.tv_nsec) % 1000000000;
	fprintf(stderr, "NOTE: shuffled; --seed %llu gives this order again\n",
		(unsigned long long)summary.seed);
}

static int run_all(struct sanity_selection *sel, const struct sanity_format *format)
{
	uint64_t state = summary.seed;
	unsigned rounds = summary.no_gpu ? 0 : summary.repeat, round;
	double start = now();
	int err = 0;

	if (format->begin && !args.silent)
		err = format->begin(&summary);
	if (err)
		return 1;
	for (round = 1; round <= rounds && !sanity_interrupted(); round++) {
		if (summary.shuffled)
			sanity_shuffle(sel, &state);
		run_round(sel, round, format);
	}
	summary.seconds = now() - start;
	summary.status = sanity_interrupted() ? 128 + sanity_interrupted() :
			 summary.no_gpu || summary.count[SANITY_FAIL] ? 1 : 0;
	if (sanity_interrupted())
		fprintf(stderr, "INTERRUPTED: %zu of %zu tests were run\n", summary.n,
			summary.planned);
	if (!args.silent && format->end && format->end(&summary))
		summary.status = summary.status ? summary.status : 1;
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "ERROR: the results could not be written: %s\n", strerror(errno));
		summary.status = summary.status ? summary.status : 1;
	}
	return summary.status;
}

static int fail(int status, int code)
{
	fprintf(stderr, NAME ": the run did not succeed, status=%d\n", code);
	return status;
}

int main(int argc, char **argv)
{
	struct sanity_selection sel = { 0 };
	const struct sanity_format *format;
	enum opts_result parsed = opts_parse(&program, argc, argv);
	int err, status;

	if (parsed != OPTS_RUN)
		return parsed == OPTS_DONE ? 0 : 1;
	format = choose_format();
	if (!format || check_device())
		return 1;
	err = sanity_select(&sel, &args.names, args.all ? SANITY_MORE :
			    args.extended ? SANITY_EXTENDED : SANITY_DEFAULT);
	if (err) {
		free(sel.tests);
		return fail(1, -err);
	}
	sanity.verbose = args.verbose;
	sanity.soft = args.soft || cu_soft_wanted();
	sanity.device_name = args.device;
	summary.repeat = (unsigned)args.repeat;
	summary.timeout = (unsigned)args.timeout;
	summary.planned = sel.n * summary.repeat;
	summary.outcomes = calloc(summary.planned, sizeof(*summary.outcomes));
	if (!summary.outcomes) {
		free(sel.tests);
		return fail(1, ENOMEM);
	}
	sanity_runner_init();
	choose_seed();
	sanity_probe(summary.timeout, take_fact);
	status = run_all(&sel, format);
	free(summary.outcomes);
	free(sel.tests);
	return status ? fail(status, status == 1 ? 1 : status) : 0;
}
