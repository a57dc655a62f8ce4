/* SPDX-License-Identifier: MIT */
/*
 * The files behind device memory, and how pages move between memfds.
 *
 * An exported descriptor must show its range at file offset 0, and a page lies
 * at one place of one file only.  So pages move: an object starts as one file,
 * and the first export of a range that begins elsewhere moves the range's pages
 * to a file of its own, under the feet of this process's mapping.
 *
 * LIMIT: pages that somebody holds, through a descriptor or a mapping, cannot
 * move any more.  While an export is alive, another one may begin at the same
 * page (and be shorter or longer), but not at a different page of the same
 * range, unless /dev/udmabuf is there to make a view with an offset.  Such an
 * export is refused.
 *
 * Whether anybody holds a file is asked of the kernel: exports are opened anew
 * for writing, and a read lease is refused while a file is open for writing
 * anywhere, in any process, be it through a mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softcuda.h"

#define CHUNK (256ULL << 10)

struct sc_file *sc_file_adopt(int fd, uint64_t size)
{
	struct sc_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->fd = fd;
	f->size = size;
	f->refs = 1;
	return f;
}

/* A new file with one reference; NULL and errno. */
struct sc_file *sc_file_new(int dev, const char *label, uint64_t size)
{
	int fd = sc_config()->source->create(dev, label, size);
	struct sc_file *f;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	f = sc_file_adopt(fd, size);
	if (!f)
		sc_config()->source->discard(fd);
	return f;
}

void sc_file_put(struct sc_file *f)
{
	if (f && !--f->refs) {
		sc_config()->source->discard(f->fd);
		free(f);
	}
}

void sc_file_cover(struct sc_file *f, uint64_t lo, uint64_t hi)
{
	if (f->lo == f->hi) {
		f->lo = lo;
		f->hi = hi;
		return;
	}
	f->lo = lo < f->lo ? lo : f->lo;
	f->hi = hi > f->hi ? hi : f->hi;
}

/* Does anybody hold f through an export?  If the kernel does not tell: yes. */
static bool held(struct sc_file *f)
{
	bool free_of_writers;
	char path[48];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	/* A lease that is broken meanwhile sends a signal: one that is ignored by default. */
	fcntl(fd, F_SETSIG, SIGURG);
	free_of_writers = !fcntl(fd, F_SETLEASE, F_RDLCK);
	if (free_of_writers)
		fcntl(fd, F_SETLEASE, F_UNLCK);
	close(fd);
	return !free_of_writers;
}

static bool overlap(uint64_t a_lo, uint64_t a_hi, uint64_t b_lo, uint64_t b_hi)
{
	return a_lo < b_hi && b_lo < a_hi;
}

/*
 * May bytes [start, start + len) of o, all within extent e, get another file?
 * Between sc_ipc_lock and sc_ipc_unlock.
 */
bool sc_file_movable(struct sc_object *o, const struct sc_extent *e, uint64_t start, uint64_t len)
{
	struct sc_file *f = e->file;
	uint64_t off = e->off + (start - e->start);

	if (o->foreign || f->frozen || !sc_config()->source->moves || !sc_ipc_locked())
		return false;
	if (!overlap(off, off + len, f->lo, f->hi) &&
	    !sc_ipc_opened(o, start, len))
		return true;
	if (held(f))
		return false;
	f->lo = f->hi = 0;
	return true;
}

/* Does the file hold anything but holes in [off, off + len)? */
static bool has_data(const struct sc_file *f, uint64_t off, uint64_t len)
{
	off_t at = lseek(f->fd, (off_t)off, SEEK_DATA);

	return at >= 0 && (uint64_t)at < off + len;
}

static int read_all(int fd, unsigned char *buf, uint64_t len, uint64_t off)
{
	for (uint64_t done = 0; done < len;) {
		ssize_t n = pread(fd, buf + done, len - done, (off_t)(off + done));

		if (n <= 0)
			return n ? -errno : -EIO;
		done += (uint64_t)n;
	}
	return 0;
}

static int write_all(int fd, const unsigned char *buf, uint64_t len, uint64_t off)
{
	for (uint64_t done = 0; done < len;) {
		ssize_t n = pwrite(fd, buf + done, len - done, (off_t)(off + done));

		if (n < 0)
			return -errno;
		done += (uint64_t)n;
	}
	return 0;
}

/* Words that a running kernel stored in the old page after its copy was taken. */
static void carry_over(uint32_t *now, const uint32_t *copied, const uint32_t *late, uint64_t len)
{
	for (uint64_t i = 0; i < len / 4; i++) {
		uint32_t expected = copied[i];

		if (late[i] != copied[i])
			__atomic_compare_exchange_n(&now[i], &expected, late[i], false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
}

/* Move at most CHUNK bytes, all within one extent.  buf: twice CHUNK. */
static int move_chunk(struct sc_object *o, const struct sc_extent *e, uint64_t start, uint64_t len,
		      struct sc_file *to, uint64_t off, unsigned char *buf)
{
	uint64_t old_off = e->off + (start - e->start);
	struct sc_file *old = e->file;
	unsigned char *late = buf + CHUNK;
	int err = 0;

	if (has_data(old, old_off, len)) {
		err = read_all(old->fd, buf, len, old_off);
		if (!err)
			err = write_all(to->fd, buf, len, off);
	} else {
		memset(buf, 0, len);
	}
	if (err)
		return err;
	old->refs++;
	err = sc_object_set(o, start, len, to, off);
	if (!err && has_data(old, old_off, len)) {
		if (!read_all(old->fd, late, len, old_off) && memcmp(buf, late, len))
			carry_over((uint32_t *)(void *)(o->host + start), (uint32_t *)(void *)buf,
				   (uint32_t *)(void *)late, len);
		fallocate(old->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)old_off,
			  (off_t)len);
	}
	sc_file_put(old);
	return err;
}

/*
 * Move bytes [start, start + len) of o to offset off of file to, which is
 * large enough.  The caller knows that all of them may move.  After a failure
 * every byte is at its old or at its new place.
 */
int sc_file_move(struct sc_object *o, uint64_t start, uint64_t len, struct sc_file *to,
		 uint64_t off)
{
	unsigned char *buf = malloc(2 * CHUNK);
	int err = 0;

	if (!buf)
		return -ENOMEM;
	for (uint64_t at = start, n; at < start + len && !err; at += n) {
		const struct sc_extent *e = sc_object_extent(o, at);
		uint64_t end = e->start + e->len, to_off = off + (at - start);

		n = (start + len < end ? start + len : end) - at;
		if (e->file == to && e->off + (at - e->start) == to_off)
			continue;
		n = n < CHUNK ? n : CHUNK;
		err = move_chunk(o, e, at, n, to, to_off, buf);
	}
	free(buf);
	return err;
}

/*
 * Give [start, start + len) fresh pages of zeros where somebody holds the old
 * ones: what was exported keeps what it had when the memory was freed.  Not where
 * pages cannot move.
 */
int sc_file_detach(struct sc_object *o, uint64_t start, uint64_t len)
{
	if (!sc_config()->source->moves)
		return 0;
	for (uint64_t at = start, n; at < start + len; at += n) {
		const struct sc_extent *e = sc_object_extent(o, at);
		uint64_t end = e->start + e->len;
		struct sc_file *f;
		int err;

		n = (start + len < end ? start + len : end) - at;
		if (sc_file_movable(o, e, at, n))
			continue;
		f = sc_file_new(o->dev, "softcuda", n);
		if (!f)
			return -errno;
		err = sc_object_set(o, at, n, f, 0);
		sc_file_put(f);
		if (err)
			return err;
	}
	return 0;
}
