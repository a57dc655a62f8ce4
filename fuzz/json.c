/* SPDX-License-Identifier: MIT */
/* The reader of JSON, and what compares results with those of a report that it read. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input.h"
#include "json_read.h"
#include "results.h"

#define DEPTH_MAX 32

static void walk(const struct json *j, unsigned depth)
{
	for (; j; j = j->next) {
		MUST(depth <= DEPTH_MAX);
		MUST((j->kind == JSON_STRING) == (j->string != NULL));
		MUST(!j->child || j->kind == JSON_ARRAY || j->kind == JSON_OBJECT);
		if (j->string)
			MUST(strlen(j->string) < SIZE_MAX);
		if (j->name)
			MUST(strlen(j->name) < SIZE_MAX);
		json_get(j, "results");
		walk(j->child, depth + 1);
	}
}

/* Rows as copybw has them. */
static struct report_field fields[2][3] = {
	{ FIELD_INTEGER("gpu", 0), FIELD_STRING("test", "write"), FIELD_REAL("gbps", 12.5) },
	{ FIELD_INTEGER("gpu", 1), FIELD_STRING("test", NULL), FIELD_REAL("gbps", 0) },
};

static void compare(const char *path)
{
	static const char *const keys[] = { "test", NULL };
	const struct results what = { .keys = keys, .value = "gbps", .more_is_better = true };
	struct report_row rows[2] = { { 3, fields[0] }, { 3, fields[1] } };
	struct report report = { .format = REPORT_TEXT, .tool = "t", .kept = rows, .n_kept = 2 };
	struct baseline *b = NULL;

	if (baseline_open(path, "t", false, &b)) {
		MUST(!b);
		return;
	}
	baseline_compare(b, &what, 5, &report);
	baseline_close(b);
}

static void in_a_file(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[32];

	if (fd < 0) {
		fd = memfd_create("report", MFD_CLOEXEC);
		/* Complaints are many; they are of no interest here. */
		MUST(freopen("/dev/null", "w", stdout));
	}
	MUST(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	compare(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + !size);
	size_t at = 77777777;
	struct json *j;

	MUST(text);
	memcpy(text, data, size);
	errno = 0;
	j = json_read(text, size, &at);
	if (j)
		walk(j, 0);
	else
		MUST((errno == EINVAL || errno == ENOMEM) && at <= size);
	free(text);
	json_free(j);
	in_a_file(data, size);
	return 0;
}
