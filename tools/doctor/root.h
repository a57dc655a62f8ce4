/* SPDX-License-Identifier: MIT */
/*
 * Files below a root directory, "" for the machine's own.  With another root
 * only texts are read, and a device node is a text, too (parse_node).
 */
#ifndef DOCTOR_ROOT_H
#define DOCTOR_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "parse.h"

/* Set once, before anything else here is used.  Kept. */
void root_set(const char *dir);
bool root_is_fake(void);

/* All of it, or its first len - 1 bytes, with a NUL behind; false if there is none. */
bool root_read(const char *path, char *buf, size_t len)
	__attribute__((nonnull));
bool root_readf(char *buf, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As root_read, with malloc; NULL if there is none, or it has more than limit bytes. */
void *root_load(const char *path, size_t limit, size_t *len);

bool root_exists(const char *path);

/* What a link points to, last component only; false if it is none. */
bool root_link(char *buf, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The file that a path leads to, as the machine sees it (without the root). */
bool root_real(const char *path, char *buf, size_t len);

/* Path with the root in front, for dlopen. */
void root_path(const char *path, char *buf, size_t len);

/* Call each with every entry of a directory, in the order of strcmp, but . and .. */
void root_list(const char *dir, void (*each)(void *arg, const char *name), void *arg);

/* A device node: false if there is none. */
bool root_node(const char *path, struct parse_node *out);

#endif
