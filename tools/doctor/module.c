/* SPDX-License-Identifier: MIT */
/* Findings on gdrdrv: loaded, its node, its number, what it was built for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "installed.h"
#include "node.h"
#include "root.h"

#define NODE "/dev/gdrdrv"
#define MISC_MAJOR 10

/* The numbers under which gdrdrv can be reached: a major of its own, or a misc device's minor. */
struct numbers {
	bool has_major, has_misc;
	unsigned major, misc;
};

/* gdrdrv may be absent where another backend works, and does not matter before CUDA does. */
static enum level absent(const struct doctor *d)
{
	const char *only = doctor_forced(d);
	bool asked = only && !strcmp(only, "gdrdrv");

	if (doctor_works(d) || !d->cuda.n || (doctor_alternative(d) >= 0 && !asked))
		return LEVEL_NOTE;
	return doctor_need(d);
}

/* It is there, and not right. */
static enum level broken(const struct doctor *d)
{
	return doctor_works(d) ? LEVEL_WARN : doctor_need(d);
}

static bool is_loaded(void)
{
	static char modules[262144];

	return (root_read("/proc/modules", modules, sizeof(modules)) &&
		parse_module(modules, "gdrdrv")) || root_exists("/sys/module/gdrdrv");
}

/* How to get it loaded, from what there is on disk. */
static void fix_loading(struct doctor *d)
{
	bool sign = installed_must_be_signed();
	char release[128];

	installed_kernel(release, sizeof(release));
	if (d->container[0])
		doctor_fix(d, "on the host: sudo modprobe gdrdrv; then pass " NODE " in: docker "
			   "run --device=" NODE " ...");
	else if (installed_module("gdrdrv.ko"))
		doctor_fix(d, "sudo modprobe gdrdrv   # if that fails: sudo dmesg | tail%s",
			   sign ? "; this kernel wants it signed" : "");
	else if (installed_dkms("gdrdrv"))
		doctor_fix(d, "sudo dkms autoinstall && sudo modprobe gdrdrv   # needs "
			   "linux-headers-%s%s", release, sign ? "; and a key for signing" : "");
	else
		doctor_fix(d, "install the package gdrdrv-dkms (rpm: gdrcopy-kmod), then: sudo "
			   "modprobe gdrdrv%s", sign ? "   # this kernel loads signed modules "
			   "only" : "");
}

static void not_loaded(struct doctor *d, bool node)
{
	enum level level = node ? broken(d) : absent(d);

	const char *disk = "", *need = "";

	if (installed_module("gdrdrv.ko"))
		disk = ", but installed";
	else if (installed_dkms("gdrdrv"))
		disk = ", and not built for this kernel";
	if (doctor_works(d))
		need = "; it is not needed";
	else if (!d->soft && !d->cuda.ready)
		need = "; CUDA comes first";
	if (node)
		doctor_find(d, "module", -1, level, NODE " is stale: no gdrdrv module is loaded");
	else
		doctor_find(d, "module", -1, level, "gdrdrv is not loaded%s%s", disk, need);
	if (level > LEVEL_NOTE)
		fix_loading(d);
}

/* "Built for NVIDIA driver flavor: opensource", or proprietary; others are not checked. */
static void find_build(struct doctor *d)
{
	char text[1024], flavour[32], version[32], mode[16];

	if (!root_read("/proc/driver/gdrdrv/params", text, sizeof(text)) ||
	    !parse_key(text, "Version", version, sizeof(version))) {
		doctor_find(d, "module", -1, LEVEL_OK, "loaded; its version is not shown");
		return;
	}
	if (parse_key(text, "Built for NVIDIA driver flavor", flavour, sizeof(flavour)) &&
	    d->driver.version[0] &&
	    ((d->driver.open && !strcmp(flavour, "proprietary")) ||
	     (!d->driver.open && !strcmp(flavour, "opensource")))) {
		doctor_find(d, "module", -1, broken(d), "version %s, built for the %s NVIDIA "
			    "driver; the one loaded is %s", version, flavour, d->driver.open ?
			    "open" : "proprietary");
		doctor_fix(d, "build gdrdrv anew for driver %s: sudo dkms install --force "
			   "gdrdrv/%s, then: sudo rmmod gdrdrv; sudo modprobe gdrdrv",
			   d->driver.version, version);
		return;
	}
	doctor_find(d, "module", -1, LEVEL_OK, "loaded, version %s", version);
	if (parse_key(text, "Use persistent mapping", mode, sizeof(mode)) && !strcmp(mode, "no"))
		doctor_find(d, "pins", -1, LEVEL_NOTE, "not persistent: freeing pinned memory "
			    "takes its mapping away");
}

/* The module is the host's, so it shows in a container whose /dev is its own. */
static void fix_missing(struct doctor *d, const char *make)
{
	if (!d->container[0])
		doctor_fix(d, "%s", make);
	else if (getenv("NVIDIA_GDRCOPY"))
		doctor_fix(d, "NVIDIA_GDRCOPY is set, but had no effect: use the NVIDIA "
			   "container toolkit 1.15 or later, and its runtime; or docker run "
			   "--device=" NODE " ...");
	else
		doctor_fix(d, "docker run --device=" NODE " ...; in Kubernetes set the "
			   "container's environment NVIDIA_GDRCOPY=enabled");
}

static bool is_right(const struct numbers *k, const struct parse_node *at)
{
	return (k->has_major && at->major == k->major && !at->minor) ||
		(k->has_misc && at->major == MISC_MAJOR && at->minor == k->misc);
}

static void find_node(struct doctor *d, const struct numbers *k)
{
	unsigned major = k->has_major ? k->major : MISC_MAJOR;
	unsigned minor = k->has_major ? 0 : k->misc;
	char make[64];
	struct node n;

	snprintf(make, sizeof(make), "sudo mknod -m 666 " NODE " c %u %u", major, minor);
	node_look(NODE, true, &n);
	switch (n.state) {
	case NODE_MISSING:
		doctor_find(d, "node", -1, absent(d), "gdrdrv is loaded, but there is no " NODE
			    "%s", d->container[0] ? " in this container" : "");
		fix_missing(d, make);
		return;
	case NODE_NO_DEVICE:
		doctor_find(d, "node", -1, broken(d), NODE " is no device node");
		doctor_fix(d, "sudo rm -r " NODE "; %s", make);
		return;
	default:
		break;
	}
	if (!is_right(k, &n.at)) {
		doctor_find(d, "node", -1, broken(d), NODE " is stale: it is %u:%u, gdrdrv is "
			    "%u:%u", n.at.major, n.at.minor, major, minor);
		doctor_fix(d, "sudo rm " NODE "; %s", make);
	} else if (n.state == NODE_CLOSED && n.error == EPERM) {
		doctor_find(d, "node", -1, broken(d), NODE " may not be opened: the device "
			    "rules of this container forbid it");
		doctor_fix(d, "pass it as a device, not as a mount: docker run --device=" NODE
			   " ...; in Kubernetes set NVIDIA_GDRCOPY=enabled");
	} else if (n.state == NODE_CLOSED) {
		doctor_find(d, "node", -1, broken(d), NODE " may not be opened by this "
			    "user: %s, mode %04o", strerror(n.error), n.at.mode);
		doctor_fix(d, "sudo chmod 0666 " NODE);
	} else if (n.state == NODE_PRIVATE) {
		doctor_find(d, "node", -1, LEVEL_WARN, NODE " opens for this user; mode %04o "
			    "shuts others out", n.at.mode);
		doctor_fix(d, "sudo chmod 0666 " NODE);
	} else {
		doctor_find(d, "node", -1, LEVEL_OK, NODE ", %u:%u, mode %04o", n.at.major,
			    n.at.minor, n.at.mode);
	}
}

void doctor_module(struct doctor *d)
{
	static char text[65536];
	struct numbers k = { 0 };
	struct parse_node at;

	d->area = "gdrdrv";
	if (!is_loaded()) {
		not_loaded(d, root_node(NODE, &at));
		return;
	}
	find_build(d);
	k.has_major = root_read("/proc/devices", text, sizeof(text)) &&
		parse_major(text, "gdrdrv", &k.major);
	k.has_misc = root_read("/proc/misc", text, sizeof(text)) &&
		parse_misc(text, "gdrdrv", &k.misc);
	if (!k.has_major && !k.has_misc) {
		doctor_find(d, "node", -1, broken(d), "gdrdrv is loaded, but has no number in "
			    "/proc/devices: it could not register");
		doctor_fix(d, "sudo rmmod gdrdrv; sudo modprobe gdrdrv; sudo dmesg | tail");
		return;
	}
	find_node(d, &k);
}
