/* SPDX-License-Identifier: MIT */
/*
 * What a test is, and what it says to the runner.  A test runs in a process of
 * its own, which leads a process group; the first failure ends it.  A test that
 * returns has passed.
 *
 * A test registers its rows with SANITY_TABLE: one function, several names, the
 * variants as data.
 */
#ifndef SANITY_TEST_H
#define SANITY_TEST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gdrapi.h"
#include "gdrapi_ext.h"
#include "gpu.h"

enum sanity_pin {
	PIN_V1,                 /* gdr_pin_buffer, no tokens */
	PIN_V2,                 /* gdr_pin_buffer_v2, no flags */
	PIN_FORCE_PCIE,         /* gdr_pin_buffer_v2, GDR_PIN_FLAG_FORCE_PCIE */
};

struct sanity_variant {
	const struct gpu_allocator *alloc;
	enum sanity_pin pin;
};

enum sanity_group {
	SANITY_DEFAULT,
	SANITY_EXTENDED,        /* with -e */
	SANITY_MORE,            /* with --all */
};

struct sanity_test {
	const char *name;
	void (*run)(const struct sanity_variant *v);
	struct sanity_variant v;
	enum sanity_group group;
};

struct sanity_table {
	const struct sanity_test *tests;
	size_t n;
};

/* Pointers, so that no alignment pads the section. */
#define SANITY_TABLE(rows) \
	static const struct sanity_table rows##_table = { \
		(rows), sizeof(rows) / sizeof((rows)[0]) \
	}; \
	static const struct sanity_table *const rows##_entry \
		__attribute__((section("sanity_tables"), used)) = &rows##_table

#define PLAIN   { .alloc = &gpu_allocators[GPU_MEM_ALLOC] }
#define VMM     { .alloc = &gpu_allocators[GPU_MEM_CREATE] }
/* ALLOC or CREATE, and a way to pin. */
#define WITH(allocator, how) \
	{ .alloc = &gpu_allocators[GPU_MEM_##allocator], .pin = (how) }

/* How this run was asked for; the same in every process. */
struct sanity_settings {
	bool soft;
	bool verbose;
	const char *device_name;        /* as asked for */
	int device;             /* its ordinal; -1: there is none such */
	char backend[16];       /* what gdr_open takes here; "" if it takes none */
};
extern struct sanity_settings sanity;

/* Exit statuses of a test process. */
#define SANITY_PASSED   0
#define SANITY_FAILED   1
#define SANITY_WAIVED   2

/* Control characters become blanks: a message is one line in every report. */
void sanity_one_line(char *s);

/* A line on stderr with -v. */
void sanity_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Something worth knowing about a test that passes: with -v, and in the reports. */
void sanity_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* End the test.  what is the expression that did not hold. */
void sanity_fail(const char *file, int line, const char *what, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 4, 5)));
void sanity_waive(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

void sanity_check_gdr(const char *file, int line, const char *call, int got, int want);
void sanity_check_cuda(const char *file, int line, const char *call, CUresult res);
void sanity_check_int(const char *file, int line, const char *what, long long got, long long want);

#define CHECK(cond) do { \
	if (!(cond)) \
		sanity_fail(__FILE__, __LINE__, #cond, "%s", ""); \
} while (0)
#define CHECK_SYS(cond) do { \
	if (!(cond)) \
		sanity_fail(__FILE__, __LINE__, #cond, "%s", strerror(errno)); \
} while (0)
#define CHECK_INT(got, want)    sanity_check_int(__FILE__, __LINE__, #got " == " #want, got, want)
/* A gdr_ call that must return 0; one that must return an errno value. */
#define GDR(call)               sanity_check_gdr(__FILE__, __LINE__, #call, call, 0)
#define REFUSED(call, errno_)   sanity_check_gdr(__FILE__, __LINE__, #call, call, errno_)
#define CU(call)                sanity_check_cuda(__FILE__, __LINE__, #call, call)

/* check.c: from here on failures go to the runner through fd, and end a helper without exit(). */
void sanity_report_to(int fd);
int sanity_report_fd(void);
void sanity_become_helper(void);

#endif
