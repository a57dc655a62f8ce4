/* SPDX-License-Identifier: MIT */
/*
 * The table by which other processes find the memory behind an IPC handle: a
 * memfd of the owner, found and opened through /proc/<pid>/fd, with one record
 * for each stretch of each allocation.  The owner holds a lock on it while
 * pages move; a peer holds one until it has the files open, and marks what it
 * opened.  The lock is an open file description's, which a forked child has too:
 * it is given back in so many words, not by closing the file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softcuda.h"

#define TABLE_NAME "softcuda-ipc-%u"    /* process id: one may have others' tables open */

struct record {
	uint32_t client, object;
	int32_t dev;
	int32_t fd;
	uint64_t opened;
	uint64_t alloc_off, alloc_size; /* as the handle has them */
	uint64_t start, len, off;       /* stretch in the object; its place in the file */
	uint64_t number;
};

/* Memory lock. */
static int table = -1;
static bool locked;

int sc_ipc_table_create(void)
{
	char name[32];

	if (table < 0) {
		snprintf(name, sizeof(name), TABLE_NAME, (unsigned int)getpid());
		table = memfd_create(name, MFD_CLOEXEC);
	}
	return table < 0 ? -errno : 0;
}

/* Whatever signals the program gets meanwhile. */
static int set_lock(int fd, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET };
	int ret;

	do {
		ret = fcntl(fd, F_OFD_SETLKW, &l);
	} while (ret && errno == EINTR);
	return ret ? -errno : 0;
}

static int read_record(int fd, unsigned int i, struct record *r)
{
	return pread(fd, r, sizeof(*r), (off_t)(i * sizeof(*r))) == (ssize_t)sizeof(*r) ? 0 :
											  -ENOENT;
}

/* Anything may be open in a peer: the marks may go unseen with the records they are in. */
static void mark_all(void)
{
	struct sc_alloc *a;

	for (unsigned int i = 0; (a = sc_range_at(i)); i++)
		a->ipc_opened |= a->ipc;
}

/* Take the peers' marks over into the allocations. */
void sc_ipc_lock(void)
{
	struct sc_alloc *a;
	struct record r;
	int err;

	if (table < 0)
		return;
	err = set_lock(table, F_WRLCK);
	locked = !err;
	if (err) {
		sc_complain("cannot lock the table of IPC memory: %s", strerror(-err));
		mark_all();
		return;
	}
	for (unsigned int n = 0; !read_record(table, n, &r); n++)
		for (unsigned int i = 0; r.opened && (a = sc_range_at(i)); i++)
			if (a->ipc && a->obj->number == r.object && a->off == r.alloc_off)
				a->ipc_opened = true;
}

/* Between lock and unlock.  If not, peers may be opening files, and reading the table. */
bool sc_ipc_locked(void)
{
	return table < 0 || locked;
}

/* Did a peer ever open part of that? */
bool sc_ipc_opened(const struct sc_object *o, uint64_t start, uint64_t len)
{
	struct sc_alloc *a;

	for (unsigned int i = 0; table >= 0 && (a = sc_range_at(i)); i++)
		if (a->ipc_opened && a->obj == o && (a->off & ~(SC_PAGE - 1)) < start + len &&
		    start < a->off + a->size)
			return true;
	return false;
}

void sc_ipc_unlock(void)
{
	if (locked && set_lock(table, F_UNLCK))
		sc_complain("cannot unlock the table of IPC memory");
	locked = false;
}

/* Whole pages of a, cut where the file changes; the number written. */
static unsigned int list_alloc(const struct sc_alloc *a, struct record *out, unsigned int room)
{
	uint64_t page = sc_config()->source->page, lo = a->off & ~(page - 1),
		 hi = (a->off + a->size + page - 1) & ~(page - 1);
	unsigned int n = 0;
	uint64_t number;

	for (uint64_t at = lo, len; at < hi && n < room; at += len, n++) {
		const struct sc_extent *e = sc_object_extent(a->obj, at);
		uint64_t end = e->start + e->len;

		len = (hi < end ? hi : end) - at;
		if (sc_config()->source->number(e->file->fd, &number))
			break;
		out[n] = (struct record){ sc_object_client(), a->obj->number, a->dev, e->file->fd,
					  a->ipc_opened, a->off, a->size, at, len,
					  e->off + (at - e->start), number };
	}
	return n;
}

/* Where it cannot be locked or written it ends up empty: peers are told there is nothing. */
void sc_ipc_publish(void)
{
	unsigned int n = 0, room = 0;
	struct record *records;
	struct sc_alloc *a;

	if (table < 0)
		return;
	for (unsigned int i = 0; locked && (a = sc_range_at(i)); i++)
		room += a->ipc ? a->obj->next_ext : 0;
	records = calloc(room ? room : 1, sizeof(*records));
	for (unsigned int i = 0; room && records && (a = sc_range_at(i)); i++)
		if (a->ipc)
			n += list_alloc(a, &records[n], room - n);
	if (ftruncate(table, 0) || (n && pwrite(table, records, n * sizeof(*records), 0) !=
						 (ssize_t)(n * sizeof(*records))))
		sc_complain("cannot keep the table of IPC memory up to date");
	free(records);
}

/* The owner's table, opened; -ENOENT or -EACCES. */
static int open_table(uint32_t pid)
{
	char path[64], name[48], link[64];
	int err = -ENOENT;
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	snprintf(name, sizeof(name), "/memfd:" TABLE_NAME " ", pid);
	dir = opendir(path);
	if (!dir)
		return errno == EACCES ? -EACCES : -ENOENT;
	while (err == -ENOENT && (d = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), d->d_name, link, sizeof(link) - 1);

		if (n < 0)
			continue;
		link[n] = '\0';
		if (strncmp(link, name, strlen(name)))
			continue;
		err = openat(dirfd(dir), d->d_name, O_RDWR | O_CLOEXEC);
		if (err < 0)
			err = -EACCES;
	}
	closedir(dir);
	return err;
}

static bool same_alloc(const struct record *r, const uint32_t *words)
{
	return r->client == words[12] && r->object == words[13] && r->alloc_off == words[7] &&
	       r->alloc_size == (words[4] | (uint64_t)words[5] << 32);
}

/* Take from the table what words ask for, and mark it. */
static int read_table(int fd, const uint32_t *words, struct sc_ipc_found *found)
{
	struct record r;

	for (unsigned int i = 0; !read_record(fd, i, &r); i++) {
		struct sc_ipc_piece *p;

		if (!same_alloc(&r, words))
			continue;
		r.opened = 1;
		if (pwrite(fd, &r, sizeof(r), (off_t)(i * sizeof(r))) != (ssize_t)sizeof(r))
			return -EIO;
		p = realloc(found->pieces, (found->n + 1) * sizeof(*p));
		if (!p)
			return -ENOMEM;
		found->pieces = p;
		found->dev = r.dev;
		p[found->n++] = (struct sc_ipc_piece){ r.fd, r.number, r.start, r.len, r.off };
	}
	return found->n ? 0 : -ENOENT;
}

/* On success the owner's pages stand still until sc_ipc_table_done. */
int sc_ipc_table_find(const uint32_t *words, struct sc_ipc_found *found)
{
	int err;

	memset(found, 0, sizeof(*found));
	found->table = open_table(words[2]);
	if (found->table < 0)
		return found->table;
	err = set_lock(found->table, F_WRLCK);
	if (!err)
		err = read_table(found->table, words, found);
	if (err)
		sc_ipc_table_done(found);
	return err;
}

void sc_ipc_table_done(struct sc_ipc_found *found)
{
	set_lock(found->table, F_UNLCK);
	close(found->table);
	free(found->pieces);
}
