/* SPDX-License-Identifier: MIT */
/*
 * Findings on libgdrapi as programs find it: by both names, in the order of the
 * dynamic linker (LD_LIBRARY_PATH, its cache, its default directories).
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "ldcache.h"
#include "root.h"

#define FILES 8
#define CACHE_LIMIT ((size_t)64 << 20)

static const char *const defaults[] = {
#if defined(__x86_64__)
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
	"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
#elif defined(__powerpc64__)
	"/lib/powerpc64le-linux-gnu", "/usr/lib/powerpc64le-linux-gnu",
#endif
	"/lib64", "/usr/lib64", "/lib", "/usr/lib",
};

/* Where installations leave it without the linker's knowledge. */
static const char *const elsewhere[] = {
	"/usr/local/lib", "/usr/local/lib64",
	"/usr/local/gdrcopy/lib", "/usr/local/gdrcopy/lib64",
	"/usr/local/gdrdrv/lib", "/usr/local/gdrdrv/lib64",
	"/opt/gdrcopy/lib", "/opt/gdrcopy/lib64",
};

/* Different files of one name, first that which is taken. */
struct copies {
	const char *name;
	char file[FILES][256];          /* as found */
	char real[FILES][256];          /* what it leads to */
	size_t n;
};

static void add(struct copies *c, const char *path)
{
	char real[PATH_MAX];
	size_t i;

	if (c->n == FILES || strlen(path) >= sizeof(c->file[0]) ||
	    !root_real(path, real, sizeof(real)) || strlen(real) >= sizeof(c->real[0]))
		return;
	for (i = 0; i < c->n; i++)
		if (!strcmp(c->real[i], real))
			return;
	strcpy(c->file[c->n], path);
	strcpy(c->real[c->n++], real);
}

static void add_in(struct copies *c, const char *dir, size_t len)
{
	char path[PATH_MAX];

	if (len && len < sizeof(path) - 64) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)len, dir, c->name);
		add(c, path);
	}
}

static bool add_cached(void *arg, const char *name, const char *path)
{
	struct copies *c = arg;

	if (!strcmp(name, c->name))
		add(c, path);
	return true;
}

static void search(struct copies *c)
{
	const char *p = getenv("LD_LIBRARY_PATH");
	size_t i, len;
	void *cache;

	for (; p && *p; p += i + (p[i] != '\0')) {
		i = strcspn(p, ":;");
		add_in(c, p, i);
	}
	cache = root_load("/etc/ld.so.cache", CACHE_LIMIT, &len);
	if (cache)
		ldcache_each(cache, len, add_cached, c);
	free(cache);
	for (i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		add_in(c, defaults[i], strlen(defaults[i]));
}

/* Directory of the libgdrapi that this program itself runs on; "" if unknown. */
static void own_directory(char *buf, size_t len)
{
	char real[PATH_MAX];
	Dl_info info;

	buf[0] = '\0';
	if (root_is_fake() || !dladdr((void *)gdr_open, &info) || !realpath(info.dli_fname, real))
		return;
	*strrchr(real, '/') = '\0';
	snprintf(buf, len, "%s", real);
}

/* By neither name. */
static void missing(struct doctor *d)
{
	char own[PATH_MAX], path[PATH_MAX];
	size_t i;

	doctor_find(d, "libgdrapi", -1, LEVEL_FAIL, "neither libgdrapi.so nor libgdrapi.so.2 is "
		    "on the library path: NCCL and others do not find it");
	for (i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		snprintf(path, sizeof(path), "%s/libgdrapi.so.2", elsewhere[i]);
		if (root_exists(path)) {
			doctor_fix(d, "echo %s | sudo tee /etc/ld.so.conf.d/gdrcopy.conf; sudo "
				   "ldconfig", elsewhere[i]);
			return;
		}
	}
	own_directory(own, sizeof(own));
	if (own[0])
		doctor_fix(d, "export LD_LIBRARY_PATH=%.200s   # or install the package "
			   "libgdrapi2", own);
	else
		doctor_fix(d, "install the package libgdrapi2 (rpm: gdrcopy), then: sudo "
			   "ldconfig");
}

/* Only the other name is missing. */
static void missing_link(struct doctor *d, const struct copies *c, const char *users,
			 const struct copies *other)
{
	int dir = (int)(strrchr(other->file[0], '/') - other->file[0]);

	doctor_find(d, c->name, -1, LEVEL_FAIL, "only %s is on the library path; %s look for "
		    "this name", other->name, users);
	doctor_fix(d, "sudo ln -s %s %.*s/%s && sudo ldconfig", other->name, dir, other->file[0],
		   c->name);
}

static void present(struct doctor *d, const struct copies *c)
{
	char file[PATH_MAX], version[32], why[PROBE_TEXT], own[32];
	int major, minor;

	root_path(c->file[0], file, sizeof(file));
	if (!probe_library(file, d->timeout, version, sizeof(version), why, sizeof(why))) {
		doctor_find(d, c->name, -1, LEVEL_FAIL, "%s cannot be loaded: %s", c->file[0],
			    why);
		doctor_fix(d, "reinstall the package that owns it (dpkg -S %s, rpm -qf %s), or "
			   "remove it", c->file[0], c->file[0]);
		return;
	}
	gdr_runtime_get_version(&major, &minor);
	snprintf(own, sizeof(own), "%d.%d", major, minor);
	if (strcmp(version, own)) {
		doctor_find(d, c->name, -1, LEVEL_WARN, "%s, version %s: programs get that, "
			    "while this one ran on %s", c->file[0], version, own);
		doctor_fix(d, "remove or update the package that owns %s, then: sudo ldconfig",
			   c->file[0]);
	} else {
		doctor_find(d, c->name, -1, LEVEL_OK, "%s, version %s", c->file[0], version);
	}
	if (c->n > 1) {
		doctor_find(d, "two copies", -1, LEVEL_WARN, "%s is there twice: %s is taken, "
			    "%s is not", c->name, c->real[0], c->real[1]);
		doctor_fix(d, "remove one, then: sudo ldconfig   # ldconfig -p | grep libgdrapi");
	}
}

void doctor_library(struct doctor *d)
{
	struct copies plain = { .name = "libgdrapi.so" }, major = { .name = "libgdrapi.so.2" };

	d->area = "library";
	search(&plain);
	search(&major);
	if (!plain.n && !major.n) {
		missing(d);
		return;
	}
	if (plain.n)
		present(d, &plain);
	else
		missing_link(d, &plain, "NCCL, aws-ofi-nccl, DPDK and TensorRT-LLM", &major);
	if (major.n)
		present(d, &major);
	else
		missing_link(d, &major, "NVSHMEM, UCX and DOCA", &plain);
	if (plain.n && major.n && strcmp(plain.real[0], major.real[0])) {
		doctor_find(d, "names", -1, LEVEL_WARN, "the two names lead to different files, "
			    "%s and %s: programs that use both mix them", plain.real[0],
			    major.real[0]);
		doctor_fix(d, "remove the older one, then: sudo ldconfig");
	}
}
