/* SPDX-License-Identifier: MIT */
/* The exported functions that are not CUDA's; softcuda_hooks.h has their contracts. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softcuda.h"

static struct sc_object *find(uint32_t client, uint32_t object)
{
	return sc_device_ready() && client == sc_object_client() ? sc_object_find(object) : NULL;
}

int softcuda_object(uint32_t client, uint32_t object, int *fd, uint64_t *offset, uint64_t *size)
{
	struct sc_object *o;
	int err = -ENOENT;

	sc_mem_wrlock();
	o = find(client, object);
	if (o && (o->next_ext > 1)) {
		*size = o->size;
		err = -EXDEV;
	} else if (o) {
		err = sc_export_open(o->ext->file, o->ext->off, o->ext->off + o->size);
		if (err >= 0) {
			*fd = err;
			*offset = o->ext->off;
			*size = o->size;
			err = 0;
		}
	}
	sc_mem_unlock();
	return err;
}

/* Memory lock held for writing. */
static int map_object(struct sc_object *o, uint64_t offset, uint64_t len, unsigned char *at)
{
	for (uint64_t done = 0, n; done < len; done += n) {
		const struct sc_extent *e = sc_object_extent(o, offset + done);
		uint64_t skip = offset + done - e->start;
		void *p;
		int fd;

		n = e->len - skip < len - done ? e->len - skip : len - done;
		fd = sc_export_open(e->file, e->off + skip, e->off + skip + n);
		if (fd < 0)
			return fd;
		p = mmap(at + done, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			 (off_t)(e->off + skip));
		close(fd);
		if (p == MAP_FAILED)
			return -ENOMEM;
	}
	return 0;
}

int softcuda_object_map(uint32_t client, uint32_t object, uint64_t offset, uint64_t len, void *at)
{
	struct sc_object *o;
	int err = -ENOENT;

	if (!len || ((uintptr_t)at | offset | len) & (SC_PAGE - 1))
		return -EINVAL;
	sc_mem_wrlock();
	o = find(client, object);
	if (o)
		err = offset < o->size && len <= o->size - offset ? map_object(o, offset, len, at) :
								    -EINVAL;
	sc_mem_unlock();
	return err;
}

int softcuda_object_ref(uint32_t client, uint32_t object)
{
	struct sc_object *o;

	sc_mem_wrlock();
	o = find(client, object);
	if (o) {
		sc_object_get(o);
		o->hooked++;
	}
	sc_mem_unlock();
	return o ? 0 : -ENOENT;
}

int softcuda_object_unref(uint32_t client, uint32_t object)
{
	struct sc_object *o;

	sc_mem_wrlock();
	o = find(client, object);
	if (o && o->hooked) {
		o->hooked--;
		sc_object_put(o);
	} else {
		o = NULL;
	}
	sc_mem_unlock();
	return o ? 0 : -ENOENT;
}

int softcuda_object_device(uint32_t client, uint32_t object)
{
	struct sc_object *o;
	int dev;

	sc_mem_rdlock();
	o = find(client, object);
	dev = o ? o->dev : -ENOENT;
	sc_mem_unlock();
	return dev;
}

int softcuda_has_gpu(void)
{
	return sc_config()->source == &sc_nvsim_source;
}

int softcuda_fd_object(int export_fd, uint32_t *client, uint32_t *object)
{
	struct sc_object *o;

	sc_mem_rdlock();
	o = sc_device_ready() ? sc_object_by_fd(export_fd) : NULL;
	if (o) {
		*client = sc_object_client();
		*object = o->number;
	}
	sc_mem_unlock();
	return o ? 0 : -ENOENT;
}
