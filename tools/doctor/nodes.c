/* SPDX-License-Identifier: MIT */
/* Findings on the device nodes of the NVIDIA driver. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "node.h"
#include "root.h"

#define RW_FOR_ALL 0006

void node_look(const char *path, bool try_open, struct node *out)
{
	struct node n = { .state = NODE_FINE };
	int fd;

	if (!root_node(path, &n.at)) {
		n.state = NODE_MISSING;
	} else if (n.at.kind != 'c') {
		n.state = NODE_NO_DEVICE;
	} else if (root_is_fake()) {
		if ((n.at.mode & RW_FOR_ALL) != RW_FOR_ALL) {
			n.error = EACCES;
			n.state = NODE_CLOSED;
		}
	} else if (try_open) {
		fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0) {
			n.error = errno;
			n.state = NODE_CLOSED;
		} else {
			close(fd);
		}
	} else if (access(path, R_OK | W_OK)) {
		n.error = errno;
		n.state = NODE_CLOSED;
	}
	if (n.state == NODE_FINE && (n.at.mode & RW_FOR_ALL) != RW_FOR_ALL)
		n.state = NODE_PRIVATE;
	*out = n;
}

/* How a container gets the nodes, or how they are made. */
static void fix_missing(struct doctor *d, const char *make)
{
	if (d->container[0])
		doctor_fix(d, "start the container with the GPU: docker run --gpus all ...; in "
			   "Kubernetes request nvidia.com/gpu");
	else
		doctor_fix(d, "%s", make);
}

static void find_node(struct doctor *d, const char *name, const char *path, bool try_open,
		      const char *make)
{
	struct node n;

	node_look(path, try_open, &n);
	switch (n.state) {
	case NODE_MISSING:
		doctor_find(d, name, -1, doctor_need(d), "there is no %s%s", path,
			    d->container[0] ? " in this container" : "");
		fix_missing(d, make);
		break;
	case NODE_NO_DEVICE:
		doctor_find(d, name, -1, doctor_need(d), "%s is no device node", path);
		doctor_fix(d, "sudo rm %s && %s", path, make);
		break;
	case NODE_CLOSED:
		doctor_find(d, name, -1, doctor_need(d), "%s may not be opened by this "
			    "user: %s, mode %04o", path, strerror(n.error), n.at.mode);
		if (n.error == EPERM && d->container[0])
			doctor_fix(d, "pass the device instead of mounting it: docker run "
				   "--gpus all ...; in Kubernetes request nvidia.com/gpu");
		else
			doctor_fix(d, "sudo chmod 0666 %s   # for good: "
				   "NVreg_DeviceFileMode=0666 in /etc/modprobe.d", path);
		break;
	case NODE_PRIVATE:
		doctor_find(d, name, -1, LEVEL_NOTE, "%s opens for this user; mode %04o shuts "
			    "others out", path, n.at.mode);
		break;
	case NODE_FINE:
		doctor_find(d, name, -1, LEVEL_OK, "%s, mode %04o", path, n.at.mode);
		break;
	}
}

/* Minor numbers of the GPUs that the driver lists. */
struct minors {
	unsigned v[PROBE_GPUS];
	size_t n;
};

static void add_minor(void *arg, const char *address)
{
	struct minors *m = arg;
	char text[4096], value[32];
	long long v;

	if (m->n < PROBE_GPUS &&
	    root_readf(text, sizeof(text), "/proc/driver/nvidia/gpus/%s/information", address) &&
	    parse_key(text, "Device Minor", value, sizeof(value)) &&
	    parse_number(value, &v) && v >= 0 && v < 65536)
		m->v[m->n++] = (unsigned)v;
}

/* In a container some of the GPUs are there, and that is meant. */
static void find_gpu_nodes(struct doctor *d)
{
	struct minors m = { .n = 0 };
	unsigned present[PROBE_GPUS] = { 0 };
	size_t npresent = 0, i;
	char path[64], missing[64] = "";
	struct parse_node at;

	root_list("/proc/driver/nvidia/gpus", add_minor, &m);
	if (!m.n)
		m.n = 1;
	for (i = 0; i < m.n; i++) {
		snprintf(path, sizeof(path), "/dev/nvidia%u", m.v[i]);
		if (root_node(path, &at))
			present[npresent++] = m.v[i];
		else if (!missing[0])
			snprintf(missing, sizeof(missing), "%s", path);
	}
	for (i = 0; i < npresent; i++) {
		snprintf(path, sizeof(path), "/dev/nvidia%u", present[i]);
		find_node(d, "gpu node", path, false, "sudo nvidia-modprobe -c 0 -u");
	}
	if (!missing[0])
		return;
	if (npresent && d->container[0]) {
		doctor_find(d, "gpu node", -1, LEVEL_NOTE, "%zu of the driver's %zu GPUs are "
			    "not passed into this container", m.n - npresent, m.n);
		return;
	}
	doctor_find(d, "gpu node", -1, npresent ? LEVEL_WARN : doctor_need(d),
		    "there is no %s%s", missing, d->container[0] ? " in this container" : "");
	fix_missing(d, "sudo nvidia-modprobe -c 0 -u   # once for each GPU: -c 1, ...");
}

/* CUDA fails with error 999 or 3 without it, or when its number has changed. */
static void find_uvm(struct doctor *d)
{
	static const char path[] = "/dev/nvidia-uvm", make[] = "sudo nvidia-modprobe -u -c 0";
	static char devices[65536];
	struct parse_node at;
	unsigned major;

	if (root_node(path, &at) && at.kind == 'c' &&
	    root_read("/proc/devices", devices, sizeof(devices)) &&
	    parse_major(devices, "nvidia-uvm", &major) && major != at.major) {
		doctor_find(d, "uvm node", -1, doctor_need(d), "%s is stale: its major number "
			    "is %u, the driver's is %u", path, at.major, major);
		doctor_fix(d, "sudo rm %s && %s", path, make);
		return;
	}
	find_node(d, "uvm node", path, true, make);
}

void doctor_nodes(struct doctor *d)
{
	d->area = "device nodes";
	if (!d->driver.version[0]) {
		doctor_find(d, "nodes", -1, LEVEL_SKIP, "not looked at: no NVIDIA driver is "
			    "loaded");
		return;
	}
	find_node(d, "control node", "/dev/nvidiactl", true, "sudo nvidia-modprobe -c 0 -u");
	find_gpu_nodes(d);
	find_uvm(d);
}
