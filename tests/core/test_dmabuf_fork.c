/* SPDX-License-Identifier: MIT */
/* D14: a forked child has neither the mappings nor the contexts of its parent. */
#include "soft.h"

#include <pthread.h>
#include <stdatomic.h>

#include "cuda.h"

#define SIZE	(1ul << 20)
#define THREADS 4
#define FORKS	60

struct scene {
	gdr_t g;
	gdr_mh_t mh;
	char *va;
	CUdeviceptr ptr;
	int fds;
};

static struct scene make_scene(void)
{
	struct scene s;
	void *va;

	s.fds = count_fds();
	s.ptr = soft_alloc(SIZE);
	soft_set(s.ptr, 0x11, SIZE);
	s.g = gdr_open();
	assert_non_null(s.g);
	/* so that the library holds the primary context */
	assert_cuda(soft.cuCtxSetCurrent(NULL));
	assert_int_equal(gdr_pin_buffer(s.g, s.ptr, SIZE, 0, 0, &s.mh), 0);
	assert_cuda(soft.cuCtxSetCurrent(soft_context[0]));
	assert_int_equal(gdr_map(s.g, s.mh, &va, SIZE), 0);
	s.va = va;
	return s;
}

/* The parent's memory is as it was, and reachable. */
static void end_scene(const struct scene *s)
{
	unsigned char in[64], want[64];

	memset(want, 0x11, sizeof(want));
	assert_int_equal(gdr_copy_from_mapping(s->mh, in, s->va, sizeof(in)), 0);
	assert_memory_equal(in, want, sizeof(in));
	memset(want, 0x22, sizeof(want));
	assert_int_equal(gdr_copy_to_mapping(s->mh, s->va, want, sizeof(want)), 0);
	assert_cuda(soft.cuMemcpyDtoH_v2(in, s->ptr, sizeof(in)));
	assert_memory_equal(in, want, sizeof(in));
	assert_int_equal(gdr_close(s->g), 0);
	soft_free(s->ptr);
	assert_int_equal(count_fds(), s->fds);
}

static void d14_a_mapping_is_not_inherited(void **state)
{
	struct scene s = make_scene();

	assert_true(faults_in_child(s.va));
	end_scene(&s);
}

/* In place of the driver's function, in a child. */
static CUresult release_of_the_parents_context(CUdevice dev)
{
	CHECK(!"the child releases its parent's context");
	return CUDA_SUCCESS;
}

static void use_there(void *arg)
{
	struct scene *s = arg;
	struct gdr_cuda *table;
	const char *why;
	gdr_info_t info;
	gdr_mh_t mh;
	void *va;
	int v, fds;

	CHECK(!is_mapped(s->va));
	CHECK(gdr_pin_buffer(s->g, s->ptr, SIZE, 0, 0, &mh) == EACCES);
	CHECK(gdr_map(s->g, s->mh, &va, SIZE) == EACCES);
	CHECK(gdr_unmap(s->g, s->mh, s->va, SIZE) == EACCES);
	CHECK(gdr_unpin_buffer(s->g, s->mh) == EACCES);
	CHECK(gdr_get_info(s->g, s->mh, &info) == EACCES);
	CHECK(gdr_get_attribute(s->g, GDR_ATTR_USING_DMA_BUF_MMAP, &v) == EACCES);
	CHECK(gdr_copy_to_mapping(s->mh, s->va, &v, sizeof(v)) == EINVAL);
	CHECK(gdr_copy_from_mapping(s->mh, &v, s->va, sizeof(v)) == EINVAL);
	fds = count_fds();
	table = (struct gdr_cuda *)(uintptr_t)gdr_cuda_get(&why);
	table->DevicePrimaryCtxRelease = release_of_the_parents_context;
	CHECK(gdr_close(s->g) == 0);
	CHECK(count_fds() == fds - 1);
	CHECK(gdr_close(s->g) == EINVAL);
}

static void everything_is_refused_and_closing_is_harmless(void **state)
{
	struct scene s = make_scene();
	unsigned flags;
	int active = 0;

	assert_int_equal(in_child(use_there, &s), 0);
	assert_cuda(soft.cuDevicePrimaryCtxGetState(0, &flags, &active));
	assert_true(active);
	end_scene(&s);
}

/* CUDA itself does not work in a child of a process that uses it: a reason, no crash. */
static void open_there(void *arg)
{
	gdr_t g = gdr_open();

	CHECK(!g && errno == ENODEV);
	CHECK(strstr(gdrx_open_report(), "dmabuf: CUDA finds no device"));
	CHECK(strstr(gdrx_last_error(), "no backend works here"));
}

static void opening_in_a_child_says_why_it_cannot(void **state)
{
	struct scene s = make_scene();

	assert_int_equal(in_child(open_there, &s), 0);
	end_scene(&s);
}

/* exec closes what the pins held. */
static void d14_exec_inherits_no_descriptor(void **state)
{
	static struct output out;
	struct scene s = make_scene();
	static const char *const argv[] = { "/bin/ls", "-l", "/proc/self/fd", NULL };
	static const char *const env[] = { NULL };

	run_program(&out, env, argv);
	assert_int_equal(out.status, 0);
	assert_non_null(strstr(out.out, "->"));
	assert_null(strstr(out.out, "softcuda"));
	assert_null(strstr(out.out, "dmabuf"));
	end_scene(&s);
}

static struct scene shared;
static atomic_bool stop;
static atomic_int rounds;

static void *map_and_unmap(void *arg)
{
	gdr_mh_t mh;
	void *va;

	if (gdr_pin_buffer(shared.g, shared.ptr, SIZE, 0, 0, &mh))
		return &stop;
	while (!atomic_load(&stop)) {
		if (gdr_map(shared.g, mh, &va, SIZE))
			return &stop;
		if (gdr_unmap(shared.g, mh, va, SIZE))
			return &stop;
		atomic_fetch_add(&rounds, 1);
	}
	return gdr_unpin_buffer(shared.g, mh) ? &stop : NULL;
}

/* Device memory of this process shows as softcuda's files; none may be there. */
static void look_for_mappings(void *arg)
{
	CHECK(!has_mapping_named("memfd:softcuda"));
}

static void d14_no_fork_falls_between_mmap_and_madvise(void **state)
{
	pthread_t threads[THREADS];

	shared = make_scene();
	/* what is looked for is there, in the parent */
	assert_true(has_mapping_named("memfd:softcuda"));
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, map_and_unmap, NULL);
	while (atomic_load(&rounds) < 100)
		;
	for (int i = 0; i < FORKS; i++)
		assert_int_equal(in_child(look_for_mappings, NULL), 0);
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++) {
		void *ret;

		pthread_join(threads[i], &ret);
		assert_null(ret);
	}
	end_scene(&shared);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(d14_a_mapping_is_not_inherited),
		cmocka_unit_test(everything_is_refused_and_closing_is_harmless),
		cmocka_unit_test(opening_in_a_child_says_why_it_cannot),
		cmocka_unit_test(d14_exec_inherits_no_descriptor),
		cmocka_unit_test(d14_no_fork_falls_between_mmap_and_madvise),
	};

	return cmocka_run_group_tests_name("core dmabuf fork", tests, soft_setup, soft_teardown);
}
