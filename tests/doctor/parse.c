/* SPDX-License-Identifier: MIT */
/* The doctor's parsers: what they take, what they refuse, and any bytes at all. */
#include "parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ldcache.h"

static void driver(void **state)
{
	struct parse_driver d = { 0 };

	(void)state;
	assert_true(parse_driver("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
				 "580.159.04  Release Build  (b@)\nGCC version: 13\n", &d));
	assert_true(d.open);
	assert_string_equal(d.version, "580.159.04");
	assert_int_equal(d.major, 580);
	assert_true(parse_driver("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed",
				 &d));
	assert_false(d.open);
	assert_string_equal(d.version, "470.82.01");
	assert_false(parse_driver("", &d));
	assert_false(parse_driver("NVRM version: NVIDIA UNIX", &d));
	assert_false(parse_driver("NVRM version: Kernel Module  580", &d));
	assert_false(parse_driver("GCC version: Kernel Module  1.2\n", &d));
	assert_int_equal(d.major, 470);
}

static void numbers(void **state)
{
	long long v = 7;

	(void)state;
	assert_true(parse_number("0x10de\n", &v));
	assert_int_equal(v, 0x10de);
	assert_true(parse_number(" -1\n", &v));
	assert_int_equal(v, -1);
	assert_false(parse_number("", &v));
	assert_false(parse_number("-", &v));
	assert_false(parse_number("12x", &v));
	assert_false(parse_number("99999999999999999999", &v));
	assert_int_equal(v, -1);
}

static void devices(void **state)
{
	static const char text[] = "Character devices:\n  1 mem\n195 nvidia\n195 nvidiactl\n"
		"236 gdrdrv\n\nBlock devices:\n  8 sd\n259 blkext";
	unsigned m = 0;

	(void)state;
	assert_true(parse_major(text, "gdrdrv", &m));
	assert_int_equal(m, 236);
	assert_true(parse_major(text, "nvidia", &m));
	assert_int_equal(m, 195);
	assert_true(parse_major(text, "mem", &m));
	assert_false(parse_major(text, "sd", &m));
	assert_false(parse_major(text, "blkext", &m));
	assert_false(parse_major(text, "nvidia-uvm", &m));
	assert_false(parse_major("236 gdrdrv\n", "gdrdrv", &m));
	assert_int_equal(m, 1);
	assert_true(parse_misc(" 58 network\n123 gdrdrv\n", "gdrdrv", &m));
	assert_int_equal(m, 123);
	assert_false(parse_misc("12 gdrdrvs\ngdrdrv", "gdrdrv", &m));
	assert_true(parse_module("nvidia 1 2\ngdrdrv 40960 0 - Live", "gdrdrv"));
	assert_false(parse_module("nvidia 1 2 gdrdrv 3\ngdrdrv2 1", "gdrdrv"));
	assert_false(parse_module("", "gdrdrv"));
}

static void keys(void **state)
{
	char buf[8] = "same";

	(void)state;
	assert_true(parse_key("Device Minor: \t 0\r\nx: y", "Device Minor", buf, sizeof(buf)));
	assert_string_equal(buf, "0");
	assert_true(parse_key("a:b\nVersion:  2.6 \n", "Version", buf, sizeof(buf)));
	assert_string_equal(buf, "2.6");
	assert_true(parse_key("Name:\tlonger than that\n", "Name", buf, sizeof(buf)));
	assert_string_equal(buf, "longer ");
	assert_true(parse_key("Name:", "Name", buf, sizeof(buf)));
	assert_string_equal(buf, "");
	assert_false(parse_key("Names: x\n Name: y", "Name", buf, sizeof(buf)));
	assert_true(parse_word("ro nopat quiet\n", "nopat", buf, sizeof(buf)));
	assert_true(parse_word("iommu=pt", "iommu=", buf, sizeof(buf)));
	assert_string_equal(buf, "iommu=p");
	assert_false(parse_word("nopatx xnopat", "nopat", buf, sizeof(buf)));
}

static void bars(void **state)
{
	static const char wide[] =
		"0x0000104002000000 0x0000104002ffffff 0x000000000014220c\n"
		"0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		"0x0000100000000000 0x0000103fffffffff 0x000000000014220c\n"
		"0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		"0x0000104000000000 0x0000104001ffffff 0x000000000014220c\n"
		"0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
		"0x0000000000001000 0x0000000000001fff 0x0000000000000000\n";
	static const char narrow[] = "0x00f0000000 0x00f0ffffff 0x200\n"
		"0x00e0000000 0x00efffffff 0xc";
	uint64_t size = 0;

	(void)state;
	assert_true(parse_resource(wide, 0, &size));
	assert_int_equal(size, 16 << 20);
	assert_true(parse_resource(wide, 1, &size));
	assert_true(size == 256ULL << 30);
	assert_true(parse_resource(wide, 2, &size));
	assert_int_equal(size, 32 << 20);
	/* The seventh line is the expansion ROM's. */
	assert_false(parse_resource(wide, 3, &size));
	assert_true(parse_resource(narrow, 1, &size));
	assert_int_equal(size, 256 << 20);
	assert_false(parse_resource(narrow, 2, &size));
	assert_false(parse_resource("", 0, &size));
	assert_false(parse_resource("0x20 0x10 0x0\n", 0, &size));
	assert_false(parse_resource("0x10 0x20", 0, &size));
	assert_int_equal(size, 256 << 20);
}

static void links(void **state)
{
	struct parse_pci a = { 0 };
	unsigned t = 0;

	(void)state;
	assert_true(parse_speed("32.0 GT/s PCIe\n", &t));
	assert_int_equal(t, 320);
	assert_int_equal(parse_generation(t), 5);
	assert_true(parse_speed("8 GT/s", &t));
	assert_int_equal(parse_generation(t), 3);
	assert_true(parse_speed("2.5 GT/s PCIe", &t));
	assert_int_equal(parse_generation(t), 1);
	assert_false(parse_speed("Unknown", &t));
	assert_false(parse_speed("32. GT/s", &t));
	assert_false(parse_speed("99999999 GT/s", &t));
	assert_int_equal(parse_generation(17), 0);
	assert_true(parse_pci("0000:c1:1f.0", &a));
	assert_int_equal(a.bus, 0xc1);
	assert_int_equal(a.slot, 0x1f);
	assert_true(parse_pci("10000:00:00.0", &a));
	assert_int_equal(a.domain, 0x10000);
	assert_false(parse_pci("0000:c1:20.0", &a));
	assert_false(parse_pci("0000:100:00.0", &a));
	assert_false(parse_pci("0000:c1:00", &a));
	assert_false(parse_pci("0x00:c1:00.0", &a));
	assert_false(parse_pci("", &a));
}

static void lists(void **state)
{
	struct parse_list a, b;

	(void)state;
	assert_true(parse_list("0-3,8\n", &a));
	assert_true(a.bits[0] == 0x10f);
	assert_true(parse_list("4-7", &b));
	assert_false(parse_list_overlap(&a, &b));
	assert_true(parse_list("8,100-4294967295", &b));
	assert_true(parse_list_overlap(&a, &b));
	assert_true(b.bits[PARSE_LIST_MAX / 64 - 1] == ~0ULL);
	assert_false(parse_list("", &b));
	assert_false(parse_list("3-1", &b));
	assert_false(parse_list("1,", &b));
	assert_false(parse_list("1;2", &b));
}

static void nodes(void **state)
{
	struct parse_node n = { 0 };

	(void)state;
	assert_true(parse_node("c 195:255 666\n", &n));
	assert_int_equal(n.kind, 'c');
	assert_int_equal(n.major, 195);
	assert_int_equal(n.minor, 255);
	assert_int_equal(n.mode, 0666);
	assert_false(parse_node("x 1:2 666", &n));
	assert_false(parse_node("c 1:2 999", &n));
	assert_false(parse_node("c 1 2 666", &n));
	assert_false(parse_node("", &n));
}

static void clean(void **state)
{
	char text[] = "a\nb\tc\001d\377e  \n";

	(void)state;
	parse_clean(text);
	assert_string_equal(text, "a b c?d?e");
}

struct found {
	unsigned n;
	char first[32];
};

static bool take(void *arg, const char *name, const char *path)
{
	struct found *f = arg;

	if (!f->n++)
		snprintf(f->first, sizeof(f->first), "%s=%s", name, path);
	return true;
}

/* One entry, as ldconfig of glibc 2.2 and later writes it. */
static size_t make_cache(unsigned char *p, uint32_t flags, uint32_t n)
{
	static const char magic[] = "glibc-ld.so.cache1.1", strings[] = "l.so\0/l.so";
	uint32_t entry[6] = { flags, 72, 77 };

	memset(p, 0, 128);
	memcpy(p, magic, 20);
	memcpy(p + 20, &n, 4);
	memcpy(p + 48, entry, sizeof(entry));
	memcpy(p + 72, strings, sizeof(strings));
	return 72 + sizeof(strings);
}

static void cache(void **state)
{
#if defined(__x86_64__)
	const uint32_t ours = 0x0303;
#elif defined(__aarch64__)
	const uint32_t ours = 0x0a03;
#elif defined(__powerpc64__)
	const uint32_t ours = 0x0503;
#else
	const uint32_t ours = 3;
#endif
	unsigned char p[128];
	struct found f = { 0 };
	size_t len = make_cache(p, ours, 1), i;

	(void)state;
	assert_true(ldcache_each(p, len, take, &f));
	assert_int_equal(f.n, 1);
	assert_string_equal(f.first, "l.so=/l.so");
	/* Of another architecture; more entries than there is room for; cut short. */
	make_cache(p, 0x0703, 1);
	assert_true(ldcache_each(p, len, take, &f));
	make_cache(p, ours, 0xffffffff);
	assert_false(ldcache_each(p, len, take, &f));
	make_cache(p, ours, 1);
	assert_true(ldcache_each(p, len - 1, take, &f));
	for (i = 0; i < len - 1; i++)
		ldcache_each(p, i, take, &f);
	assert_int_equal(f.n, 1);
}

static void feed(const char *text, size_t len)
{
	struct parse_driver d;
	struct parse_list l;
	struct parse_node n;
	struct parse_pci a;
	struct found f = { 0 };
	char buf[16];
	uint64_t size;
	long long v;
	unsigned u;

	parse_driver(text, &d);
	parse_version(text, buf, sizeof(buf), &u);
	parse_number(text, &v);
	parse_major(text, "gdrdrv", &u);
	parse_misc(text, "gdrdrv", &u);
	parse_module(text, "gdrdrv");
	parse_key(text, "Version", buf, sizeof(buf));
	parse_word(text, "iommu=", buf, sizeof(buf));
	parse_resource(text, 1, &size);
	parse_speed(text, &u);
	parse_pci(text, &a);
	parse_list(text, &l);
	parse_node(text, &n);
	ldcache_each(text, len, take, &f);
}

/* Texts of all kinds with bytes changed and cut; in memory of exactly their size. */
static void any_bytes(void **state)
{
	static const char *const seeds[] = {
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release\n",
		"Character devices:\n236 gdrdrv\n\nBlock devices:\n236 gdrdrv\n",
		"gdrdrv 40960 0 - Live 0x0000000000000000 (OE)\nVersion: 2.6\n",
		"0x0000104002000000 0x0000104002ffffff 0x000000000014220c\n0x0 0x0 0x0\n",
		"0-3,8,100-4294967295\n", "32.0 GT/s PCIe\n", "c 195:255 666\n", "0000:c1:00.0",
		"ro iommu=pt nopat\n",
	};
	unsigned char buf[128];
	size_t len, i, k;
	int round;
	char *copy;

	(void)state;
	srand(1);
	for (round = 0; round < 40000; round++) {
		k = (size_t)rand() % (sizeof(seeds) / sizeof(seeds[0]) + 1);
		if (k < sizeof(seeds) / sizeof(seeds[0])) {
			len = strlen(seeds[k]);
			memcpy(buf, seeds[k], len);
		} else {
			len = make_cache(buf, 0x0303, 1);
		}
		for (i = (size_t)rand() % 6; i; i--)
			buf[(size_t)rand() % len] = (unsigned char)rand();
		len -= rand() % 4 ? 0 : (size_t)rand() % len;
		copy = malloc(len + 1);
		assert_non_null(copy);
		memcpy(copy, buf, len);
		copy[len] = '\0';
		feed(copy, len);
		parse_clean(copy);
		for (i = 0; copy[i]; i++)
			assert_true(copy[i] >= ' ' && copy[i] <= '~');
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(driver), cmocka_unit_test(numbers), cmocka_unit_test(devices),
		cmocka_unit_test(keys), cmocka_unit_test(bars), cmocka_unit_test(links),
		cmocka_unit_test(lists), cmocka_unit_test(nodes), cmocka_unit_test(clean),
		cmocka_unit_test(cache), cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
