/* SPDX-License-Identifier: MIT */
/* Files below the root; see root.h. */
#include "root.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *root = "";

void root_set(const char *dir)
{
	root = dir;
}

bool root_is_fake(void)
{
	return *root != '\0';
}

void root_path(const char *path, char *buf, size_t len)
{
	snprintf(buf, len, "%s%s", root, path);
}

/* O_NONBLOCK, so that a pipe in the way of a text does not stop the program. */
static int open_below(const char *path)
{
	char full[PATH_MAX];

	root_path(path, full, sizeof(full));
	return open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static size_t read_all(int fd, char *buf, size_t len)
{
	size_t used = 0;
	ssize_t n;

	while (used < len && (n = read(fd, buf + used, len - used)) > 0)
		used += (size_t)n;
	return used;
}

bool root_read(const char *path, char *buf, size_t len)
{
	int fd = open_below(path);

	if (fd < 0)
		return false;
	buf[read_all(fd, buf, len - 1)] = '\0';
	close(fd);
	return true;
}

bool root_readf(char *buf, size_t len, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	return root_read(path, buf, len);
}

void *root_load(const char *path, size_t limit, size_t *len)
{
	int fd = open_below(path);
	char *buf, *fit;

	if (fd < 0)
		return NULL;
	buf = malloc(limit + 1);
	if (!buf)
		goto close_file;
	*len = read_all(fd, buf, limit + 1);
	if (*len > limit) {
		free(buf);
		buf = NULL;
		goto close_file;
	}
	buf[*len] = '\0';
	fit = realloc(buf, *len + 1);
	buf = fit ? fit : buf;
close_file:
	close(fd);
	return buf;
}

bool root_exists(const char *path)
{
	char full[PATH_MAX];

	root_path(path, full, sizeof(full));
	return access(full, F_OK) == 0;
}

bool root_link(char *buf, size_t len, const char *fmt, ...)
{
	char path[PATH_MAX], full[PATH_MAX + 64], to[PATH_MAX];
	const char *last;
	va_list ap;
	ssize_t n;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	root_path(path, full, sizeof(full));
	n = readlink(full, to, sizeof(to) - 1);
	if (n < 0)
		return false;
	to[n] = '\0';
	last = strrchr(to, '/');
	snprintf(buf, len, "%s", last ? last + 1 : to);
	return true;
}

bool root_real(const char *path, char *buf, size_t len)
{
	char full[PATH_MAX], real[PATH_MAX], base[PATH_MAX];
	size_t skip = 0;

	root_path(path, full, sizeof(full));
	if (!realpath(full, real))
		return false;
	if (root_is_fake() && realpath(root, base) && !strncmp(real, base, strlen(base)))
		skip = strlen(base);
	snprintf(buf, len, "%s", real + skip);
	return true;
}

void root_list(const char *dir, void (*each)(void *arg, const char *name), void *arg)
{
	char full[PATH_MAX];
	struct dirent **list;
	int n, i;

	root_path(dir, full, sizeof(full));
	n = scandir(full, &list, NULL, alphasort);
	for (i = 0; i < n; i++) {
		if (strcmp(list[i]->d_name, ".") && strcmp(list[i]->d_name, ".."))
			each(arg, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

bool root_node(const char *path, struct parse_node *out)
{
	struct parse_node n = { .kind = '-' };
	char text[64];
	struct stat st;

	if (root_is_fake()) {
		if (!root_read(path, text, sizeof(text)))
			return false;
		if (parse_node(text, &n))
			*out = n;
		else
			*out = (struct parse_node){ .kind = '-' };
		return true;
	}
	if (stat(path, &st))
		return false;
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {
		n.kind = S_ISCHR(st.st_mode) ? 'c' : 'b';
		n.major = major(st.st_rdev);
		n.minor = minor(st.st_rdev);
	}
	n.mode = st.st_mode & 07777;
	*out = n;
	return true;
}
