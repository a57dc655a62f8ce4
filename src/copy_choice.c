/* SPDX-License-Identifier: MIT */
/* Which routine of the table is taken for each direction, once a process. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "log.h"

const struct gdr_copy_kernel *gdr_copy_picked[2];

const char *gdr_copy_name(enum gdr_copy_dir dir)
{
	return gdr_copy_picked[dir]->name;
}

/* The next item of a list separated by commas or spaces; false at its end. */
static bool next_item(const char **list, const char **item, size_t *len)
{
	*item = *list + strspn(*list, ", ");
	*len = strcspn(*item, ", ");
	*list = *item + *len;
	return *len > 0;
}

static bool is_named(const struct gdr_copy_kernel *k, const char *item, size_t len)
{
	return strlen(k->name) == len && !memcmp(k->name, item, len);
}

static bool is_listed(const char *list, const struct gdr_copy_kernel *k)
{
	const char *item;
	size_t len;

	while (next_item(&list, &item, &len))
		if (is_named(k, item, len))
			return true;
	return false;
}

static void warn_unknown(const char *item, size_t len)
{
	char valid[128] = "";
	size_t used = 0;

	for (const struct gdr_copy_kernel *k = gdr_copy_kernels; k->name; k++)
		if (used < sizeof(valid))
			used += (size_t)snprintf(valid + used, sizeof(valid) - used, "%s%s",
						 used ? ", " : "", k->name);
	gdr_log(GDR_LOG_WARN, "GDRCOPY_COPY: there is no copy routine \"%.*s\"; valid are: %s",
		(int)len, item, valid);
}

static void check_list(const char *list)
{
	const char *item;
	size_t len;

	while (next_item(&list, &item, &len)) {
		const struct gdr_copy_kernel *k = gdr_copy_kernels;

		while (k->name && !is_named(k, item, len))
			k++;
		if (!k->name)
			warn_unknown(item, len);
		else if (!k->supported())
			gdr_log(GDR_LOG_WARN, "GDRCOPY_COPY: this processor cannot run \"%s\"; "
				"ignored", k->name);
	}
}

/* The best that may be used; list NULL allows all.  The last row always may. */
static const struct gdr_copy_kernel *pick(enum gdr_copy_dir dir, const char *list)
{
	const struct gdr_copy_kernel *k;

	for (k = gdr_copy_kernels; k[1].name; k++) {
		bool able = dir == GDR_COPY_TO_MAPPING ? k->store != NULL : k->load != NULL;

		if (able && (!list || is_listed(list, k)) && k->supported())
			break;
	}
	return k;
}

static void init_once(void)
{
	const char *list = secure_getenv("GDRCOPY_COPY");

	if (list && !list[strspn(list, ", ")])
		list = NULL;
	if (list)
		check_list(list);
	gdr_copy_picked[GDR_COPY_TO_MAPPING] = pick(GDR_COPY_TO_MAPPING, list);
	gdr_copy_picked[GDR_COPY_FROM_MAPPING] = pick(GDR_COPY_FROM_MAPPING, list);
	gdr_log(GDR_LOG_DEBUG, "copy routines: %s to a mapping, %s from it",
		gdr_copy_name(GDR_COPY_TO_MAPPING), gdr_copy_name(GDR_COPY_FROM_MAPPING));
}

void gdr_copy_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_once);
}
