/* SPDX-License-Identifier: MIT */
/* Command lines for a table with an option of every kind; arguments end at NUL bytes. */
#include <errno.h>
#include <unistd.h>

#include "input.h"
#include "opts.h"
#include "place.h"
#include "sizes.h"

#define ARGS_MAX 24

static struct values {
	bool flag, given;
	uint64_t number, size;
	double real;
	struct opt_sizes sizes;
	unsigned choice;
	const char *string, *step, *cpus;
	struct opt_strings strings;
	uint64_t min, max;
} v;

static const char *const choices[] = { "cuMemAlloc", "cuMemCreate", "pool", NULL };

static const struct opt table[] = {
	{ 'f', "flag", OPT_FLAG, NULL, NULL, "a flag", &v.flag },
	{ 'n', "number", OPT_NUMBER, "N", "7", "a number", &v.number, 1, 1000, NULL, &v.given },
	{ 's', "size", OPT_SIZE, "SIZE", "64K", "a size", &v.size, 1, 1ULL << 40 },
	{ 0, "real", OPT_REAL, "X", "1.5", "a real number", &v.real, 0, 100 },
	{ 0, "sizes", OPT_SIZES, "LIST", NULL, "sizes", &v.sizes, 1, 1ULL << 40 },
	{ 'a', "alloc", OPT_CHOICE, "FN", "cuMemAlloc", "one of", &v.choice, 0, 0, choices },
	{ 0, "string", OPT_STRING, "FILE", NULL, "a string", &v.string },
	{ 't', "test", OPT_STRINGS, "NAME", NULL, "strings", &v.strings },
	{ 0, "min", OPT_SIZE, "SIZE", NULL, "smallest", &v.min, 1, UINT64_MAX },
	{ 0, "max", OPT_SIZE, "SIZE", NULL, "largest", &v.max, 1, UINT64_MAX },
	{ 0, "step", OPT_STRING, "STEP", NULL, "step", &v.step },
	{ 0, "cpu", OPT_STRING, "CPUS", NULL, "CPUs", &v.cpus },
	{ 'l', "list", OPT_LIST, NULL, NULL, "a list" },
	{ 'h', "help", OPT_HELP, NULL, NULL, "this help" },
	{ 0, "version", OPT_VERSION, NULL, NULL, "versions" },
	{ 0, "hidden", OPT_FLAG, NULL, NULL, NULL, &v.flag },
};

static void list(void)
{
	puts("a list");
}

static void check_values(void)
{
	size_t i;

	MUST(v.number >= 1 && v.number <= 1000);
	MUST(v.size >= 1 && v.size <= 1ULL << 40);
	MUST(v.real >= 0 && v.real <= 100);
	MUST(v.choice < 3);
	MUST(v.sizes.n <= OPT_SIZES_MAX && v.strings.n <= OPT_STRINGS_MAX);
	for (i = 0; i < v.sizes.n; i++)
		MUST(v.sizes.v[i] >= 1 && v.sizes.v[i] <= 1ULL << 40);
	MUST(!v.string || *v.string);
}

/* What the benchmarks make of them. */
static void use_values(void)
{
	struct sizes_args a = { .list = v.sizes, .min = v.min, .max = v.max, .step = v.step };
	struct sizes sizes;
	cpu_set_t set;
	size_t i;

	if (sizes_choose(&a, 1, 1 << 20, &sizes) == 0) {
		MUST(sizes.n >= 1 && sizes.n <= SIZES_MAX);
		for (i = 0; i < sizes.n; i++)
			MUST(sizes.v[i] >= 1 && sizes.v[i] <= sizes.largest);
	}
	if (v.cpus)
		place_parse(v.cpus, &set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool quiet;
	struct opts_program p = {
		.name = "gdrcopy_fuzz",
		.summary = "Takes options.",
		.opts = table,
		.n = sizeof(table) / sizeof(table[0]),
		.notes = "No notes.\n",
		.list = list,
	};
	char *text = malloc(size + 2), *argv[ARGS_MAX + 2], *at;
	enum opts_result result;
	int argc = 1;

	MUST(text);
	if (!quiet)
		MUST(freopen("/dev/null", "w", stdout));
	quiet = true;
	memcpy(text, data, size);
	text[size] = text[size + 1] = '\0';
	p.stray = size && data[0] & 1;
	argv[0] = p.stray ? (char *)(uintptr_t)"/usr/bin/fuzz" : (char *)(uintptr_t)"gdrcopy_fuzz";
	for (at = text; at < text + size && argc <= ARGS_MAX; at += strlen(at) + 1)
		argv[argc++] = at;
	argv[argc] = NULL;
	memset(&v, 0, sizeof(v));
	result = opts_parse(&p, argc, argv);
	MUST(result == OPTS_RUN || result == OPTS_DONE || result == OPTS_ERROR);
	if (result == OPTS_RUN) {
		check_values();
		use_values();
	}
	free(text);
	return 0;
}
