/* SPDX-License-Identifier: MIT */
/* What --help and --version print, from the option table. */
#include <stdio.h>
#include <string.h>

#include "gdrapi.h"
#include "opts.h"

#define HELP_COLUMN  27
#define HELP_WIDTH   80

void opts_join_choices(const struct opt *o, char *buf, size_t len)
{
	size_t i, at = 0;

	buf[0] = '\0';
	for (i = 0; o->choices[i] && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at, "%s%s", i ? ", " : "", o->choices[i]);
}

/* Words of text from column HELP_COLUMN on; the cursor is at column at. */
static void print_wrapped(const char *text, size_t at)
{
	size_t len;

	while (*text) {
		len = strcspn(text, " ");
		if (at != HELP_COLUMN && at + 1 + len > HELP_WIDTH) {
			printf("\n%*s", HELP_COLUMN, "");
			at = HELP_COLUMN;
		} else if (at != HELP_COLUMN) {
			putchar(' ');
			at++;
		}
		printf("%.*s", (int)len, text);
		at += len;
		text += len + (text[len] == ' ');
	}
	putchar('\n');
}

static void print_option(const struct opt *o)
{
	char left[80], text[640], names[128];
	char letter[8] = "    ";
	int n;

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	n = snprintf(left, sizeof(left), "  %s--%s%s%s", letter, o->name, o->arg ? " " : "",
		     o->arg ? o->arg : "");
	printf("%s", left);
	if (n >= HELP_COLUMN)
		printf("\n%*s", HELP_COLUMN, "");
	else
		printf("%*s", HELP_COLUMN - n, "");

	n = snprintf(text, sizeof(text), "%s", o->help);
	if (o->kind == OPT_CHOICE) {
		opts_join_choices(o, names, sizeof(names));
		n += snprintf(text + n, sizeof(text) - (size_t)n, ": %s", names);
	}
	if (o->def)
		snprintf(text + n, sizeof(text) - (size_t)n, " (default %s)", o->def);
	print_wrapped(text, HELP_COLUMN);
}

void opts_print_help(const struct opts_program *p)
{
	size_t i;

	printf("Usage: %s [OPTION]...\n%s\n\n", p->name, p->summary);
	for (i = 0; i < p->n; i++)
		if (p->opts[i].help)
			print_option(&p->opts[i]);
	printf("\n%s", p->notes);
}

void opts_print_version(const struct opts_program *p)
{
	int major, minor;

	gdr_runtime_get_version(&major, &minor);
	printf("%s %s (libgdrapi %d.%d)\n", p->name, GDRCOPY_VERSION, major, minor);
}
