/* SPDX-License-Identifier: MIT */
/* Lines of files in /proc and /sys. */
#ifndef TOOLS_FACT_FILE_H
#define TOOLS_FACT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* First line of a file without its end; false if there is none. */
bool fact_file_line(const char *path, char *buf, size_t len);

/* Value of the first "key : value" line of a file, as in /proc/cpuinfo. */
bool fact_file_value(const char *path, const char *key, char *buf, size_t len);

#endif
