/* SPDX-License-Identifier: MIT */
/* The option table: parsing and help. */
#include "opts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPTS_MAX     64

/* The factor that a unit stands for; 0: it is none. */
static uint64_t unit_factor(const char *unit)
{
	static const char letters[] = "kmg";
	const char *l = strchr(letters, tolower((unsigned char)*unit));
	unsigned power;

	if (!*unit)
		return 1;
	if (!l)
		return 0;
	power = (unsigned)(l - letters) + 1;
	if (!unit[1] || !strcasecmp(unit + 1, "ib"))
		return 1ULL << 10 * power;
	if (strcasecmp(unit + 1, "b") != 0)
		return 0;
	return power == 1 ? 1000 : power == 2 ? 1000000 : 1000000000;
}

int opts_number(const char *text, bool with_unit, uint64_t *out)
{
	unsigned long long v;
	uint64_t factor = 1;
	char *end;

	/* strtoull takes blanks and a sign; a count or a size has neither. */
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno == ERANGE)
		return -ERANGE;
	if (with_unit)
		factor = unit_factor(end);
	if (!factor || (!with_unit && *end))
		return -EINVAL;
	if (v > UINT64_MAX / factor)
		return -ERANGE;
	*out = v * factor;
	return 0;
}

static int complain(const struct opt *o, const char *text, const char *what)
{
	if (o->letter)
		fprintf(stderr, "ERROR: option -%c, --%s: \"%s\" %s\n", o->letter, o->name, text,
			what);
	else
		fprintf(stderr, "ERROR: option --%s: \"%s\" %s\n", o->name, text, what);
	return -EINVAL;
}

static int out_of_range(const struct opt *o, const char *text)
{
	char what[96];

	snprintf(what, sizeof(what), "is out of range, %llu to %llu",
		 (unsigned long long)o->min, (unsigned long long)o->max);
	return complain(o, text, what);
}

static int set_number(const struct opt *o, const char *text, uint64_t *out)
{
	uint64_t v;
	int err = opts_number(text, o->kind != OPT_NUMBER, &v);

	if (err == -EINVAL)
		return complain(o, text, o->kind == OPT_NUMBER ?
				"is not a number (decimal, 0x.. or 0..)" :
				"is not a size (a number, and K, M or G for powers of 1024)");
	if (err || v < o->min || v > o->max)
		return out_of_range(o, text);
	*out = v;
	return 0;
}

static int set_sizes(const struct opt *o, const char *text)
{
	struct opt_sizes list = { 0 };
	char item[32];
	const char *p = text;
	size_t len;
	int err;

	for (;;) {
		len = strcspn(p, ",");
		if (len >= sizeof(item))
			return complain(o, text, "is not a list of sizes, as in 4,64,1K");
		if (list.n == OPT_SIZES_MAX)
			return complain(o, text, "has too many sizes");
		memcpy(item, p, len);
		item[len] = '\0';
		err = set_number(o, item, &list.v[list.n++]);
		if (err)
			return err;
		if (!p[len])
			break;
		p += len + 1;
	}
	*(struct opt_sizes *)o->value = list;
	return 0;
}

static int set_choice(const struct opt *o, const char *text)
{
	char names[128], what[160];
	unsigned i;

	for (i = 0; o->choices[i]; i++) {
		if (!strcmp(text, o->choices[i])) {
			*(unsigned *)o->value = i;
			return 0;
		}
	}
	opts_join_choices(o, names, sizeof(names));
	snprintf(what, sizeof(what), "is not one of %s", names);
	return complain(o, text, what);
}

static int set_real(const struct opt *o, const char *text)
{
	char *end;
	double v;

	/* strtod takes blanks, a sign, names of infinity and hexadecimal numbers. */
	if (!isdigit((unsigned char)*text) || strpbrk(text, "xX"))
		return complain(o, text, "is not a number");
	v = strtod(text, &end);
	if (*end)
		return complain(o, text, "is not a number");
	if (!isfinite(v) || v < (double)o->min || v > (double)o->max)
		return out_of_range(o, text);
	*(double *)o->value = v;
	return 0;
}

static int set_string(const struct opt *o, const char *text)
{
	if (!*text)
		return complain(o, text, "is empty");
	*(const char **)o->value = text;
	return 0;
}

static int add_string(const struct opt *o, const char *text)
{
	struct opt_strings *list = o->value;

	if (list->n == OPT_STRINGS_MAX)
		return complain(o, text, "is one too many");
	list->v[list->n++] = text;
	return 0;
}

static int set(const struct opt *o, const char *text)
{
	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)o->value = true;
		return 0;
	case OPT_NUMBER:
	case OPT_SIZE:
		return set_number(o, text, o->value);
	case OPT_SIZES:
		return set_sizes(o, text);
	case OPT_CHOICE:
		return set_choice(o, text);
	case OPT_REAL:
		return set_real(o, text);
	case OPT_STRING:
		return set_string(o, text);
	case OPT_STRINGS:
		return add_string(o, text);
	case OPT_LIST:
	case OPT_HELP:
	case OPT_VERSION:
		break;
	}
	return 0;
}

/* getopt's two descriptions of the table; in val the row's number plus one. */
static void describe(const struct opts_program *p, char *letters, struct option *longs)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		const struct opt *o = &p->opts[i];

		longs[i] = (struct option){
			.name = o->name,
			.has_arg = o->arg ? required_argument : no_argument,
			.val = 256 + (int)i,
		};
		if (o->letter)
			*letters++ = o->letter;
		if (o->letter && o->arg)
			*letters++ = ':';
	}
	longs[i] = (struct option){ 0 };
	*letters = '\0';
}

static const struct opt *find(const struct opts_program *p, int c)
{
	size_t i;

	if (c >= 256)
		return &p->opts[c - 256];
	for (i = 0; i < p->n; i++) {
		if (p->opts[i].letter == c)
			return &p->opts[i];
	}
	return NULL;
}

static int apply_defaults(const struct opts_program *p)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		if (p->opts[i].def && set(&p->opts[i], p->opts[i].def))
			return -EINVAL;
	}
	return 0;
}

/* True if the option is one that answers and ends the program. */
static bool answer(const struct opts_program *p, const struct opt *o)
{
	switch (o->kind) {
	case OPT_LIST:
		p->list();
		return true;
	case OPT_HELP:
		opts_print_help(p);
		return true;
	case OPT_VERSION:
		opts_print_version(p);
		return true;
	default:
		return false;
	}
}

/*
 * Where the caller closed standard input, output or error, the next file opened
 * takes its number, and prints would go into device memory.  The stand-in refuses
 * them instead; unlike /dev/null it is there in every root.
 */
static void fill_standard_files(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/", O_PATH) < 0) {
			fprintf(stderr, "ERROR: standard files are closed, and nothing can take "
				"their place: %s\n", strerror(errno));
			exit(1);
		}
}

/*
 * Where the caller ignores SIGCHLD, so does what it starts: the kernel would reap the
 * children of this program, and nobody could tell when and how they ended.
 */
static void keep_children(void)
{
	signal(SIGCHLD, SIG_DFL);
}

static enum opts_result finish_print(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return OPTS_DONE;
	fprintf(stderr, "ERROR: standard output could not be written: %s\n", strerror(errno));
	return OPTS_ERROR;
}

enum opts_result opts_parse(const struct opts_program *p, int argc, char **argv)
{
	struct option longs[OPTS_MAX + 1];
	char letters[2 * OPTS_MAX + 1];
	const struct opt *o;
	int c;

	if (p->n > OPTS_MAX || apply_defaults(p))
		abort();
	fill_standard_files();
	keep_children();
	if (argc == 3 && !strcmp(argv[1], "--completion"))
		return opts_print_completion(p, argv[0], argv[2]) ? OPTS_ERROR : finish_print();
	describe(p, letters, longs);
	optind = 0;             /* glibc and musl: start afresh */
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		o = c == '?' ? NULL : find(p, c);
		if (!o) {
			fprintf(stderr, "ERROR: invalid option; %s --help lists them\n", p->name);
			return OPTS_ERROR;
		}
		if (answer(p, o))
			return finish_print();
		if (set(o, optarg))
			return OPTS_ERROR;
		if (o->given)
			*o->given = true;
	}
	for (; p->stray && optind < argc; optind++)
		fprintf(stderr, "NOTE: argument \"%s\" is ignored\n", argv[optind]);
	if (optind < argc) {
		fprintf(stderr, "ERROR: unexpected argument \"%s\"; %s --help lists the options\n",
			argv[optind], p->name);
		return OPTS_ERROR;
	}
	return OPTS_RUN;
}
