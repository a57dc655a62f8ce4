/* SPDX-License-Identifier: MIT */
/* Texts of /proc, /sys and /etc as gdrcopy_doctor and the tools read them: any bytes at all. */
#include <sys/mman.h>
#include <unistd.h>

#include "fact_file.h"
#include "input.h"
#include "ldcache.h"
#include "parse.h"
#include "place.h"

#define BUF 24

/* Outputs are written only if the text has it, and end within their room. */
#define TAKES(call, buf) \
	do { \
		memset(buf, 0x5e, sizeof(buf)); \
		if (call) \
			MUST(memchr(buf, '\0', sizeof(buf))); \
		else \
			MUST((buf)[0] == 0x5e && (buf)[sizeof(buf) - 1] == 0x5e); \
	} while (0)

static void lines(const char *text)
{
	char buf[BUF];
	struct parse_driver d = { .major = 77 };
	unsigned v = 77;

	TAKES(parse_key(text, "Device Minor", buf, sizeof(buf)), buf);
	TAKES(parse_key(text, "", buf, sizeof(buf)), buf);
	TAKES(parse_word(text, "iommu=", buf, sizeof(buf)), buf);
	TAKES(parse_word(text, "nopat", buf, sizeof(buf)), buf);
	TAKES(parse_version(text, buf, sizeof(buf), &v), buf);
	if (parse_driver(text, &d))
		MUST(strspn(d.version, "0123456789.") == strlen(d.version) && d.version[0]);
	else
		MUST(d.major == 77);
	v = 77;
	if (!parse_major(text, "gdrdrv", &v))
		MUST(v == 77);
	parse_module(text, "gdrdrv");
}

static void values(const char *text)
{
	struct parse_list list, other = { { UINT64_MAX } };
	struct parse_node node = { .kind = 77 };
	struct parse_pci pci = { .bus = 77777 };
	unsigned tenths = 77777, bar;
	uint64_t size = 77;
	long long n = 77;

	if (!parse_number(text, &n))
		MUST(n == 77);
	for (bar = 0; bar < 7; bar++) {
		size = 77;
		if (!parse_resource(text, bar, &size))
			MUST(size == 77);
	}
	if (parse_speed(text, &tenths))
		MUST(parse_generation(tenths) <= 6);
	else
		MUST(tenths == 77777);
	if (parse_pci(text, &pci))
		MUST(pci.bus < 256 && pci.slot < 32);
	else
		MUST(pci.bus == 77777);
	if (parse_list(text, &list))
		parse_list_overlap(&list, &other);
	if (parse_node(text, &node))
		MUST(node.kind && strchr("cb-", node.kind));
	else
		MUST(node.kind == 77);
}

static bool seen(void *arg, const char *name, const char *path)
{
	unsigned *n = arg;

	MUST(strlen(name) + strlen(path) < SIZE_MAX);
	return ++*n < 1000;
}

/* What is cleaned is printable, and what is formatted is read again as the same. */
static void clean(char *text)
{
	cpu_set_t set, again;
	char buf[4 * CPU_SETSIZE];
	size_t i;

	if (place_parse(text, &set) == 0) {
		place_format(&set, buf, sizeof(buf));
		MUST(place_parse(buf, &again) == 0 && CPU_EQUAL(&set, &again));
		place_format(&set, buf, BUF);
		MUST(memchr(buf, '\0', BUF));
	}
	parse_clean(text);
	for (i = 0; text[i]; i++)
		MUST(text[i] >= ' ' && text[i] <= '~');
}

/* The functions that open files. */
static void in_a_file(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[32], buf[BUF];

	if (fd < 0)
		fd = memfd_create("facts", MFD_CLOEXEC);
	MUST(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	TAKES(fact_file_value(path, "model name", buf, sizeof(buf)), buf);
	TAKES(fact_file_line(path, buf, sizeof(buf)), buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	unsigned n = 0;

	MUST(text);
	memcpy(text, data, size);
	text[size] = '\0';
	lines(text);
	values(text);
	ldcache_each(data, size, seen, &n);
	in_a_file(data, size);
	clean(text);
	free(text);
	return 0;
}
