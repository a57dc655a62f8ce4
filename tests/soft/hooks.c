/* SPDX-License-Identifier: MIT */
/* Description: a double of the kernel driver sees, and keeps, the memory behind a handle. */
#include <errno.h>

#include "soft.h"

struct name {
	uint32_t client, object;
	uint64_t off;
};

/* What the library reads from the words of an IPC handle. */
static struct name name_of(CUdeviceptr p)
{
	CUipcMemHandle h;
	uint32_t w[16];

	ok(cuIpcGetMemHandle(&h, p));
	memcpy(w, &h, sizeof(w));
	return (struct name){ w[12], w[13], w[7] };
}

static uint32_t *reserve(size_t size)
{
	void *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void maps_the_object(void **state)
{
	CUdeviceptr pad = alloc(70000), p = alloc(100000);
	struct name n = name_of(p);
	uint64_t page = n.off & ~(PAGE - 1);
	uint32_t *w = reserve(2 * MIB), *v;
	int fd;

	poke(p, 1);
	assert_int_equal(softcuda_object_map(n.client, n.object, page, 64 * KIB, w), 0);
	assert_int_equal(w[(n.off - page) / 4], 1);
	w[(n.off - page) / 4] = 2;
	assert_int_equal(peek(p), 2);
	/* While that is mapped its pages stay, also for an export with another start. */
	if (access("/dev/udmabuf", R_OK | W_OK))
		expect(export_range((p + 2 * PAGE) & ~(PAGE - 1), PAGE, &fd),
		       CUDA_ERROR_NOT_SUPPORTED);
	munmap(w, 64 * KIB);
	/* An export moves pages; the object is then in pieces, and maps all the same. */
	v = window((p + 2 * PAGE) & ~(PAGE - 1), PAGE);
	v[0] = 3;
	assert_int_equal(softcuda_object_map(n.client, n.object, 0, 2 * MIB, w), 0);
	assert_int_equal(w[((p + 2 * PAGE) & ~(PAGE - 1) & (2 * MIB - 1)) / 4], 3);
	assert_int_equal(w[n.off / 4], 2);
	munmap(v, PAGE);
	munmap(w, 2 * MIB);
	ok(cuMemFree_v2(p));
	ok(cuMemFree_v2(pad));
}

static void one_descriptor(void **state)
{
	CUdeviceptr p = alloc(3 * MIB);
	struct name n = name_of(p);
	uint64_t off = 9, size = 9;
	uint32_t *w;
	int fd = -1;

	poke(p + 3 * MIB - 4, 8);
	assert_int_equal(softcuda_object(n.client, n.object, &fd, &off, &size), 0);
	assert_int_equal(off, 0);
	assert_int_equal(size, 4 * MIB);
	w = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(w, MAP_FAILED);
	assert_int_equal(w[3 * MIB / 4 - 1], 8);
	munmap(w, size);
	close(fd);
	w = window(p + MIB, PAGE);
	assert_int_equal(softcuda_object(n.client, n.object, &fd, &off, &size), -EXDEV);
	munmap(w, PAGE);
	ok(cuMemFree_v2(p));
}

static void references_keep_the_memory(void **state)
{
	size_t before = free_memory();
	CUdeviceptr p = alloc(64 * KIB), q;
	struct name n = name_of(p), m;
	uint32_t *w = reserve(64 * KIB);

	assert_int_equal(softcuda_object_ref(n.client, n.object), 0);
	assert_int_equal(softcuda_object_ref(n.client, n.object), 0);
	poke(p, 5);
	ok(cuMemFree_v2(p));
	assert_int_equal(before - free_memory(), 2 * MIB);
	q = alloc(64 * KIB);
	m = name_of(q);
	assert_int_not_equal(m.object, n.object);       /* nothing new goes into it */
	assert_int_equal(softcuda_object_map(n.client, n.object, 0, 64 * KIB, w), 0);
	assert_int_equal(w[0], 5);
	ok(cuMemFree_v2(q));
	assert_int_equal(softcuda_object_unref(n.client, n.object), 0);
	assert_int_equal(before - free_memory(), 2 * MIB);
	assert_int_equal(softcuda_object_unref(n.client, n.object), 0);
	assert_int_equal(before, free_memory());
	assert_int_equal(softcuda_object_unref(n.client, n.object), -ENOENT);
	assert_int_equal(w[0], 5);
	munmap(w, 64 * KIB);
}

static void vmm_by_descriptor(void **state)
{
	struct vmm v = vmm_new(4 * MIB, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	size_t before = free_memory();
	uint32_t client, object, *w = reserve(PAGE);
	int fd;

	ok(cuMemExportToShareableHandle(&fd, v.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
					0));
	assert_int_equal(softcuda_fd_object(fd, &client, &object), 0);
	close(fd);
	assert_int_equal(softcuda_object_ref(client, object), 0);
	poke(v.ptr + 2 * MIB, 4);
	assert_int_equal(softcuda_object_map(client, object, 2 * MIB, PAGE, w), 0);
	vmm_free(&v);
	assert_int_equal(before, free_memory());
	assert_int_equal(w[0], 4);
	/* Unref without a ref of its own takes nothing away from others. */
	assert_int_equal(softcuda_object_unref(client, object), 0);
	assert_int_equal(before + 4 * MIB, free_memory());
	munmap(w, PAGE);
}

static void wrong_arguments(void **state)
{
	CUdeviceptr p = alloc(3 * MIB);
	struct name n = name_of(p);
	uint64_t off, size;
	uint32_t *w = reserve(PAGE);
	int fd;

	assert_int_equal(softcuda_object(n.client + 1, n.object, &fd, &off, &size), -ENOENT);
	assert_int_equal(softcuda_object(n.client, n.object + 99, &fd, &off, &size), -ENOENT);
	assert_int_equal(softcuda_object_ref(n.client, n.object + 99), -ENOENT);
	assert_int_equal(softcuda_object_unref(n.client, n.object), -ENOENT);
	assert_int_equal(softcuda_object_map(n.client, n.object + 99, 0, PAGE, w), -ENOENT);
	assert_int_equal(softcuda_object_map(n.client, n.object, 4 * MIB, PAGE, w), -EINVAL);
	assert_int_equal(softcuda_object_map(n.client, n.object, 0, 5 * MIB, w), -EINVAL);
	assert_int_equal(softcuda_object_map(n.client, n.object, 1, PAGE, w), -EINVAL);
	assert_int_equal(softcuda_object_map(n.client, n.object, 0, 5, w), -EINVAL);
	assert_int_equal(softcuda_object_map(n.client, n.object, 0, 0, w), -EINVAL);
	assert_int_equal(softcuda_object_map(n.client, n.object, 0, PAGE, (char *)w + 1), -EINVAL);
	munmap(w, PAGE);
	ok(cuMemFree_v2(p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_the_object),
		cmocka_unit_test(one_descriptor),
		cmocka_unit_test(references_keep_the_memory),
		cmocka_unit_test(vmm_by_descriptor),
		cmocka_unit_test(wrong_arguments),
	};

	return cmocka_run_group_tests(tests, with_context, without_context);
}
