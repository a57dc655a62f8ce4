/* SPDX-License-Identifier: MIT */
/*
 * Each call of the C library that the core and the dmabuf backend make, failing
 * at each place in a run through the whole interface: an error that says so,
 * outputs untouched, and no memory, mapping or descriptor left behind.
 */
#include "soft.h"

#include <fcntl.h>
#include <sys/mman.h>

#define SIZE (1ul << 20)

enum call {
	MMAP,
	MADVISE,
	MUNMAP,
	FCNTL,
	CALLOC,
	CALLS
};

static const char *const names[] = { "mmap", "madvise", "munmap", "fcntl", "calloc" };

static bool watching; /* the library is running */
static enum call failing;
static int fail_at, fail_errno; /* 0: nothing fails */
static int calls[CALLS];
static long blocks; /* allocated and not freed while watching */
static int mappings; /* made and not removed while watching */
static bool failed;

static bool fails(enum call call)
{
	if (!watching)
		return false;
	calls[call]++;
	if (call != failing || calls[call] != fail_at)
		return false;
	failed = true;
	errno = fail_errno;
	return true;
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	if (fails(CALLOC))
		return NULL;
	blocks += watching;
	return __real_calloc(n, size);
}

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
	blocks -= watching && p;
	__real_free(p);
}

void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	void *p = fails(MMAP) ? MAP_FAILED : __real_mmap(at, len, prot, flags, fd, offset);

	mappings += watching && p != MAP_FAILED;
	return p;
}

void *__real_mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t offset);
void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t offset);
void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t offset)
{
	void *p = fails(MMAP) ? MAP_FAILED : __real_mmap64(at, len, prot, flags, fd, offset);

	mappings += watching && p != MAP_FAILED;
	return p;
}

int __real_madvise(void *at, size_t len, int advice);
int __wrap_madvise(void *at, size_t len, int advice);
int __wrap_madvise(void *at, size_t len, int advice)
{
	return fails(MADVISE) ? -1 : __real_madvise(at, len, advice);
}

int __real_munmap(void *at, size_t len);
int __wrap_munmap(void *at, size_t len);
int __wrap_munmap(void *at, size_t len)
{
	int ret = fails(MUNMAP) ? -1 : __real_munmap(at, len);

	mappings -= watching && !ret;
	return ret;
}

/* D14: whatever the driver thinks of exec, the library's only command is this one. */
int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, int arg);
int __wrap_fcntl(int fd, int command, int arg)
{
	assert_true(!watching || (command == F_SETFD && arg == FD_CLOEXEC));
	return fails(FCNTL) ? -1 : __real_fcntl(fd, command, arg);
}

int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, int arg);
int __wrap_fcntl64(int fd, int command, int arg)
{
	assert_true(!watching || (command == F_SETFD && arg == FD_CLOEXEC));
	return fails(FCNTL) ? -1 : __real_fcntl64(fd, command, arg);
}

static CUdeviceptr memory;

struct result {
	int open, pin, map, unmap, unpin, close;
	char error[1024];
	void *left; /* a mapping that could not be removed */
};

static void note(struct result *r, int *where, int err)
{
	if (!err || *where)
		return;
	*where = err;
	strcpy(r->error, gdrx_last_error());
}

/* A pin that is unmapped and unpinned, and one that closing has to release. */
static void run(struct result *r)
{
	gdr_mh_t mh = { 3 };
	void *va = &mh;
	gdr_t g;
	int err;

	memset(r, 0, sizeof(*r));
	g = gdr_open();
	note(r, &r->open, g ? 0 : errno);
	if (!g)
		return;
	for (int i = 0; i < 2; i++) {
		mh.h = 3;
		va = &mh;
		err = gdr_pin_buffer(g, memory, SIZE, 0, 0, &mh);
		note(r, &r->pin, err);
		if (err) {
			assert_int_equal(mh.h, 3);
			continue;
		}
		err = gdr_map(g, mh, &va, SIZE);
		note(r, &r->map, err);
		if (err) {
			assert_ptr_equal(va, &mh);
			assert_int_equal(gdr_copy_to_mapping(mh, va, &err, 4), EINVAL);
			err = gdr_map(g, mh, &va, SIZE);
			assert_int_equal(err, 0);
		}
		assert_int_equal(gdr_copy_to_mapping(mh, va, &err, 4), 0);
		if (i == 1)
			break;
		err = gdr_unmap(g, mh, va, SIZE);
		note(r, &r->unmap, err);
		if (err) {
			/* it is still there, and can be tried again */
			assert_int_equal(gdr_copy_to_mapping(mh, va, &err, 4), 0);
			assert_int_equal(gdr_unmap(g, mh, va, SIZE), 0);
		}
		note(r, &r->unpin, gdr_unpin_buffer(g, mh));
		assert_int_equal(gdr_unpin_buffer(g, mh), EINVAL);
	}
	note(r, &r->close, gdr_close(g));
	assert_int_equal(gdr_close(g), EINVAL);
	if (r->close)
		r->left = va;
}

static void run_watched(struct result *r, enum call call, int nth, int err)
{
	memset(calls, 0, sizeof(calls));
	failing = call;
	fail_at = nth;
	fail_errno = err;
	failed = false;
	blocks = mappings = 0;
	watching = true;
	run(r);
	watching = false;
}

/* What a failing call leads to, by its position. */
static void check(const struct result *r, enum call call, int nth, int err)
{
	int open = 0, pin = 0, map = 0, unmap = 0, close_err = 0;

	switch (call) {
	case MMAP:
	case MADVISE:
		map = err;
		break;
	case MUNMAP:
		if (nth == 1)
			unmap = err;
		else
			close_err = err;
		break;
	case FCNTL:
		pin = err;
		break;
	default:
		if (nth == 1)
			open = ENOMEM;
		else
			pin = ENOMEM;
	}
	if (r->open != open || r->pin != pin || r->map != map || r->unmap != unmap || r->unpin ||
	    r->close != close_err)
		fail_msg("%s %d: open %d, pin %d, map %d, unmap %d, unpin %d, close %d: %s",
			 names[call], nth, r->open, r->pin, r->map, r->unmap, r->unpin, r->close,
			 r->error);
	if (call == CALLOC) {
		assert_non_null(strstr(r->error, "out of memory"));
	} else {
		assert_non_null(strstr(r->error, call == MADVISE ? "mmap" : names[call]));
		assert_non_null(strstr(r->error, strerror(err)));
	}
}

static void every_call_at_every_place(void **state)
{
	static const int expected[CALLS] = {
		[MMAP] = 2,
		[MADVISE] = 2,
		[MUNMAP] = 2,
		[FCNTL] = 2,
		[CALLOC] = 3,
	};
	static const int errors[] = { ENOMEM, EPERM, EBADF };
	struct result r;

	for (int call = 0; call < CALLS; call++) {
		for (size_t e = 0; e < COUNT(errors); e++) {
			int fds = count_fds(), nth = 1;

			for (;; nth++) {
				run_watched(&r, (enum call)call, nth, errors[e]);
				assert_int_equal(blocks, 0);
				assert_int_equal(mappings, r.left != NULL);
				assert_int_equal(count_fds(), fds);
				if (!failed)
					break;
				check(&r, (enum call)call, nth, errors[e]);
				if (r.left) {
					assert_true(is_mapped(r.left));
					munmap(r.left, SIZE);
				}
			}
			assert_int_equal(nth - 1, expected[call]);
			assert_int_equal(r.open | r.pin | r.map | r.unmap | r.unpin | r.close, 0);
		}
	}
}

/* What the kernel calls ENOTSUPP is no errno of user space. */
static void a_file_that_cannot_be_mapped(void **state)
{
	struct result r;

	run_watched(&r, MMAP, 1, 524);
	assert_true(failed);
	assert_int_equal(r.map, ENOTSUP);
	assert_non_null(strstr(r.error, "mmap of the dma-buf"));
}

/* The chunk of the registry; only the process's first pin makes it: the first test. */
static void no_memory_for_the_first_handle(void **state)
{
	struct result r;
	int fds = count_fds();

	run_watched(&r, CALLOC, 3, ENOMEM); /* context, pin, chunk */
	assert_true(failed);
	assert_int_equal(r.pin, ENOMEM);
	assert_non_null(strstr(r.error, "no memory for one more handle"));
	assert_int_equal(count_fds(), fds);
	run_watched(&r, CALLOC, 0, 0);
	assert_int_equal(blocks, 0);
}

static int setup(void **state)
{
	return soft.cuMemAlloc_v2(&memory, SIZE) != CUDA_SUCCESS;
}

static int teardown(void **state)
{
	return soft.cuMemFree_v2(memory) != CUDA_SUCCESS;
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(no_memory_for_the_first_handle),
		T(every_call_at_every_place),
		T(a_file_that_cannot_be_mapped),
	};
#undef T

	return cmocka_run_group_tests_name("core dmabuf libc", tests, soft_setup, soft_teardown);
}
