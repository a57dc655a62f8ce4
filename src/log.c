/* SPDX-License-Identifier: MIT */
/* Log lines on stderr and the per-thread text of the last error. */
#include "log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 1024

static __thread char last_error[TEXT_MAX];

static pthread_once_t env_once = PTHREAD_ONCE_INIT;
static int threshold;                   /* lowest level that is printed */

static void read_env(void)
{
	const char *level = secure_getenv("GDRCOPY_LOG_LEVEL");

	if (!secure_getenv("GDRCOPY_ENABLE_LOGGING"))
		threshold = GDR_LOG_ERROR + 1;
	else
		threshold = level ? (int)strtol(level, NULL, 10) : GDR_LOG_ERROR;
}

/* One write a line, so that lines of several threads do not mix. */
static void print_line(enum gdr_log_level level, const char *text)
{
	static const char *const prefix[] = {
		[GDR_LOG_DEBUG] = "DBG:  ",
		[GDR_LOG_INFO] = "INFO: ",
		[GDR_LOG_WARN] = "WARN: ",
		[GDR_LOG_ERROR] = "ERR:  ",
	};
	char line[TEXT_MAX + 16];
	int n = snprintf(line, sizeof(line), "%s%s\n", prefix[level], text);

	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return; /* nobody to tell */
}

static bool enabled(enum gdr_log_level level)
{
	pthread_once(&env_once, read_env);
	return (int)level >= threshold;
}

void gdr_log(enum gdr_log_level level, const char *fmt, ...)
{
	int saved = errno;
	char text[TEXT_MAX];
	va_list ap;

	if (!enabled(level))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	print_line(level, text);
	errno = saved;
}

int gdr_log_fail(int err, const char *fmt, ...)
{
	int saved = errno;
	char text[TEXT_MAX];            /* the arguments may point into last_error */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(last_error, text, sizeof(last_error));
	if (enabled(GDR_LOG_ERROR))
		print_line(GDR_LOG_ERROR, text);
	errno = saved;
	return -err;
}

const char *gdr_log_last(void)
{
	return last_error;
}

const char *gdr_log_errstr(int err)
{
	static __thread char text[64];

	/* Linux has no such errno in user space, but dma-buf mmap returns it. */
	if (err == 524)
		return "Operation not supported by the kernel (524)";
	return strerror_r(err, text, sizeof(text));
}
