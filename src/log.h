/* SPDX-License-Identifier: MIT */
/*
 * Log and per-thread error text.  Whoever originates an error calls
 * gdr_log_fail once, with a sentence that names the step, the object and the
 * remedy; callers only propagate.
 */
#ifndef GDR_LOG_H
#define GDR_LOG_H

enum gdr_log_level {
	GDR_LOG_DEBUG = 1,
	GDR_LOG_INFO = 2,
	GDR_LOG_WARN = 3,
	GDR_LOG_ERROR = 4,
};

/* GDRCOPY_ENABLE_LOGGING set (to anything) and level >= GDRCOPY_LOG_LEVEL. */
void gdr_log(enum gdr_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Record the sentence as this thread's last error, log it, return -err.  err > 0. */
int gdr_log_fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* This thread's last error; "" if none. */
const char *gdr_log_last(void);

/* strerror without its lock-free caveats: a static or thread-local string. */
const char *gdr_log_errstr(int err);

#endif
