/* SPDX-License-Identifier: MIT */
/* Completion scripts for bash and zsh, from the option table. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "opts.h"

/* What an argument is completed to, by what the help calls it. */
static bool takes_file(const struct opt *o)
{
	return o->kind == OPT_STRING && o->arg &&
	       (!strncmp(o->arg, "FILE", 4) || !strcmp(o->arg, "DIR"));
}

static void print_words(const struct opt *o, const char *between)
{
	size_t i;

	for (i = 0; o->choices[i]; i++)
		printf("%s%s", i ? between : "", o->choices[i]);
}

/* "-a|--alloc" */
static void print_names(const struct opt *o, const char *between)
{
	if (o->letter)
		printf("-%c%s", o->letter, between);
	printf("--%s", o->name);
}

/* The arms of a case over the option before the word, where its argument has candidates. */
static void print_bash_arms(const struct opts_program *p)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		const struct opt *o = &p->opts[i];

		if (!o->help || !(o->kind == OPT_CHOICE || takes_file(o)))
			continue;
		printf("\t");
		print_names(o, "|");
		if (o->kind == OPT_CHOICE) {
			printf(")\n\t\tmapfile -t COMPREPLY < <(compgen -W '");
			print_words(o, " ");
			printf("' -- \"$cur\")\n");
		} else {
			printf(")\n\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n");
		}
		printf("\t\treturn ;;\n");
	}
}

/* The arm of those whose argument is a number or a name that is not known here. */
static void print_bash_others(const struct opts_program *p)
{
	const char *between = "\t";
	size_t i;

	for (i = 0; i < p->n; i++) {
		const struct opt *o = &p->opts[i];

		if (!o->help || !o->arg || o->kind == OPT_CHOICE || takes_file(o))
			continue;
		printf("%s", between);
		print_names(o, "|");
		between = "|";
	}
	if (*between == '|')
		printf(")\n\t\treturn ;;\n");
}

static void print_bash(const struct opts_program *p, const char *command)
{
	size_t i;

	printf("# bash completion for %s\n"
	       "_%s()\n"
	       "{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n\n"
	       "\tCOMPREPLY=()\n"
	       "\t# --option=value comes in three words.\n"
	       "\t[ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
	       "\t[ \"$cur\" = = ] && cur=\n"
	       "\tcase $prev in\n", p->name, p->name);
	print_bash_arms(p);
	print_bash_others(p);
	printf("\tesac\n"
	       "\tmapfile -t COMPREPLY < <(compgen -W '");
	for (i = 0; i < p->n; i++) {
		if (!p->opts[i].help)
			continue;
		printf("%s", i ? " " : "");
		print_names(&p->opts[i], " ");
	}
	printf("' -- \"$cur\")\n"
	       "}\n"
	       "complete -o filenames -F _%s %s\n", p->name, command);
}

/* Inside '...[here]': brackets end it, colons split, quotes end the word. */
static void print_zsh_text(const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *s))
			printf("\\%c", *s);
		else
			putchar(*s);
	}
}

static void print_zsh_spec(const struct opt *o, const char *name, bool lone)
{
	printf(" \\\n\t'");
	if (o->kind == OPT_STRINGS)
		putchar('*');           /* again and again */
	else if (!lone)
		printf("(-%c --%s)", o->letter, o->name);
	printf("%s%s[", name, !o->arg ? "" : name[1] == '-' ? "=" : "+");
	print_zsh_text(o->help);
	putchar(']');
	if (o->arg)
		printf(":%s:", o->arg);
	if (o->kind == OPT_CHOICE) {
		putchar('(');
		print_words(o, " ");
		putchar(')');
	} else if (takes_file(o)) {
		fputs("_files", stdout);
	}
	putchar('\'');
}

static void print_zsh(const struct opts_program *p)
{
	char name[64];
	size_t i;

	printf("#compdef %s\n"
	       "_arguments -s", p->name);
	for (i = 0; i < p->n; i++) {
		const struct opt *o = &p->opts[i];

		if (!o->help)
			continue;
		if (o->letter) {
			snprintf(name, sizeof(name), "-%c", o->letter);
			print_zsh_spec(o, name, false);
		}
		snprintf(name, sizeof(name), "--%s", o->name);
		print_zsh_spec(o, name, !o->letter);
	}
	putchar('\n');
}

/* As whom it was called: by its name, or by that without prefix, which an installation links. */
static const char *command_name(const struct opts_program *p, const char *argv0)
{
	const char *slash = strrchr(argv0, '/'), *base = slash ? slash + 1 : argv0;
	const char *bare = strchr(p->name, '_');

	return bare && !strcmp(base, bare + 1) ? bare + 1 : p->name;
}

int opts_print_completion(const struct opts_program *p, const char *argv0, const char *shell)
{
	if (!strcmp(shell, "bash")) {
		print_bash(p, command_name(p, argv0));
	} else if (!strcmp(shell, "zsh")) {
		print_zsh(p);
	} else {
		fprintf(stderr, "ERROR: no completion for \"%s\"; bash and zsh have one\n", shell);
		return -EINVAL;
	}
	return 0;
}
