/* SPDX-License-Identifier: MIT */
/*
 * A second view of pages that cannot move: /dev/udmabuf makes a dma-buf that
 * begins at any page of a memfd.  The device is the machine's choice to offer.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "softcuda.h"

#define MAX_ITEMS 1024          /* the driver's default limit */

static uint64_t left_in(const struct sc_piece *p, uint64_t done, const struct sc_extent **e)
{
	uint64_t end, at = p->off + done;

	*e = sc_object_extent(p->obj, at);
	end = (*e)->start + (*e)->len;
	return (end < p->off + p->len ? end : p->off + p->len) - at;
}

/* Fill in the list; the driver wants files that cannot shrink. */
static int list_pieces(const struct sc_piece *p, unsigned int n, struct udmabuf_create_list *list)
{
	const struct sc_extent *e;

	for (unsigned int i = 0; i < n; i++)
		for (uint64_t done = 0, len; done < p[i].len; done += len) {
			len = left_in(&p[i], done, &e);
			if (list->count == MAX_ITEMS)
				return -EBUSY;
			if (fcntl(e->file->fd, F_ADD_SEALS, F_SEAL_SHRINK))
				return -EBUSY;
			list->list[list->count].memfd = (uint32_t)e->file->fd;
			list->list[list->count].offset = e->off + (p[i].off + done - e->start);
			list->list[list->count++].size = len;
		}
	return 0;
}

/* Nobody can tell when the dma-buf goes: its pages stay where they are for good. */
static void freeze(const struct sc_piece *p, unsigned int n)
{
	const struct sc_extent *e;

	for (unsigned int i = 0; i < n; i++)
		for (uint64_t done = 0; done < p[i].len;) {
			done += left_in(&p[i], done, &e);
			e->file->frozen = true;
		}
}

int sc_udmabuf(const struct sc_piece *p, unsigned int n, int *fd)
{
	struct udmabuf_create_list *list;
	int dev, err, res;

	dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return -ENODEV;
	list = calloc(1, sizeof(*list) + MAX_ITEMS * sizeof(list->list[0]));
	err = list ? 0 : -ENOMEM;
	if (!err) {
		list->flags = UDMABUF_FLAGS_CLOEXEC;
		err = list_pieces(p, n, list);
	}
	if (!err) {
		res = ioctl(dev, UDMABUF_CREATE_LIST, list);
		if (res < 0) {
			err = -EBUSY;
		} else {
			freeze(p, n);
			*fd = res;
		}
	}
	free(list);
	close(dev);
	return err;
}
