/* SPDX-License-Identifier: MIT */
/* Saying why: failures, waives and notes, on stderr and to the runner. */
#include "test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner.h"

struct sanity_settings sanity;

static int report_fd = -1;
static bool helper;

void sanity_report_to(int fd)
{
	report_fd = fd;
}

int sanity_report_fd(void)
{
	return report_fd;
}

void sanity_become_helper(void)
{
	helper = true;
}

/* One message, whole: a kind and a text that ends with 0. */
static void report(char kind, const char *text)
{
	char msg[SANITY_MESSAGE_MAX];
	size_t len = strlen(text);
	ssize_t n;

	if (report_fd < 0)
		return;
	if (len > sizeof(msg) - 2)
		len = sizeof(msg) - 2;
	msg[0] = kind;
	memcpy(msg + 1, text, len);
	msg[len + 1] = '\0';
	/* Less than PIPE_BUF, so that messages of several processes do not mix. */
	n = write(report_fd, msg, len + 2);
	(void)n;
}

static void end(int status)
{
	fflush(NULL);
	/* Without exit(): CUDA's handlers are not to run in a process that gives up. */
	_exit(status);
}

void sanity_one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ')
			*s = ' ';
}

void sanity_say(const char *fmt, ...)
{
	va_list ap;

	if (!sanity.verbose)
		return;
	flockfile(stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	funlockfile(stderr);
}

void sanity_note(const char *fmt, ...)
{
	char text[SANITY_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sanity_one_line(text);
	sanity_say("%s", text);
	report(SANITY_MSG_NOTE, text);
}

void sanity_fail(const char *file, int line, const char *what, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	char detail[SANITY_TEXT_MAX], text[SANITY_TEXT_MAX + 256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	base = base ? base + 1 : file;
	fprintf(stderr, "Assertion \"%s\" failed at %s:%d\n", what, base, line);
	if (*detail)
		fprintf(stderr, "    %s\n", detail);
	snprintf(text, sizeof(text), "%s:%d: %s%s%s%s", base, line, what, *detail ? ": " : "",
		 detail, helper ? " (in a helper process)" : "");
	sanity_one_line(text);
	report(SANITY_MSG_FAILED, text);
	end(SANITY_FAILED);
	__builtin_unreachable();
}

void sanity_waive(const char *fmt, ...)
{
	char text[SANITY_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sanity_one_line(text);
	sanity_say("waived: %s", text);
	report(SANITY_MSG_WAIVED, text);
	end(SANITY_WAIVED);
	__builtin_unreachable();
}

static const char *errno_text(int err, char *buf, size_t len)
{
	const char *name = sanity_errno_name(err);

	if (err == 0)
		return "0";
	if (name)
		snprintf(buf, len, "%s (%d)", name, err);
	else
		snprintf(buf, len, "%d", err);
	return buf;
}

void sanity_check_gdr(const char *file, int line, const char *call, int got, int want)
{
	char is[64], should[64];

	if (got == want)
		return;
	sanity_fail(file, line, call, "returned %s, not %s%s%s",
		    errno_text(got, is, sizeof(is)), errno_text(want, should, sizeof(should)),
		    got ? ": " : "", got ? gdrx_last_error() : "");
}

void sanity_check_cuda(const char *file, int line, const char *call, CUresult res)
{
	if (res == CUDA_SUCCESS)
		return;
	fprintf(stderr, "CUDA error: %s\n", cu_error_name(res));
	sanity_fail(file, line, call, "%s (%d)", cu_error_name(res), (int)res);
}

void sanity_check_int(const char *file, int line, const char *what, long long got, long long want)
{
	if (got != want)
		sanity_fail(file, line, what, "%lld, not %lld", got, want);
}
