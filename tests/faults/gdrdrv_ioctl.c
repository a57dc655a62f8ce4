/* SPDX-License-Identifier: MIT */
/* The nine commands of the model, checked in the driver's order. */
#include <errno.h>
#include <string.h>

#include "gdrdrv_state.h"

#define KERNEL_ENOTSUPP 524
#define V(major, minor) ((uint32_t)(major) << 16 | (minor))

/* A command's structure, by offset. */
static uint32_t get32(const uint8_t *arg, size_t at)
{
	uint32_t v;

	memcpy(&v, arg + at, sizeof(v));
	return v;
}

static uint64_t get64(const uint8_t *arg, size_t at)
{
	uint64_t v;

	memcpy(&v, arg + at, sizeof(v));
	return v;
}

static void put32(uint8_t *arg, size_t at, uint32_t v)
{
	memcpy(arg + at, &v, sizeof(v));
}

static void put64(uint8_t *arg, size_t at, uint64_t v)
{
	memcpy(arg + at, &v, sizeof(v));
}

struct gdrdrv_pin *gdrdrv_find(struct gdrdrv_file *f, uint64_t handle)
{
	unsigned i;

	for (i = 0; i < GDRDRV_PINS; i++)
		if (f->pins[i].live && f->pins[i].handle == handle)
			return &f->pins[i];
	return NULL;
}

/* The library sends no handle that it was not given, or has given back. */
static struct gdrdrv_pin *find(struct gdrdrv_file *f, uint32_t cmd, uint64_t handle)
{
	struct gdrdrv_pin *p = gdrdrv_find(f, handle);

	if (!p)
		gdrdrv_violate("command 0x%x on handle 0x%llx, which is no pin", cmd,
			       (unsigned long long)handle);
	return p;
}

static int pin(struct gdrdrv_file *f, uint64_t addr, uint64_t size, uint64_t *handle)
{
	uint64_t va = addr & ~(GDRDRV_GPU_PAGE - 1);
	uint64_t end = (addr + size + GDRDRV_GPU_PAGE - 1) & ~(GDRDRV_GPU_PAGE - 1);
	struct gdrdrv_pin *p;

	if (!addr || !size || end <= va)
		return -EINVAL;
	if (va < GDRDRV_MEMORY || end > GDRDRV_MEMORY + GDRDRV_MEMORY_SIZE)
		return -EINVAL;
	for (p = f->pins; p < f->pins + GDRDRV_PINS && p->live; p++)
		;
	if (p == f->pins + GDRDRV_PINS)
		return -ENOMEM;
	*p = (struct gdrdrv_pin){
		.live = true,
		.handle = f->next_handle,
		.addr = addr,
		.va = va,
		.size = end - va,
	};
	f->next_handle += p->size / GDRDRV_PAGE;
	*handle = p->handle;
	return 0;
}

static int pin_v1(struct gdrdrv_file *f, uint8_t *arg)
{
	uint64_t handle;
	int ret;

	if (!gdrdrv_setup.revokes && gdrdrv_setup.version >= V(2, 5) &&
	    (get64(arg, 16) || get32(arg, 24)))
		return -EINVAL;
	ret = pin(f, get64(arg, 0), get64(arg, 8), &handle);
	if (ret == 0)
		put64(arg, 32, handle);
	return ret;
}

static int pin_v2(struct gdrdrv_file *f, uint8_t *arg)
{
	uint32_t flags = get32(arg, 16);
	uint64_t handle;
	int ret;

	if (flags & ~1u)
		gdrdrv_violate("pin with flags 0x%x", flags);
	if (flags && (gdrdrv_setup.revokes || flags & ~1u))
		return -EINVAL;
	if (flags)      /* what NVIDIA's driver says where it cannot */
		return -KERNEL_ENOTSUPP;
	ret = pin(f, get64(arg, 0), get64(arg, 8), &handle);
	if (ret == 0)
		put64(arg, 24, handle);
	return ret;
}

static uint32_t type_of(const struct gdrdrv_pin *p)
{
	if (!p->mapped || p->revoked)
		return 0;
	return p->wish ? p->wish : gdrdrv_setup.type;
}

static int info(const struct gdrdrv_pin *p, bool v2, uint8_t *arg)
{
	uint32_t type = type_of(p);

	put64(arg, 8, p->va);
	put64(arg, 16, p->size);
	put32(arg, 24, (uint32_t)GDRDRV_GPU_PAGE);
	put32(arg, 28, 2000000);
	put64(arg, 32, 12345);
	put32(arg, 40, v2 ? type : type != 0);
	put32(arg, 44, v2 ? 0 : type == 1);
	return 0;
}

static int request(struct gdrdrv_pin *p, uint32_t type)
{
	if (type > 3)
		return -EINVAL;
	if (p->mapped)
		return -EBUSY;
	if (type && type != gdrdrv_setup.type)
		return -EOPNOTSUPP;
	p->wish = type;
	return 0;
}

static int attribute(uint8_t *arg)
{
	switch (get32(arg, 0)) {
	case 1:
		put32(arg, 4, !gdrdrv_setup.revokes);
		return 0;
	case 2:
		put32(arg, 4, 0);
		return 0;
	default:
		return -EINVAL;
	}
}

/* Commands about one pin, whose handle is first in the structure. */
static int on_pin(struct gdrdrv_file *f, uint32_t cmd, uint8_t *arg)
{
	struct gdrdrv_pin *p = find(f, cmd, get64(arg, 0));

	if (!p)
		return -EINVAL;
	switch (cmd) {
	case 0xC008DA02:
		gdrdrv_unpin(p);
		return 0;
	case 0xC008DA03:
		put32(arg, 8, p->revoked);
		return 0;
	case 0xC008DA04:
		return info(p, false, arg);
	case 0xC008DA05:
		return info(p, true, arg);
	default:
		return request(p, get32(arg, 8));
	}
}

int gdrdrv_command(struct gdrdrv_file *f, uint32_t cmd, void *arg)
{
	uint32_t version = gdrdrv_setup.version;

	switch (cmd) {
	case 0xC028DA01:
		return pin_v1(f, arg);
	case 0xC008DA05:
		return version < V(2, 4) ? -ENOTTY : on_pin(f, cmd, arg);
	case 0xC008DA06:
		return version < V(2, 5) ? -ENOTTY : attribute(arg);
	case 0xC020DA07:
		return version < V(2, 5) ? -ENOTTY : pin_v2(f, arg);
	case 0xC008DA08:
		return version < V(2, 5) ? -ENOTTY : on_pin(f, cmd, arg);
	case 0xC008DA02:
	case 0xC008DA03:
	case 0xC008DA04:
		return on_pin(f, cmd, arg);
	case 0xC008DAFF:
		put32(arg, 0, version);
		put32(arg, 4, gdrdrv_setup.min_api);
		return 0;
	default:
		gdrdrv_violate("command 0x%x, which the driver does not know", cmd);
		return -ENOTTY;
	}
}
