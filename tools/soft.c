/* SPDX-License-Identifier: MIT */
/*
 * Where softcuda is: named by GDRCOPY_SOFTCUDA_LIB, beside this program in a
 * build tree, or in the private directory of an installation, which may have
 * been moved as a whole.
 */
#include "cu.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define SOFT_FILE "libcuda.so.1"

/* Relative to the directory of the program; shell patterns. */
static const char *const beside[] = {
	"../softcuda/" SOFT_FILE,
	"../../softcuda/" SOFT_FILE,
	"../lib*/gdrcopy/softcuda/" SOFT_FILE,
	"../lib*/*/gdrcopy/softcuda/" SOFT_FILE,
};

static int take(const char *path, char *buf, size_t len)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return -errno;
	if (strlen(real) >= len)
		return -ENAMETOOLONG;
	strcpy(buf, real);
	return 0;
}

static int take_match(const char *pattern, char *buf, size_t len)
{
	glob_t g;
	int err = -ENOENT;

	if (glob(pattern, 0, NULL, &g) == 0) {
		err = take(g.gl_pathv[0], buf, len);
		globfree(&g);
	}
	return err;
}

static int program_dir(char *buf, size_t len)
{
	ssize_t n = readlink("/proc/self/exe", buf, len - 1);
	char *slash;

	if (n < 0)
		return -errno;
	buf[n] = '\0';
	slash = strrchr(buf, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

int cu_find_soft(char *buf, size_t len)
{
	const char *named = secure_getenv("GDRCOPY_SOFTCUDA_LIB");
	char dir[PATH_MAX], pattern[PATH_MAX + 64];
	size_t i;
	int err;

	/* the user may have put the program where the user likes, by a link */
	if (getauxval(AT_SECURE)) {
		fprintf(stderr, "ERROR: softcuda is not for programs with rights that their user "
			"lacks (set-uid, file capabilities)\n");
		return -EPERM;
	}
	if (named && *named) {
		err = take(named, buf, len);
		if (err)
			fprintf(stderr, "ERROR: softcuda: GDRCOPY_SOFTCUDA_LIB=%s: %s\n", named,
				strerror(-err));
		return err;
	}
	if (program_dir(dir, sizeof(dir)) == 0) {
		for (i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
			snprintf(pattern, sizeof(pattern), "%s/%s", dir, beside[i]);
			if (take_match(pattern, buf, len) == 0)
				return 0;
		}
	}
	if (take(SOFTCUDA_DIR "/" SOFT_FILE, buf, len) == 0)
		return 0;
	fprintf(stderr, "ERROR: softcuda is not installed: no %s in %s, nor beside this program; "
		"install it, or name it with GDRCOPY_SOFTCUDA_LIB\n", SOFT_FILE, SOFTCUDA_DIR);
	return -ENOENT;
}
