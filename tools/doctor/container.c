/* SPDX-License-Identifier: MIT */
/* Findings on containers: is this one, and what its runtime was told. */
#include "container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "root.h"

static const struct {
	const char *word, *kind;
} cgroups[] = {
	{ "kubepods", "Kubernetes" },
	{ "docker", "Docker" },
	{ "libpod", "Podman" },
	{ "containerd", "containerd" },
	{ "crio-", "CRI-O" },
	{ "lxc", "LXC" },
	{ "enroot", "Enroot" },
};

void container_kind(char *buf, size_t len)
{
	const char *named = getenv("container");
	char text[4096];
	size_t i;

	snprintf(buf, len, "%s", named ? named : "");
	if (getenv("KUBERNETES_SERVICE_HOST"))
		snprintf(buf, len, "Kubernetes");
	else if (root_exists("/.dockerenv"))
		snprintf(buf, len, "Docker");
	else if (root_exists("/run/.containerenv"))
		snprintf(buf, len, "Podman");
	else if (root_read("/proc/1/cgroup", text, sizeof(text)))
		for (i = 0; i < sizeof(cgroups) / sizeof(cgroups[0]); i++)
			if (strstr(text, cgroups[i].word))
				snprintf(buf, len, "%s", cgroups[i].kind);
	parse_clean(buf);
}

struct cdi {
	size_t specs, with_gdrdrv;
};

static void look_spec(struct cdi *c, const char *dir, const char *name)
{
	size_t n = strlen(name), len;
	char path[512], *text;

	if (n < 5 || (strcmp(name + n - 5, ".yaml") && strcmp(name + n - 5, ".json")))
		return;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	text = root_load(path, (size_t)4 << 20, &len);
	if (!text)
		return;
	if (strstr(text, "nvidia")) {
		c->specs++;
		c->with_gdrdrv += strstr(text, "/dev/gdrdrv") != NULL;
	}
	free(text);
}

static void look_etc(void *arg, const char *name)
{
	look_spec(arg, "/etc/cdi", name);
}

static void look_run(void *arg, const char *name)
{
	look_spec(arg, "/var/run/cdi", name);
}

/* On a host: what container runtimes are told. */
static void find_cdi(struct doctor *d)
{
	struct cdi c = { 0 };

	root_list("/etc/cdi", look_etc, &c);
	root_list("/var/run/cdi", look_run, &c);
	if (!c.specs)
		return;
	if (c.with_gdrdrv || !root_exists("/dev/gdrdrv")) {
		doctor_find(d, "cdi", -1, LEVEL_OK, "%zu CDI specification%s for NVIDIA GPUs, "
			    "%zu with /dev/gdrdrv", c.specs, c.specs > 1 ? "s" : "",
			    c.with_gdrdrv);
		return;
	}
	doctor_find(d, "cdi", -1, LEVEL_NOTE, "no CDI specification has /dev/gdrdrv, so "
		    "containers do not get it that way");
	doctor_fix(d, "sudo nvidia-ctk cdi generate --mode=gdrcopy "
		   "--output=/etc/cdi/gdrcopy.yaml");
}

static void find_visible(struct doctor *d)
{
	const char *visible = getenv("NVIDIA_VISIBLE_DEVICES");

	if (!visible || (strcmp(visible, "void") && strcmp(visible, "none") && *visible))
		return;
	doctor_find(d, "visible", -1, d->cuda.ready ? LEVEL_NOTE : doctor_need(d),
		    "NVIDIA_VISIBLE_DEVICES is \"%s\": the runtime passes no GPU in", visible);
	if (!d->cuda.ready)
		doctor_fix(d, "start the container with NVIDIA_VISIBLE_DEVICES=all; in "
			   "Kubernetes request nvidia.com/gpu");
}

void doctor_container(struct doctor *d)
{
	d->area = "container";
	if (!d->container[0]) {
		doctor_find(d, "container", -1, LEVEL_OK, "this is none");
		find_cdi(d);
		return;
	}
	doctor_find(d, "container", -1, LEVEL_OK, "this is one (%s)", d->container);
	find_visible(d);
}
