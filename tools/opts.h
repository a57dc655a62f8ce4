/* SPDX-License-Identifier: MIT */
/*
 * Command lines from one table per program: short and long forms, defaults,
 * ranges, and the help text all come from the same rows.
 */
#ifndef TOOLS_OPTS_H
#define TOOLS_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_kind {
	OPT_FLAG,       /* value: bool, becomes true */
	OPT_NUMBER,     /* value: uint64_t; decimal, 0x hex or 0 octal; min..max */
	OPT_SIZE,       /* the same with a unit, see opts_number */
	OPT_REAL,       /* value: double; decimal, min..max */
	OPT_SIZES,      /* value: struct opt_sizes; sizes between commas, each min..max */
	OPT_CHOICE,     /* value: unsigned, the index in choices */
	OPT_STRING,     /* value: const char *, as in argv; not empty */
	OPT_STRINGS,    /* value: struct opt_strings; each use adds one */
	OPT_LIST,       /* calls the program's list */
	OPT_HELP,
	OPT_VERSION,
};

#define OPT_SIZES_MAX 64

struct opt_sizes {
	size_t n;
	uint64_t v[OPT_SIZES_MAX];
};

#define OPT_STRINGS_MAX 256

struct opt_strings {
	size_t n;
	const char *v[OPT_STRINGS_MAX]; /* as in argv */
};

struct opt {
	char letter;                    /* short form; 0: none */
	const char *name;               /* long form */
	enum opt_kind kind;
	const char *arg;                /* what the help calls the argument; NULL: takes none */
	const char *def;                /* default as one would type it; applied and shown */
	const char *help;               /* NULL: neither in the help nor in completions */
	void *value;
	uint64_t min, max;              /* inclusive */
	const char *const *choices;     /* ends with NULL */
	bool *given;                    /* becomes true if the option was; may be NULL */
};

struct opts_program {
	const char *name;
	const char *summary;            /* first paragraph of the help */
	const struct opt *opts;
	size_t n;
	const char *notes;              /* last paragraph of the help */
	void (*list)(void);             /* for OPT_LIST: prints on stdout */
	bool stray;                     /* arguments that are no options are ignored, with a note */
};

enum opts_result {
	OPTS_RUN = 0,
	OPTS_DONE,                      /* help, version or list was printed: exit with 0 */
	OPTS_ERROR,                     /* the reason was printed: exit with 1 */
};

/*
 * Apply the defaults, then the command line.  Every program also answers
 * "--completion bash" and "--completion zsh" as its only arguments.
 */
enum opts_result opts_parse(const struct opts_program *p, int argc, char **argv);

/*
 * A number as OPT_SIZE (with_unit) or OPT_NUMBER takes it: decimal, 0x hex or 0
 * octal; then K, M or G (powers of 1024), also written KiB, MiB, GiB, or KB, MB,
 * GB (powers of 1000), in either case.  0, -EINVAL or -ERANGE.
 */
int opts_number(const char *text, bool with_unit, uint64_t *out);

/* opts_help.c, opts_completion.c: print on stdout. */
void opts_print_help(const struct opts_program *p);
void opts_print_version(const struct opts_program *p);
void opts_join_choices(const struct opt *o, char *buf, size_t len);
/* For a shell, bash or zsh, and the program as it was called; 0, or -EINVAL. */
int opts_print_completion(const struct opts_program *p, const char *argv0, const char *shell);

#endif
