/* SPDX-License-Identifier: MIT */
/*
 * What texts of /proc, /sys and /etc say.  Pure functions of their argument,
 * which may hold any bytes: nothing is trusted but the final NUL.  A bool is
 * whether the text has it; outputs are written only then.
 */
#ifndef DOCTOR_PARSE_H
#define DOCTOR_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What /proc/driver/nvidia/version says. */
struct parse_driver {
	bool open;              /* flavour of the kernel module: open or proprietary */
	char version[32];       /* digits and dots */
	unsigned major;
};

bool parse_driver(const char *text, struct parse_driver *out);

/* Digits and dots at the start of text: a version.  *major is its first number. */
bool parse_version(const char *text, char *buf, size_t len, unsigned *major);

/* The first number of a text that is one number: decimal, or hexadecimal with 0x. */
bool parse_number(const char *text, long long *out);

/* Major number of a character device in /proc/devices. */
bool parse_major(const char *text, const char *name, unsigned *out);

/* Minor number of a misc device in /proc/misc. */
bool parse_misc(const char *text, const char *name, unsigned *out);

/* A line of /proc/modules is about this module. */
bool parse_module(const char *text, const char *name);

/* Value of the first "key: value" line, without blanks at its ends. */
bool parse_key(const char *text, const char *key, char *buf, size_t len);

/* Blank-separated word, as in /proc/cmdline; for "key=" any word that starts so. */
bool parse_word(const char *text, const char *word, char *buf, size_t len);

/* Bytes of a device's bar-th memory window, from 0, from a sysfs resource file. */
bool parse_resource(const char *text, unsigned bar, uint64_t *size);

/* Tenths of GT/s of "32.0 GT/s PCIe", and the PCIe generation of them, 0 if none. */
bool parse_speed(const char *text, unsigned *tenths);
unsigned parse_generation(unsigned tenths);

/* "0000:c1:00.0" */
struct parse_pci {
	unsigned domain, bus, slot;
};

bool parse_pci(const char *text, struct parse_pci *out);

/* A list such as "0-3,8"; numbers beyond PARSE_LIST_MAX are left out. */
#define PARSE_LIST_MAX 8192

struct parse_list {
	uint64_t bits[PARSE_LIST_MAX / 64];
};

bool parse_list(const char *text, struct parse_list *out);
bool parse_list_overlap(const struct parse_list *a, const struct parse_list *b);

/* A device node as a file below --root describes it: "c 195:255 666". */
struct parse_node {
	char kind;              /* c, b, or - */
	unsigned major, minor, mode;
};

bool parse_node(const char *text, struct parse_node *out);

/* Replace what is not printable ASCII; cut trailing blanks. */
void parse_clean(char *s);

#endif
