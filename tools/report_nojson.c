/* SPDX-License-Identifier: MIT */
/* Stands in for report_json.c in a build without jansson: --json is refused. */
#include "report.h"

#include <errno.h>

struct report_json *report_json_new(const char *tool)
{
	fprintf(stderr, "ERROR: %s was built without the jansson library, so --json is not "
		"available; --csv is\n", tool);
	return NULL;
}

/* Without a report there is nothing to call these with. */
void report_json_set(struct report_json *j, const char *section, const struct report_field *field)
{
}

void report_json_note(struct report_json *j, const char *text)
{
}

void report_json_row(struct report_json *j, const struct report_field *fields, size_t n)
{
}

int report_json_write(struct report_json *j, FILE *out, int exit_status, bool interrupted)
{
	return -ENOTSUP;
}

void report_json_free(struct report_json *j)
{
}
